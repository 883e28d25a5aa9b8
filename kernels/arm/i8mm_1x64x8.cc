// SPDX-License-Identifier: Apache-2.0
// 8 bits x 8 bits -> s32 or 8 bits, SDOT, USDOT and UDOT, 1 row x 64 columns, on the layout of the
// I8MM tier, 16 columns at a time.
//
// For a single row SMMLA would waste half of each product and need a panel. The dot products take 8
// bytes of the row where it lies, twice in a register, and add 4 depth steps at a time. So a column
// has two partial sums, which one pairwise add joins at the end:
//
//                          columns 0 1            columns 2 3     4 5     6 7        8 ... 15
//                         +----------------------+-------------+-------+-------+  +------------+
//   row, 8 bytes twice    | acc[0][0]: 0 0 1 1   |    [0][1]   |  [2]  |  [3]  |  | acc[1][..] |
//                         +----------------------+-------------+-------+-------+  +------------+
//                          first panel                                             second panel
//
// Per group of 8 along depth: half a load and a duplication, two loads of four registers, 8 dot
// products; 8 accumulators hide the latency. A last single panel uses the second set of
// accumulators for every other group. From two rows on, SMMLA makes half as many products
// (tools/arm/README.md).
#include <arm_neon.h>

#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/copy_bytes.h"
#include "kernels/arm/shared/pinned.h"
#include "kernels/arm/shared/requantize.h"
#include "kernels/arm/shared/store_floats.h"
#include "kernels/core/compiler.h"
#include "kernels/generic/portable.h"

