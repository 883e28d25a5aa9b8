// s8 x s8 -> s32 or 8 bits for ARMv8.0: SMULL, SMLAL2 and SADALP, up to 4 rows x 64 columns, 4 at a time.
//
// A register holds 16 bytes of one row or one column. Products of the low and the high half are added in 16 bits, then pairwise to the 32-bit
// accumulator, so that a column holds four partial sums, which pairwise adds join at the end:
//
//                          column 0     1     2     3
//                         +----------+-----+-----+-----+
//   row i, 16 bytes       | acc[i][0]| [1] | [2] | [3] |      16 accumulators, 4 for lhs, 1 for rhs, the rest for products: 32
//                         +----------+-----+-----+-----+
//
// Per 16 along depth: 4 loads of lhs, 4 of rhs, 3 instructions for each of 16 accumulators. The lhs rows are read where they lie. A u8 lhs is
// flipped to s8 as it is loaded. One call does up to 16 panels, so that its own cost is shared.
// (-128)^2 + (-128)^2 leaves 16 bits. Where -128 occurs among the weights, the second kernel adds up each half on its own: four
// instructions instead of three, exact for all inputs.
// Instantiated over (rows, lhs sign, exactness).
#include <arm_neon.h>

#include "kernels/arm/bytes.h"
#include "kernels/arm/kernels.h"
#include "kernels/arm/narrow.h"
#include "kernels/core/unroll.h"
#include "kernels/simd/portable.h"

