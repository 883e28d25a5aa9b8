// SPDX-License-Identifier: Apache-2.0
// s8 x u4, and s8, in scale blocks -> f32 sums, in plain C++: the definition.
#include "kernels/generic/epilogue.h"
#include "kernels/generic/scale_blocks.h"
#include "kernels/scalar/kernels.h"

namespace octet {
namespace {

void multiply_row(const ScaleBlockTile& t, size_t row, size_t panel, float* sums) {
  const ScaleBlocks& blocks = t.blocks;
  const uint8_t* rhs = t.rhs + panel * blocks.panel_bytes();
  const int8_t* lhs = (const int8_t*)t.lhs + row * t.lhs_stride;
  for (size_t j = 0; j < kScaleBlockColumns; ++j) sums[j] = 0;
  for (size_t b = 0; b < blocks.count; ++b, rhs += blocks.block_bytes()) {
    int32_t acc[kScaleBlockColumns];
    for (int32_t& sum : acc) sum = t.row_init[row * blocks.count + b];
    const uint8_t* weights = rhs;
    if (blocks.bytes)
      for (size_t k = 0; k < blocks.depth; k += 4, lhs += 4)
        for (size_t j = 0; j < kScaleBlockColumns; ++j, weights += 4)
          for (size_t i = 0; i < 4; ++i) acc[j] += lhs[i] * (weights[i] - 128);
    for (size_t k = 0; k < blocks.depth && !blocks.bytes; k += 8, lhs += 8)
      for (size_t j = 0; j < kScaleBlockColumns; ++j, weights += 4)
        for (size_t i = 0; i < 4; ++i)
          acc[j] += lhs[i] * (weights[i] & 15) + lhs[4 + i] * (weights[i] >> 4);
    add_scaled(t, row, b, panel, weights, acc, sums);
  }
}

void multiply(const ScaleBlockTile& t) {
  for (size_t panel = 0; panel < t.panels; ++panel)
    for (size_t row = 0; row < t.rows; ++row)
      multiply_row(t, row, panel, t.sums + row * kScaleBlockColumns + panel * kScaleBlockColumns);
}

}  // namespace

const ScaleBlockKernel scalar_s8u4_blocks_1x16x8 =
    make_scale_block_kernel("scalar_s8u4_blocks_1x16x8", TierId::kScalar, 1, kScaleBlockColumns,
                            multiply, add_minimums, apply_epilogue<float>);

}  // namespace octet
