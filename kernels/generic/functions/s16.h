// SPDX-License-Identifier: Apache-2.0
// Computes functions of one value of 16 bits as TensorFlow Lite does: rescaling, also to and from
// 8 bits, and curves of straight pieces.
#pragma once

#include "kernels/generic/functions/pairs.h"

namespace octet {
namespace {

// Multipliers take numbers of which create has shown that no shift to the left leaves 31 bits.
struct S16Rescaler {
  explicit S16Rescaler(const S16Scale& s)
      : multiplier(s.multiplier), left(s.left), shift(s.right) {}
  OCTET_INLINE int32_t scaled(int32_t x) const {
    return shift.right(high_product((int32_t)((uint32_t)x << left), multiplier));
  }
  int32_t multiplier, left;
  RoundingShift shift;
};

// by_sign: numbers below 0 have a scale of their own, LEAKY_RELU's.
template <typename From, typename To, bool by_sign>
inline void rescale(const S16Plan& p, const void* from_any, void* to_any, size_t count) {
  const From* const from = (const From*)from_any;
  To* const to = (To*)to_any;
  const S16Rescaler above(p.scale[0]), below(p.scale[1]);
  const int32_t zero = p.zero, out_zero = p.out_zero;
  const int32_t least = p.least - out_zero, most = p.most - out_zero;
  for (size_t first = 0; first < count; first += kSideBySide) {
    From x[kSideBySide];
    To made[kSideBySide];
    __builtin_memcpy(x, from + first, sizeof x);
    for (size_t i = 0; i < kSideBySide; ++i) {
      const int32_t number = x[i] - zero;
      int32_t value = above.scaled(number);
      if (by_sign) {
        const int32_t of_negative = below.scaled(number);
        value = number < 0 ? of_negative : value;
      }
      made[i] = (To)(within(value, least, most) + out_zero);
    }
    __builtin_memcpy(to + first, made, sizeof made);
  }
}

// A curve that is symmetric to its place at 0: the piece of the number's size, then the number's
// side.
inline void curve(const S16Plan& p, const void* from_any, void* to_any, size_t count) {
  const int16_t* const from = (const int16_t*)from_any;
  int16_t* const to = (int16_t*)to_any;
  const int32_t multiplier = p.scale[0].multiplier, right = p.scale[0].right, half = p.half;
  const int32_t fraction = p.fraction, rest = (1 << fraction) - 1, last = kCurvePieces - 1;
  const int32_t add = p.add, subtract_from = p.subtract_from, shift = p.shift;
  const int32_t least = p.least, most = p.most;
  for (size_t first = 0; first < count; first += kSideBySide) {
    int16_t x[kSideBySide], made[kSideBySide];
    __builtin_memcpy(x, from + first, sizeof x);
    for (size_t i = 0; i < kSideBySide; ++i) {
      const int32_t number = (x[i] * multiplier + half) >> right,
                    size = number < 0 ? -number : number;
      const int32_t piece = size >> fraction;
      const uint32_t line = p.pieces[piece < last ? piece : last];
      const int32_t value =
          (int32_t)((line & 65535) << fraction) + (size & rest) * (int32_t)(line >> 16);
      const int32_t sided = number < 0 ? subtract_from - value : value + add;
      made[i] = (int16_t)within(sided >> shift, least, most);
    }
    __builtin_memcpy(to + first, made, sizeof made);
  }
}

}  // namespace
}  // namespace octet
