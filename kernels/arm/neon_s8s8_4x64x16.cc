// s8 x s8 -> s32 or 8 bits for ARMv8.0: SMULL, SMLAL2 and SADALP, up to 4 rows x 64 columns, 4 at a
// time.
//
// A register holds 16 bytes of one row or one column. Products of the low and the high half are
// added in 16 bits, then pairwise to the 32-bit accumulator, so that a column holds four partial
// sums, which pairwise adds join at the end:
//
//                          column 0     1     2     3
//                         +----------+-----+-----+-----+
//   row i, 16 bytes       | acc[i][0]| [1] | [2] | [3] |
//                         +----------+-----+-----+-----+
//
// 16 accumulators, 4 for lhs, 1 for rhs, the rest for products: 32 registers.
//
// Per 16 along depth: 4 loads of lhs, 4 of rhs, 3 instructions for each of 16 accumulators. The lhs
// rows are read where they lie. A u8 lhs is flipped to s8 as it is loaded. One call does up to 16
// panels, so that its own cost is shared. (-128)^2 + (-128)^2 leaves 16 bits. Where -128 occurs
// among the weights, the second kernel adds up each half on its own: four instructions instead of
// three, exact for all inputs. Instantiated over (rows, lhs sign, exactness).
#include <arm_neon.h>

#include "kernels/arm/bytes.h"
#include "kernels/arm/kernels.h"
#include "kernels/arm/narrow.h"
#include "kernels/core/unroll.h"
#include "kernels/simd/portable.h"

namespace octet {
namespace {

constexpr int kMr = 4, kWidth = 4, kNr = 64;
static_assert(kNeonLayout.step == kWidth && kNeonLayout.width == kWidth,
              "every panel has exactly 4 columns: the groups' stride is a constant");

// first: of the accumulator, which needs no clearing then.
template <bool least, bool first>
inline void multiply_add(int32x4_t* acc, int8x16_t a, int8x16_t b) {
  int16x8_t products = vmull_s8(vget_low_s8(a), vget_low_s8(b));
  if (!least) products = vmlal_high_s8(products, a, b);
  *acc = first ? vpaddlq_s16(products) : vpadalq_s16(*acc, products);
  if (least) *acc = vpadalq_s16(*acc, vmull_high_s8(a, b));
}

template <int rows, bool flip, bool least>
void multiply(const Tile& t) {
  alignas(16) uint8_t tails[kMr][16];
  alignas(16) uint8_t whole[kMr * kWidth * 4];
  const size_t all_groups = t.depth / 16, taps = t.taps, element = t.scale ? 1 : 4;
  const bool has_tail = t.depth % 16;
  const uint8_t* panel = t.rhs;
  const int32_t* init = t.init;
  const float* scale = t.scale;
  Narrowing16 narrow;
  if (scale) narrow = narrowing16(*t.narrow);
  OCTET_SPILL(narrow);
  uint8_t* dst = (uint8_t*)t.dst;
  size_t stride = t.dst_stride;

  OCTET_NO_UNROLL
  for (size_t columns = t.cols; columns;
       init += kWidth, dst += kWidth * element, panel += t.rhs_panel_stride) {
    const uint8_t* base = (const uint8_t*)t.lhs;
    const uint8_t* rhs = panel;
    const uint8_t* lhs[rows];
    if (has_tail && (columns == t.cols || taps > 1)) copy_tails(t, 0, base, tails);
    OCTET_UNROLL(4)
    for (int i = 0; i < rows; ++i) lhs[i] = t.lhs_rows ? t.lhs_rows[i] : base + i * t.lhs_stride;

    int32x4_t acc[rows][kWidth];
    const auto step = [&](auto first) OCTET_INLINE {
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
        for (int i = 0; i < rows; ++i) multiply_add<least, first>(&acc[i][j], a[i], b);
      }
      rhs += 16 * kWidth;
    };
    const auto to_tails = [&]() OCTET_INLINE {
      OCTET_UNROLL(4)
      for (int i = 0; i < rows; ++i) lhs[i] = tails[i];
    };
    size_t groups = all_groups - 1;
    bool tail = has_tail;
    if (all_groups == 0) to_tails(), groups = 0, tail = false;
    step(Int<1>{});
    for (size_t tap = 0;;) {
      if (groups) {  // a loop with its test on top is what GCC 12 makes of the short form here
        do step(Int<0>{});
        while (--groups);
      }
      if (tail) {
        to_tails();
        step(Int<0>{});
      }
      if (++tap == taps) break;
      groups = all_groups;
      tail = has_tail;
      if (t.tap_steps) base += t.tap_steps[tap - 1];
      if (tail) copy_tails(t, tap, base, tails);
      OCTET_UNROLL(4)
      for (int i = 0; i < rows; ++i)
        lhs[i] = t.lhs_rows ? t.lhs_rows[tap * rows + i] : base + i * t.lhs_stride;
    }

    int32x4_t sum[kMr];
    const int32_t* start = init;
    OCTET_UNROLL(4)
    for (int i = 0; i < rows; ++i, start += t.init_stride)
      sum[i] =
          vaddq_s32(vpaddq_s32(vpaddq_s32(acc[i][0], acc[i][1]), vpaddq_s32(acc[i][2], acc[i][3])),
                    vld1q_s32(start));
    uint8_t* to = columns < kWidth ? whole : dst;
    const size_t step_down = columns < kWidth ? kWidth * element : stride;
    if (scale) {
      const float32x4_t four = vld1q_f32(scale);
      scale += kWidth;
      OCTET_UNROLL(4)
      for (int i = rows; i < kMr; ++i) sum[i] = sum[0];
      const uint32x4_t quads = vreinterpretq_u32_u8(
          narrowed<Exit::kClamped>(rounded16(sum, {four, four, four, four}), narrow));
      unroll<rows>([&](auto i) {
        const uint32_t quad = vgetq_lane_u32(quads, i);
        __builtin_memcpy(to + i * step_down, &quad, sizeof quad);
      });
    } else {
      OCTET_UNROLL(4)
      for (int i = 0; i < rows; ++i, to += step_down) vst1q_s32((int32_t*)to, sum[i]);
    }
    if (columns < kWidth)
      copy_rows(whole, kWidth * element, dst, stride, t.rows, columns * element);
    columns -= smaller(columns, kWidth);
  }
}

template <bool flip, bool least>
constexpr MultiplyFn kByRows[kMr] = {multiply<1, flip, least>, multiply<2, flip, least>,
                                     multiply<3, flip, least>, multiply<4, flip, least>};

template <bool least>
void dispatch(const Tile& t) {
  (t.lhs_flip ? kByRows<true, least> : kByRows<false, least>)[t.rows - 1](t);
}

}  // namespace

const MicroKernel neon_s8s8_4x64x16 = {
    .name = "neon_s8s8_4x64x16",
    .isa = Isa::kNeon,
    .lhs_domain = Domain::kS8,
    .mr = kMr,
    .nr = kNr,
    .flags = kAnyLhs | kNarrows | kNarrows16 | kNoLeast,
    .rhs_layout = kNeonLayout,
    .lhs_kr = 16,
    .multiply = dispatch<false>,
};

const MicroKernel neon_s8s8_least_4x64x16 = {
    .name = "neon_s8s8_least_4x64x16",
    .isa = Isa::kNeon,
    .lhs_domain = Domain::kS8,
    .mr = kMr,
    .nr = kNr,
    .flags = kAnyLhs | kNarrows | kNarrows16,
    .rhs_layout = kNeonLayout,
    .lhs_kr = 16,
    .multiply = dispatch<true>,
};

}  // namespace octet
