// SPDX-License-Identifier: Apache-2.0
// Makes a partition's program, and hands it the interpreter's tensors at each run.
#include "engines/litert/partition.h"

#include <stdexcept>

#include "engines/litert/translate.h"

namespace octet::litert {

Partition::Partition(TfLiteContext* context, const TfLiteDelegateParams& params,
                     std::shared_ptr<const Shared> shared)
    : shared_(std::move(shared)) {
  const auto list = [](const TfLiteIntArray& from) {
    return std::vector<int>(from.data, from.data + from.size);
  };
  nodes_ = list(*params.nodes_to_replace);
  for (const int t : list(*params.input_tensors))
    if (context->tensors[t].allocation_type != kTfLiteMmapRo) inputs_.push_back(t);
  outputs_ = list(*params.output_tensors);
}

std::vector<std::vector<int>> Partition::sizes_of_inputs(const TfLiteContext& context) const {
  std::vector<std::vector<int>> sizes;
  for (const int t : inputs_) {
    const TfLiteIntArray* const dims = context.tensors[t].dims;
    sizes.emplace_back();
    if (dims) sizes.back().assign(dims->data, dims->data + dims->size);
  }
  return sizes;
}

octet_status Partition::prepare(TfLiteContext* context, octet_error* error) {
  std::vector<std::vector<int>> sizes = sizes_of_inputs(*context);
  if (program_ && sizes == sizes_) return OCTET_OK;
  graph::Graph graph = translate(context, nodes_, shared_->rounding());
  graph.inputs = inputs_, graph.outputs = outputs_;
  graph::ProgramOptions options;
  options.goal = shared_->options.goal;
  options.concurrency = shared_->threads.count();
  const octet_status status =
      graph::Program::create(graph, options, shared_->weights, &program_, error);
  sizes_ = std::move(sizes);
  from_.resize(inputs_.size()), to_.resize(outputs_.size());
  return status;
}

octet_status Partition::run(TfLiteContext* context, octet_error* error) {
  if (!program_) throw std::logic_error("the operators of this partition were not prepared");
  for (size_t i = 0; i < inputs_.size(); ++i)
    from_[i] = context->tensors[inputs_[i]].data.raw_const;
  for (size_t i = 0; i < outputs_.size(); ++i) to_[i] = context->tensors[outputs_[i]].data.raw;
  graph::ProgramArguments arguments;
  arguments.inputs = from_.data(), arguments.outputs = to_.data();
  shared_->threads.lend(&arguments);
  return program_->run(arguments, error);
}

std::string Partition::report() const {
  return std::to_string(nodes_.size()) + " operators run as one network, " +
         std::to_string(program_->fused()) + " of them as parts of others";
}

}  // namespace octet::litert
