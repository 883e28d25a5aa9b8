// Shared code of functions of two tensors: the loop over pairs of elements, and TensorFlow Lite's
// fixed-point steps.
#pragma once

#include "kernels/core/strict_float.h"
#include "kernels/generic/functions/elementwise.h"
#include "kernels/generic/functions/walk.h"

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

// gemmlowp's SaturatingRoundingDoublingHighMul for a multiplier in [0, 2^31), in unsigned 64 bits:
// no CPU below AVX-512 shifts signed ones as vectors.
OCTET_INLINE inline int32_t high_product(int32_t x, int32_t multiplier) {
  const int64_t product = (int64_t)x * multiplier + ((int64_t)1 << 30);
  return (int32_t)(uint32_t)((uint64_t)product >> 31);
}

}  // namespace
}  // namespace octet
