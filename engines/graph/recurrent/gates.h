// SPDX-License-Identifier: Apache-2.0
// Computes the functions between the products of an LSTM and of an SVDF, element by element.
#pragma once

#include <cstddef>

#include "engines/graph/recurrent/fixed_point.h"

namespace octet::graph::recurrent {

// The s16 values of a gate before its activation, from the sums of the input's product and of the
// state's: each rescaled by itself, and each sum clamped to 16 bits.
void add_sums(const int32_t* of_input, const int32_t* of_state, size_t n, const Rescale& by_input,
              const Rescale& by_state, int16_t* gate);

// Three integer bits in, none out.
void sigmoid(int16_t* s16, size_t n);
// integer_bits in, from 0 to 6, none out.
void tanh(const int16_t* s16, size_t n, int integer_bits, int16_t* to);

struct CellUpdate {
  const int16_t *forget, *candidate;
  const int16_t* input;  // null: 1 - forget
  int32_t shift;         // from the product of two gates to the cell's unit, 15 to 21
  int32_t clip;          // 0: none
};
// cell = forget * cell + input * candidate, both terms rounded by themselves.
void update_cell(const CellUpdate& gates, size_t n, int16_t* cell);

// gate * tanh(cell), rescaled, plus the zero point.
void make_hidden(const int16_t* gate, const int16_t* tanh_of_cell, size_t n, const Rescale& by,
                 int32_t zero_point, int8_t* hidden);

// Rescaled sums, plus the zero point.
void to_bytes(const int32_t* sums, size_t n, const Rescale& by, int32_t zero_point, int8_t* bytes);

// The sum of a[i] * b[i] modulo 2^32.
uint32_t dot(const int16_t* a, const int16_t* b, size_t n);

}  // namespace octet::graph::recurrent
