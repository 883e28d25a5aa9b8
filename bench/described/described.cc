// SPDX-License-Identifier: Apache-2.0
// Makes a graph of the operators of a described model that run.
#include "bench/described/described.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bench/cases/network.h"
#include "bench/described/described_ends.h"
#include "engines/graph/fuse.h"
#include "engines/graph/refused.h"
#include "engines/graph/would.h"

namespace tool {
namespace {

using octet::graph::Graph;
using octet::graph::Kind;
using octet::graph::Op;

bool is_product(const Op& op) { return op.kind == Kind::kConvolution || op.kind == Kind::kProduct; }

bool has_data(const DescribedModel& model, const Op& op) {
  return std::all_of(op.inputs.begin() + 1, op.inputs.end(),
                     [&](int t) { return t < 0 || model.graph.tensors[(size_t)t].data; });
}

// The reason of each operator that cannot run; throws if the graph is none.
std::vector<std::string> ask(const std::string& path, const Graph& graph) {
  try {
    octet::graph::sort(graph);
  } catch (const octet::graph::Refused& refused) {
    throw Error(fmt::format("{}: {}", path, refused.why()));
  }
  std::vector<std::string> why = octet::graph::would(graph);
  for (size_t i = 0; i < why.size(); ++i)
    if (const std::string& name = graph.ops[i].name; why[i].rfind(name + ": ", 0) == 0)
      why[i].erase(0, name.size() + 2);
  return why;
}

// The operators that run, between these ends.
Graph part_of(const DescribedModel& model, const std::vector<std::string>& why,
              const DescribedEnds& ends) {
  Graph part = model.graph;
  part.ops.clear();
  std::vector<char> as_unsigned;
  for (size_t i = 0; i < why.size(); ++i)
    if (why[i].empty())
      part.ops.push_back(model.graph.ops[i]), as_unsigned.push_back(model.as_unsigned[i]);
  part.inputs = ends.inputs, part.outputs = ends.outputs;
  separate_unsigned(as_unsigned, &part);
  return part;
}

// The operator whose name the message begins with, or as many as there are.
size_t named_by(const DescribedModel& model, const std::string& message) {
  size_t i = 0;
  while (i < model.graph.ops.size() && message.rfind(model.graph.ops[i].name + ": ", 0) != 0) ++i;
  return i;
}

}  // namespace

std::unique_ptr<octet::graph::Program> RunnableNetwork::create(
    const octet::graph::ProgramOptions& options) const {
  std::unique_ptr<octet::graph::Program> program;
  octet_error error = {};
  if (octet::graph::Program::create(graph, options, weights, &program, &error) != OCTET_OK)
    throw Error(fmt::format("{}: {}", name, error.message));
  return program;
}

FilterLimits RunnableNetwork::limits(octet_isa isa, size_t weights_max) const {
  FilterLimits limits(isa, weights_max);
  for (const Op& op : graph.ops) {
    octet::graph::ProductDescription description;
    if (op.kind != Kind::kConvolution) continue;
    octet::graph::describe_product(graph, op, &description);
    limits.add(description.filter);
  }
  limits.apply(name);
  return limits;
}

// Weights may refuse an operator that would run without them; then the rest is tried.
RunnableNetwork read_runnable(const std::string& path, octet_isa isa, size_t batch,
                              const std::string& as) {
  DescribedModel model = read_described(path, batch, as);
  std::vector<std::string> why = ask(path, model.graph);
  octet::graph::ProgramOptions options;
  options.goal = OCTET_NETWORK_LAYERS;
  options.isa = isa, options.weights_max = 0;
  RunnableNetwork network = {path, {}};
  network.operator_count = model.graph.ops.size();
  while (true) {
    leave_out_readers(model, &why);
    network.left_out = left_out_lines(model, why);
    network.runs = (size_t)std::count(why.begin(), why.end(), "");
    if (network.runs == 0)
      throw Error(fmt::format("{} has nothing that Octet computes\n{}", path,
                              fmt::join(network.left_out, "\n")));
    DescribedEnds ends = find_ends(model, why);
    for (std::string& line : ends.missing) network.left_out.push_back("not written: " + line);
    network.graph = part_of(model, why, ends);
    network.inputs = std::move(ends.inputs), network.outputs = std::move(ends.outputs);
    std::unique_ptr<octet::graph::Program> program;
    octet_error error = {};
    if (octet::graph::Program::create(network.graph, options, network.weights, &program, &error) ==
        OCTET_OK)
      break;
    const std::string message = error.message;
    const size_t op = named_by(model, message);
    if (op == why.size() || !why[op].empty()) throw Error(fmt::format("{}: {}", path, message));
    why[op] = message.substr(model.graph.ops[op].name.size() + 2);
  }
  for (size_t i = 0; i < why.size(); ++i)
    network.layers[model.graph.ops[i].name] = short_name(model.layers[i]);
  network.data.push_back(std::move(model.data));
  return network;
}

RunnableNetwork runnable_network(const std::string& name, octet_isa isa, size_t batch,
                                 const std::string& as, const std::string& types) {
  if (!is_network_file(name)) {
    if (!as.empty()) throw Error("--as is for described models, and " + name + " is none");
    return named_network(name, batch, types);
  }
  RunnableNetwork network = read_runnable(name, isa, batch, as);
  if (!network.left_out.empty())
    fmt::print(stderr, "{}: runs {} of {} operators\n", name, network.runs, network.operator_count);
  for (const std::string& line : network.left_out) fmt::print(stderr, "{}: {}\n", name, line);
  return network;
}

std::vector<std::string> each_layer(const std::string& path, const LayerVisitor& visitor) {
  const DescribedModel model = read_described(path, 1);
  const std::vector<std::string> why = ask(path, model.graph);
  std::vector<std::string> left_out;
  for (size_t i = 0; i < why.size(); ++i) {
    const Op& op = model.graph.ops[i];
    if (!is_product(op)) continue;
    const std::string reason = !why[i].empty()       ? why[i]
                               : has_data(model, op) ? ""
                                                     : "its weights have no data";
    if (!reason.empty()) {
      left_out.push_back(fmt::format("{}: {}", op.name, reason));
      continue;
    }
    octet::graph::ProductDescription description;
    octet::graph::describe_product(model.graph, op, &description);
    visitor({model.name, model.layers[i], model.cases[i], description});
  }
  return left_out;
}

}  // namespace tool
