// SPDX-License-Identifier: Apache-2.0
// Requantizes accumulators and adds a residual to them: in float mode where products with their
// residual fit 16 bits, or by TFLite's ADD as a TfliteAdd with `rounds` has it.
#pragma once

#include "kernels/arm/shared/requantize.h"

namespace octet {
namespace {

// Residuals less their zero point; u8 is read as s8, 128 lower.
struct Residuals {
  uint8x16_t flip;
  int8x16_t zero_point;

  explicit Residuals(const Epilogue& f) {
    const int32_t shift = f.residual_type == ElementType::kU8 ? 128 : 0;
    flip = vdupq_n_u8((uint8_t)shift);
    zero_point = vdupq_n_s8((int8_t)(f.residual_zero_point - shift));
  }
  OCTET_INLINE inline void widen(uint8x16_t bytes, int32x4_t (&to)[4]) const {
    const int8x16_t x = vreinterpretq_s8_u8(veorq_u8(bytes, flip));
    const int16x8_t low = vsubl_s8(vget_low_s8(x), vget_low_s8(zero_point)),
                    high = vsubl_high_s8(x, zero_point);
    to[0] = vmovl_s16(vget_low_s16(low)), to[1] = vmovl_high_s16(low);
    to[2] = vmovl_s16(vget_low_s16(high)), to[3] = vmovl_high_s16(high);
  }
};

// Add a residual to a product, and round pairs of sums to 16 bits.
struct FloatSum {
  using Scale = FloatScale;
  float32x4_t by;

  OCTET_INLINE static inline Scale at(const float* scales, size_t) { return Scale::at(scales, 0); }

  explicit FloatSum(const Epilogue& f) : by(vdupq_n_f32(f.residual_scale)) {}
  OCTET_INLINE inline float32x4_t of(int32x4_t acc, const Scale& scale, int32x4_t residual) const {
    return vaddq_f32(vmulq_f32(vcvtq_f32_s32(acc), scale.scale),
                     vmulq_f32(vcvtq_f32_s32(residual), by));
  }
  OCTET_INLINE static inline int16x8_t rounded(float32x4_t a, float32x4_t b) {
    const float32x4_t magic = vdupq_n_f32(12582912.0f);  // as FloatScale::magic
    return vuzp1q_s16(vreinterpretq_s16_f32(vaddq_f32(a, magic)),
                      vreinterpretq_s16_f32(vaddq_f32(b, magic)));
  }
};

struct TfliteSum {
  static constexpr bool kAdds = true;
  using Scale = TfliteRight;
  int32x4_t lo, hi, right;
  int32x2_t factors;  // of the product, of the residual

