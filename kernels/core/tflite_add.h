// TFLite's ADD of two bytes in one rounding. Each of its two inputs has 256 values, so create can
// look at all pairs, and finds for nearly all scales two factors and an offset with which
//
//     x * factor[0] + r * factor[1] + offset >> right
//
// is what the three roundings of the definition give. The factors have up to 22 bits, more than a
// multiply-add of words takes, so that they come in two parts.
#pragma once

#include <stdint.h>

namespace octet {

// Of a product's byte x and a residual's byte r, both as unsigned; s8 ones with the top bit
// flipped. The sum has the output's zero point, and is not clamped yet.
struct TfliteAdd {
  int16_t high[2], low[2];  // factor = high << left | low
  int32_t offset;           // before it is shifted left, too
  int32_t left, right;

  int32_t of(int32_t x, int32_t r) const {
    const int32_t sum = x * high[0] + r * high[1] + offset;
    return ((int32_t)((uint32_t)sum << left) + x * low[0] + r * low[1]) >> right;
  }
};

}  // namespace octet
