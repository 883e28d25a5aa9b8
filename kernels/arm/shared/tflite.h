// SPDX-License-Identifier: Apache-2.0
// TFLite mode's arithmetic on NEON, for any accumulator. Each of its two roundings is one
// instruction, except that SRSHL rounds halves of negative numbers up.
#pragma once

#include "kernels/arm/shared/intrinsics.h"
#include "kernels/core/compiler.h"
#include "kernels/core/epilogue.h"

namespace octet {
namespace {

// Subtracts 1 where negative, which rounds halves away from zero. No product is small enough to
// wrap.
OCTET_INLINE inline int32x4_t less_if_negative(int32x4_t high) {
#if defined(__aarch64__)
  __asm__("ssra %0.4s, %0.4s, #31" : "+w"(high));  // GCC 12 would copy it first
  return high;
#else
  return vsraq_n_s32(high, high, 31);
#endif
}

struct TfliteVector {
  int32x4_t multiplier, left, right;  // right: negative, or 0

  OCTET_INLINE inline void set(int32x4_t m, int32x4_t shift) {
    multiplier = m;
    left = vmaxq_s32(shift, vdupq_n_s32(0));
    right = vminq_s32(shift, vdupq_n_s32(0));
  }
  OCTET_INLINE inline int32x4_t scale(int32x4_t x) const { return divided(vshlq_s32(x, left)); }
  // Without the shift to the left.
  OCTET_INLINE inline int32x4_t divided(int32x4_t x) const {
    const int32x4_t high = vqrdmulhq_s32(x, multiplier);
    // Subtracts 1 where negative and divided
    return vrshlq_s32(vsraq_n_s32(high, vandq_s32(high, right), 31), right);
  }
};

OCTET_INLINE inline TfliteVector tflite_vector(const TfliteScale& s) {
  TfliteVector v;
  v.set(vdupq_n_s32(s.multiplier), vdupq_n_s32(s.shift));
  return v;
}

}  // namespace
}  // namespace octet
