// 8 bits x 8 bits -> s32 or 8 bits, SDOT, USDOT and UDOT, 1 row x 8 columns, on the layout of the I8MM tier.
//
// For a single row SMMLA would waste half of each product and need a panel. The dot products take 8 bytes of the row where it lies, twice
// in a register, and add up 4 depth steps at a time, so that a column holds two partial sums, which one pairwise add joins at the end:
//
//                          columns 0 1            columns 2 3     4 5     6 7
//                         +----------------------+-------------+-------+-------+
//   row, 8 bytes twice    | acc[0]: 0 0 1 1      |    [1]      |  [2]  |  [3]  |
//                         +----------------------+-------------+-------+-------+
//
// Per group of 8 along depth: one load of four registers, one load that duplicates, 4 dot products. From two rows on, SMMLA does the same
// number of products per row with half the instructions (tools/arm/README.md).
#include <arm_neon.h>

#include "kernels/arm/bytes.h"
#include "kernels/arm/kernels.h"
#include "kernels/arm/narrow.h"
#include "kernels/core/unroll.h"
#include "kernels/simd/portable.h"

namespace octet {
namespace {

constexpr int kNr = 8;
static_assert(kI8mmLayout.step == kNr && kI8mmU8Layout.step == kNr, "every panel is exactly one tile wide: the groups' stride is a constant");

struct S8S8 {
  static constexpr bool flips = false;
  static int32x4_t dot(int32x4_t acc, uint8x16_t a, uint8x16_t b) {
    return vdotq_s32(acc, vreinterpretq_s8_u8(a), vreinterpretq_s8_u8(b));
  }
};
struct U8S8 {
  static constexpr bool flips = false;
  static int32x4_t dot(int32x4_t acc, uint8x16_t a, uint8x16_t b) { return vusdotq_s32(acc, a, vreinterpretq_s8_u8(b)); }
};
struct U8U8 {
  static constexpr bool flips = true;
  static int32x4_t dot(int32x4_t acc, uint8x16_t a, uint8x16_t b) {
    return vreinterpretq_s32_u32(vdotq_u32(vreinterpretq_u32_s32(acc), a, b));
  }
};

template <typename Types>
void multiply(const Tile& t) {
  int32x4_t acc[2][4];  // two sets hide the latency
  OCTET_UNROLL(4)
  for (int j = 0; j < 4; ++j) acc[0][j] = acc[1][j] = vdupq_n_s32(0);
  const uint8_t* lhs = (const uint8_t*)t.lhs;
  const uint8_t* rhs = t.rhs;
  const uint8x16_t flip = vreinterpretq_u8_u32(vdupq_n_u32(t.lhs_flip));
  const auto step = [&](int set, uint8x16_t a) OCTET_INLINE {
    uint8x16_t b[4];
    OCTET_UNROLL(4)
    for (int j = 0; j < 4; ++j) b[j] = vld1q_u8(rhs + 16 * j);
    rhs += 8 * kNr;
    if (Types::flips) a = veorq_u8(a, flip);
    OCTET_UNROLL(4)
    for (int j = 0; j < 4; ++j) acc[set][j] = Types::dot(acc[set][j], a, b[j]);
  };
  size_t depth = t.depth;
  OCTET_NO_UNROLL
  for (; depth >= 16; depth -= 16, lhs += 16) {
    step(0, vreinterpretq_u8_u64(vdupq_n_u64(load8(lhs))));
    step(1, vreinterpretq_u8_u64(vdupq_n_u64(load8(lhs + 8))));
  }
  OCTET_NO_UNROLL
  for (; depth >= 8; depth -= 8, lhs += 8) step(0, vreinterpretq_u8_u64(vdupq_n_u64(load8(lhs))));
  if (depth) step(0, vreinterpretq_u8_u64(vdupq_n_u64(load_tail(lhs, depth))));

  OCTET_UNROLL(4)
  for (int j = 0; j < 4; ++j) acc[0][j] = vaddq_s32(acc[0][j], acc[1][j]);
  const int32x4_t columns[2] = {vaddq_s32(vpaddq_s32(acc[0][0], acc[0][1]), vld1q_s32(t.init)),
                                vaddq_s32(vpaddq_s32(acc[0][2], acc[0][3]), vld1q_s32(t.init + 4))};
  alignas(16) uint8_t whole[kNr * 4];
  if (t.scale) {
    const Narrowing n = narrowing(*t.narrow);
    const int32x4_t low = scaled(columns[0], vld1q_f32(t.scale), n), high = scaled(columns[1], vld1q_f32(t.scale + 4), n);
    vst1_u8(t.cols < kNr ? whole : (uint8_t*)t.dst, vget_low_u8(pack(low, high, low, high, n)));
  } else {
    int32_t* const dst = (int32_t*)(t.cols < kNr ? whole : t.dst);
    vst1q_s32(dst, columns[0]);
    vst1q_s32(dst + 4, columns[1]);
  }
  if (t.cols < kNr) copy_rows(whole, 0, (uint8_t*)t.dst, 0, 1, t.cols * (t.scale ? 1 : 4));
}

}  // namespace

const MicroKernel i8mm_s8s8_1x8x8 = {
    "i8mm_s8s8_1x8x8", Isa::kI8mm, Domain::kS8, 1, kNr, 1, kNarrows, kI8mmLayout,
    nullptr, 1, 8, 1, multiply<S8S8>, portable_finish, &portable_row_ops};

const MicroKernel i8mm_u8s8_1x8x8 = {
    "i8mm_u8s8_1x8x8", Isa::kI8mm, Domain::kU8, 1, kNr, 1, kNarrows, kI8mmLayout,
    nullptr, 1, 8, 1, multiply<U8S8>, portable_finish, &portable_row_ops};

const MicroKernel i8mm_u8u8_1x8x8 = {
    "i8mm_u8u8_1x8x8", Isa::kI8mm, Domain::kU8, 1, kNr, 1, kNarrows | kAnyLhs, kI8mmU8Layout,
    nullptr, 1, 8, 1, multiply<U8U8>, portable_finish, &portable_row_ops};

}  // namespace octet
