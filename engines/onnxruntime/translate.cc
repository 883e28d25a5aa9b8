// SPDX-License-Identifier: Apache-2.0
// Translates a graph node by node, and gives tensors that are only moved their neighbour's scale.
#include "engines/onnxruntime/translate.h"

#include <algorithm>

#include "engines/graph/sizes.h"
#include "engines/onnxruntime/node.h"

namespace octet::onnxruntime {
namespace {

using graph::Kind;

octet_type type_of(ONNXTensorElementDataType type) {
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8: return OCTET_S8;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8: return OCTET_U8;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32: return OCTET_S32;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT: return OCTET_F32;
    default: return (octet_type)0;
  }
}

graph::Tensor tensor_of(const Value& value) {
  graph::Tensor to;
  to.name = value.name;
  to.type = type_of(value.type);
  to.shape_known = value.shape_known, to.shape = value.shape;
  to.constant = value.constant;
  to.data = value.data, to.bytes = value.bytes;
  return to;
}

// The shape of elementwise operators' results: sizes of 1 repeat.
Shape broadcast(const std::vector<Shape>& inputs) {
  Shape all;
  for (const Shape& x : inputs) {
    if (x.size() > all.size()) all.insert(all.begin(), x.size() - all.size(), 1);
    for (size_t i = 0; i < x.size(); ++i) {
      int64_t& size = all[all.size() - x.size() + i];
      if (size == 1) size = x[i];
    }
  }
  return all;
}

std::vector<int> given(const std::vector<int>& values) {
  std::vector<int> kept;
  std::copy_if(values.begin(), values.end(), std::back_inserter(kept),
               [](int t) { return t >= 0; });
  return kept;
}

void translate_node(const HostGraph& host, const Known& known, size_t i, Translation* to) {
  const Node& node = host.nodes[i];
  graph::Op& op = to->graph.ops[i];
  op.name = node.op + " '" + (node.name.empty() ? std::to_string(i) : node.name) + "'";
  if (known.nodes[i]) {
    op.refused = "it computes sizes, which other nodes or the outputs of the graph read";
    return;
  }
  op.inputs = given(node.inputs), op.outputs = given(node.outputs);
  const std::vector<int> captured = given(node.captured);
  op.inputs.insert(op.inputs.end(), captured.begin(), captured.end());
  if (op.inputs.empty() || node.inputs.empty() || node.inputs[0] < 0)
    op.refused = "it has no input";
  if (op.outputs.size() != 1 && node.op != "Split")
    op.refused = "it has " + std::to_string(op.outputs.size()) + " outputs";
  if (node.taken) op.refused = "it runs on another provider";
  const NamedForm* form = find_quantized(node);
  if (!form) form = find_standard(node);
  if (!form && op.refused.empty()) op.refused = "Octet has no such operator";
  if (!op.refused.empty()) return;
  const std::vector<int> all = op.inputs;
  to->rules[i] = {broadcast};
  try {
    form->translate({host, known, i, to});
  } catch (const graph::Refused& refused) {
    op.refused = refused.why();
  }
  const auto left_out = [](const std::vector<int>& inputs, size_t needed) {
    return inputs.size() < needed || std::count(inputs.begin(), inputs.begin() + (long)needed, -1);
  };
  const bool product = op.kind == Kind::kConvolution || op.kind == Kind::kProduct;
  if (op.refused.empty() && left_out(op.inputs, product ? 2 : op.inputs.size()))
    op.refused = "one of its inputs is left out";
  if (!op.refused.empty()) op.kind = Kind::kOther, op.inputs = all, to->rules[i].clear();
}

void spread_scales(graph::Graph* g) {
  const auto copy = [&](int from, int to) {
    graph::Tensor &a = g->tensors[(size_t)from], &b = g->tensors[(size_t)to];
    if (a.type == OCTET_F32 || a.type != b.type || a.scales.size() != 1 || !b.scales.empty())
      return;
    b.scales = a.scales, b.zero_points = a.zero_points;
  };
  // Nodes are in an order in which they can run: scales travel down, then up.
  const auto moves_bytes = [](const graph::Op& op) {
    return graph::moves_bytes(op.kind) || op.kind == Kind::kSplit;
  };
  for (const graph::Op& op : g->ops)
    if (moves_bytes(op))
      for (const int t : op.outputs) copy(op.inputs[0], t);
  for (size_t i = g->ops.size(); i-- > 0;)
    if (moves_bytes(g->ops[i]))
      for (const int t : g->ops[i].outputs) copy(t, g->ops[i].inputs[0]);
}

}  // namespace

Translation translate(const HostGraph& host, const Known& known, graph::Arithmetic arithmetic) {
  Translation to;
  to.graph.arithmetic = arithmetic, to.graph.channels_first = true;
  for (const Value& value : host.values) to.graph.tensors.push_back(tensor_of(value));
  to.graph.ops.resize(host.nodes.size()), to.rules.resize(host.nodes.size());
  for (size_t i = 0; i < host.nodes.size(); ++i) translate_node(host, known, i, &to);
  spread_scales(&to.graph);
  std::vector<char> made(to.graph.tensors.size()), read(made.size());
  for (const graph::Op& op : to.graph.ops) {
    for (const int t : op.outputs) made[(size_t)t] = 1;
    for (const int t : op.inputs)
      if (t >= 0) read[(size_t)t] = 1;
  }
  for (size_t t = 0; t < made.size(); ++t)
    if (!made[t] && read[t] && !to.graph.tensors[t].constant) to.graph.inputs.push_back((int)t);
  to.graph.outputs = given(host.outputs);
  return to;
}

}  // namespace octet::onnxruntime
