// SPDX-License-Identifier: Apache-2.0
// Describes an LSTM of TensorFlow Lite's integer form, 8x8_16, in numbers.
#pragma once

#include <vector>

#include "engines/graph/graph.h"
#include "engines/graph/recurrent/fixed_point.h"

namespace octet::graph::recurrent {

// Gates in the order in which their columns lie in the products; an LSTM may lack the last one.
enum Gate : size_t { kForget, kCandidate, kOutputGate, kInputGate, kGates };

struct LstmNumbers {
  size_t batch = 0, steps = 0, depth = 0;  // of x, batch x steps x depth; of a matrix, 1 step
  bool time_major = false;                 // x is steps x batch x depth
  size_t cells = 0, outputs = 0;
  size_t gates = 0;  // 3: the input gate is 1 - the forget gate
  int32_t x_zero = 0, output_zero = 0, hidden_zero = 0;
  Rescale by_input[kGates], by_state[kGates], by_hidden, by_projection;
  // The cells' unit is 2^-(15 - cell_bits).
  int cell_bits = 0;
  int32_t cell_clip = 0, projection_clip = 0;  // 0: none
  // Null: left out, as a projection is in most models. Else constants, for each gate.
  const Tensor* input_weights[kGates] = {};
  const Tensor* state_weights[kGates] = {};
  const Tensor* biases[kGates] = {};
  const Tensor *projection = nullptr, *projection_bias = nullptr;
};

// Throws a sentence if the operator is of another form.
LstmNumbers read_lstm(const Graph& graph, const Op& op);

}  // namespace octet::graph::recurrent