  OCTET_INLINE static inline Scale at(const float* scales, size_t apart) {
    return Scale::at(scales, apart);
  }
  explicit TfliteSum(const Epilogue& f)
      : lo(vdupq_n_s32(f.product_lo)), hi(vdupq_n_s32(f.product_hi)) {
    const TfliteAdd add = f.tflite_add ? *f.tflite_add : TfliteAdd{};
    const int32_t both[2] = {add.factor(0), add.factor(1)};
    factors = vld1_s32(both);
    right = vdupq_n_s32(-add.right);
  }
  OCTET_INLINE inline int32x4_t sum(int32x4_t product, int32x4_t residual) const {
    const int32x4_t x = vmulq_lane_s32(vminq_s32(vmaxq_s32(product, lo), hi), factors, 0);
    return vrshlq_s32(vmlaq_lane_s32(x, residual, factors, 1), right);
  }
  OCTET_INLINE inline int32x4_t of(int32x4_t acc, const Scale& scale, int32x4_t residual) const {
    return sum(scale.scaled(acc), residual);
  }
  OCTET_INLINE static inline int16x8_t rounded(int32x4_t a, int32x4_t b) {
    return vqmovn_high_s32(vqmovn_s32(a), b);
  }
};

// Requantizes four vectors, whose residuals lie in their order, to sixteen bytes.
template <typename Sum>
OCTET_INLINE inline uint8x16_t added(const int32x4_t (&acc)[4],
                                     const typename Sum::Scale (&scale)[4], uint8x16_t bytes,
                                     const Residuals& residuals, const Sum& sum,
                                     const Requantizing16& n) {
  int32x4_t r[4];
  residuals.widen(bytes, r);
  const int16x8_t low =
                      Sum::rounded(sum.of(acc[0], scale[0], r[0]), sum.of(acc[1], scale[1], r[1])),
                  high =
                      Sum::rounded(sum.of(acc[2], scale[2], r[2]), sum.of(acc[3], scale[3], r[3]));
  return narrowed<Store::kClamped>(low, high, n);
}

#if defined(__aarch64__)
// The same in float mode. One block of assembly, because few registers are free while all
// accumulators of a tile are live, and compilers would store some of them.
#define OCTET_ADD_TWO(a, b, r0, r1, s0, s1)                                            \
  "scvtf " a ", " a "\n scvtf " b ", " b "\n scvtf " r0 ", " r0 "\n scvtf " r1 ", " r1 \
  "\n"                                                                                 \
  "fmul " a ", " a ", " s0 "\n fmul " b ", " b ", " s1                                 \
  "\n"                                                                                 \
  "fmul " r0 ", " r0 ", %11.4s\n fmul " r1 ", " r1                                     \
  ", %11.4s\n"                                                                         \
  "fadd " a ", " a ", " r0 "\n fadd " b ", " b ", " r1                                 \
  "\n"                                                                                 \
  "fadd " a ", " a ", %12.4s\n fadd " b ", " b ", %12.4s\n"
OCTET_INLINE inline uint8x16_t added(const int32x4_t (&acc)[4], const FloatScale (&scale)[4],
                                     uint8x16_t bytes, const Residuals& residuals,
                                     const FloatSum& sum, const Requantizing16& n) {
  int32x4_t a = acc[0], b = acc[1], c = acc[2], d = acc[3], t, u;
  uint8x16_t x = veorq_u8(bytes, residuals.flip);
  __asm__ volatile(
      "ssubl %5.8h, %4.8b, %13.8b\n ssubl2 %4.8h, %4.16b, %13.16b\n"
      "sxtl %6.4s, %5.4h\n sxtl2 %5.4s, %5.8h\n"  //
      OCTET_ADD_TWO("%0.4s", "%1.4s", "%6.4s", "%5.4s", "%7.4s", "%8.4s")
      "sxtl %6.4s, %4.4h\n sxtl2 %4.4s, %4.8h\n"
      "uzp1 %0.8h, %0.8h, %1.8h\n"  //
      OCTET_ADD_TWO("%2.4s", "%3.4s", "%6.4s", "%4.4s", "%9.4s", "%10.4s")
      "uzp1 %2.8h, %2.8h, %3.8h\n"
      "sqadd %0.8h, %0.8h, %14.8h\n sqadd %2.8h, %2.8h, %14.8h\n"
      "sqxtn %0.8b, %0.8h\n sqxtn2 %0.16b, %2.8h"
      : "+w"(a), "+w"(b), "+w"(c), "+w"(d), "+w"(x), "=&w"(t), "=&w"(u)
      : "w"(scale[0].scale), "w"(scale[1].scale), "w"(scale[2].scale), "w"(scale[3].scale),
        "w"(sum.by), "w"(vdupq_n_f32(12582912.0f)), "w"(residuals.zero_point), "w"(n.zero_point));
  const int8x16_t clamped = vminq_s8(vmaxq_s8(vreinterpretq_s8_s32(a), n.lo), n.hi);
  return veorq_u8(vreinterpretq_u8_s8(clamped), n.flip);
}
#undef OCTET_ADD_TWO
#endif

}  // namespace
}  // namespace octet
