// From accumulators to 8 bits in registers: float(acc) * scale, rounded to nearest even, + zero point, clamped.
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
  return {vdupq_n_f32(12582912.0f), vdupq_n_s32(0x4B400000 - (n.zero_point - shift)), vdupq_n_s8((int8_t)(n.lo - shift)),
          vdupq_n_s8((int8_t)(n.hi - shift)), vdupq_n_u8((uint8_t)shift)};
}

// Adding 1.5 * 2^23 (bits 0x4B400000) leaves the rounded integer in the low bits, and FADD is two to four times as fast as FCVTNS.
// Right for every x: bits of positive floats grow with their value and those of negative ones are negative integers, so that beyond
// +-2^22, where the bits are no longer the integer, the difference is still beyond +-2^22 and saturates as the true value would.
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

// ---- kernels with kNarrows16 ----------------------------------------------------------------------------------------------------

// What comes after rounding: most often the clamp is no more than what saturation does anyway.
enum class Clamp { kS8, kU8, kNarrower };

inline Clamp clamp_of(const Narrow& n) { return n.hi - n.lo != 255 ? Clamp::kNarrower : n.dst_u8 ? Clamp::kU8 : Clamp::kS8; }

// Rounded products fit in 16 bits, so the low halves of the rounded floats are all there is. Bytes wrap to either type.
struct Narrowing16 {
  float32x4_t magic;
  int16x8_t zero_point;
  int16x8_t lo, hi;  // kNarrower: minus the zero point, which is added to the bytes
  uint8x16_t zero_point8;
};

inline Narrowing16 narrowing16(const Narrow& n) {
  const int32_t* from = &n.zero_point;
  __asm__("" : "+r"(from));  // or GCC 12 goes through an integer register, which is slow
  const int16x8_t zero_point = vreinterpretq_s16_s32(vld1q_dup_s32(from));
  return {vdupq_n_f32(12582912.0f), vuzp1q_s16(zero_point, zero_point), vdupq_n_s16((int16_t)(n.lo - n.zero_point)),
          vdupq_n_s16((int16_t)(n.hi - n.zero_point)), vdupq_n_u8((uint8_t)n.zero_point)};
}

// Sixteen accumulators to bytes, in order.
template <Clamp clamp>
inline uint8x16_t narrowed(const int32x4_t (&acc)[4], const float32x4_t (&scale)[4], const Narrowing16& n) {
  const auto round = [&](int v) OCTET_INLINE { return vreinterpretq_s16_f32(vaddq_f32(vmulq_f32(vcvtq_f32_s32(acc[v]), scale[v]), n.magic)); };
  int16x8_t low = vuzp1q_s16(round(0), round(1)), high = vuzp1q_s16(round(2), round(3));
  if (clamp == Clamp::kNarrower) {
    low = vminq_s16(vmaxq_s16(low, n.lo), n.hi);
    high = vminq_s16(vmaxq_s16(high, n.lo), n.hi);
    return vaddq_u8(vuzp1q_u8(vreinterpretq_u8_s16(low), vreinterpretq_u8_s16(high)), n.zero_point8);
  }
  low = vqaddq_s16(low, n.zero_point);
  high = vqaddq_s16(high, n.zero_point);
  return clamp == Clamp::kU8 ? vqmovun_high_s16(vqmovun_s16(low), high) : vreinterpretq_u8_s8(vqmovn_high_s16(vqmovn_s16(low), high));
}

}  // namespace
}  // namespace octet
