// SPDX-License-Identifier: Apache-2.0
// Converts accumulators to f32 in registers, for kernels with kStoresFloats: AArch64 only, because
// vectors of ARMv7 have no denormals.
#pragma once

#include "kernels/arm/shared/intrinsics.h"
#include "kernels/core/compiler.h"
#include "kernels/core/micro_kernel.h"

namespace octet {
namespace {

#if defined(__aarch64__)
constexpr uint16_t kStoresFloatsHere = kStoresFloats;
#else
constexpr uint16_t kStoresFloatsHere = 0;
#endif
// The stores of Arm's kernels.
constexpr uint16_t kStores =
    kRequantizes | kRequantizes16 | kRequantizesTflite | kTfliteRightShiftOnly | kStoresFloatsHere;

// The scales and biases of four columns. Tile::scale stays the column's that `at` counts from.
struct FloatColumns {
  float32x4_t scale, bias;

  OCTET_INLINE static inline FloatColumns at(const float* scales, ptrdiff_t bias_apart) {
    // -0 changes no float
    return {vld1q_f32(scales), bias_apart ? vld1q_f32(scales + bias_apart) : vdupq_n_f32(-0.0f)};
  }
  template <typename F>
  OCTET_INLINE inline FloatColumns shuffled(const F& f) const {
    const auto moved = [&](float32x4_t x) OCTET_INLINE {
      return vreinterpretq_f32_s32(f(vreinterpretq_s32_f32(x)));
    };
    return {moved(scale), moved(bias)};
  }
  // The multiply and the add round separately: -ffp-contract=off.
  OCTET_INLINE inline float32x4_t of(int32x4_t acc) const {
    return vaddq_f32(vmulq_f32(vcvtq_f32_s32(acc), scale), bias);
  }
};

// Whether a kernel converts a tile from registers. Clamped ones are few: like tiles that are not
// full, they are stored as s32 and then converted where they lie, so that one text serves them all.
inline bool floats_leave_registers(const Tile& t) {
  return kStoresFloatsHere && !t.requantization->clamps;
}

// A -0 at a limit of +0 stays -0, and NaN stays NaN: FMAX and FMIN would change both.
OCTET_INLINE inline float32x4_t clamped(float32x4_t x, float32x4_t lo, float32x4_t hi) {
  x = vbslq_f32(vcgtq_f32(lo, x), lo, x);
  return vbslq_f32(vcgtq_f32(x, hi), hi, x);
}

// load_row_scale() gives the scale of the lanes' rows.
template <bool row_scaled, typename F>
OCTET_INLINE inline float32x4_t floats(int32x4_t acc, FloatColumns& by, const F& load_row_scale) {
  pin(by.scale);  // else GCC 12 keeps them in memory
  pin(by.bias);
  return FloatColumns{row_scaled ? vmulq_f32(load_row_scale(), by.scale) : by.scale, by.bias}.of(
      acc);
}

// Calls f(Int<row_scaled>).
template <typename F>
OCTET_INLINE inline void by_row_scaled(const float* row_scale, const F& f) {
  if (row_scale)
    f(Int<1>{});
  else
    f(Int<0>{});
}

}  // namespace

// Converts the tile's columns from `column` on, whose accumulators a kernel has stored to t.dst.
#if defined(__aarch64__)
void floats_in_place(const Tile& t, size_t column);
#else
inline void floats_in_place(const Tile&, size_t) {}
#endif

}  // namespace octet
