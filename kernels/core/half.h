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

}  // namespace
}  // namespace octet
