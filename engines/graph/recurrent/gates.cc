// SPDX-License-Identifier: Apache-2.0
// Loops of the elementwise steps, of fixed-point numbers.
#include "engines/graph/recurrent/gates.h"

namespace octet::graph::recurrent {
namespace {

// A loop for each number of integer bits: with it known, compilers make vectors of the loop.
template <int integer_bits>
void tanh_loop(const int16_t* s16, size_t n, int16_t* to) {
  for (size_t i = 0; i < n; ++i) to[i] = (int16_t)tanh_of(s16[i], integer_bits);
}
constexpr decltype(&tanh_loop<0>) kTanhLoops[] = {tanh_loop<0>, tanh_loop<1>, tanh_loop<2>,
                                                  tanh_loop<3>, tanh_loop<4>, tanh_loop<5>,
                                                  tanh_loop<6>};

}  // namespace

void add_sums(const int32_t* of_input, const int32_t* of_state, size_t n, const Rescale& by_input,
              const Rescale& by_state, int16_t* gate) {
  for (size_t i = 0; i < n; ++i) {
    const int32_t first = saturated16(rescaled(of_input[i], by_input));
    gate[i] = (int16_t)saturated16(first + near_16_bits(rescaled(of_state[i], by_state)));
  }
}

void sigmoid(int16_t* s16, size_t n) {
  for (size_t i = 0; i < n; ++i) s16[i] = (int16_t)sigmoid_of(s16[i]);
}

void tanh(const int16_t* s16, size_t n, int integer_bits, int16_t* to) {
  kTanhLoops[integer_bits](s16, n, to);
}

void update_cell(const CellUpdate& g, size_t n, int16_t* cell) {
  for (size_t i = 0; i < n; ++i) {
    const int32_t forget = g.forget[i], input = g.input ? g.input[i] : 32767 - forget;
    const int32_t kept = divided(forget * cell[i], 15);
    const int32_t added = divided(input * g.candidate[i], g.shift);
    const int32_t sum = saturated16(kept + added);
    cell[i] = (int16_t)(g.clip ? std::clamp(sum, -g.clip, g.clip) : sum);
  }
}

void make_hidden(const int16_t* gate, const int16_t* tanh_of_cell, size_t n, const Rescale& by,
                 int32_t zero_point, int8_t* hidden) {
  for (size_t i = 0; i < n; ++i) {
    const int32_t value = near_16_bits(rescaled(gate[i] * tanh_of_cell[i], by)) + zero_point;
    hidden[i] = (int8_t)std::clamp(value, -128, 127);
  }
}

void to_bytes(const int32_t* sums, size_t n, const Rescale& by, int32_t zero_point, int8_t* bytes) {
  for (size_t i = 0; i < n; ++i) {
    const int32_t value = near_16_bits(rescaled(sums[i], by)) + zero_point;
    bytes[i] = (int8_t)std::clamp(value, -128, 127);
  }
}

uint32_t dot(const int16_t* a, const int16_t* b, size_t n) {
  uint32_t sum = 0;
  for (size_t i = 0; i < n; ++i) sum += (uint32_t)(a[i] * b[i]);
  return sum;
}

}  // namespace octet::graph::recurrent
