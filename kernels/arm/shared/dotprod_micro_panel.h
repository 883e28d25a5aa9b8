// SPDX-License-Identifier: Apache-2.0
// Multiplies all rows by a micro-panel of 16 columns in one call, six rows at a time, for little
// depth: the cost of a call and the addresses of operands arise once instead of for each tile.
//
// For each 16 steps along depth one address walks down the rows, advanced by the loads and stores
// themselves. A rest of less than 16 bytes is loaded as the end of the row's last 16 bytes and
// shifted, so that no byte beyond the row is read.
#pragma once

#include "kernels/arm/shared/dotprod_eights.h"
#include "kernels/arm/shared/store_tile.h"

namespace octet {
namespace {

struct DotMicroPanel {
  static constexpr int kRows = 6, kVectors = 4;
  // For larger depths, six addresses per tile cost less than this one
  static constexpr size_t kLeast = 16, kMost = 256;
};

// Multiplies four steps along depth of all columns by a lane of each row.
template <int lane>
OCTET_INLINE inline void multiply_lane(
    int32x4_t (&acc)[DotMicroPanel::kRows][DotMicroPanel::kVectors],
    const int8x16_t (&a)[DotMicroPanel::kRows], const uint8_t* rhs) {
  unroll<DotMicroPanel::kVectors / 2>([&](auto half) OCTET_INLINE {
    int8x16_t b[2];
    load_two<64 * lane + 32 * half>(b[0], b[1], rhs);
    unroll<2>([&](auto v) OCTET_INLINE {
      unroll<DotMicroPanel::kRows>(
          [&](auto i) OCTET_INLINE { dot<lane>(acc[i][2 * half + v], b[v], a[i]); });
    });
  });
}

// Requantizes four vectors of a row to 16 bytes as `requantized` does, without clamp and flip. One
// block of assembly, because no register is free while all accumulators are live, and compilers
// would load constants again for each row.
OCTET_INLINE inline int8x16_t requantize_row(int32x4_t (&acc)[4], const FloatScale (&by)[4],
                                             float32x4_t magic, int16x8_t zero_point) {
  __asm__ volatile(
      "scvtf %0.4s, %0.4s\n scvtf %1.4s, %1.4s\n scvtf %2.4s, %2.4s\n scvtf %3.4s, %3.4s\n"
      "fmul %0.4s, %0.4s, %4.4s\n fmul %1.4s, %1.4s, %5.4s\n"
      "fmul %2.4s, %2.4s, %6.4s\n fmul %3.4s, %3.4s, %7.4s\n"
      "fadd %0.4s, %0.4s, %8.4s\n fadd %1.4s, %1.4s, %8.4s\n"
      "fadd %2.4s, %2.4s, %8.4s\n fadd %3.4s, %3.4s, %8.4s\n"
      "uzp1 %0.8h, %0.8h, %1.8h\n uzp1 %2.8h, %2.8h, %3.8h\n"
      "sqadd %0.8h, %0.8h, %9.8h\n sqadd %2.8h, %2.8h, %9.8h\n"
      "sqxtn %0.8b, %0.8h\n sqxtn2 %0.16b, %2.8h"
      : "+w"(acc[0]), "+w"(acc[1]), "+w"(acc[2]), "+w"(acc[3])
      : "w"(by[0].scale), "w"(by[1].scale), "w"(by[2].scale), "w"(by[3].scale), "w"(magic),
        "w"(zero_point));
  return vreinterpretq_s8_s32(acc[0]);
}

// Loads `count` factors of rows.
template <int count>
OCTET_INLINE inline int32x4_t load_factors(const int32_t* from) {
  if constexpr (count >= 4) return vld1q_s32(from);
  if constexpr (count == 1) return vld1q_dup_s32(from);
  return vcombine_s32(vld1_s32(from), count == 3 ? vld1_dup_s32(from + 2) : vdup_n_s32(0));
}

// GCC 12 would copy lanes first. A function, because Clang captures no variable for an assembly
// statement in a generic lambda.
template <int lane>
OCTET_INLINE inline void subtract_product(int32x4_t& acc, int32x4_t columns, int32x4_t factors) {
  __asm__("mls %0.4s, %1.4s, %2.s[%c3]" : "+w"(acc) : "w"(columns), "w"(factors), "n"(lane));
}

// Subtracts Tile::row_factors times column_factors from the accumulators.
template <int rows, int vectors>
OCTET_INLINE inline void subtract_factors(const int32_t* of_rows, const int32_t* of_columns,
                                          int32x4_t (&acc)[rows][vectors]) {
  const int32x4_t first = load_factors<rows>(of_rows),
                  others = rows > 4 ? load_factors<(rows > 4 ? rows - 4 : 1)>(of_rows + 4) : first;
  unroll<vectors / 2>([&](auto half) OCTET_INLINE {
    int32x4_t columns[2];
    load_two<32 * half>(columns[0], columns[1], of_columns);
    unroll<2>([&](auto v) OCTET_INLINE {
      unroll<rows>([&](auto i) OCTET_INLINE {
        subtract_product<i % 4>(acc[i][2 * half + v], columns[v], i < 4 ? first : others);
      });
    });
  });
}

// Loads one row of init for all rows, and subtracts and passes the rows' factors.
OCTET_INLINE inline void start_tile(
    const int32_t* init, const int32_t*& row_factors, const int32_t* column_factors,
    int32x4_t (&acc)[DotMicroPanel::kRows][DotMicroPanel::kVectors]) {
  unroll<DotMicroPanel::kRows>([&](auto i) OCTET_INLINE {
    load_two<0>(acc[i][0], acc[i][1], init);
    load_two<32>(acc[i][2], acc[i][3], init);
  });
  if (!row_factors) return;
  subtract_factors(row_factors, column_factors, acc);
  row_factors += DotMicroPanel::kRows;
}

// Stores all but bytes in float mode, and passes the rows.
OCTET_INLINE inline void store_unusually(
    const Tile& t, Store store, const Requantizing16& requantization,
    int32x4_t (&acc)[DotMicroPanel::kRows][DotMicroPanel::kVectors], const float*& row_scale,
    uint8_t*& dst, size_t stride) {
  constexpr int kRows = DotMicroPanel::kRows;
  if (store == Store::kTflite)
    return store_requantized<kRows, DotMicroPanel::kVectors, Store::kTflite>(t, acc, requantization,
                                                                             dst, stride);
  if (store == Store::kS32) {
    store_s32(acc, dst, stride);
  } else {
    store_floats(t, row_scale, acc, dst, stride);
    if (row_scale) row_scale += kRows;
  }
  dst += kRows * stride;
}

// Multiplies `tiles` times six rows.
void multiply_tiles_of_six(const Tile& t, size_t tiles) {
  constexpr int kRows = DotMicroPanel::kRows;
  static constexpr uint8_t kCount[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  // Arranged rows are asked for where a rest is, so that the loop without either asks once
  constexpr size_t kArranged = 16;
  const size_t stride = t.lhs_stride, to_stride = t.dst_stride,
               chunks = t.lhs_arranged ? 0 : t.depth / 16,
               rest = t.lhs_arranged ? kArranged : t.depth % 16, lanes = (rest + 3) / 4;
  const Store store = store_of(t);
  Requantizing16 requantization = {};
  if (store != Store::kS32) requantization = requantizing16(*t.requantization);
  spill(requantization);
  // TBL gives zero for indices beyond 15
  uint8x16_t index = vaddq_u8(vld1q_u8(kCount), vdupq_n_u8((uint8_t)(16 - rest)));
  spill(index);
  const bool flip = t.lhs_flip;
  const uint8_t *lhs = (const uint8_t*)t.lhs, *const weights = t.rhs;
  const int32_t* const init = t.init;
  const float* const scale = t.scale;
  const float* row_scale = t.row_scale;
  const int32_t* row_factors = t.row_factors;
  uint8_t* dst = (uint8_t*)t.dst;
  for (; tiles != 0; --tiles, lhs += kRows * stride) {
    int32x4_t acc[kRows][DotMicroPanel::kVectors];
    int8x16_t a[kRows];
    start_tile(init, row_factors, t.column_factors, acc);
    const auto flip_all = [&]() OCTET_INLINE {
      if (__builtin_expect(flip, 0))
        unroll<kRows>([&](auto i) OCTET_INLINE { a[i] = veorq_s8(a[i], vdupq_n_s8(-128)); });
    };
    const uint8_t *rhs = weights, *from = lhs;
    for (size_t chunk = chunks; chunk != 0; --chunk, from += 16, rhs += 256) {
      const uint8_t* row = from;
      unroll<kRows>([&](auto i) OCTET_INLINE { load16_row(a[i], row, stride); });
      flip_all();
      unroll<4>([&](auto lane) OCTET_INLINE { multiply_lane<lane>(acc, a, rhs); });
    }
    if (rest == kArranged) {
      multiply_eights<DotMicroPanel::kVectors>(lhs, weights, 64, t.depth, acc);
    } else if (rest) {
      if (rest == 8) {
        unroll<kRows>([&](auto i) OCTET_INLINE { load8_row(a[i], from, stride); });
      } else {
        const uint8_t* row = from + rest - 16;
        unroll<kRows>([&](auto i) OCTET_INLINE { load16_row(a[i], row, stride); });
        unroll<kRows>([&](auto i) OCTET_INLINE { a[i] = vqtbl1q_s8(a[i], index); });
      }
      flip_all();
      multiply_lane<0>(acc, a, rhs);
      if (lanes > 1) multiply_lane<1>(acc, a, rhs);
      if (lanes > 2) multiply_lane<2>(acc, a, rhs);
      if (lanes > 3) multiply_lane<3>(acc, a, rhs);
    }
    if (__builtin_expect(store != Store::kSaturated && store != Store::kClamped, 0)) {
      store_unusually(t, store, requantization, acc, row_scale, dst, to_stride);
      continue;
    }
    FloatScale by[4];
    unroll<2>([&](auto half) OCTET_INLINE {
      load_two<32 * half>(by[2 * half].scale, by[2 * half + 1].scale, scale);
    });
    float32x4_t magic = vdupq_n_f32(12582912.0f);
    pin(magic);
    const int16x8_t zero_point = requantization.zero_point;
    if (store == Store::kSaturated)
      unroll<kRows>([&](auto i) OCTET_INLINE {
        const int8x16_t bytes = requantize_row(acc[i], by, magic, zero_point);
        store16_row(veorq_u8(vreinterpretq_u8_s8(bytes), requantization.flip), dst, to_stride);
      });
    else
      unroll<kRows>([&](auto i) OCTET_INLINE {
        const int8x16_t bytes = requantize_row(acc[i], by, magic, zero_point),
                        clamped = vminq_s8(vmaxq_s8(bytes, requantization.lo), requantization.hi);
        store16_row(veorq_u8(vreinterpretq_u8_s8(clamped), requantization.flip), dst, to_stride);
      });
  }
}

}  // namespace
}  // namespace octet
