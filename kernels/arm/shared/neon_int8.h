// SPDX-License-Identifier: Apache-2.0
// s8 x s8 -> s32 or 8 bits for ARMv8.0 and ARMv7: SMULL, SMLAL2 and SADALP, up to 4 rows x 64
// columns, 4 columns at a time. On ARMv7: VMULL, VMLAL and VPADAL, up to 2 rows.
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
// 16 accumulators, 4 for lhs, 4 for rhs, 4 for products: 28 registers of 32. ARMv7: 8 accumulators,
// 2 for lhs, 2 for rhs, 2 for products, 1 that flips: 15 of 16.
//
// Per 16 along depth: 4 loads of lhs, 2 load pairs of rhs, 3 instructions for each of 16
// accumulators, four products at a time; a last step of at most 8 takes 2 instead of 3. The lhs
// rows are read where they lie. A u8 lhs is flipped to s8 as it is loaded. One call does up to 16
// panels, which share its cost. (-128)^2 + (-128)^2 does not fit 16 bits: if a weight is -128, the
// second kernel adds each half on its own, four instructions instead of three, exact for all
// inputs. The kernels are instantiated over (rows, lhs sign, exactness).
#pragma once

#include "kernels/arm/shared/copy_bytes.h"
#if defined(__aarch64__)
#include "kernels/arm/shared/neon_in_order.h"
#include "kernels/arm/shared/neon_sixteens.h"
#endif
#include "kernels/arm/shared/neon_panel_ends.h"
#include "kernels/arm/shared/pinned.h"
#include "kernels/generic/portable.h"

