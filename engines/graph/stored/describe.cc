// SPDX-License-Identifier: Apache-2.0
// Describes products whose tensors of int8 are stored as uint8: types, zero points and bounds.
#include "engines/graph/products.h"
#include "engines/graph/sizes.h"

namespace octet::graph {
namespace {

template <typename Desc>
void turn_input(Desc* d) {
  d->lhs_type = OCTET_U8;
  d->lhs_zero_point += kTurned;
}

void turn_bounds(octet_activation activation, float* least, float* most) {
  if (activation == OCTET_ACTIVATION_CLAMP) *least += kTurned, *most += kTurned;
}

void turn_residual(const Op& op, octet_epilogue* e) {
  e->residual.type = OCTET_U8, e->residual.zero_point += kTurned;
  if (op.between < 0) return;  // bounds of the product are in steps from zero
  e->residual.intermediate_zero_point += kTurned;
  turn_bounds(e->product_activation, &e->product_clamp_min, &e->product_clamp_max);
}

}  // namespace

void describe_stored(const Graph& graph, const Op& op, ProductDescription* to) {
  if (graph.tensors[(size_t)op.inputs[0]].stored_unsigned)
    to->is_convolution ? turn_input(&to->conv) : turn_input(&to->gemm);
  if (!graph.tensors[(size_t)op.outputs[0]].stored_unsigned) return;
  (to->is_convolution ? to->conv.dst_type : to->gemm.dst_type) = OCTET_U8;
  if (op.kind == Kind::kConvolution) to->filter.dst_type = OCTET_U8;
  octet_epilogue& e = to->epilogue();
  e.dst_zero_point += kTurned;
  turn_bounds(e.activation, &e.clamp_min, &e.clamp_max);
  if (e.residual.type) turn_residual(op, &e);
  if (!e.lut) return;
  constexpr size_t kUpper = 0x80;
  for (size_t i = 0; i < op.table.size(); ++i)
    to->table.push_back((uint8_t)(op.table[i ^ kUpper] ^ kUpper));
  e.lut = to->table.data();
}

}  // namespace octet::graph
