// SPDX-License-Identifier: Apache-2.0
// Reads f16 (IEEE 754 binary16) without instructions for it.
#pragma once

#include <stdint.h>

namespace octet {
namespace {

constexpr bool is_finite_half(uint32_t half) { return (half & 0x7c00) != 0x7c00; }

// Of a finite one.
inline float float_of_half(uint16_t half) {
  const uint32_t magnitude = half & 0x7fffu;
  float value;
  if (magnitude < 0x400) {  // no exponent: units of 2^-24
    value = (float)(int32_t)magnitude * (1.0f / (1 << 24));
  } else {
    const uint32_t bits = (magnitude << 13) + (112u << 23);
    __builtin_memcpy(&value, &bits, sizeof value);
  }
  return half & 0x8000u ? -value : value;
}

constexpr float kHalfOverflow = 65520;  // rounds to 2^16, which f16 has no more

// The nearest f16, half to even, of 0 or more and below kHalfOverflow.
inline uint16_t half_of_float(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  if (value < 1.0f / (1 << 14)) {  // no exponent: 0.5 + 2^-24 i has i as its mantissa
    const float shifted = value + 0.5f;
    __builtin_memcpy(&bits, &shifted, sizeof bits);
    return (uint16_t)(bits - (126u << 23));
  }
  bits += 0xfff + (bits >> 13 & 1);  // a tie goes to the even one
  return (uint16_t)((bits >> 13) - (112u << 10));
}

// The same as a float; infinite from kHalfOverflow on. NaN stays NaN.
inline float rounded_to_half(float value) {
  return value < kHalfOverflow    ? float_of_half(half_of_float(value))
         : value >= kHalfOverflow ? __builtin_inff()
                                  : value;
}

}  // namespace
}  // namespace octet
