// SPDX-License-Identifier: Apache-2.0
// Requantizes accumulators to 8 bits in registers: float(acc) * scale, rounded to nearest even,
// + zero point, clamped.
#pragma once

#include "kernels/arm/shared/intrinsics.h"
#include "kernels/arm/shared/tflite.h"
#include "kernels/core/compiler.h"
#include "kernels/core/micro_kernel.h"

namespace octet {
namespace {

// Both output types share one path: u8 is requantized as s8, 128 lower, and flipped at the end.
struct Requantizing {
  float32x4_t magic;
  int32x4_t offset;
  int8x16_t lo, hi;
  uint8x16_t flip;
};

inline Requantizing requantizing(const Requantization& n) {
  const int32_t shift = n.dst_type == ElementType::kU8 ? 128 : 0;
  return {vdupq_n_f32(12582912.0f), vdupq_n_s32(0x4B400000 - (n.zero_point - shift)),
          vdupq_n_s8((int8_t)(n.lo - shift)), vdupq_n_s8((int8_t)(n.hi - shift)),
          vdupq_n_u8((uint8_t)shift)};
}

// Adding 1.5 * 2^23 (bits 0x4B400000) leaves the rounded integer in the low bits, and FADD is two
// to four times as fast as FCVTNS. This is right for every x: the bits of positive floats grow with
// their value and the bits of negative ones are negative integers. So beyond +-2^22, where the bits
// are no longer the integer, the difference is still beyond +-2^22 and saturates as the true value.
// The multiply and the add must round separately: -ffp-contract=off.
inline int32x4_t scaled(int32x4_t acc, float32x4_t scale, const Requantizing& n) {
  const float32x4_t x = vmulq_f32(vcvtq_f32_s32(acc), scale);
  return vqsubq_s32(vreinterpretq_s32_f32(vaddq_f32(x, n.magic)), n.offset);
}

// Packs sixteen scaled values to bytes, in order.
inline uint8x16_t pack(int32x4_t a, int32x4_t b, int32x4_t c, int32x4_t d, const Requantizing& n) {
  const int16x8_t ab = vqmovn_high_s32(vqmovn_s32(a), b), cd = vqmovn_high_s32(vqmovn_s32(c), d);
  const int8x16_t bytes = vqmovn_high_s16(vqmovn_s16(ab), cd);
  return veorq_u8(vreinterpretq_u8_s8(vminq_s8(vmaxq_s8(bytes, n.lo), n.hi)), n.flip);
}

// ---- kernels with kRequantizes16 and kTfliteRightShiftOnly --------------------------------------

// The way in which a kernel stores a tile. kSaturated: the clamp is the type's range, the most
// frequent case, so saturation suffices.
enum class Store { kS32, kFloats, kSaturated, kClamped, kTflite };

inline Store store_of(const Tile& t) {
  if (!t.scale) return Store::kS32;
  if (t.requantization->to_floats) return Store::kFloats;
  if (t.requantization->tflite_apart) return Store::kTflite;
  return t.requantization->hi - t.requantization->lo == 255 ? Store::kSaturated : Store::kClamped;
}

// Bytes of an output.
inline size_t element_bytes(const Tile& t) {
  return t.scale && !t.requantization->to_floats ? 1 : sizeof(int32_t);
}

// The scales of four columns. Rounded products fit in 16 bits, so the low halves of the rounded
// floats suffice.
struct FloatScale {
  float32x4_t scale;

  OCTET_INLINE static inline FloatScale at(const float* scales, size_t) {
    return {vld1q_f32(scales)};
  }
  template <typename F>
  OCTET_INLINE inline FloatScale shuffled(const F& f) const {
    return {vreinterpretq_f32_s32(f(vreinterpretq_s32_f32(scale)))};
  }
  OCTET_INLINE inline int16x8_t magic(int32x4_t acc) const {
    return vreinterpretq_s16_f32(
        vaddq_f32(vmulq_f32(vcvtq_f32_s32(acc), scale), vdupq_n_f32(12582912.0f)));
  }
  OCTET_INLINE static inline int16x8_t rounded(int32x4_t a, const FloatScale& by_a, int32x4_t b,
                                               const FloatScale& by_b) {
    return vuzp1q_s16(by_a.magic(a), by_b.magic(b));
  }
};

// TFLite mode where every column is divided: no shift to the left, and always a rounded one to the
// right.
struct TfliteRight {
  int32x4_t multiplier, right;

