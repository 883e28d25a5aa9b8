// SPDX-License-Identifier: Apache-2.0
// Includes NEON's intrinsics, and defines for AArch32 the AArch64 ones that kernels of both call.
// AArch32's instructions work on halves of registers; compilers choose them well.
#pragma once

#include <arm_neon.h>

#if !defined(__aarch64__)

// Macros, because a lane must be a constant.
#define vmlal_laneq_s16(acc, a, v, lane) \
  vmlal_lane_s16(acc, a, (lane) < 4 ? vget_low_s16(v) : vget_high_s16(v), (lane)&3)
#define vmlal_high_laneq_s16(acc, a, v, lane) vmlal_laneq_s16(acc, vget_high_s16(a), v, lane)

namespace octet {
namespace {

inline int16x8_t vmovl_high_s8(int8x16_t a) { return vmovl_s8(vget_high_s8(a)); }
inline int32x4_t vmovl_high_s16(int16x8_t a) { return vmovl_s16(vget_high_s16(a)); }
inline int16x8_t vsubl_high_s8(int8x16_t a, int8x16_t b) {
  return vsubl_s8(vget_high_s8(a), vget_high_s8(b));
}
inline int16x8_t vmull_high_s8(int8x16_t a, int8x16_t b) {
  return vmull_s8(vget_high_s8(a), vget_high_s8(b));
}
inline int16x8_t vmlal_high_s8(int16x8_t to, int8x16_t a, int8x16_t b) {
  return vmlal_s8(to, vget_high_s8(a), vget_high_s8(b));
}
inline int32x4_t vmlal_high_s16(int32x4_t to, int16x8_t a, int16x8_t b) {
  return vmlal_s16(to, vget_high_s16(a), vget_high_s16(b));
}
inline int32x4_t vmlal_high_n_s16(int32x4_t to, int16x8_t a, int16_t b) {
  return vmlal_n_s16(to, vget_high_s16(a), b);
}
inline int32x4_t vaddw_high_s16(int32x4_t to, int16x8_t a) {
  return vaddw_s16(to, vget_high_s16(a));
}
inline int16x8_t vqmovn_high_s32(int16x4_t low, int32x4_t high) {
  return vcombine_s16(low, vqmovn_s32(high));
}
inline int8x16_t vqmovn_high_s16(int8x8_t low, int16x8_t high) {
  return vcombine_s8(low, vqmovn_s16(high));
}
inline uint8x16_t vqmovun_high_s16(uint8x8_t low, int16x8_t high) {
  return vcombine_u8(low, vqmovun_s16(high));
}
// VUZP would change both operands, and GCC 12 combines halves by a move, so these write halves.
inline int16x8_t vuzp1q_s16(int16x8_t a, int16x8_t b) {
  __asm__("vmovn.i32 %e0, %q0\n vmovn.i32 %f0, %q1" : "+&w"(a) : "w"(b));
  return a;
}
inline int32x4_t vpaddq_s32(int32x4_t a, int32x4_t b) {
  __asm__("vpadd.i32 %e0, %e0, %f0\n vpadd.i32 %f0, %e1, %f1" : "+&w"(a) : "w"(b));
  return a;
}
inline uint8x16_t vqtbl1q_u8(uint8x16_t table, uint8x16_t index) {
  const uint8x8x2_t halves = {{vget_low_u8(table), vget_high_u8(table)}};
  return vcombine_u8(vtbl2_u8(halves, vget_low_u8(index)), vtbl2_u8(halves, vget_high_u8(index)));
}
inline int8_t vminvq_s8(int8x16_t a) {
  int8x8_t least = vpmin_s8(vget_low_s8(a), vget_high_s8(a));
  for (int i = 0; i < 3; ++i) least = vpmin_s8(least, least);
  return vget_lane_s8(least, 0);
}
// Rounds half to even. A float >= 2^23 is an integer; below, adding 2^23 leaves no fraction.
inline int32x4_t vcvtnq_s32_f32(float32x4_t x) {
  const float32x4_t magnitude = vabsq_f32(x), magic = vdupq_n_f32(8388608.0f);
  const float32x4_t rounded = vsubq_f32(vaddq_f32(magnitude, magic), magic);
  const uint32x4_t sign = vdupq_n_u32(1u << 31);
  return vcvtq_s32_f32(
      vbslq_f32(sign, x, vbslq_f32(vcltq_f32(magnitude, magic), rounded, magnitude)));
}

}  // namespace
}  // namespace octet

#endif

namespace octet {
namespace {

// Load four neighbouring vectors by one LD1, for which AArch32 and GCC 9 have no intrinsic.
inline __attribute__((always_inline)) void load_four(const int32_t* from, int32x4_t (&to)[4]) {
#if defined(__aarch64__) && (defined(__clang__) || __GNUC__ >= 10)
  const int32x4x4_t all = vld1q_s32_x4(from);
  to[0] = all.val[0], to[1] = all.val[1], to[2] = all.val[2], to[3] = all.val[3];
#else
  for (int v = 0; v < 4; ++v) to[v] = vld1q_s32(from + 4 * v);
#endif
}
inline __attribute__((always_inline)) void load_four(const float* from, float32x4_t (&to)[4]) {
  int32x4_t bits[4];
  load_four((const int32_t*)from, bits);
  for (int v = 0; v < 4; ++v) to[v] = vreinterpretq_f32_s32(bits[v]);
}

}  // namespace
}  // namespace octet
