// SPDX-License-Identifier: Apache-2.0
// 8 bits x 8 bits -> s32 or 8 bits, SMMLA, USMMLA and UMMLA, up to 12 rows x 64 columns, 8 columns
// at a time.
//
// One instruction multiplies two rows by two columns over 8 depth steps. A register of lhs holds a
// pair of rows, one of rhs a pair of columns, one of accumulators their 2x2 block [r0c0 r0c1 r1c0
// r1c1]:
//
//                          columns 0 1   2 3   4 5   6 7
//                         +------------+-----+-----+-----+
//   rows 0 1, 8 bytes of  | acc[0][0]  | [1] | [2] | [3] |
//   each, side by side    +------------+-----+-----+-----+
//   ...                   |            |     |     |     |
//   rows 10 11            | acc[5][0]  | [1] | [2] | [3] |
//                         +------------+-----+-----+-----+
//
// 24 accumulators, 4 for rhs, 4 for lhs: 32 registers of 32.
//
// Per 16 along depth: five loads of four registers, 48 multiplications, two instructions of loop.
// One call does up to eight panels, which share its cost, and the rows' panel stays in L1. The
// kernel is instantiated over pairs of rows. An odd last row is a pair whose second row is computed
// and then overwritten by the first. The 2x2 blocks are kept until the outputs are bytes:
// separating rows then takes two instructions per pair instead of eight. The usual store has
// instances of its own: between the depth loops of two panels, the only branch is to the loop for
// the operands' signs.
#include <arm_neon.h>

#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/i8mm_blocks.h"
#include "kernels/arm/shared/pinned.h"
#include "kernels/core/compiler.h"
#include "kernels/generic/portable.h"

