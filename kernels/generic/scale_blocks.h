// SPDX-License-Identifier: Apache-2.0
// Products by weights of 4 bits in scale blocks (kernels/core/scale_blocks.h) in plain C++: the
// definition, and the last step for tiers whose vectors of floats do not round as C++ does.
#pragma once

#include "kernels/core/compiler.h"
#include "kernels/core/half.h"
#include "kernels/core/scale_blocks.h"

namespace octet {
namespace {

inline float scale_of(const uint8_t* scales, bool f16, size_t column) {
  if (f16) {
    uint16_t half;
    __builtin_memcpy(&half, scales + 2 * column, sizeof half);
    return float_of_half(half);
  }
  float scale;
  __builtin_memcpy(&scale, scales + 4 * column, sizeof scale);
  return scale;
}

// Scales the accumulators of row `row` and block `b` of the panel and adds them to the sums.
// scales: the block's, in the panel.
inline void add_scaled(const ScaleBlockTile& t, size_t row, size_t b, size_t panel,
                       const uint8_t* scales, const int32_t* acc, float* sums) {
  const ScaleBlocks& blocks = t.blocks;
  const size_t term = row * blocks.count + b;
  for (size_t j = 0; j < kScaleBlockColumns; ++j) {
    float x = (float)acc[j];
    // All of these are integers below 2^24, or eighths of such, and exact
    if (blocks.zero_points)
      x += (float)(int8_t)scales[blocks.scale_bytes() + j] * ((float)t.row_init[term] * (1.0f / 8));
    if (t.lhs_zero_points)
      x -= (float)t.column_sums[(panel * blocks.count + b) * kScaleBlockColumns + j] *
           t.lhs_zero_points[row];
    float by = scale_of(scales, blocks.f16, j);
    if (t.row_scales) by *= t.row_scales[term];
    sums[j] += x * by;
  }
}

// Of some rows by a panel's columns. Rows side by side: each waits for its own sum.
template <int rows>
OCTET_INLINE inline void add_minimums(const MinimumsTile& t, size_t row, const float* minimums,
                                      float* sums) {
  float total[rows][kScaleBlockColumns] = {};
  for (size_t b = 0; b < t.count; ++b, minimums += kScaleBlockColumns)
    unroll<rows>([&](auto i) OCTET_INLINE {
      const size_t term = (row + i) * t.count + b;
      const float x = t.row_sums[term], by = t.row_scales ? t.row_scales[term] : 1;
      for (size_t j = 0; j < kScaleBlockColumns; ++j) total[i][j] += x * (by * minimums[j]);
    });
  unroll<rows>([&](auto i) OCTET_INLINE {
    for (size_t j = 0; j < kScaleBlockColumns; ++j) sums[i * t.nr + j] += total[i][j];
  });
}

inline void add_minimums(const MinimumsTile& t) {
  const float* minimums = t.minimums;
  float* sums = t.sums;
  for (size_t panel = 0; panel < t.panels; ++panel, sums += kScaleBlockColumns) {
    size_t row = 0;
    for (; row + 4 <= t.rows; row += 4) add_minimums<4>(t, row, minimums, sums + row * t.nr);
    for (; row < t.rows; ++row) add_minimums<1>(t, row, minimums, sums + row * t.nr);
    minimums += t.count * kScaleBlockColumns;
  }
}

}  // namespace
}  // namespace octet
