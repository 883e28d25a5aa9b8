// SPDX-License-Identifier: Apache-2.0
// Adds two tensors in the arithmetics of TensorFlow Lite, XNNPACK, ONNX Runtime and ONNX.
// Differences are sums with a negative factor of b.
#pragma once

#include "kernels/core/strict_float.h"
#include "kernels/generic/functions/fused.h"
#include "kernels/generic/functions/pairs.h"
#include "kernels/generic/round.h"

namespace octet {
namespace {

// gemmlowp's SaturatingRoundingDoublingHighMul(x << (31 - bits), multiplier) is
// (x * multiplier + 2^(bits - 1)) >> bits: halves towards plus infinity. The multiplier in two
// parts keeps that within int32, of |x| < 2^9 with 11 bits and of s16 values with 16.
template <int bits>
struct ShiftedMultiplier {
  explicit ShiftedMultiplier(int32_t multiplier)
      : high(multiplier >> bits), low(multiplier & ((1 << bits) - 1)) {}
  OCTET_INLINE int32_t times(int32_t x) const {
    return x * high + ((x * low + (1 << (bits - 1))) >> bits);
  }
  int32_t high, low;
};

// TensorFlow Lite: both inputs shifted left by 31 - bits and scaled, the sum scaled.
template <int bits>
struct TfliteSum {
  explicit TfliteSum(const BinaryPlan& p)
      : of_a(p.multiplier[0]),
        of_b(p.multiplier[1]),
        shift_a(p.shift[0]),
        shift_b(p.shift[1]),
        shift(p.shift[2]),
        multiplier(p.multiplier[2]),
        negate_a(p.negate[0]),
        negate_b(p.negate[1]) {}
  OCTET_INLINE int32_t operator()(int32_t a, int32_t b) const {
    const int32_t of_sum = shift_a.right(of_a.times(a)), addend = shift_b.right(of_b.times(b));
    const int32_t sum = (of_sum ^ negate_a) - negate_a + (addend ^ negate_b) - negate_b;
    return shift.right(high_product(sum, multiplier));
  }
  const ShiftedMultiplier<bits> of_a, of_b;
  const RoundingShift shift_a, shift_b, shift;
  const int32_t multiplier, negate_a, negate_b;
};

inline void add_tflite(const BinaryPlan& p, const uint8_t* a, const uint8_t* b, uint8_t* out,
                       size_t bytes) {
  for_each_pair(p, a, b, out, bytes, TfliteSum<11>(p));
}
inline void add_s16(const BinaryPlan& p, const uint8_t* a, const uint8_t* b, uint8_t* out,
                    size_t bytes) {
  for_each_pair_of_s16(p, a, b, out, bytes, TfliteSum<16>(p));
}

// (a * factor a + b * factor b + offset) >> shift, rounded down, in 45 bits of two 32-bit halves.
// It is XNNPACK's sum, and that of other engines where create has compared all pairs of bytes.
inline void add_fixed(const BinaryPlan& p, const uint8_t* a, const uint8_t* b, uint8_t* out,
                      size_t bytes) {
  const FixedFactor of_a(p.multiplier[0]), of_b(p.multiplier[1]);
  const int32_t offset = p.offset, shift = p.shift[2] - kFixedLow;
  for_each_pair(
      p, a, b, out, bytes, [&](int32_t a, int32_t b) __attribute__((always_inline)) {
        const int32_t low = a * of_a.low + b * of_b.low + offset;
        return (a * of_a.high + b * of_b.high + (low >> kFixedLow)) >> shift;
      });
}

// ONNX: dequantized, added, quantized.
inline void add_float(const BinaryPlan& p, const uint8_t* a, const uint8_t* b, uint8_t* out,
                      size_t bytes) {
  const float scale_a = p.scale[0], scale_b = p.scale[1], scale = p.scale[2];
  const float least = (float)(p.least - p.zero[2]), most = (float)(p.most - p.zero[2]);
  for_each_pair(
      p, a, b, out, bytes, [&](int32_t a, int32_t b) __attribute__((always_inline)) {
        const float sum = ((float)a * scale_a + (float)b * scale_b) / scale;
        return round_half_even(within(sum, least, most));
      });
}

// ONNX Runtime: fma(a, scale a, fma(b, scale b, fixed)) with the zero points in `fixed`. Here the
// plan's zero points of a and b are those of no bytes but of the type: a and b come as stored.
template <bool far>
inline void add_fused(const BinaryPlan& p, const uint8_t* a, const uint8_t* b, uint8_t* out,
                      size_t bytes) {
  const double scale_a = p.scale[0], scale_b = p.scale[1], fixed = p.fixed;
  const int32_t flip = p.flip[2], zero = p.zero[2] - flip;
  const float least = (float)(p.least - flip), most = (float)(p.most - flip);
  for_each_pair(
      p, a, b, out, bytes, [&](int32_t a, int32_t b) __attribute__((always_inline)) {
        const float second = fused<far>((double)b, scale_b, fixed);
        const float sum = fused<far>((double)a, scale_a, second);
        return round_half_even(within(sum, least, most)) - zero;
      });
}

}  // namespace
}  // namespace octet
