// SPDX-License-Identifier: Apache-2.0
// Computes in the fixed-point numbers of TensorFlow Lite's integer layers.
#pragma once

#include <algorithm>
#include <cstdint>

namespace octet::graph::recurrent {

// x * multiplier / 2^31 * 2^shift, rounded twice, as TFLite mode rounds (DESIGN.md). The caller has
// shown that x shifted to the left stays in int32.
struct Rescale {
  int32_t multiplier = 0, shift = 0;
};

// x / 2^shift, halves away from zero.
inline int32_t divided(int32_t x, int32_t shift) {
  const int32_t rest = x & (int32_t)(((uint32_t)1 << shift) - 1);
  const int32_t half = (int32_t)(((uint32_t)1 << shift) >> 1) + (x < 0 ? 1 : 0);
  return (x >> shift) + (shift && rest >= half ? 1 : 0);
}

inline int32_t rescaled(int32_t x, const Rescale& by) {
  const int32_t left = std::max(by.shift, 0), right = std::max(-by.shift, 0);
  const int64_t product = (int64_t)x * ((int64_t)1 << left) * by.multiplier;
  return divided((int32_t)((product + ((int64_t)1 << 30)) >> 31), right);
}

inline int32_t saturated16(int32_t x) { return std::clamp(x, -32768, 32767); }

// Far outside of 8 and 16 bits, and a sum of two such values stays in int32.
inline int32_t near_16_bits(int32_t x) { return std::clamp(x, -(1 << 20), 1 << 20); }

// ---- s16 values of which one bit is the sign, and `integer_bits` count above 1

// The product of two s16 values, at the sum of their integer bits; halves go up.
inline int32_t multiplied(int32_t a, int32_t b) { return (a * b + (1 << 14)) >> 15; }

// exp(a) of a <= 0 with integer_bits from 1 to 7, with no integer bits: 1 is 32767. A Taylor series
// around -1/8 for the rest within a quarter, then a factor for each bit of the quarters.
inline int32_t exponential(int32_t a, int integer_bits) {
  const int32_t fraction = 15 - integer_bits, quarter = 1 << (fraction - 2);
  const int32_t rest = (a & (quarter - 1)) - quarter;  // from -1/4 on, below 0
  constexpr int32_t kOfEighth = 28918, kThird = 10923, kEighth = 1 << 12;
  const int32_t x = rest * (1 << integer_bits) + kEighth;
  const int32_t x2 = multiplied(x, x), x3 = multiplied(x2, x), x4 = multiplied(x2, x2);
  const int32_t series = x + divided(multiplied(divided(x4, 2) + x3, kThird) + x2, 1);
  int32_t y = std::min(kOfEighth + multiplied(kOfEighth, series), 32767);
  // exp(-2^k) for k from -2 to 4
  constexpr int32_t kFactors[] = {25520, 19875, 12055, 4435, 600, 11, 0};
  const int32_t quarters = rest - a;
  for (int k = 0; k < 7; ++k) {
    const int32_t bit = integer_bits > k - 2 ? 1 << (fraction + k - 2) : 0;
    y = quarters & bit ? multiplied(y, kFactors[k]) : y;
  }
  const int32_t least = integer_bits > 5 ? -(1 << (20 - integer_bits)) : -32768;  // -32
  y = a < least ? 0 : y;
  return a == 0 ? 32767 : y;
}

// 2 / (1 + a), with two integer bits, of a from 0 to 1 without integer bits: three steps of
// Newton's division from 48/17 - 32/17 * (1 + a) / 2.
inline int32_t twice_reciprocal(int32_t a) {
  const int32_t half = (a + 32768) >> 1;
  int32_t x = 23130 + multiplied(half, -15420);
  for (int step = 0; step < 3; ++step) x += multiplied(x, (1 << 13) - multiplied(half, x)) * 4;
  return x;
}

// Of x with three integer bits; without integer bits.
inline int32_t sigmoid_of(int32_t x) {
  const int32_t y = std::min(twice_reciprocal(exponential(x > 0 ? -x : x, 3)) * 2, 32767);
  return x == 0 ? 1 << 14 : x > 0 ? y : 32767 - y;
}

// Of x with integer_bits from 0 to 6; without integer bits.
inline int32_t tanh_of(int32_t x, int integer_bits) {
  // As a number with one more integer bit, an s16 value counts twice
  const int32_t of_twice = exponential(x > 0 ? -x : x, integer_bits + 1);
  const int32_t y = std::min((twice_reciprocal(of_twice) - (1 << 13)) * 4, 32767);
  return x == 0 ? 0 : x > 0 ? y : -y;
}

}  // namespace octet::graph::recurrent
