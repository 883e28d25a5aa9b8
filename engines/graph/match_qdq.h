// SPDX-License-Identifier: Apache-2.0
// Finds quantized operators in graphs that compute in floats between DQ and Q.
#pragma once

#include "engines/graph/graph.h"

namespace octet::graph {

// ONNX models hold an operator on bytes as a group: DequantizeLinear of each input, the operator on
// f32, QuantizeLinear of its result. Returns the graph with such groups as single operators on 8
// bits, in an order in which they can run; made_of tells the operators of each group. All other
// operators stay as they are. A DequantizeLinear (kDequantize) and a QuantizeLinear (kQuantize)
// have their scale and zero point on their tensor of 8 bits, or of int32 for a bias.
//
// Groups are: a convolution or product, then an activation, then an addition of another
// dequantized tensor with an activation, each or not, then QuantizeLinear, or, of a convolution or
// product without an addition, a result that stays f32; any other operator with an activation or
// not; DequantizeLinear and QuantizeLinear alone. No operator outside of a group reads a tensor
// inside of it. Throws if the graph is none.
Graph match_qdq(const Graph& graph);

}  // namespace octet::graph