namespace octet {
namespace {

constexpr int kNr = 64, kStep = 16;
static_assert(kI8mmLayout.step == 8 && kI8mmU8Layout.step == 8,
              "every panel has exactly 8 columns: the groups' stride is a constant");

// The dot products are pinned (pinned.h), else GCC 12 rotates accumulators through copies.
enum class Signs { kS8S8, kU8S8, kU8U8 };
struct S8S8 {
  static constexpr bool flips = false;
  OCTET_INLINE static inline void dot(int32x4_t& acc, uint8x16_t a, int8x16_t b) {
    __asm__ volatile("sdot %0.4s, %1.16b, %2.16b" : "+w"(acc) : "w"(a), "w"(b));
  }
};
struct U8S8 {
  static constexpr bool flips = false;
  OCTET_INLINE static inline void dot(int32x4_t& acc, uint8x16_t a, int8x16_t b) {
    __asm__ volatile("usdot %0.4s, %1.16b, %2.16b" : "+w"(acc) : "w"(a), "w"(b));
  }
};
struct U8U8 {
  static constexpr bool flips = true;
  OCTET_INLINE static inline void dot(int32x4_t& acc, uint8x16_t a, int8x16_t b) {
    __asm__ volatile("udot %0.4s, %1.16b, %2.16b" : "+w"(acc) : "w"(a), "w"(b));
  }
};

// Joins the partial sums and stores the row.
template <int panels>
OCTET_INLINE inline void store_columns(const Tile& t, int32x4_t (&acc)[2][4]) {
  if (panels == 1) {
    OCTET_UNROLL(4)
    for (int j = 0; j < 4; ++j) acc[0][j] = vaddq_s32(acc[0][j], acc[1][j]);
  }
  constexpr int kVectors = 2 * panels;  // vectors of four columns
  int32x4_t columns[kVectors];
  OCTET_UNROLL(4)
  for (int v = 0; v < kVectors; ++v)
    columns[v] = vaddq_s32(vpaddq_s32(acc[v / 2][v % 2 * 2], acc[v / 2][v % 2 * 2 + 1]),
                           vld1q_s32(t.init + 4 * v));
  if (t.row_factors) {
    OCTET_UNROLL(4)
    for (int v = 0; v < kVectors; ++v)
      columns[v] =
          vmlsq_s32(columns[v], vld1q_s32(t.column_factors + 4 * v), vld1q_dup_s32(t.row_factors));
  }
  alignas(16) uint8_t whole[kStep * 4];
  const bool partial = t.cols < 4 * kVectors;
  uint8_t* const dst = partial ? whole : (uint8_t*)t.dst;
  const Store store = store_of(t);
  if (store != Store::kS32 && store != Store::kFloats) {
    const auto bytes_by = [&](auto like) OCTET_INLINE {
      decltype(like) scale[4];
      OCTET_UNROLL(4)
      for (int v = 0; v < 4; ++v)
        scale[v] = like.at(t.scale + 4 * (v % kVectors), t.requantization->tflite_apart);
      const int32x4_t all[4] = {columns[0], columns[1], columns[kVectors - 2],
                                columns[kVectors - 1]};
      return requantized<Store::kClamped>(all, scale, requantizing16(*t.requantization));
    };
    const uint8x16_t bytes =
        store == Store::kTflite ? bytes_by(TfliteRight{}) : bytes_by(FloatScale{});
    if (panels == 2)
      vst1q_u8(dst, bytes);
    else
      vst1_u8(dst, vget_low_u8(bytes));
  } else {
    OCTET_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) vst1q_s32((int32_t*)dst + 4 * v, columns[v]);
  }
  if (partial) copy_rows(whole, 0, (uint8_t*)t.dst, 0, 1, t.cols * element_bytes(t));
  if (store == Store::kFloats) floats_in_place(t, 0);
}

template <int panels>
void multiply(const Tile& t, Signs signs) {
  int32x4_t acc[2][4];
  OCTET_UNROLL(4)
  for (int j = 0; j < 4; ++j) acc[0][j] = acc[1][j] = vdupq_n_s32(0);
  const uint8_t* base = (const uint8_t*)t.lhs;
  const uint8_t* lhs = t.lhs_rows ? t.lhs_rows[0] : base;
  const uint8_t *rhs = t.rhs, *other = rhs + t.rhs_panel_stride;
  for (size_t tap = 0;;) {
    const auto walk = [&](auto types) OCTET_INLINE {
      using Types = decltype(types);
      const uint8x16_t flip = vreinterpretq_u8_u32(vdupq_n_u32(t.lhs_flip));
      const auto dots = [&](auto set, uint8x16_t a, const uint8_t*& from) OCTET_INLINE {
        int8x16_t b[4];
        load_columns_list<4>(b, from);
        unroll<4>([&](auto j) OCTET_INLINE { Types::dot(acc[set][j], a, b[j]); });
      };
      const auto step = [&](auto group, uint64x2_t word) OCTET_INLINE {
        uint8x16_t a = vreinterpretq_u8_u64(word);
        if (Types::flips) a = veorq_u8(a, flip);
        dots(Int < panels == 1 ? group : 0 > {}, a, rhs);
        if constexpr (panels == 2) dots(Int<1>{}, a, other);
      };
      size_t depth = t.depth;
      OCTET_NO_UNROLL
      for (; depth >= 16; depth -= 16) {
        int8x16_t both;
        load16_step(both, lhs);
        const uint64x2_t words = vreinterpretq_u64_s8(both);
        step(Int<0>{}, vdupq_laneq_u64(words, 0));
        step(Int<1>{}, vdupq_laneq_u64(words, 1));
      }
      if (depth >= 8) {
        step(Int<0>{}, vdupq_n_u64(load8(lhs)));
        lhs += 8;
      }
      if (depth % 8) step(Int<0>{}, vdupq_n_u64(load_tail(lhs, depth % 8)));
    };
    __asm__("" : "+r"(signs));  // else compilers make a loop over taps for each sign
    if (signs == Signs::kS8S8)
      walk(S8S8{});
    else if (signs == Signs::kU8S8)
      walk(U8S8{});
    else
      walk(U8U8{});
    if (++tap == t.taps) break;
    if (t.tap_steps) base += t.tap_steps[tap - 1];
    lhs = t.lhs_rows ? t.lhs_rows[tap] : base;
  }
  store_columns<panels>(t, acc);
}

// Sixteen columns at a time, because a call for each took 126 instructions around it.
template <Signs signs>
void dispatch(const Tile& t) {
  const auto multiply_part = [](const Tile& part) {
    (part.cols > 8 ? multiply<2> : multiply<1>)(part, signs);
  };
  if (t.cols <= kStep) return multiply_part(t);
  Tile part = t;
  part.cols = kStep;
  for (size_t left = t.cols; left; left -= part.cols) {
    if (left < kStep) part.cols = left;
    multiply_part(part);
    part.rhs += kStep / 8 * t.rhs_panel_stride;
    part.init += kStep;
    if (t.column_factors) part.column_factors += kStep;
    if (t.scale) part.scale += kStep;
    part.dst = (uint8_t*)part.dst + kStep * element_bytes(t);
  }
}

template <Signs signs>
constexpr MicroKernel kernel(const char* name) {
  return {
      .name = name,
      .tier_id = TierId::kI8mm,
      .lhs_element_type = signs == Signs::kS8S8 ? ElementType::kS8 : ElementType::kU8,
      .mr = 1,
      .nr = kNr,
      .m_max = 1,
      .flags = kStores | kRowFactors | (signs == Signs::kU8U8 ? kAnyLhs : 0),
      .rhs_layout = signs == Signs::kU8U8 ? kI8mmU8Layout : kI8mmLayout,
      .lhs_kr = 8,
      .multiply = dispatch<signs>,
  };
}

}  // namespace

const MicroKernel i8mm_s8s8_1x64x8 = kernel<Signs::kS8S8>("i8mm_s8s8_1x64x8");
const MicroKernel i8mm_u8s8_1x64x8 = kernel<Signs::kU8S8>("i8mm_u8s8_1x64x8");
const MicroKernel i8mm_u8u8_1x64x8 = kernel<Signs::kU8U8>("i8mm_u8u8_1x64x8");

}  // namespace octet
