// SPDX-License-Identifier: Apache-2.0
// Products by weights of 4 bits in scale blocks (kernels/core/scale_blocks.h) in plain C++: the
// definition, and the last step for tiers whose vectors of floats do not round as C++ does.
#pragma once

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

}  // namespace
}  // namespace octet