namespace octet {
namespace {

constexpr int kMr = 4, kWidth = 4, kNr = 64;
static_assert(kNeonLayout.step == kWidth && kNeonLayout.width == kWidth, "every panel has exactly 4 columns: the groups' stride is a constant");

template <bool least>
inline int32x4_t multiply_add(int32x4_t acc, int8x16_t a, int8x16_t b) {
  const int16x8_t low = vmull_s8(vget_low_s8(a), vget_low_s8(b));
  if (least) return vpadalq_s16(vpadalq_s16(acc, low), vmull_high_s8(a, b));
  return vpadalq_s16(acc, vmlal_high_s8(low, a, b));
}

// The columns of one panel, from `column` on. tails: of the first tap when it begins.
template <int rows, bool flip, bool least>
OCTET_INLINE inline void multiply_panel(const Tile& t, size_t column, const uint8_t* rhs, uint8_t (*tails)[16]) {
  const uint8_t* base = (const uint8_t*)t.lhs;
  int32x4_t acc[rows][kWidth];
  const uint8_t* lhs[rows];
  OCTET_UNROLL(4)
  for (int i = 0; i < rows; ++i) {
    acc[i][0] = acc[i][1] = acc[i][2] = acc[i][3] = vdupq_n_s32(0);
    lhs[i] = t.lhs_rows ? t.lhs_rows[i] : base + i * t.lhs_stride;
  }
  const auto step = [&]() OCTET_INLINE {
    int8x16_t a[rows];
    OCTET_UNROLL(4)
    for (int i = 0; i < rows; ++i) {
      a[i] = vreinterpretq_s8_u8(vld1q_u8(lhs[i]));
      if (flip) a[i] = veorq_s8(a[i], vdupq_n_s8(-128));
      lhs[i] += 16;
    }
    OCTET_UNROLL(4)
    for (int j = 0; j < kWidth; ++j) {
      const int8x16_t b = vreinterpretq_s8_u8(vld1q_u8(rhs + 16 * j));
      OCTET_UNROLL(4)
      for (int i = 0; i < rows; ++i) acc[i][j] = multiply_add<least>(acc[i][j], a[i], b);
    }
    rhs += 16 * kWidth;
  };
  for (size_t tap = 0;;) {
    OCTET_NO_UNROLL
    for (size_t groups = t.depth / 16; groups; --groups) step();
    if (t.depth % 16) {
      OCTET_UNROLL(4)
      for (int i = 0; i < rows; ++i) lhs[i] = tails[i];
      step();
    }
    if (++tap == t.taps) break;
    if (t.tap_steps) base += t.tap_steps[tap - 1];
    if (t.depth % 16) copy_tails(t, tap, base, tails);
    OCTET_UNROLL(4)
    for (int i = 0; i < rows; ++i) lhs[i] = t.lhs_rows ? t.lhs_rows[tap * rows + i] : base + i * t.lhs_stride;
  }

  int32x4_t sum[kMr];
  const int32_t* init = t.init + column;
  OCTET_UNROLL(4)
  for (int i = 0; i < rows; ++i, init += t.init_stride)
    sum[i] = vaddq_s32(vpaddq_s32(vpaddq_s32(acc[i][0], acc[i][1]), vpaddq_s32(acc[i][2], acc[i][3])), vld1q_s32(init));
  const size_t element = t.scale ? 1 : 4, columns = t.cols - column;
  alignas(16) uint8_t whole[kMr * kWidth * 4];
  const bool partial = columns < kWidth;
  uint8_t* const to = (uint8_t*)t.dst + column * element;
  uint8_t* dst = partial ? whole : to;
  const size_t stride = partial ? kWidth * element : t.dst_stride;
  if (t.scale) {
    const float32x4_t scale = vld1q_f32(t.scale + column);
    OCTET_UNROLL(4)
    for (int i = rows; i < kMr; ++i) sum[i] = sum[0];
    const uint32x4_t quads = vreinterpretq_u32_u8(narrowed<Clamp::kNarrower>(sum, {scale, scale, scale, scale}, narrowing16(*t.narrow)));
    unroll<rows>([&](auto i) {
      const uint32_t quad = vgetq_lane_u32(quads, i);
      __builtin_memcpy(dst + i * stride, &quad, sizeof quad);
    });
  } else {
    OCTET_UNROLL(4)
    for (int i = 0; i < rows; ++i, dst += stride) vst1q_s32((int32_t*)dst, sum[i]);
  }
  if (partial) copy_rows(whole, stride, to, t.dst_stride, t.rows, columns * element);
}

template <int rows, bool flip, bool least>
void multiply(const Tile& t) {
  alignas(16) uint8_t tails[kMr][16];
  const uint8_t* rhs = t.rhs;
  OCTET_NO_UNROLL
  for (size_t column = 0; column < t.cols; column += kWidth, rhs += t.rhs_panel_stride) {
    if (t.depth % 16 && (column == 0 || t.taps > 1)) copy_tails(t, 0, (const uint8_t*)t.lhs, tails);
    multiply_panel<rows, flip, least>(t, column, rhs, tails);
  }
}

template <bool flip, bool least>
constexpr MultiplyFn kByRows[kMr] = {multiply<1, flip, least>, multiply<2, flip, least>, multiply<3, flip, least>, multiply<4, flip, least>};

template <bool least>
void dispatch(const Tile& t) {
  (t.lhs_flip ? kByRows<true, least> : kByRows<false, least>)[t.rows - 1](t);
}

}  // namespace

const MicroKernel neon_s8s8_4x64x16 = {
    "neon_s8s8_4x64x16", Isa::kNeon, Domain::kS8, kMr, kNr, 0, kAnyLhs | kNarrows | kNarrows16 | kNoLeast, kNeonLayout,
    nullptr, 1, 16, 1, dispatch<false>, portable_finish, &portable_row_ops, &neon_winograd};

const MicroKernel neon_s8s8_least_4x64x16 = {
    "neon_s8s8_least_4x64x16", Isa::kNeon, Domain::kS8, kMr, kNr, 0, kAnyLhs | kNarrows | kNarrows16, kNeonLayout,
    nullptr, 1, 16, 1, dispatch<true>, portable_finish, &portable_row_ops, &neon_winograd};

}  // namespace octet