namespace octet {
namespace {

#if defined(__aarch64__)
constexpr size_t kCopied = Sixteens::kBytes;
#else
constexpr size_t kCopied = 1;
#endif

// Multiplies four rows by a column, exact unless a weight is -128. One block of assembly, else GCC
// 12 copies products.
#define OCTET_MULTIPLY                                        \
  "smull %4.8h, %8.8b, %12.8b\n smull %5.8h, %9.8b, %12.8b\n" \
  "smull %6.8h, %10.8b, %12.8b\n smull %7.8h, %11.8b, %12.8b\n"
#define OCTET_ADD_HIGH                                              \
  "smlal2 %4.8h, %8.16b, %12.16b\n smlal2 %5.8h, %9.16b, %12.16b\n" \
  "smlal2 %6.8h, %10.16b, %12.16b\n smlal2 %7.8h, %11.16b, %12.16b\n"
#define OCTET_SUM(add) \
  add " %0.4s, %4.8h\n " add " %1.4s, %5.8h\n" add " %2.4s, %6.8h\n " add " %3.4s, %7.8h"
#define OCTET_COLUMN(text, sums)                                                         \
  __asm__ volatile(text                                                                  \
                   : sums(acc[0][j]), sums(acc[1][j]), sums(acc[2][j]), sums(acc[3][j]), \
                     "=&w"(p[0]), "=&w"(p[1]), "=&w"(p[2]), "=&w"(p[3])                  \
                   : "w"(a[0]), "w"(a[1]), "w"(a[2]), "w"(a[3]), "w"(b))
template <bool first, int bytes>
OCTET_INLINE inline void multiply_column(int32x4_t (&acc)[4][kWidth], int j,
                                         const int8x16_t (&a)[4], int8x16_t b) {
  int16x8_t p[4];
  if constexpr (first)
    OCTET_COLUMN(OCTET_MULTIPLY OCTET_ADD_HIGH OCTET_SUM("saddlp"), "=w");
  else if constexpr (bytes == 16)
    OCTET_COLUMN(OCTET_MULTIPLY OCTET_ADD_HIGH OCTET_SUM("sadalp"), "+w");
  else
    OCTET_COLUMN(OCTET_MULTIPLY OCTET_SUM("sadalp"), "+w");
}

// Multiplies `groups` steps of 16 along depth by twos, where four rows are plain (s8, and no weight
// -128), and leaves the odd one: 16 accumulators, 8 registers of rows, 4 of columns, 4 of products.
// Rows in sixteens take 4 registers, by one load per step.
template <int rows, bool plain, bool sixteens>
OCTET_INLINE inline void multiply_by_twos([[maybe_unused]] int32x4_t (&acc)[rows][kWidth],
                                          [[maybe_unused]] const uint8_t* (&lhs)[rows],
                                          [[maybe_unused]] const uint8_t*& rhs,
                                          [[maybe_unused]] size_t& groups) {
#if defined(__aarch64__)
  if constexpr (rows == 4 && plain) {
    OCTET_NO_UNROLL
    for (size_t twice = groups / 2; twice; --twice) {
      int8x16_t a[2][4], b[4];
      if constexpr (!sixteens)
        unroll<4>([&](auto i) OCTET_INLINE { load_rows_twice<i>(a[0][i], a[1][i], lhs[i]); });
      unroll<2>([&](auto step) OCTET_INLINE {
        if constexpr (sixteens) load_rows_list<4>(a[step], lhs[0]);
        load_columns_list<4>(b, rhs);
        unroll<kWidth>([&](auto j)
                           OCTET_INLINE { multiply_column<false, 16>(acc, j, a[step], b[j]); });
      });
    }
    groups %= 2;
  }
#endif
}

// Multiplies all but one or two of `groups` steps by the loop for in-order cores. Returns whether
// it did, so that accumulators are started.
template <int rows, bool plain>
OCTET_INLINE inline bool start_in_order([[maybe_unused]] bool in_order,
                                        [[maybe_unused]] int32x4_t (&acc)[rows][kWidth],
                                        [[maybe_unused]] const uint8_t* (&lhs)[rows],
                                        [[maybe_unused]] const uint8_t*& rhs,
                                        [[maybe_unused]] size_t& groups) {
#if defined(__aarch64__)
  if constexpr (rows == 4 && plain) {
    if (__builtin_expect(!in_order, 1) || groups < InOrder::kLeastSteps) return false;
    alignas(16) int32_t sums[rows * kWidth * 4];
    const uint8_t* const from[4] = {lhs[0], lhs[1], lhs[2], lhs[3]};
    const size_t done = multiply_in_order(from, rhs, groups, sums);
    groups -= done;
    rhs += 16 * kWidth * done;
    unroll<4>([&](auto i) OCTET_INLINE { lhs[i] += 16 * done; });
    unroll<4 * kWidth>(
        [&](auto at) OCTET_INLINE { acc[at / kWidth][at % kWidth] = vld1q_s32(sums + 4 * at); });
    return true;
  }
#endif
  return false;
}

// Multiplies `bytes` bytes of each row by as many of each column. first: the products start the
// accumulators, which need no clearing. Several products are in flight, else an in-order core would
// wait for each.
template <int rows, bool int8_min, bool first, int bytes, typename Lhs, typename Rhs>
OCTET_INLINE inline void multiply_add(int32x4_t (&acc)[rows][kWidth], const Lhs& load_lhs,
                                      const Rhs& load) {
  // Columns in flight
  constexpr int together = rows == 1 ? 4 : rows == 2 ? kTogetherOfTwo : rows == 4 ? 1 : 2;
  int8x16_t a[rows], b[kWidth];
  load(Int < together == 1 ? 0 : 2 > {}, b);
  load_lhs(a);
  unroll<kWidth / together>([&](auto step) OCTET_INLINE {
    constexpr int j0 = step * together;
    if (together == 1 && j0 == kLoadsAhead) load(Int<1>{}, b);
    if constexpr (rows == 4 && !int8_min) {
      multiply_column<first, bytes>(acc, j0, a, b[j0]);
    } else {
      int16x8_t products[rows][together];
      const auto each = [&](const auto& f) OCTET_INLINE {
        unroll<together>([&](auto j) OCTET_INLINE {
          unroll<rows>([&](auto i) OCTET_INLINE { f(i, Int<j0 + j>{}, products[i][j]); });
        });
      };
      const auto add = [&](auto starts) OCTET_INLINE {
        each([&](auto i, auto j, int16x8_t& p) OCTET_INLINE {
          if constexpr (starts)
            acc[i][j] = pairs(p);
          else
            add_pairs(acc[i][j], p);
        });
      };
      each([&](auto i, auto j, int16x8_t& p) OCTET_INLINE { p = multiply_low(a[i], b[j]); });
      if constexpr (bytes == 16 && int8_min) {
        add(Int<first>{});
        each([&](auto i, auto j, int16x8_t& p) OCTET_INLINE { p = multiply_high(a[i], b[j]); });
        add(Int<0>{});
      } else {
        if constexpr (bytes == 16)
          each([&](auto i, auto j, int16x8_t& p)
                   OCTET_INLINE { multiply_add_high(p, a[i], b[j]); });
        add(Int<first>{});
      }
    }
  });
}

// Steps of 16 along the depth of a tap, and bytes of a rest: up to eight take half a step. Exactly
// eight are read where they lie; otherwise the rest, or a whole row shorter than a step, is copied
// and filled with zeros. In sixteens all taps are one, whose last half step is the last tap's.
struct Steps {
  size_t whole, rest;
  bool is_short, copies;
};
template <bool sixteens>
OCTET_INLINE inline Steps steps_of(const Tile& t) {
  const size_t whole = t.depth / 16, bytes = t.depth % 16;
  if constexpr (sixteens) {
    const size_t all = t.taps * (whole + (bytes != 0));
    const bool half = bytes && bytes <= 8 && all > 1;
    return {all - half, half * (size_t)8, false, false};
  }
  const bool is_short = t.depth < 16;
  return {is_short ? 1 : whole, is_short ? 0 : bytes, is_short, bytes && (bytes != 8 || is_short)};
}

// Load a step of rows and pass it, the half of one, and a rest that was copied.
template <bool flip, int rows, typename Load>
OCTET_INLINE inline void load_each(int8x16_t (&a)[rows], const Load& load) {
  unroll<rows>([&](auto i) OCTET_INLINE {
    load(a[i], i);
    if (flip) a[i] = veorq_s8(a[i], vdupq_n_s8(-128));
  });
}
template <bool flip, bool sixteens, int rows>
OCTET_INLINE inline void load_rows(int8x16_t (&a)[rows], const uint8_t* (&lhs)[rows]) {
#if defined(__aarch64__)
  if constexpr (sixteens) return load_rows_list<4>(a, lhs[0]);
#endif
  load_each<flip>(a, [&](int8x16_t& to, auto i) OCTET_INLINE { load16_step(to, lhs[i]); });
}
template <bool flip, bool sixteens, int rows>
OCTET_INLINE inline void load_halves(int8x16_t (&a)[rows], const uint8_t* (&lhs)[rows]) {
  load_each<flip>(a, [&](int8x16_t& to, auto i) OCTET_INLINE {
    constexpr int at = sixteens ? 16 * i : 0;
    load_low<at>(to, lhs[sixteens ? 0 : i.value]);
  });
}
template <bool flip, int rows>
OCTET_INLINE inline void load_tails(int8x16_t (&a)[rows], const uint8_t (&tails)[kMr][16]) {
  load_each<flip>(
      a, [&](int8x16_t& to, auto i) OCTET_INLINE { to = vreinterpretq_s8_u8(vld1q_u8(tails[i])); });
}

// sixteens: copies the rows (neon_sixteens.h), whose bytes are at most as many as a copy has.
template <int rows, bool flip, bool int8_min, bool sixteens = false>
void multiply(const Tile& t, [[maybe_unused]] bool in_order) {
  constexpr int kGroup = 16 * kWidth;
  constexpr bool kPlain = !flip && !int8_min;
  using Requantizing = decltype(requantizing_of<rows>(*t.requantization));
  alignas(16) uint8_t tails[kMr][16];
  [[maybe_unused]] alignas(64) uint8_t sixteen[sixteens ? kCopied : 1];
#if defined(__aarch64__)
  if constexpr (sixteens) copy_sixteens(t, sixteen);
#endif
  alignas(16) uint8_t whole[kMr * kWidth * 4];
  const size_t taps = sixteens ? 1 : t.taps, element = element_bytes(t);
  const Steps steps = steps_of<sixteens>(t);
  const size_t all_groups = steps.whole, rest = steps.rest;
  const bool is_short = !sixteens && steps.is_short, copies = !sixteens && steps.copies;
  // One test skips the code that few tiles need
  const size_t more = rest | (taps - 1);
  const uint8_t* rhs = t.rhs;
  const ptrdiff_t to_next_panel =
      (ptrdiff_t)(t.rhs_panel_stride - taps * (all_groups + (rest != 0)) * kGroup);
  const int32_t *init = t.init, *column_factors = t.column_factors;
  const float* scale = t.scale;
  size_t tflite_apart = 0;
  Requantizing requantization;
  if (scale) {
    requantization = requantizing_of<rows>(*t.requantization);
    tflite_apart = t.requantization->tflite_apart;
  }
  spill(requantization);
  Store store = store_of(t);
  if (store == Store::kSaturated) store = Store::kClamped;  // they share their code
  const bool to_floats = kStoresFloatsHere && store == Store::kFloats,
             from_registers = rows == kMr && to_floats && floats_leave_registers(t),
             unusual = store != Store::kClamped || column_factors;  // one test for all
  // Bytes from a row of outputs to the next one, and from the last row to the next columns' first
  uint8_t* dst = (uint8_t*)t.dst;
  ptrdiff_t down = (ptrdiff_t)t.dst_stride, up = (ptrdiff_t)(kWidth * element) - (rows - 1) * down;
  const ptrdiff_t init_down = (ptrdiff_t)(t.init_stride * sizeof(int32_t)),
                  init_up = kWidth * sizeof(int32_t) - (rows - 1) * init_down;
  const uint8_t* starts[rows];  // the first tap's rows
  unroll<rows>([&](auto i) OCTET_INLINE {
    starts[i] = sixteens     ? sixteen
                : is_short   ? tails[i]
                : t.lhs_rows ? t.lhs_rows[i]
                             : (const uint8_t*)t.lhs + i * t.lhs_stride;
  });
  spill(starts);
  if (copies) copy_tails(t, 0, (const uint8_t*)t.lhs, tails);

  uint8_t* partial = nullptr;  // dst of a partial panel, which is stored to `whole` first
  size_t columns = t.cols, tap = 0;
  const auto store_partial = [&]() OCTET_INLINE {
    partial = dst;
    dst = whole;
    down = kWidth * element;
  };
  if (columns < kWidth) store_partial();
  for (;;) {
    const uint8_t* lhs[rows];
    unroll<rows>([&](auto i) OCTET_INLINE { lhs[i] = starts[i]; });

    int32x4_t acc[rows][kWidth];
    const auto from_rows = [&](auto& a) OCTET_INLINE { load_rows<flip, sixteens>(a, lhs); };
    const auto halves_of_rows = [&](auto& a) OCTET_INLINE { load_halves<flip, sixteens>(a, lhs); };
    const auto from_tails = [&](auto& a) OCTET_INLINE { load_tails<flip>(a, tails); };
    const auto step = [&](auto first, const auto& load) OCTET_INLINE {
      multiply_add<rows, int8_min, first, 16>(
          acc, load, [&](auto part, auto& b) OCTET_INLINE { load_part_of_columns<part>(b, rhs); });
    };
    const auto half_step = [&](const auto& load) OCTET_INLINE {
      multiply_add<rows, int8_min, false, 8>(
          acc, load, [&](auto part, auto& b) OCTET_INLINE { load_part_of_halves<part>(b, rhs); });
    };
    size_t groups = all_groups;
    if (sixteens || !start_in_order<rows, kPlain>(in_order, acc, lhs, rhs, groups)) {
      step(Int<1>{}, from_rows);
      --groups;
    }
    for (;;) {
      multiply_by_twos<rows, kPlain, sixteens>(acc, lhs, rhs, groups);
      // Written out, because GCC 12 would make a plain loop with its test at the top
      if (__builtin_expect(groups != 0, 1)) {
        do step(Int<0>{}, from_rows);
        while (--groups);
      }
      if (__builtin_expect(!more, 1)) break;
      if (rest) {
        if (sixteens || rest == 8)
          half_step(halves_of_rows);
        else if (rest > 8)
          step(Int<0>{}, from_tails);
        else
          half_step(from_tails);
        if (taps == 1) break;
      }
      if (++tap == taps) {
        tap = 0;
        if (copies && columns > kWidth) copy_tails(t, 0, (const uint8_t*)t.lhs, tails);
        break;
      }
      groups = all_groups;
      const uint8_t* base = (const uint8_t*)t.lhs;
      if (t.tap_steps)
        for (size_t i = 0; i < tap; ++i) base += t.tap_steps[i];
      if (copies) copy_tails(t, tap, base, tails);
      unroll<rows>([&](auto i) OCTET_INLINE {
        lhs[i] = is_short     ? tails[i]
                 : t.lhs_rows ? t.lhs_rows[tap * rows + i]
                              : base + i * t.lhs_stride;
      });
    }

    int32x4_t sum[rows];
    unroll<rows>([&](auto i) OCTET_INLINE {
      sum[i] =
          vaddq_s32(vpaddq_s32(vpaddq_s32(acc[i][0], acc[i][1]), vpaddq_s32(acc[i][2], acc[i][3])),
                    load_init(init, i == rows - 1 ? init_up : init_down));
    });
    bool stored = false;
    if (__builtin_expect(unusual, 0)) {
      if (column_factors) subtract_factors(t.row_factors, column_factors, sum);
      stored = store != Store::kClamped;
      if (store == Store::kTflite)
        store_bytes(TfliteRight::at(scale, tflite_apart), sum, requantization, dst, down, up);
      else if (kStoresFloatsHere && rows == kMr && from_registers)
        store_floats(t, scale, sum, dst, down, up);
      else if (stored)
        unroll<rows>([&](auto i) OCTET_INLINE {
          vst1q_s32((int32_t*)dst, sum[i]);
          dst += i == rows - 1 ? up : down;
        });
    }
    if (!stored) store_bytes(FloatScale::at(scale, 0), sum, requantization, dst, down, up);
    if (store != Store::kS32) scale += kWidth;
    columns -= kWidth;
    rhs += to_next_panel;
    if (__builtin_expect((ptrdiff_t)columns < kWidth, 0)) {
      if ((ptrdiff_t)columns <= 0) break;
      store_partial();
      keep_branch();
    }
  }
  if (partial)
    copy_rows(whole, kWidth * element, partial, t.dst_stride, t.rows, t.cols % kWidth * element);
  if (to_floats && !from_registers) floats_in_place(t, 0);
}

#if defined(__aarch64__)
// Multiplies four rows by way of their copies.
template <bool int8_min>
void multiply_sixteens(const Tile& t, bool) {
  constexpr auto kMultiply = multiply<4, false, int8_min, true>;
  Sixteens::bytes(t) <= Sixteens::kBytes ? kMultiply(t, false) : multiply_in_parts(t, kMultiply);
}
#endif

template <bool flip, bool int8_min>
constexpr void (*kByRows[kMr])(const Tile&, bool) = {
    multiply<1, flip, int8_min>,
    multiply<2, flip, int8_min>,
#if defined(__aarch64__)
    multiply<3, flip, int8_min>,
    flip ? multiply_sixteens<int8_min> : multiply<4, false, int8_min>,
#endif
};

template <bool int8_min, bool in_order = false>
void dispatch(const Tile& t) {
  (t.lhs_flip ? kByRows<true, int8_min> : kByRows<false, int8_min>)[t.rows - 1](t, in_order);
}

template <bool int8_min, MultiplyFn multiply = dispatch<int8_min>>
constexpr MicroKernel int8_kernel_of(const char* name) {
  return {
      .name = name,
      .tier_id = TierId::kNeon,
      .lhs_element_type = ElementType::kS8,
      .mr = kMr,
      .nr = kNr,
      .flags = kAnyLhs | kStores | kRowFactors | kNoInt8Min * !int8_min,
      .rhs_layout = kNeonLayout,
      .lhs_kr = 16,
      .multiply = multiply,
  };
}

}  // namespace
}  // namespace octet
