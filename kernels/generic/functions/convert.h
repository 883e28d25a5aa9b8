// SPDX-License-Identifier: Apache-2.0
// Converts floats to 8 or 16 bits, and back.
#pragma once

#include "kernels/core/strict_float.h"
#include "kernels/generic/functions/pairs.h"
#include "kernels/generic/round.h"

namespace octet {
namespace {

// Halves away from zero, of |x| <= 2^21: the difference to the nearest integer is exact.
OCTET_INLINE inline int32_t round_half_away(float x) {
  const float size = bits_float(float_bits(x) & 0x7fffffff);
  const int32_t sign = float_bits(x) >> 31, even = round_half_even(size);
  const int32_t away = even + (size - (float)even == 0.5f ? 1 : 0);
  return (away ^ sign) - sign;
}

template <Rounding rounding, typename To>
inline void quantize(const ConvertPlan& p, const float* from, void* to_any, size_t count) {
  To* const to = (To*)to_any;
  const int32_t zero = p.zero;
  const float scale = p.scale, least = (float)(p.least - zero), most = (float)(p.most - zero);
  for (size_t first = 0; first < count; first += kConverted) {
    int32_t made[kConverted];
    for (size_t i = 0; i < kConverted; ++i) {
      float x = from[first + i];
      if (rounding == Rounding::kXnnpack) {
        x = x * scale;
        x = x < most ? x : most;  // NaN, too
        x = x > least ? x : least;
      } else {
        x = within((x == x ? x : 0) / scale, least, most);
      }
      made[i] = (rounding == Rounding::kAway ? round_half_away(x) : round_half_even(x)) + zero;
    }
    for (size_t i = 0; i < kConverted; ++i) to[first + i] = (To)made[i];
  }
}

inline void dequantize(const ConvertPlan& p, const void* from_any, float* to, size_t count) {
  const uint8_t* const from = (const uint8_t*)from_any;
  const uint8_t flip = p.flip;
  const int32_t zero = p.zero;
  const float scale = p.scale;
  for (size_t first = 0; first < count; first += kConverted)
    for (size_t i = first; i < first + kConverted; ++i)
      to[i] = (float)((uint8_t)(from[i] ^ flip) - zero) * scale;
}

inline void dequantize_s16(const ConvertPlan& p, const void* from_any, float* to, size_t count) {
  const int16_t* const from = (const int16_t*)from_any;
  const float scale = p.scale;
  for (size_t first = 0; first < count; first += kConverted)
    for (size_t i = first; i < first + kConverted; ++i) to[i] = (float)from[i] * scale;
}

}  // namespace
}  // namespace octet
