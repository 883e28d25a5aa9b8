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

#if defined(__aarch64__)
// Bytes as floats less their zero point: a byte in the low mantissa of 2^23 is 2^23 + byte, and the
// difference to 2^23 + zero point is exact. Eight instructions in place of ten.
struct FloatResiduals {
  uint8x16_t flip, high;
  int32x4_t index[4];
  float32x4_t zero_point;

  explicit FloatResiduals(const Epilogue& f) {
    const int32_t shift = f.residual_type == ElementType::kU8 ? 0 : 128;
    flip = vdupq_n_u8((uint8_t)shift);
    high = vreinterpretq_u8_u32(vdupq_n_u32(0x4B000000));
    zero_point = vdupq_n_f32((float)(8388608 + f.residual_zero_point + shift));
    // The byte of a lane, and bytes 1 to 3 of `high`
    static constexpr uint32_t kIndex[16] = {0x13121100, 0x13121101, 0x13121102, 0x13121103,
                                            0x13121104, 0x13121105, 0x13121106, 0x13121107,
                                            0x13121108, 0x13121109, 0x1312110a, 0x1312110b,
                                            0x1312110c, 0x1312110d, 0x1312110e, 0x1312110f};
    load_four((const int32_t*)kIndex, index);
  }
  OCTET_INLINE inline void widen(uint8x16_t bytes, float32x4_t (&to)[4]) const {
    register uint8x16_t x __asm__("v20") = veorq_u8(bytes, flip);
    register uint8x16_t k __asm__("v21") = high;
    float32x4_t sum[4];
#define OCTET_LOOK_UP(v) \
  __asm__("tbl %0.16b, {%1.16b, %2.16b}, %3.16b" : "=w"(sum[v]) : "w"(x), "w"(k), "w"(index[v]));
    OCTET_LOOK_UP(0)
    OCTET_LOOK_UP(1)
    OCTET_LOOK_UP(2)
    OCTET_LOOK_UP(3)
#undef OCTET_LOOK_UP
    unroll<4>([&](auto v) OCTET_INLINE { to[v] = vsubq_f32(sum[v], zero_point); });
  }
};
#else
using FloatResiduals = Residuals;
#endif

// Makes bytes of sums of 16 bits. Both types are saturated as u8, `hi` at 255: then one saturating
// subtraction clamps below, and one sum brings `lo` back, as a byte of either type.
struct ClampedBytes {
  int16x8_t zero_point;
  uint8x16_t less, lo;

  explicit ClampedBytes(const Requantization& n)
      : zero_point(vdupq_n_s16((int16_t)(n.zero_point + 255 - n.hi))),
        less(vdupq_n_u8((uint8_t)(255 - (n.hi - n.lo)))),
        lo(vdupq_n_u8((uint8_t)n.lo)) {}
  OCTET_INLINE inline uint8x16_t of(int16x8_t low, int16x8_t high) const {
    const uint8x16_t bytes =
        vqmovun_high_s16(vqmovun_s16(vqaddq_s16(low, zero_point)), vqaddq_s16(high, zero_point));
    return vaddq_u8(vqsubq_u8(bytes, less), lo);
  }
};

// Add a residual to a product, and round pairs of sums to 16 bits.
struct FloatSum {
  using Scale = FloatScale;
  using Bytes = FloatResiduals;
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
  using Bytes = Residuals;
  using Scale = TfliteRight;
  int32x4_t lo, hi, right;
  int32x2_t factors;  // of the product, of the residual
  int32x4_t factor;

  OCTET_INLINE static inline Scale at(const float* scales, size_t apart) {
    return Scale::at(scales, apart);
  }
  explicit TfliteSum(const Epilogue& f)
      : lo(vdupq_n_s32(f.product_lo)), hi(vdupq_n_s32(f.product_hi)) {
    const TfliteAdd add = f.tflite_add ? *f.tflite_add : TfliteAdd{};
    const int32_t both[2] = {add.factor(0), add.factor(1)};
    factors = vld1_s32(both);
    factor = vdupq_n_s32(both[0]);
    right = vdupq_n_s32(-add.right);
  }
  OCTET_INLINE inline int32x4_t sum(int32x4_t product, int32x4_t residual) const {
#if defined(__aarch64__)
    int32x4_t added = vmulq_lane_s32(residual, factors, 1);  // GCC 12 would copy it, too
    __asm__("mla %0.4s, %1.4s, %2.4s"
            : "+w"(added)
            : "w"(vminq_s32(vmaxq_s32(product, lo), hi)), "w"(factor));
    return vrshlq_s32(added, right);
#else
    const int32x4_t x = vmulq_lane_s32(vminq_s32(vmaxq_s32(product, lo), hi), factors, 0);
    return vrshlq_s32(vmlaq_lane_s32(x, residual, factors, 1), right);
#endif
  }
  OCTET_INLINE inline int32x4_t of(int32x4_t acc, const Scale& scale, int32x4_t residual) const {
    return sum(scale.scaled(acc), residual);
  }
  OCTET_INLINE static inline int16x8_t rounded(int32x4_t a, int32x4_t b) {
    return vuzp1q_s16(vreinterpretq_s16_s32(a), vreinterpretq_s16_s32(b));
  }
};

// Requantizes four vectors, whose residuals lie in their order, to sixteen bytes.
template <typename Sum>
OCTET_INLINE inline uint8x16_t added(const int32x4_t (&acc)[4],
                                     const typename Sum::Scale (&scale)[4], uint8x16_t bytes,
                                     const Residuals& residuals, const Sum& sum,
                                     const ClampedBytes& to) {
  int32x4_t r[4];
  residuals.widen(bytes, r);
  const int16x8_t low =
                      Sum::rounded(sum.of(acc[0], scale[0], r[0]), sum.of(acc[1], scale[1], r[1])),
                  high =
                      Sum::rounded(sum.of(acc[2], scale[2], r[2]), sum.of(acc[3], scale[3], r[3]));
  return to.of(low, high);
}

#if defined(__aarch64__)
OCTET_INLINE inline uint8x16_t added(const int32x4_t (&acc)[4], const FloatScale (&scale)[4],
                                     uint8x16_t bytes, const FloatResiduals& residuals,
                                     const FloatSum& sum, const ClampedBytes& to) {
  float32x4_t x[4];
  residuals.widen(bytes, x);
  unroll<4>([&](auto v) OCTET_INLINE {
    x[v] = vaddq_f32(vmulq_f32(vcvtq_f32_s32(acc[v]), scale[v].scale), vmulq_f32(x[v], sum.by));
  });
  return to.of(FloatSum::rounded(x[0], x[1]), FloatSum::rounded(x[2], x[3]));
}

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
                                     const FloatSum& sum, const ClampedBytes& to) {
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
      "sqxtun %0.8b, %0.8h\n sqxtun2 %0.16b, %2.8h"
      : "+w"(a), "+w"(b), "+w"(c), "+w"(d), "+w"(x), "=&w"(t), "=&w"(u)
      : "w"(scale[0].scale), "w"(scale[1].scale), "w"(scale[2].scale), "w"(scale[3].scale),
        "w"(sum.by), "w"(vdupq_n_f32(12582912.0f)), "w"(residuals.zero_point), "w"(to.zero_point));
  return vaddq_u8(vqsubq_u8(vreinterpretq_u8_s32(a), to.less), to.lo);
}
#undef OCTET_ADD_TWO
#endif

}  // namespace
}  // namespace octet