namespace octet {
namespace {

constexpr int kPairs = 6, kWidth = 8, kNr = 64;
static_assert(kI8mmLayout.step == kWidth && kI8mmU8Layout.step == kWidth,
              "every panel has exactly 8 columns: the groups' stride is a constant");

// Signs do not change how registers are filled.
enum class Signs { kS8S8, kU8S8, kU8U8 };

// ---- lhs panel ----------------------------------------------------------------------------------

constexpr uint64_t kFlips = 0x8080808080808080;

// Clears a row that does not exist, and writes rows of less than 8 bytes, with zeros beyond them.
// `to` is the start of the last group, if that is partial, else the end of the panel.
__attribute__((noinline)) void pad_panel(const Rows& r, size_t lanes, uint8_t* to) {
  const size_t bytes = r.depth % 8;
  if (r.depth < 8) {
    const uint64_t flips = (r.flip ? kFlips : 0) >> (64 - 8 * bytes);
    for (size_t i = 0; i < r.rows; ++i) store8(load_tail(r.row(i), bytes) ^ flips, to + 8 * i);
  }
  if (bytes) to += 8 * lanes;
  for (size_t group = divide_up(r.depth, 8); r.rows < lanes && group; --group) {
    to -= 8 * lanes;
    store8(0, to + 8 * (lanes - 1));
  }
}

// Stores two vectors side by side. The pins keep GCC 12 from separating the two stores.
OCTET_INLINE inline void store_two(uint64x2_t first, uint64x2_t second, uint8_t* to, bool both) {
  pin(first);
  if (both) pin(second);
  vst1q_u8(to, vreinterpretq_u8_u64(first));
  if (both) vst1q_u8(to + 16, vreinterpretq_u8_u64(second));
}

// Makes [a0 b0] and [a1 b1]. The second comes first, because Clang makes the first by overwriting
// a.
OCTET_INLINE inline void zip(uint64x2_t a, uint64x2_t b, uint64x2_t* low, uint64x2_t* high) {
  *high = vzip2q_u64(a, b);
  __asm__("" : "+w"(*high), "+w"(a));
  *low = vzip1q_u64(a, b);
}

// Gathers pairs of rows, 8 bytes of each side by side. All pairs advance together, so that their
// stores are adjacent. The end of a row comes from its last 8 bytes.
template <int pairs, bool flip>
void gather(const Rows& r, uint8_t* to) {
  const uint8_t* row[2 * pairs];
  OCTET_UNROLL(12)
  // pad_panel clears a missing row
  for (int i = 0; i < 2 * pairs; ++i)
    row[i] = i < 2 * pairs - 1 || r.rows == 2 * pairs ? r.row(i) : row[i - 1];
  size_t left = r.depth;
  OCTET_NO_UNROLL
  for (; left >= 32; left -= 32, to += 32 * 2 * pairs) {
    unroll<(pairs + 1) / 2>([&](auto two) OCTET_INLINE {
      constexpr int p = 2 * two, rows = p + 1 < pairs ? 4 : 2;
      int8x16_t loaded[rows][2];
      unroll<rows>([&](auto i) OCTET_INLINE {
        load_rows_twice<i>(loaded[i][0], loaded[i][1], row[2 * p + i]);
      });
      unroll<2>([&](auto half) OCTET_INLINE {
        const auto bytes = [&](int i) OCTET_INLINE {
          const uint8x16_t x = vreinterpretq_u8_s8(loaded[i][half]);
          return vreinterpretq_u64_u8(flip ? veorq_u8(x, vdupq_n_u8(0x80)) : x);
        };
        uint64x2_t first[2], second[2];
        zip(bytes(0), bytes(1), &first[0], &second[0]);
        if (rows == 4) zip(bytes(rows - 2), bytes(rows - 1), &first[1], &second[1]);
        uint8_t* const group = to + 16 * (2 * half * pairs + p);
        store_two(first[0], first[1], group, rows == 4);
        store_two(second[0], second[1], group + 16 * pairs, rows == 4);
      });
    });
  }
  OCTET_NO_UNROLL
  for (; left >= 8; left -= 8, to += 16 * pairs) {
    OCTET_UNROLL(12)
    for (int i = 0; i < 2 * pairs; ++i, row[i - 1] += 8)
      store8(load8(row[i]) ^ (flip ? kFlips : 0), to + 8 * i);
  }
  if (left && r.depth >= 8) {
    const size_t missing = 8 - left, shift = 8 * missing;
    OCTET_UNROLL(12)
    for (int i = 0; i < 2 * pairs; ++i)
      store8((load8(row[i] - missing) ^ (flip ? kFlips : 0)) >> shift, to + 8 * i);
  }
  if ((left && r.depth < 8) || r.rows % 2) pad_panel(r, 2 * pairs, to);
}

template <bool flip>
constexpr void (*kGather[kPairs])(const Rows&, uint8_t*) = {gather<1, flip>, gather<2, flip>,
                                                            gather<3, flip>, gather<4, flip>,
                                                            gather<5, flip>, gather<6, flip>};

void gather_pairs(const Rows& r, size_t lanes, void* panel) {
  (r.flip ? kGather<true> : kGather<false>)[lanes / 2 - 1](r, (uint8_t*)panel);
}

// Sums rows of a panel: products with columns of ones.
template <typename Types, int pairs>
void sum_pairs(const uint8_t* panel, size_t groups, int32_t* sums) {
  int32x4_t acc[pairs] = {};
  int8x16_t ones = vdupq_n_s8(1);
  pin(ones);
  OCTET_NO_UNROLL
  for (; groups; --groups) {
    unroll<(pairs + 3) / 4>([&](auto four) OCTET_INLINE {
      constexpr int p = 4 * four, count = pairs - p < 4 ? pairs - p : 4;
      int8x16_t a[4];
      load_rows_list<count>(a, panel);
      unroll<count>([&](auto i) OCTET_INLINE { Types::mmla(acc[p + i], a[i], ones); });
    });
  }
  unroll<(pairs + 1) / 2>([&](auto two) OCTET_INLINE {
    constexpr int p = 2 * two;
    if constexpr (p + 1 < pairs)
      vst1q_s32(sums + 2 * p, vuzp1q_s32(acc[p], acc[p + 1]));
    else
      vst1_s32(sums + 2 * p, vget_low_s32(vuzp1q_s32(acc[p], acc[p])));
  });
}

template <typename Types>
constexpr void (*kSumPairs[kPairs])(const uint8_t*, size_t, int32_t*) = {
    sum_pairs<Types, 1>, sum_pairs<Types, 2>, sum_pairs<Types, 3>,
    sum_pairs<Types, 4>, sum_pairs<Types, 5>, sum_pairs<Types, 6>};

template <typename Types>
void sum_panel(const void* panel, size_t lanes, size_t depth, int32_t* sums) {
  kSumPairs<Types>[lanes / 2 - 1]((const uint8_t*)panel, depth / 8, sums);
}

// ---- kernel -------------------------------------------------------------------------------------

// Multiplies groups of 8 along depth, two per iteration, which share loads of four registers. Few
// rows add the second group to sums of its own to hide the latency. The order is this text's in
// every compiler (pinned.h): GCC 10 moved loads ahead and copied registers for it.
template <typename Types, int pairs, int sets>
OCTET_INLINE inline void multiply_groups(const uint8_t* lhs, const uint8_t* rhs, size_t groups,
                                         int32x4_t (&first)[pairs][4],
                                         int32x4_t (&second)[pairs][4]) {
  const auto step = [&](auto count) OCTET_INLINE {
    constexpr int all = count * pairs;  // pairs of rows
    int8x16_t a[4], b[4];
    unroll<all>([&](auto at) OCTET_INLINE {
      constexpr int p = at % pairs, left = all - at;
      if constexpr (p == 0) load_columns_list<4>(b, rhs);
      if constexpr (at % 4 == 0) load_rows_list<(left < 4 ? left : 4)>(a, lhs);
      int32x4_t(&acc)[4] = (at < pairs || sets == 1 ? first : second)[p];
      unroll<4>([&](auto j) OCTET_INLINE { Types::mmla(acc[j], a[at % 4], b[j]); });
    });
  };
  OCTET_NO_UNROLL
  for (size_t twice = groups / 2; twice; --twice) step(Int<2>{});
  if (groups % 2) step(Int<1>{});
}

// Multiplies the depth of one panel. All signs share the code before and after their loops.
template <int pairs>
OCTET_INLINE inline void multiply_panel(const uint8_t* lhs, const uint8_t* rhs, size_t groups,
                                        Signs signs, int32x4_t (&first)[pairs][4]) {
  // Few rows split the depth over several sets of accumulators to hide the latency.
  constexpr int sets = pairs <= 2 ? 2 : 1;
  int32x4_t second[pairs][4];
  if (sets > 1) {
    OCTET_UNROLL(2)
    for (int p = 0; p < pairs; ++p)
      second[p][0] = second[p][1] = second[p][2] = second[p][3] = vdupq_n_s32(0);
  }
  if (signs == Signs::kS8S8)
    multiply_groups<S8S8, pairs, sets>(lhs, rhs, groups, first, second);
  else if (signs == Signs::kU8S8)
    multiply_groups<U8S8, pairs, sets>(lhs, rhs, groups, first, second);
  else
    multiply_groups<U8U8, pairs, sets>(lhs, rhs, groups, first, second);
  if (sets > 1) {
    OCTET_UNROLL(2)
    for (int p = 0; p < pairs; ++p) {
      OCTET_UNROLL(4)
      for (int j = 0; j < 4; ++j) first[p][j] = vaddq_s32(first[p][j], second[p][j]);
    }
  }
}

// As multiply_panel, by a function that meets the accumulators in memory. `blocks`: the init of all
// rows, or null if that is in the accumulators.
template <int pairs>
OCTET_INLINE inline void multiply_panel_by(I8mmPanel multiply, const uint8_t* lhs,
                                           const uint8_t* rhs, size_t groups, const uint8_t* blocks,
                                           int32x4_t (&acc)[pairs][4]) {
  alignas(32) int32_t sums[pairs * 16];
  const auto each = [&](const auto& f) OCTET_INLINE {
    unroll<pairs>([&](auto p) OCTET_INLINE {
      unroll<4>([&](auto j) OCTET_INLINE { f(acc[p][j], sums + 16 * p + 4 * j); });
    });
  };
  if (!blocks) each([](int32x4_t& block, int32_t* at) OCTET_INLINE { vst1q_s32(at, block); });
  multiply(lhs, rhs, groups, blocks ? (const int32_t*)blocks : sums, blocks ? 0 : 16, sums);
  each([](int32x4_t& block, int32_t* at) OCTET_INLINE { block = vld1q_s32(at); });
}

// Multiplies panel by panel. A panel's init is loaded right after the stores of the panel before,
// when the load pipes are idle; after the last panel its own init is loaded again, and not used.
// The usual store has functions of its own; the others share one, which costs a branch or two per
// panel and saves half the code.
template <int pairs, bool saturated>
void multiply(const Tile& t, Signs signs, [[maybe_unused]] I8mmPanel by_panel) {
  alignas(16) uint8_t whole[2 * kPairs * kWidth * 4], blocks[4 * 16];
  alignas(16) int32_t row_factors[(pairs + 1) / 2 * 8], row_scales[(pairs + 1) / 2 * 8];
  const uint8_t* const lhs = (const uint8_t*)t.lhs;
  const uint8_t* rhs = t.rhs;
  const size_t groups = divide_up(t.depth, 8), rhs_panel_stride = t.rhs_panel_stride,
               init_stride = t.init_stride, element = saturated ? 1 : element_bytes(t);
  const int32_t *init = t.init, *column_factors = t.column_factors;
  const float* scale = t.scale;
  Requantizing16 requantization;
  size_t tflite_apart = 0;
  if (saturated || scale) {
    requantization = requantizing16(*t.requantization);
    if (!saturated) tflite_apart = t.requantization->tflite_apart;
  }
  spill(requantization);
  const bool odd = t.rows % 2, factored = t.row_factors,
             to_floats = !saturated && store_of(t) == Store::kFloats,
             from_registers = pairs >= kPairs - 1 && to_floats && floats_leave_registers(t);
  uint8_t* dst = (uint8_t*)t.dst;
  size_t stride = t.dst_stride;

  if (factored) pair_rows<pairs>(t.row_factors, odd, row_factors);
  const float* by_rows = nullptr;
  if (from_registers && t.row_scale) {
    pair_rows<pairs>(t.row_scale, odd, row_scales);
    by_rows = (const float*)row_scales;
  }
  int32x4_t acc[pairs][4];
  start_alike(init, blocks, acc);
  for (size_t columns = t.cols;; columns -= kWidth) {
    if (__builtin_expect(init_stride != 0, 0)) start_rows(init, init_stride, odd, acc);
    if (__builtin_expect(factored, 0)) subtract_factors(row_factors, column_factors, acc);
    __asm__("" : "+r"(signs));  // else compilers make a loop over panels for each sign
    if (!saturated && by_panel)
      multiply_panel_by(by_panel, lhs, rhs, groups, init_stride || factored ? nullptr : blocks,
                        acc);
    else
      multiply_panel(lhs, rhs, groups, signs, acc);
    dst = columns < kWidth ? whole : dst;
    stride = columns < kWidth ? kWidth * element : stride;
    if constexpr (saturated)
      store_requantized<pairs, Store::kSaturated>(acc, scale, 0, requantization, dst, stride, odd);
    else if (pairs >= kPairs - 1 && from_registers && columns >= kWidth)
      store_floats(t, scale, by_rows, acc, dst, stride, odd);
    else if (!scale || to_floats)
      store_s32(acc, dst, stride, odd);
    else if (tflite_apart)
      store_requantized<pairs, Store::kTflite>(acc, scale, tflite_apart, requantization, dst,
                                               stride, odd);
    else
      store_requantized<pairs, Store::kClamped>(acc, scale, 0, requantization, dst, stride, odd);
    init += columns > kWidth ? kWidth : 0;
    column_factors += kWidth;
    start_alike(init, blocks, acc);
    if (columns <= kWidth) {
      uint8_t* const to = (uint8_t*)t.dst + (t.cols - columns) * element;
      if (columns < kWidth)
        copy_rows(whole, kWidth * element, to, t.dst_stride, t.rows, columns * element);
      if (to_floats && !(from_registers && columns == kWidth))
        floats_in_place(t, from_registers ? t.cols - columns : 0);
      return;
    }
    rhs += rhs_panel_stride;
    if (saturated || scale) scale += kWidth;
    dst += kWidth * element;
  }
}

template <bool saturated>
constexpr void (*kByPairs[kPairs])(const Tile&, Signs, I8mmPanel) = {
    multiply<1, saturated>, multiply<2, saturated>, multiply<3, saturated>,
    multiply<4, saturated>, multiply<5, saturated>, multiply<6, saturated>};

template <Signs signs>
void dispatch(const Tile& t) {
  (store_of(t) == Store::kSaturated ? kByPairs<true> : kByPairs<false>)[(t.rows - 1) / 2](t, signs,
                                                                                          nullptr);
}

#if defined(OCTET_SVE256I8MM)
template <Signs signs>
void dispatch_sve256(const Tile& t) {
  i8mm_multiply_by(sve256_panels[(int)signs], t);
}
#endif

template <Signs signs, MultiplyFn multiply = dispatch<signs>>
constexpr MicroKernel kernel(const char* name) {
  constexpr bool is_s8 = signs == Signs::kS8S8, is_u8u8 = signs == Signs::kU8U8;
  return {
      .name = name,
      .tier_id = TierId::kI8mm,
      .lhs_element_type = is_s8 ? ElementType::kS8 : ElementType::kU8,
      .mr = 2 * kPairs,
      .nr = kNr,
      .flags = kStores | kRowFactors | (is_u8u8 ? kAnyLhs : 0),
      .rhs_layout = is_u8u8 ? kI8mmU8Layout : kI8mmLayout,
      .gather = gather_pairs,
      .lhs_lanes_step = 2,
      .lhs_kr = 8,
      .sum_panel = is_s8 ? sum_panel<S8S8> : sum_panel<U8U8>,
      .multiply = multiply,
      .needs = multiply == dispatch<signs> ? Features{0} : kHasSve256I8mm,
  };
}

}  // namespace

void i8mm_multiply_by(const I8mmPanel (&by_pairs)[kPairs], const Tile& t) {
  const size_t pairs = (t.rows - 1) / 2;
  kByPairs<false>[pairs](t, Signs::kS8S8, by_pairs[pairs]);
}

const MicroKernel i8mm_s8s8_12x64x8 = kernel<Signs::kS8S8>("i8mm_s8s8_12x64x8");
const MicroKernel i8mm_u8s8_12x64x8 = kernel<Signs::kU8S8>("i8mm_u8s8_12x64x8");
// u8 weights are used unchanged. There is no signed x unsigned instruction, so gather flips an s8
// lhs to u8.
const MicroKernel i8mm_u8u8_12x64x8 = kernel<Signs::kU8U8>("i8mm_u8u8_12x64x8");

#if defined(OCTET_SVE256I8MM)
const MicroKernel i8mm_s8s8_sve256_12x64x8 =
    kernel<Signs::kS8S8, dispatch_sve256<Signs::kS8S8>>("i8mm_s8s8_sve256_12x64x8");
const MicroKernel i8mm_u8s8_sve256_12x64x8 =
    kernel<Signs::kU8S8, dispatch_sve256<Signs::kU8S8>>("i8mm_u8s8_sve256_12x64x8");
const MicroKernel i8mm_u8u8_sve256_12x64x8 =
    kernel<Signs::kU8U8, dispatch_sve256<Signs::kU8U8>>("i8mm_u8u8_sve256_12x64x8");
#endif

}  // namespace octet
