// SPDX-License-Identifier: Apache-2.0
// s8 x u4 in scale blocks -> f32 sums, for I8MM: 8 rows by half of a panel's columns. A vector is
// two rows by two columns, as SMMLA accumulates them. The last row of an odd number runs DOTPROD's
// loop, and so do weights of 8 bits.
#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/i8mm_blocks.h"
#include "kernels/arm/shared/neon_scale_blocks.h"

namespace octet {
namespace {

constexpr int kPairs = 4;  // of rows; of columns, too

// a for the first row of a pair, b for the second, for each of the two columns.
OCTET_INLINE inline int32x4_t by_row(int32_t a, int32_t b) {
  const int32x4_t two = vzip1q_s32(int32x4_t{a}, int32x4_t{b});
  return vzip1q_s32(two, two);
}
OCTET_INLINE inline float32x4_t by_row(float a, float b) {
  const float32x4_t two = vzip1q_f32(float32x4_t{a}, float32x4_t{b});
  return vzip1q_f32(two, two);
}
// c[j] for columns 2j, 2j + 1, for either row.
OCTET_INLINE inline void by_column(float32x4_t low, float32x4_t high, float32x4_t (&c)[kPairs]) {
  const int32x4_t four[2] = {vreinterpretq_s32_f32(low), vreinterpretq_s32_f32(high)};
  unroll<2>([&](auto half) OCTET_INLINE {
    c[2 * half] = vreinterpretq_f32_s32(zip_low(four[half], four[half]));
    c[2 * half + 1] = vreinterpretq_f32_s32(zip_high(four[half], four[half]));
  });
}

// Adds the products of 16 depth steps. rhs: half a panel's columns of the first eight.
template <int pairs>
OCTET_INLINE inline void add_products(const uint8_t* const (&lhs)[2 * pairs], size_t k,
                                      const uint8_t* rhs, int32x4_t (&acc)[pairs][kPairs]) {
  int8x16_t a[2][pairs];
  unroll<pairs>([&](auto p) OCTET_INLINE {
    const int32x4_t row0 = vreinterpretq_s32_u8(vld1q_u8(lhs[2 * p] + k)),
                    row1 = vreinterpretq_s32_u8(vld1q_u8(lhs[2 * p + 1] + k));
    a[0][p] = vreinterpretq_s8_s32(zip_low(row0, row1));
    a[1][p] = vreinterpretq_s8_s32(zip_high(row0, row1));
  });
  unroll<2>([&](auto eight) OCTET_INLINE {
    unroll<2>([&](auto half) OCTET_INLINE {
      const uint8x16_t two = vld1q_u8(rhs + 64 * eight + 16 * half);
      const int32x4_t first = vreinterpretq_s32_s8(nibbles<0>(two)),
                      second = vreinterpretq_s32_s8(nibbles<1>(two));
      const int8x16_t low = vreinterpretq_s8_s32(vzip1q_s32(first, second)),
                      high = vreinterpretq_s8_s32(vzip2q_s32(first, second));
      unroll<pairs>([&](auto p) OCTET_INLINE {
        acc[p][2 * half] = vmmlaq_s32(acc[p][2 * half], a[eight][p], low);
        acc[p][2 * half + 1] = vmmlaq_s32(acc[p][2 * half + 1], a[eight][p], high);
      });
    });
  });
}

// 2 * pairs rows from `row` on by the columns from `column` on, 0 or 8, of a panel.
template <int pairs, bool zeros>
void multiply_pairs(const ScaleBlockTile& t, size_t row, size_t panel, int column) {
  const ScaleBlocks blocks = t.blocks;
  const uint8_t* rhs = t.rhs + panel * blocks.panel_bytes();
  const bool scaled = t.row_scales;
  const uint8_t* lhs[2 * pairs];
  unroll<2 * pairs>([&](auto i) OCTET_INLINE {
    lhs[i] = t.lhs + (row + i) * t.lhs_stride;
    __asm__("" : "+r"(lhs[i]));  // else GCC 12 adds t.lhs again at each load
  });
  float sums[pairs][kPairs][4] = {};
  size_t k = 0;
  OCTET_NO_UNROLL
  for (size_t b = 0; b < blocks.count; ++b) {
    int32x4_t acc[pairs][kPairs];
    const int32_t* const init = t.row_init + row * blocks.count + b;
    unroll<pairs>([&](auto p) OCTET_INLINE {
      const int32x4_t two = by_row(init[2 * p * blocks.count], init[(2 * p + 1) * blocks.count]);
      unroll<kPairs>([&](auto j) OCTET_INLINE { acc[p][j] = two; });
    });
    OCTET_NO_UNROLL
    for (size_t steps = blocks.depth / 16; steps; --steps, k += 16, rhs += 128)
      add_products<pairs>(lhs, k, rhs + 4 * column, acc);
    // The sums stay in memory: registers would be too few
    __asm__ volatile("" : : "r"(sums) : "memory");
    float32x4_t scale[kPairs];
    by_column(load_scales(rhs, blocks.f16, column), load_scales(rhs, blocks.f16, column + 4),
              scale);
    unroll<pairs>([&](auto p) OCTET_INLINE {
      const size_t term = (row + 2 * p) * blocks.count + b;
      float32x4_t x[kPairs], of[kPairs];
      unroll<kPairs>([&](auto j) OCTET_INLINE { x[j] = vcvtq_f32_s32(acc[p][j]); });
      // All of these are integers below 2^24, or eighths of such, and exact
      if (zeros && blocks.zero_points) {
        const uint8_t* const from = rhs + blocks.scale_bytes();
        by_column(load_bytes(from, column), load_bytes(from, column + 4), of);
        const float32x4_t row_sum = by_row((float)t.row_init[term] * (1.0f / 8),
                                           (float)t.row_init[term + blocks.count] * (1.0f / 8));
        unroll<kPairs>([&](auto j)
                           OCTET_INLINE { x[j] = vaddq_f32(x[j], vmulq_f32(of[j], row_sum)); });
      }
      if (zeros && t.lhs_zero_points) {
        const int16_t* const from =
            t.column_sums + (panel * blocks.count + b) * kScaleBlockColumns + column;
        by_column(vcvtq_f32_s32(vmovl_s16(vld1_s16(from))),
                  vcvtq_f32_s32(vmovl_s16(vld1_s16(from + 4))), of);
        const float* const rows = t.lhs_zero_points + row + 2 * p;
        const float32x4_t zero_point = by_row(rows[0], rows[1]);
        unroll<kPairs>([&](auto j)
                           OCTET_INLINE { x[j] = vsubq_f32(x[j], vmulq_f32(of[j], zero_point)); });
      }
      const auto add = [&](auto j, float32x4_t by) OCTET_INLINE {
        vst1q_f32(sums[p][j], vaddq_f32(vld1q_f32(sums[p][j]), vmulq_f32(x[j], by)));
      };
      if (scaled) {
        const float32x4_t row_scale = by_row(t.row_scales[term], t.row_scales[term + blocks.count]);
        unroll<kPairs>([&](auto j) OCTET_INLINE { add(j, vmulq_f32(row_scale, scale[j])); });
      } else {
        unroll<kPairs>([&](auto j) OCTET_INLINE { add(j, scale[j]); });
      }
    });
    rhs += blocks.block_bytes() - blocks.weight_bytes();
  }
  float* const to = t.sums + row * kScaleBlockColumns + panel * kScaleBlockColumns + column;
  unroll<pairs>([&](auto p) OCTET_INLINE {
    int32x4_t x[kPairs];
    unroll<kPairs>([&](auto j)
                       OCTET_INLINE { x[j] = vreinterpretq_s32_f32(vld1q_f32(sums[p][j])); });
    unroll<2>([&](auto half) OCTET_INLINE {
      int32_t* const first = (int32_t*)(to + 2 * p * kScaleBlockColumns) + 4 * half;
      vst1q_s32(first, zip_low(x[2 * half], x[2 * half + 1]));
      vst1q_s32(first + kScaleBlockColumns, zip_high(x[2 * half], x[2 * half + 1]));
    });
  });
}

template <bool zeros>
void multiply_panels(const ScaleBlockTile& t) {
  for (size_t panel = 0; panel < t.panels; ++panel) {
    size_t row = 0;
    const auto take = [&](auto pairs) OCTET_INLINE {
      for (; row + 2 * pairs <= t.rows; row += 2 * pairs) {
        multiply_pairs<pairs, zeros>(t, row, panel, 0);
        multiply_pairs<pairs, zeros>(t, row, panel, 8);
      }
    };
    take(Int<kPairs>{});
    take(Int<2>{});
    take(Int<1>{});
    if (row < t.rows) multiply_rows<1, zeros, false>(t, row, panel);
  }
}

void multiply(const ScaleBlockTile& t) {
  if (t.blocks.bytes)
    multiply_all<true, true>(t);
  else if (t.blocks.zero_points || t.lhs_zero_points)
    multiply_panels<true>(t);
  else
    multiply_panels<false>(t);
}

}  // namespace

const ScaleBlockKernel i8mm_s8u4_blocks_8x16x8 =
    make_scale_block_kernel("i8mm_s8u4_blocks_8x16x8", TierId::kI8mm, 2 * kPairs,
                            kScaleBlockColumns, multiply, add_minimums, apply_epilogue<float>);
}  // namespace octet
