// SPDX-License-Identifier: Apache-2.0
// Defines TFLite's MultiplyByQuantizedMultiplier with two roundings.
#pragma once

#include <stdint.h>

namespace octet {
namespace {

// gemmlowp's SaturatingRoundingDoublingHighMul for a multiplier >= 0: rounds halves towards plus
// infinity.
inline int32_t doubling_high_mul(int32_t x, int32_t multiplier) {
  return (int32_t)(((int64_t)x * multiplier + ((int64_t)1 << 30)) >> 31);
}

// gemmlowp's RoundingDivideByPOT: halves away from zero.
inline int32_t rounding_shift_right(int32_t x, int32_t shift) {
  const int32_t mask = (int32_t)(((int64_t)1 << shift) - 1);
  return (x >> shift) + ((x & mask) > (mask >> 1) + (x < 0) ? 1 : 0);
}

inline int32_t tflite_scale(int32_t x, int32_t multiplier, int32_t shift) {
  const int32_t left = shift > 0 ? shift : 0;
  return rounding_shift_right(doubling_high_mul((int32_t)((uint32_t)x << left), multiplier),
                              left - shift);
}

}  // namespace
}  // namespace octet
