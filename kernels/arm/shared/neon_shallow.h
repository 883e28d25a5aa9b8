// SPDX-License-Identifier: Apache-2.0
// Multiplies 3 or 4 rows of at most 48 bytes on AArch64. The rows stay in registers for all
// columns. With so little depth, neon_int8.h would load half as many vectors as it multiplies, and
// test the rest of the rows after each four columns.
//
// The lhs takes up to 12 registers, three per row. Two columns at a time are multiplied by all of
// them, and their partial sums join before the next two columns begin: 12 accumulators, 4 products,
// 2 to 4 of rhs.
#pragma once

#include "kernels/arm/shared/neon_int8.h"

namespace octet {
namespace {

struct Shallow {
  static constexpr int kRows = 4, kMost = 48;

  // Whether this code takes the tile: the usual cases only; neon_int8.h does the others.
  static bool takes(const Tile& t) {
    return t.depth <= kMost && t.scale && t.taps == 1 && t.rows + 1 >= kRows &&
           t.init_stride == 0 && t.cols >= kWidth &&
           (!t.requantization->to_floats || floats_leave_registers(t));
  }
};

// With three rows, the fourth is the third again: it stores the same bytes to the same place.
OCTET_INLINE inline size_t row_of(const Tile& t, int i) { return i < 3 ? (size_t)i : t.rows - 1; }

// Multiplies four rows of a group by a column; `bytes` bytes of each row are not padding.
template <bool int8_min, bool first, int bytes, int j>
OCTET_INLINE inline void multiply_group(int32x4_t (&acc)[4][kWidth], const int8x16_t (&a)[4],
                                        int8x16_t b) {
  if constexpr (!int8_min) {
    multiply_column<first, bytes>(acc, j, a, b);
  } else {
    int16x8_t p[4];
    unroll<4>([&](auto i) OCTET_INLINE { p[i] = multiply_low(a[i], b); });
    unroll<4>([&](auto i) OCTET_INLINE {
      if constexpr (first)
        acc[i][j] = pairs(p[i]);
      else
        add_pairs(acc[i][j], p[i]);
    });
    if constexpr (bytes == 16) {
      unroll<4>([&](auto i) OCTET_INLINE { p[i] = multiply_high(a[i], b); });
      unroll<4>([&](auto i) OCTET_INLINE { add_pairs(acc[i][j], p[i]); });
    }
  }
}

// Loads the last group of a row longer than a group: the row's last 16 bytes, shifted, and zeros.
OCTET_INLINE inline uint8x16_t load_rest(const uint8_t* row, size_t depth, size_t padding) {
  static constexpr uint8_t kCount[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return vqtbl1q_u8(vld1q_u8(row + depth - 16),
                    vaddq_u8(vld1q_u8(kCount), vdupq_n_u8((uint8_t)padding)));
}

// Stores four bytes to each row. One block of assembly, else GCC 12 copies addresses.
OCTET_INLINE inline void store_quads(uint8x16_t bytes, uint8_t* (&to)[4]) {
  __asm__ volatile(
      "st1 {%4.s}[0], [%0], #4\n st1 {%4.s}[1], [%1], #4\n"
      "st1 {%4.s}[2], [%2], #4\n st1 {%4.s}[3], [%3], #4"
      : "+&r"(to[0]), "+&r"(to[1]), "+&r"(to[2]), "+&r"(to[3])
      : "w"(bytes)
      : "memory");
}

// Loads two columns of a group, or the first eight bytes of each.
template <int bytes, int at>
OCTET_INLINE inline void load_two_of(int8x16_t (&b)[2], const uint8_t* rhs) {
  if constexpr (bytes == 16) {
    load_two<at>(b[0], b[1], rhs);
  } else {
    load_low<at>(b[0], rhs);
    load_low<at + 16>(b[1], rhs);
  }
}

OCTET_INLINE inline void subtract_factors_of(const Tile& t, const int32_t*& of_columns,
                                             int32x4_t (&out)[4]) {
  const int32x4_t factors = vld1q_s32(of_columns);
  of_columns += kWidth;
  unroll<4>([&](auto i) OCTET_INLINE {
    out[i] = vmlsq_s32(out[i], factors, vld1q_dup_s32(t.row_factors + row_of(t, i)));
  });
}

OCTET_INLINE inline void store_floats_of(const Tile& t, const float* scale,
                                         const int32x4_t (&out)[4], uint8_t* (&dst)[4]) {
  FloatColumns by = FloatColumns::at(scale, t.requantization->bias_apart);
  by_row_scaled(t.row_scale, [&](auto row_scaled) OCTET_INLINE {
    unroll<4>([&](auto i) OCTET_INLINE {
      vst1q_f32((float*)dst[i], floats<row_scaled>(out[i], by, [&]() OCTET_INLINE {
                  return vld1q_dup_f32(t.row_scale + row_of(t, i));
                }));
      dst[i] += kWidth * sizeof(float);
    });
  });
}

// Multiplies all whole panels of a tile. last: the bytes of the rows' last group that are
// multiplied, 8 or 16.
template <bool int8_min, int groups, int last>
OCTET_INLINE inline void multiply_panels(const Tile& t, const uint8_t* const (&rows)[4]) {
  constexpr int kGroup = 16 * kWidth;
  const uint8_t* rhs = t.rhs;
  const int32_t *init = t.init, *column_factors = t.column_factors;
  const float* scale = t.scale;
  const size_t tflite_apart = t.requantization->tflite_apart, to_next_panel = t.rhs_panel_stride;
  const bool to_floats = t.requantization->to_floats,
             unusual = to_floats || tflite_apart || column_factors;  // one test for all
  Requantizing16 requantization = requantizing16(*t.requantization);
  spill(requantization);
  const uint8x16_t flip = vdupq_n_u8((uint8_t)t.lhs_flip);
  const auto flipped = [&](uint8x16_t bytes)
                           OCTET_INLINE { return vreinterpretq_s8_u8(veorq_u8(bytes, flip)); };
  int8x16_t a[groups][4];
  uint8_t* dst[4];
  unroll<4>([&](auto i) OCTET_INLINE {
    unroll<groups>([&](auto g) OCTET_INLINE {
      if constexpr (g == 0 || g + 1 < groups)
        a[g][i] = flipped(vld1q_u8(rows[i] + 16 * g));
      else
        a[g][i] = flipped(load_rest(rows[i], t.depth, 16 * groups - t.depth));
    });
    dst[i] = (uint8_t*)t.dst + row_of(t, i) * t.dst_stride;
  });
  for (size_t panels = t.cols / kWidth; panels != 0; --panels) {
    int32x4_t acc[4][kWidth], sum[2][4];
    const auto two_columns = [&](auto two) OCTET_INLINE {
      constexpr int j = 2 * two, kAhead = groups == 2;  // load ahead where registers are left
      int8x16_t b[groups][2];
      const auto load = [&](auto g) OCTET_INLINE {
        load_two_of<g + 1 < groups ? 16 : last, kGroup * g + 16 * j>(b[g], rhs);
      };
      unroll<groups>([&](auto g) OCTET_INLINE {
        constexpr int bytes = g + 1 < groups ? 16 : last;
        if constexpr (g == 0 || !kAhead) load(g);
        if constexpr (g == 0 && kAhead) load(Int<g + 1>{});
        multiply_group<int8_min, g == 0, bytes, j>(acc, a[g], b[g][0]);
        multiply_group<int8_min, g == 0, bytes, j + 1>(acc, a[g], b[g][1]);
      });
      unroll<4>([&](auto i) OCTET_INLINE { sum[two][i] = vpaddq_s32(acc[i][j], acc[i][j + 1]); });
    };
    two_columns(Int<0>{});
    two_columns(Int<1>{});
    rhs += to_next_panel;
    const int32x4_t start = vld1q_s32(init);
    init += kWidth;
    int32x4_t out[4];
    unroll<4>([&](auto i)
                  OCTET_INLINE { out[i] = vaddq_s32(vpaddq_s32(sum[0][i], sum[1][i]), start); });
    const auto store = [&](const auto& by) OCTET_INLINE {
      const uint8x16_t bytes = requantized<Store::kClamped>(out, {by, by, by, by}, requantization);
      store_quads(bytes, dst);
    };
    bool stored = false;
    if (__builtin_expect(unusual, 0)) {
      if (column_factors) subtract_factors_of(t, column_factors, out);
      stored = to_floats || tflite_apart;
      if (to_floats)
        store_floats_of(t, scale, out, dst);
      else if (tflite_apart)
        store(TfliteRight::at(scale, tflite_apart));
    }
    if (!stored) store(FloatScale::at(scale, 0));
    scale += kWidth;
  }
}

// Not inlined: deep tiles would pay for the registers that it saves on the stack.
template <bool int8_min>
__attribute__((noinline)) void multiply_shallow(const Tile& t) {
  alignas(16) uint8_t tails[Shallow::kRows][16];
  if (t.depth < 16) copy_tails(t, 0, (const uint8_t*)t.lhs, tails);
  const uint8_t* rows[4];
  unroll<4>([&](auto at) OCTET_INLINE {
    const size_t i = row_of(t, at);
    rows[at] = t.lhs_rows ? t.lhs_rows[i] : (const uint8_t*)t.lhs + i * t.lhs_stride;
    if (t.depth < 16) rows[at] = tails[i];
  });
  if (t.depth <= 16)
    multiply_panels<int8_min, 1, 16>(t, rows);
  else if (t.depth <= 24)
    multiply_panels<int8_min, 2, 8>(t, rows);
  else if (t.depth <= 32)
    multiply_panels<int8_min, 2, 16>(t, rows);
  else if (t.depth <= 40)
    multiply_panels<int8_min, 3, 8>(t, rows);
  else
    multiply_panels<int8_min, 3, 16>(t, rows);
  const size_t done = t.cols / kWidth;
  if (t.cols == done * kWidth) return;
  Tile last = t;
  last.cols = t.cols - done * kWidth;
  last.rhs += done * t.rhs_panel_stride;
  last.init += done * kWidth;
  last.scale += done * kWidth;
  if (t.row_factors) last.column_factors += done * kWidth;
  last.dst = (uint8_t*)t.dst + done * kWidth * element_bytes(t);
  dispatch<int8_min>(last);
}

}  // namespace
}  // namespace octet
