// Rows of at most 32 bytes, 3 or 4 of them, on AArch64. A tile stays in registers while all of its
// columns pass by: with so little depth, a step of neon_bytes.h loads half as many vectors as it
// multiplies, and asks after each four columns what is left of the rows.
//
// 8 registers of lhs, two of each row; a column at a time is multiplied by all of them, and two
// columns' partial sums join before the next two begin: 12 accumulators, 4 products, 4 of rhs.
#pragma once

#include "kernels/arm/neon_bytes.h"

namespace octet {
namespace {

struct Shallow {
  static constexpr int kRows = 4, kMost = 32;

  // What kernels do nearly always; the rest is neon_bytes.h's.
  static bool takes(const Tile& t) {
    return t.depth <= kMost && t.taps == 1 && t.rows + 1 >= kRows && t.scale &&
           t.init_stride == 0 && t.cols >= kWidth;
  }
};

// Four rows of a group against a column; `bytes` of them are not padding.
template <bool least, bool first, int bytes, int j>
OCTET_INLINE inline void multiply_group(int32x4_t (&acc)[4][kWidth], const int8x16_t (&a)[4],
                                        int8x16_t b) {
  if constexpr (!least) {
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

// The bytes of a row of more than 16 from the 16th on, and zeros: the last 16, moved.
OCTET_INLINE inline uint8x16_t load_rest(const uint8_t* row, size_t depth) {
  static constexpr uint8_t kCount[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return vqtbl1q_u8(vld1q_u8(row + depth - 16),
                    vaddq_u8(vld1q_u8(kCount), vdupq_n_u8((uint8_t)(32 - depth))));
}

// Four bytes to each row; as one text, or GCC 12 copies addresses.
OCTET_INLINE inline void store_quads(uint8x16_t bytes, uint8_t* (&to)[4]) {
  __asm__ volatile(
      "st1 {%4.s}[0], [%0], #4\n st1 {%4.s}[1], [%1], #4\n"
      "st1 {%4.s}[2], [%2], #4\n st1 {%4.s}[3], [%3], #4"
      : "+&r"(to[0]), "+&r"(to[1]), "+&r"(to[2]), "+&r"(to[3])
      : "w"(bytes)
      : "memory");
}

// All whole panels of a tile. second: how many bytes of the rows' second group are multiplied, 0, 8
// or 16.
template <bool least, int second>
OCTET_INLINE inline void multiply_panels(const Tile& t, const uint8_t* const (&rows)[4]) {
  constexpr int kGroup = 16 * kWidth;
  const uint8_t* rhs = t.rhs;
  const int32_t* init = t.init;
  const float* scale = t.scale;
  const size_t tflite_apart = t.narrow->tflite_apart, to_next_panel = t.rhs_panel_stride;
  Narrowing16 narrow = narrowing16(*t.narrow);
  OCTET_SPILL(narrow);
  const uint8x16_t flip = vdupq_n_u8((uint8_t)t.lhs_flip);
  const auto flipped = [&](uint8x16_t bytes)
                           OCTET_INLINE { return vreinterpretq_s8_u8(veorq_u8(bytes, flip)); };
  int8x16_t a[2][4];
  uint8_t* dst[4];
  unroll<4>([&](auto i) OCTET_INLINE {
    a[0][i] = flipped(vld1q_u8(rows[i]));
    if constexpr (second != 0) a[1][i] = flipped(load_rest(rows[i], t.depth));
    dst[i] = (uint8_t*)t.dst + (i < 3 ? (size_t)i : t.rows - 1) * t.dst_stride;
  });
  for (size_t panels = t.cols / kWidth; panels != 0; --panels) {
    int32x4_t acc[4][kWidth], sum[2][4];
    const auto two_columns = [&](auto two) OCTET_INLINE {
      constexpr int j = 2 * two, at = 16 * j;
      int8x16_t b0, b1, c0, c1;
      load_two<at>(b0, b1, rhs);
      if constexpr (second == 16) load_two<kGroup + at>(c0, c1, rhs);
      if constexpr (second == 8) load_low<kGroup + at>(c0, rhs);
      if constexpr (second == 8) load_low<kGroup + at + 16>(c1, rhs);
      multiply_group<least, true, 16, j>(acc, a[0], b0);
      if constexpr (second != 0) multiply_group<least, false, second, j>(acc, a[1], c0);
      multiply_group<least, true, 16, j + 1>(acc, a[0], b1);
      if constexpr (second != 0) multiply_group<least, false, second, j + 1>(acc, a[1], c1);
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
      const uint8x16_t bytes = narrowed<Exit::kClamped>(out, {by, by, by, by}, narrow);
      store_quads(bytes, dst);
    };
    if (__builtin_expect(!tflite_apart, 1))
      store(FloatScale::at(scale, 0));
    else
      store(TfliteRight::at(scale, tflite_apart));
    scale += kWidth;
  }
}

// Not inlined: what it saves on the stack would cost deep tiles, too.
template <bool least>
__attribute__((noinline)) void multiply_shallow(const Tile& t) {
  alignas(16) uint8_t tails[Shallow::kRows][16];
  if (t.depth < 16) copy_tails(t, 0, (const uint8_t*)t.lhs, tails);
  // A fourth row that is not there is the third one again: the same bytes to the same place
  const uint8_t* rows[4];
  unroll<4>([&](auto at) OCTET_INLINE {
    const size_t i = at < 3 ? (size_t)at : t.rows - 1;
    rows[at] = t.lhs_rows ? t.lhs_rows[i] : (const uint8_t*)t.lhs + i * t.lhs_stride;
    if (t.depth < 16) rows[at] = tails[i];
  });
  if (t.depth <= 16)
    multiply_panels<least, 0>(t, rows);
  else if (t.depth <= 24)
    multiply_panels<least, 8>(t, rows);
  else
    multiply_panels<least, 16>(t, rows);
  const size_t done = t.cols / kWidth;
  if (t.cols == done * kWidth) return;
  Tile last = t;
  last.cols = t.cols - done * kWidth;
  last.rhs += done * t.rhs_panel_stride;
  last.init += done * kWidth;
  last.scale += done * kWidth;
  last.dst = (uint8_t*)t.dst + done * kWidth;
  dispatch<least>(last);
}

template <bool least>
void multiply_any(const Tile& t) {
  Shallow::takes(t) ? multiply_shallow<least>(t) : dispatch<least>(t);
}

}  // namespace
}  // namespace octet
