// SPDX-License-Identifier: Apache-2.0
// Rounds floats to integers without a conversion: no SSE4.1, no libm, and the same on every ISA.
#pragma once

#include <stdint.h>

#include "kernels/core/strict_float.h"

namespace octet {
namespace {

inline int32_t float_bits(float x) {
  int32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}

inline float bits_float(int32_t bits) {
  float x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

// Exact for |x| <= 2^22 in round-to-nearest: adding 1.5 * 2^23 leaves no fraction bits and puts the
// integer into the lowest bits.
inline int32_t round_half_even(float x) {
  const float kAbove = 12582912.0f;
  return float_bits(x + kAbove) - float_bits(kAbove);
}

// The nearest whole number from least to most, which are within +-2^22; least for NaN.
inline int32_t round_within(float x, float least, float most) {
  x = x > least ? x : least;
  return round_half_even(x < most ? x : most);
}

}  // namespace
}  // namespace octet
