// SPDX-License-Identifier: Apache-2.0
// Reads sizes, scales and zero points of an LSTM, and refuses forms that Octet does not compute.
#include <cmath>

#include "engines/graph/recurrent/lstm.h"
#include "engines/graph/recurrent/operands.h"
#include "engines/graph/refused.h"
#include "engines/graph/sizes.h"

namespace octet::graph::recurrent {
namespace {

// graph.h has the order of the inputs: of four, those of the input, forget, cell and output gate.
enum : size_t {
  kX = 0,
  kInputWeights = 1,
  kStateWeights = 5,
  kBiases = 9,
  kProjection = 13,
  kProjectionBias = 14,
  kOutputState = 15,
  kCellState = 16,
  kInputs = 17
};
constexpr size_t kPlaces[kGates] = {1, 2, 3, 0};  // of each gate among such four

void read_sizes(const Operands& operands, const Op& op, LstmNumbers* n) {
  const size_t rank = operands.input(kX).shape.size();
  n->time_major = op.time_major;
  n->batch = operands.size(kX, rank == 2 ? 2 : 3, op.time_major && rank != 2 ? 1 : 0);
  n->steps = rank == 2 ? 1 : operands.size(kX, 3, op.time_major ? 0 : 1);
  n->depth = operands.size(kX, rank, rank - 1);
  n->cells = operands.size(kInputWeights + kPlaces[kForget], 2, 0);
  n->outputs = operands.size(kStateWeights + kPlaces[kForget], 2, 1);
  n->gates = operands.has(kInputWeights) ? kGates : kInputGate;
  for (const size_t first : {kStateWeights, kBiases})
    if (operands.has(first) != operands.has(kInputWeights))
      refuse("it has some of its input gate's weights and bias, but not all");
  if (operands.has(kProjectionBias) && !operands.has(kProjection))
    refuse("it has the bias of a projection, but not its weights");
  if (!operands.has(kProjection) && n->outputs != n->cells)
    refuse("it has ", n->cells, " cells and ", n->outputs, " outputs, and no projection");
  const Tensor& y = operands.output();
  if (!known_sizes(y) || element_count(y) != n->batch * n->steps * n->outputs)
    refuse("its output does not have ", n->outputs, " elements for each step");
}

// An integer where a real bound ends, cut off towards zero, at most `most`.
int32_t clip_of(float bound, float scale, float most) {
  if (!(bound >= 0)) refuse("one of its clips is ", bound, ", which is below 0");
  return (int32_t)std::fmin(bound / scale, most);
}

// TensorFlow Lite computes factors in float.
void read_factors(const Operands& operands, LstmNumbers* n) {
  constexpr float kUnit = 0x1p-12f;  // of the s16 values before an activation
  const float x = scale_of(operands.input(kX)), state = scale_of(operands.input(kOutputState));
  for (size_t gate = 0; gate < n->gates; ++gate) {
    n->by_input[gate] = rescale_of(scale_of(*n->input_weights[gate]) * x / kUnit);
    n->by_state[gate] = rescale_of(scale_of(*n->state_weights[gate]) * state / kUnit);
  }
}

void read_cell(const Operands& operands, LstmNumbers* n) {
  const Tensor& cell = operands.state(kCellState, OCTET_S16, n->batch * n->cells);
  int exponent = 0;
  const float fraction = std::frexp(scale_of(cell), &exponent);
  n->cell_bits = 15 + exponent - 1;
  if (fraction != 0.5f || n->cell_bits < 0 || n->cell_bits > 6)
    refuse("its cell state has the scale ", scale_of(cell),
           ", which is no power of two from 2^-15 to 2^-9");
  if (zero_of(cell) != 0) refuse("its cell state has a zero point; it must be 0");
}

void read_hidden(const Graph& graph, const Op& op, LstmNumbers* n, float state) {
  if (op.hidden < 0) refuse("the tensor of its cells' outputs is left out");
  const Tensor& hidden = graph.tensors[(size_t)op.hidden];
  // Their zero point is added in int32
  if (hidden.type != OCTET_S8) refuse("its cells' outputs are not of int8");
  if (hidden.scales.size() != 1)
    refuse("its cells' outputs have ", hidden.scales.size(), " scales; they need one");
  n->hidden_zero = zero_of(hidden);
  n->by_hidden = rescale_of((float)(0x1p-15 / scale_of(hidden) * 0x1p-15));
  if (n->by_hidden.shift > 0) refuse("the scale of its cells' outputs is below 2^-30");
  if (n->projection)
    n->by_projection = rescale_of(scale_of(*n->projection) * scale_of(hidden) / state);
}

}  // namespace

LstmNumbers read_lstm(const Graph& graph, const Op& op) {
  const Operands operands(graph, op, kInputs);
  LstmNumbers n;
  read_sizes(operands, op, &n);
  for (size_t gate = 0; gate < n.gates; ++gate) {
    const size_t place = kPlaces[gate];
    n.input_weights[gate] = &operands.weights(kInputWeights + place, OCTET_S8, n.cells, n.depth);
    n.state_weights[gate] = &operands.weights(kStateWeights + place, OCTET_S8, n.cells, n.outputs);
    n.biases[gate] = &operands.bias(kBiases + place, n.cells);
  }
  if (operands.has(kProjection))
    n.projection = &operands.weights(kProjection, OCTET_S8, n.outputs, n.cells);
  if (operands.has(kProjectionBias)) n.projection_bias = &operands.bias(kProjectionBias, n.outputs);
  const Tensor& state = operands.state(kOutputState, OCTET_S8, n.batch * n.outputs);
  n.x_zero = zero_of(operands.input(kX)), n.output_zero = zero_of(state);
  if (op.clamp.activation != Activation::kNone) refuse("it has a fused activation");
  read_cell(operands, &n);
  read_factors(operands, &n);
  read_hidden(graph, op, &n, scale_of(state));
  n.cell_clip = clip_of(op.cell_clip, scale_of(operands.input(kCellState)), 32767);
  n.projection_clip = clip_of(op.projection_clip, scale_of(operands.output()), 127);
  return n;
}

}  // namespace octet::graph::recurrent
