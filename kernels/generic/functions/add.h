// Adds two tensors in the arithmetics of TensorFlow Lite, XNNPACK, ONNX Runtime and ONNX.
// Differences are sums with a negative factor of b.
#pragma once

#include "kernels/core/strict_float.h"
#include "kernels/generic/functions/elementwise.h"
#include "kernels/generic/functions/fused.h"
#include "kernels/generic/functions/walk.h"
#include "kernels/generic/round.h"

namespace octet {
namespace {

OCTET_INLINE inline int32_t within(int32_t x, int32_t lo, int32_t hi) {
  x = x < lo ? lo : x;
  return x > hi ? hi : x;
}
OCTET_INLINE inline float within(float x, float lo, float hi) {
  x = x > lo ? x : lo;
  return x < hi ? x : hi;
}

// Calls element(a - zero a, b - zero b) for all elements; what it returns is clamped, as it is
// before the output's zero point is added.
template <typename Element>
OCTET_INLINE inline void for_each_pair(const BinaryPlan& p, const octet_network_call& call,
                                       const Element& element) {
  const uint8_t flip_a = p.flip[0], flip_b = p.flip[1], flip = p.flip[2];
  const int32_t zero_a = p.zero[0], zero_b = p.zero[1], zero = p.zero[2];
  const int32_t least = p.least - zero, most = p.most - zero;
  for_each_chunk_of_two(
      call, call.inputs[p.swaps], call.inputs[!p.swaps], p.one_pixel,
      [&](const uint8_t* a, const uint8_t* b, uint8_t* out) __attribute__((always_inline)) {
        uint8_t made[kFunctionChunk];
        for (size_t i = 0; i < kFunctionChunk; ++i) {
          const int32_t value =
              element((uint8_t)(a[i] ^ flip_a) - zero_a, (uint8_t)(b[i] ^ flip_b) - zero_b);
          made[i] = (uint8_t)(within(value, least, most) + zero) ^ flip;
        }
        __builtin_memcpy(out, made, sizeof made);
      });
}

// gemmlowp's RoundingDivideByPOT of |x| < 2^30, bits >= 0: halves away from zero.
struct RoundingShift {
  explicit RoundingShift(int32_t shift)
      : bits(shift), half(shift ? 1 << (shift - 1) : 0), sign(shift ? -1 : 0) {}
  OCTET_INLINE int32_t right(int32_t x) const { return (x + half + ((x >> 31) & sign)) >> bits; }
  int32_t bits, half, sign;
};

// gemmlowp's SaturatingRoundingDoublingHighMul(x << 20, multiplier) of |x| < 2^9 is
// (x * multiplier + 2^10) >> 11: halves towards plus infinity. The multiplier in two parts keeps
// that within int32.
struct ShiftedMultiplier {
  explicit ShiftedMultiplier(int32_t multiplier) : high(multiplier >> 11), low(multiplier & 2047) {}
  OCTET_INLINE int32_t times(int32_t x) const { return x * high + ((x * low + 1024) >> 11); }
  int32_t high, low;
};

// The same of x and a multiplier in [0, 2^31), in unsigned 64 bits: no CPU below AVX-512 shifts
// signed ones as vectors.
OCTET_INLINE inline int32_t high_product(int32_t x, int32_t multiplier) {
  const int64_t product = (int64_t)x * multiplier + ((int64_t)1 << 30);
  return (int32_t)(uint32_t)((uint64_t)product >> 31);
}

// TensorFlow Lite: both inputs shifted left by 20 bits and scaled, the sum scaled.
inline void add_tflite(void* plan, const octet_network_call* call) {
  const BinaryPlan& p = *(const BinaryPlan*)plan;
  const ShiftedMultiplier of_a(p.multiplier[0]), of_b(p.multiplier[1]);
  const RoundingShift shift_a(p.shift[0]), shift_b(p.shift[1]), shift(p.shift[2]);
  const int32_t multiplier = p.multiplier[2];
  for_each_pair(
      p, *call, [&](int32_t a, int32_t b) __attribute__((always_inline)) {
        const int32_t sum = shift_a.right(of_a.times(a)) + shift_b.right(of_b.times(b));
        return shift.right(high_product(sum, multiplier));
      });
}

// XNNPACK: factors of 21 bits and one shift, halves towards plus infinity.
inline void add_fixed(void* plan, const octet_network_call* call) {
  const BinaryPlan& p = *(const BinaryPlan*)plan;
  const int32_t factor_a = p.multiplier[0], factor_b = p.multiplier[1], half = p.offset,
                shift = p.shift[2];
  for_each_pair(
      p, *call, [&](int32_t a, int32_t b) __attribute__((always_inline)) {
        return (a * factor_a + b * factor_b + half) >> shift;
      });
}

// ONNX: dequantized, added, quantized.
inline void add_float(void* plan, const octet_network_call* call) {
  const BinaryPlan& p = *(const BinaryPlan*)plan;
  const float scale_a = p.scale[0], scale_b = p.scale[1], scale = p.scale[2];
  const float least = (float)(p.least - p.zero[2]), most = (float)(p.most - p.zero[2]);
  for_each_pair(
      p, *call, [&](int32_t a, int32_t b) __attribute__((always_inline)) {
        const float sum = ((float)a * scale_a + (float)b * scale_b) / scale;
        return round_half_even(within(sum, least, most));
      });
}

// ONNX Runtime: fma(a, scale a, fma(b, scale b, fixed)) with the zero points in `fixed`. Here the
// plan's zero points of a and b are those of no bytes but of the type: a and b come as stored.
template <bool far>
inline void add_fused(void* plan, const octet_network_call* call) {
  const BinaryPlan& p = *(const BinaryPlan*)plan;
  const double scale_a = p.scale[0], scale_b = p.scale[1], fixed = p.fixed;
  const int32_t flip = p.flip[2], zero = p.zero[2] - flip;
  const float least = (float)(p.least - flip), most = (float)(p.most - flip);
  for_each_pair(
      p, *call, [&](int32_t a, int32_t b) __attribute__((always_inline)) {
        const float second = fused<far>((double)b, scale_b, fixed);
        const float sum = fused<far>((double)a, scale_a, second);
        return round_half_even(within(sum, least, most)) - zero;
      });
}

}  // namespace
}  // namespace octet
