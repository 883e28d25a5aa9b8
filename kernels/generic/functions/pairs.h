// SPDX-License-Identifier: Apache-2.0
// Shared code of functions of two tensors: the loop over pairs of elements, and TensorFlow Lite's
// fixed-point steps.
#pragma once

#include "kernels/core/compiler.h"
#include "kernels/core/strict_float.h"
#include "kernels/generic/functions/elementwise.h"

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

// Elements whose values are computed side by side: two vectors of most CPUs.
constexpr size_t kSideBySide = kLeastPairs;

// Where a block of so many bytes begins: the last one ends with the last byte.
OCTET_INLINE inline size_t block_at(size_t first, size_t block, size_t bytes) {
  return first + block <= bytes ? first : bytes - block;
}

// Calls element(a - zero a, b - zero b) for all elements; its result is clamped before the output's
// zero point is added.
template <typename Element>
OCTET_INLINE inline void for_each_pair(const BinaryPlan& p, const uint8_t* a, const uint8_t* b,
                                       uint8_t* out, size_t bytes, const Element& element) {
  const uint8_t flip_a = p.flip[0], flip_b = p.flip[1], flip = p.flip[2];
  const int32_t zero_a = p.zero[0], zero_b = p.zero[1], zero = p.zero[2];
  const int32_t least = p.least - zero, most = p.most - zero;
  for (size_t first = 0; first < bytes; first += kSideBySide) {
    const size_t at = block_at(first, kSideBySide, bytes);
    uint8_t made[kSideBySide];
    for (size_t i = 0; i < kSideBySide; ++i) {
      const int32_t value =
          element((uint8_t)(a[at + i] ^ flip_a) - zero_a, (uint8_t)(b[at + i] ^ flip_b) - zero_b);
      made[i] = (uint8_t)(within(value, least, most) + zero) ^ flip;
    }
    __builtin_memcpy(out + at, made, sizeof made);
  }
}

// The same for s16 values, whose zero points are 0.
template <typename Element>
OCTET_INLINE inline void for_each_pair_of_s16(const BinaryPlan& p, const uint8_t* a,
                                              const uint8_t* b, uint8_t* out, size_t bytes,
                                              const Element& element) {
  const int32_t least = p.least, most = p.most;
  for (size_t first = 0; first < bytes; first += kSideBySide * sizeof(int16_t)) {
    const size_t at = block_at(first, kSideBySide * sizeof(int16_t), bytes);
    int16_t of_a[kSideBySide], of_b[kSideBySide], made[kSideBySide];
    __builtin_memcpy(of_a, a + at, sizeof of_a);
    __builtin_memcpy(of_b, b + at, sizeof of_b);
    for (size_t i = 0; i < kSideBySide; ++i)
      made[i] = (int16_t)within(element((int32_t)of_a[i], (int32_t)of_b[i]), least, most);
    __builtin_memcpy(out + at, made, sizeof made);
  }
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
