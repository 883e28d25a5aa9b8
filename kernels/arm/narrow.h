// From accumulators to 8 bits in registers: float(acc) * scale, rounded to nearest even, + zero
// point, clamped.
#pragma once

#include <arm_neon.h>

#include "kernels/core/micro_kernel.h"
#include "kernels/core/unroll.h"

namespace octet {
namespace {

// One path for both output types: u8 is narrowed as s8, 128 lower, and flipped at the end.
struct Narrowing {
  float32x4_t magic;
  int32x4_t offset;
  int8x16_t lo, hi;
  uint8x16_t flip;
};

inline Narrowing narrowing(const Narrow& n) {
  const int32_t shift = n.dst_u8 ? 128 : 0;
  return {vdupq_n_f32(12582912.0f), vdupq_n_s32(0x4B400000 - (n.zero_point - shift)),
          vdupq_n_s8((int8_t)(n.lo - shift)), vdupq_n_s8((int8_t)(n.hi - shift)),
          vdupq_n_u8((uint8_t)shift)};
}

// Adding 1.5 * 2^23 (bits 0x4B400000) leaves the rounded integer in the low bits, and FADD is two
// to four times as fast as FCVTNS. Right for every x: bits of positive floats grow with their value
// and those of negative ones are negative integers, so that beyond +-2^22, where the bits are no
// longer the integer, the difference is still beyond +-2^22 and saturates as the true value would.
// The multiply and the add must round separately: -ffp-contract=off.
inline int32x4_t scaled(int32x4_t acc, float32x4_t scale, const Narrowing& n) {
  const float32x4_t x = vmulq_f32(vcvtq_f32_s32(acc), scale);
  return vqsubq_s32(vreinterpretq_s32_f32(vaddq_f32(x, n.magic)), n.offset);
}

// Sixteen scaled values to bytes, in order.
inline uint8x16_t pack(int32x4_t a, int32x4_t b, int32x4_t c, int32x4_t d, const Narrowing& n) {
  const int16x8_t ab = vqmovn_high_s32(vqmovn_s32(a), b), cd = vqmovn_high_s32(vqmovn_s32(c), d);
  const int8x16_t bytes = vqmovn_high_s16(vqmovn_s16(ab), cd);
  return veorq_u8(vreinterpretq_u8_s8(vminq_s8(vmaxq_s8(bytes, n.lo), n.hi)), n.flip);
}

// ---- kernels with kNarrows16 --------------------------------------------------------------------

// How a tile leaves its kernel. Most often the clamp is no more than what saturation does anyway.
enum class Exit { kS32, kSaturated, kClamped };

inline Exit exit_of(const Tile& t) {
  if (!t.scale) return Exit::kS32;
  return t.narrow->hi - t.narrow->lo == 255 ? Exit::kSaturated : Exit::kClamped;
}

// Rounded products fit in 16 bits, so the low halves of the rounded floats are all there is.
struct Rounded16 {
  int16x8_t low, high;
};

OCTET_INLINE inline Rounded16 rounded16(const int32x4_t (&acc)[4], const float32x4_t (&scale)[4]) {
  const float32x4_t magic = vdupq_n_f32(12582912.0f);
  const auto round = [&](int v) OCTET_INLINE {
    return vreinterpretq_s16_f32(vaddq_f32(vmulq_f32(vcvtq_f32_s32(acc[v]), scale[v]), magic));
  };
  return {vuzp1q_s16(round(0), round(1)), vuzp1q_s16(round(2), round(3))};
}

// u8 is narrowed as s8, 128 lower, and flipped at the end.
struct Narrowing16 {
  int16x8_t zero_point;
  int8x16_t lo, hi;
  uint8x16_t flip;
};

inline Narrowing16 narrowing16(const Narrow& n) {
  const int32_t shift = n.dst_u8 ? 128 : 0;
  return {vdupq_n_s16((int16_t)(n.zero_point - shift)), vdupq_n_s8((int8_t)(n.lo - shift)),
          vdupq_n_s8((int8_t)(n.hi - shift)), vdupq_n_u8((uint8_t)shift)};
}

// Sixteen bytes, in order.
template <Exit exit>
OCTET_INLINE inline uint8x16_t narrowed(const Rounded16& r, const Narrowing16& n) {
  int8x16_t bytes = vqmovn_high_s16(vqmovn_s16(vqaddq_s16(r.low, n.zero_point)),
                                    vqaddq_s16(r.high, n.zero_point));
  if (exit == Exit::kClamped) bytes = vminq_s8(vmaxq_s8(bytes, n.lo), n.hi);
  return veorq_u8(vreinterpretq_u8_s8(bytes), n.flip);
}

}  // namespace
}  // namespace octet
