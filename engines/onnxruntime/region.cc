// SPDX-License-Identifier: Apache-2.0
// Makes a region's programs, keeps the last used ones, and hands them the tensors of each run.
#include "engines/onnxruntime/region.h"

#include <algorithm>

#include "engines/graph/check.h"

namespace octet::onnxruntime {
namespace {

std::vector<Shape> shapes_of(const graph::Graph& g, const std::vector<int>& tensors) {
  std::vector<Shape> shapes;
  for (const int t : tensors) shapes.push_back(g.tensors[(size_t)t].shape);
  return shapes;
}

bool is_empty(const Shape& shape) {
  return std::find(shape.begin(), shape.end(), 0) != shape.end();
}

}  // namespace

Region::Region(graph::Graph graph, std::vector<Step> steps, std::shared_ptr<const Shared> shared)
    : graph_(std::move(graph)), steps_(std::move(steps)), shared_(std::move(shared)) {
  for (const int t : graph_.inputs) inputs.push_back(graph_.tensors[(size_t)t].name);
  for (const int t : graph_.outputs) outputs.push_back(graph_.tensors[(size_t)t].name);
  const std::shared_ptr<const Planned> first = plan(graph_);
  planned_.find(first->inputs, [&] { return first; });
  report_ = first->program ? graph::join(graph_.ops.size(), " operators run as one network, ",
                                         first->program->fused(), " of them as parts of others")
                           : "no tensor has elements, so that nothing is computed";
  if (!steps_.empty()) keep_constants();
}

std::shared_ptr<const Region::Planned> Region::plan(graph::Graph graph) const {
  auto made = std::make_shared<Planned>();
  made->inputs = shapes_of(graph, graph.inputs), made->outputs = shapes_of(graph, graph.outputs);
  if (std::any_of(made->inputs.begin(), made->inputs.end(), is_empty) &&
      std::all_of(made->outputs.begin(), made->outputs.end(), is_empty))
    return made;
  graph::ProgramOptions options;
  options.goal = shared_->options.goal, options.concurrency = shared_->options.threads;
  octet_error error = {};
  graph::check(graph::Program::create(graph, options, shared_->weights, &made->program, &error),
               error);
  return made;
}

void Region::keep_constants() {
  std::vector<char> used(graph_.tensors.size());
  for (const graph::Op& op : graph_.ops)
    for (const int t : op.inputs)
      if (t >= 0) used[(size_t)t] = 1;
  for (size_t t = 0; t < used.size(); ++t) {
    graph::Tensor& tensor = graph_.tensors[t];
    if (!tensor.constant) continue;
    if (used[t] && tensor.data) {
      const auto* const data = (const uint8_t*)tensor.data;
      constants_.emplace_back(data, data + tensor.bytes);
    }
    tensor.data = used[t] && tensor.data ? constants_.back().data() : nullptr;
  }
}

graph::Graph Region::with_shapes(const std::vector<Shape>& inputs) const {
  graph::Graph g = graph_;
  for (size_t i = 0; i < inputs.size(); ++i) {
    graph::Tensor& t = g.tensors[(size_t)g.inputs[i]];
    t.shape = inputs[i], t.shape_known = true;
  }
  for (const Step& step : steps_) {
    graph::Tensor& t = g.tensors[(size_t)step.output];
    t.shape = step.rule(shapes_of(g, step.inputs));
    if (t.shape.empty() || *std::min_element(t.shape.begin(), t.shape.end()) < 0)
      graph::refuse("tensor '", t.name, "' has no shape with inputs of these sizes");
  }
  return g;
}

std::shared_ptr<const Region::Planned> Region::find(const std::vector<Shape>& inputs) {
  return planned_.find(inputs, [&] {
    if (steps_.empty()) graph::refuse("an input has another shape than the model says");
    return plan(with_shapes(inputs));
  });
}

std::vector<Shape> Region::shapes(const std::vector<Shape>& given) { return find(given)->outputs; }

void Region::run(OrtKernelContext* context, const std::vector<Given>& from,
                 const std::vector<void*>& to) {
  std::vector<Shape> given;
  std::vector<const void*> data;
  for (const Given& tensor : from) given.push_back(tensor.shape), data.push_back(tensor.data);
  const std::shared_ptr<const Planned> planned = find(given);
  if (!planned->program) return;
  graph::ProgramArguments arguments;
  arguments.inputs = data.data(), arguments.outputs = const_cast<void**>(to.data());
  lend(context, shared_->options.threads, &arguments);
  octet_error error = {};
  graph::check(planned->program->run(arguments, &error), error);
}

}  // namespace octet::onnxruntime