  OCTET_INLINE static inline TfliteRight at(const float* scales, size_t apart) {
    const int32_t* const row = (const int32_t*)scales;
    return {vld1q_s32(row), vnegq_s32(vld1q_s32(row + (size_t)TfliteRow::kRight * apart))};
  }
  template <typename F>
  OCTET_INLINE inline TfliteRight shuffled(const F& f) const {
    return {f(multiplier), f(right)};
  }
  OCTET_INLINE inline int32x4_t scaled(int32x4_t acc) const {
    return vrshlq_s32(less_if_negative(vqrdmulhq_s32(acc, multiplier)), right);
  }
  OCTET_INLINE static inline int16x8_t rounded(int32x4_t a, const TfliteRight& by_a, int32x4_t b,
                                               const TfliteRight& by_b) {
    return vqmovn_high_s32(vqmovn_s32(by_a.scaled(a)), by_b.scaled(b));
  }
};

template <Store store>
struct ScaleOf {
  using Type = FloatScale;
};
template <>
struct ScaleOf<Store::kTflite> {
  using Type = TfliteRight;
};

// u8 is requantized as s8, 128 lower, and flipped at the end.
struct Requantizing16 {
  int16x8_t zero_point;
  int8x16_t lo, hi;
  uint8x16_t flip;
};

inline Requantizing16 requantizing16(const Requantization& n) {
  const int32_t shift = n.dst_type == ElementType::kU8 ? 128 : 0;
  return {vdupq_n_s16((int16_t)(n.zero_point - shift)), vdupq_n_s8((int8_t)(n.lo - shift)),
          vdupq_n_s8((int8_t)(n.hi - shift)), vdupq_n_u8((uint8_t)shift)};
}

// The halves of Requantizing16 that eight bytes need.
struct Requantizing8 {
  int16x8_t zero_point;
  int8x8_t lo, hi;
  uint8x8_t flip;

  Requantizing8() = default;
  explicit Requantizing8(const Requantizing16& n)
      : zero_point(n.zero_point),
        lo(vget_low_s8(n.lo)),
        hi(vget_low_s8(n.hi)),
        flip(vget_low_u8(n.flip)) {}
};

// Requantizes two vectors of the same four columns to eight bytes, in order.
template <Store store, typename Scale>
OCTET_INLINE inline uint8x8_t requantized(int32x4_t a, int32x4_t b, const Scale& scale,
                                          const Requantizing8& n) {
  int8x8_t bytes = vqmovn_s16(vqaddq_s16(Scale::rounded(a, scale, b, scale), n.zero_point));
  if (store != Store::kSaturated) bytes = vmin_s8(vmax_s8(bytes, n.lo), n.hi);
  return veor_u8(vreinterpret_u8_s8(bytes), n.flip);
}

// Adds the zero point to rounded products and makes bytes of them, in order.
template <Store store>
OCTET_INLINE inline uint8x16_t narrowed(int16x8_t low, int16x8_t high, const Requantizing16& n) {
  int8x16_t bytes =
      vqmovn_high_s16(vqmovn_s16(vqaddq_s16(low, n.zero_point)), vqaddq_s16(high, n.zero_point));
  if (store != Store::kSaturated) bytes = vminq_s8(vmaxq_s8(bytes, n.lo), n.hi);
  return veorq_u8(vreinterpretq_u8_s8(bytes), n.flip);
}

// Requantizes four vectors to sixteen bytes, in order.
template <Store store, typename Scale>
OCTET_INLINE inline uint8x16_t requantized(const int32x4_t (&acc)[4], const Scale (&scale)[4],
                                           const Requantizing16& n) {
  const int16x8_t low = Scale::rounded(acc[0], scale[0], acc[1], scale[1]),
                  high = Scale::rounded(acc[2], scale[2], acc[3], scale[3]);
  return narrowed<store>(low, high, n);
}

}  // namespace
}  // namespace octet
