// SPDX-License-Identifier: Apache-2.0
// Computes TFLite's ADD of two 8-bit values in one rounding. Each input has 256 values, so create
// can check all pairs, and finds for nearly all scales two factors and an offset such that
//
//     x * factor[0] + r * factor[1] + offset >> right
//
// equals the result of the definition's three roundings. The factors have up to 23 bits, too many
// for an int16 multiply-add, so each is split in two.
#pragma once

#include <stdint.h>

namespace octet {

// x is the product's value and r the residual's, both as u8; an s8 value has its top bit flipped.
// The sum includes the output's zero point and is not clamped yet.
struct TfliteAdd {
  int16_t high[2], low[2];  // factor = high << left | low
  int32_t offset;
  int32_t left, right;
  // The sum, too, is what the factors make of both values less their zero points, shifted with
  // rounding, + the output's zero point; right > 0
  bool rounds;

  int32_t factor(int i) const { return (int32_t)((uint32_t)high[i] << left) | low[i]; }
  // Sums modulo 2^32, as vectors do: only the last one fits 32 bits for all x and r.
  int32_t of(int32_t x, int32_t r) const {
    const uint32_t upper = (uint32_t)(x * high[0] + r * high[1]) << left;
    return (int32_t)(upper + (uint32_t)offset + (uint32_t)(x * low[0] + r * low[1])) >> right;
  }
};

}  // namespace octet
