// SPDX-License-Identifier: Apache-2.0
// The self-test of a tier's product by weights in scale blocks.
#include "packing/scale_blocks.h"
#include "dispatch/self_test/product.h"
#include "dispatch/self_test/self_test.h"

namespace octet {
namespace {

// Numbers of rows of which kernels make all their tiles, the last one more than decode by
// themselves. Rows of operands overlap.
constexpr size_t kSomeRows = 15, kRows = 33, kStride = 16;
constexpr ScaleBlocks kNibbles = {kLeastScaleBlock, 2, true, true, 8, false},
                      kBytes = {kLeastScaleBlock, 2, true, false, 0, true};
constexpr size_t kCount = kNibbles.count, kBlockDepth = kNibbles.depth;
constexpr size_t kMultiplied = kCount * kBlockDepth;
static_assert((kRows - 1) * kStride + kMultiplied <= sizeof Operands::lhs && kMultiplied <= kDepth,
              "operands are deep enough");
constexpr size_t kMostColumns = 2 * kScaleBlockColumns;  // of a kernel
constexpr size_t kRoom = 2048 * kCount;                  // of kernels that decode these blocks

// Scales are 1, 2, 4 and 8: sums stay integers, and every addition is exact.
constexpr int scale_of(size_t b, size_t j) { return 1 << (b + j) % 4; }
constexpr uint16_t half_of(int scale) {
  uint16_t bits = 0x3c00;
  for (; scale > 1; scale /= 2) bits = (uint16_t)(bits + 0x400);
  return bits;
}
constexpr int zero_point_of(size_t b, size_t j) { return (int)((3 * b + j) % 16) - 8; }

// What a weight stands for before its scale; minimums are scales, too.
int32_t weight_of(const ScaleBlocks& blocks, const Operands& operands, size_t k, size_t j) {
  const int8_t value = operands.rhs[k * kTileColumns + j];
  return blocks.bytes ? value : (value & 15) - 8 - zero_point_of(k / kBlockDepth, j);
}

struct Weights {
  uint8_t panels[kTileColumns / kScaleBlockColumns * kBytes.panel_bytes()];
  int16_t sums[kTileColumns * kCount];
  float minimums[kTileColumns * kCount];

  Weights(const ScaleBlocks& blocks, const Operands& operands, size_t columns) {
    uint8_t nibbles[kMultiplied * kTileColumns / 2] = {};
    uint16_t scales[kTileColumns * kCount];
    int32_t zero_points[kTileColumns * kCount];
    for (size_t j = 0; j < columns; ++j) {
      for (size_t k = 0; k < kMultiplied; ++k)
        nibbles[(j * kMultiplied + k) / 2] |=
            (uint8_t)((operands.rhs[k * kTileColumns + j] & 15) << k % 2 * 4);
      for (size_t b = 0; b < kCount; ++b) {
        scales[j * kCount + b] = half_of(scale_of(b, j));
        zero_points[j * kCount + b] = zero_point_of(b, j) + 8;
      }
    }
    const RhsView view = blocks.bytes ? RhsView{(const uint8_t*)operands.rhs,
                                                columns,
                                                kMultiplied,
                                                kTileColumns,
                                                1,
                                                ElementType::kS8,
                                                nullptr,
                                                0}
                                      : RhsView{nibbles,     columns,          kMultiplied, 1,
                                                kMultiplied, ElementType::kU4, nullptr,     0};
    pack_scale_blocks(blocks, view, {scales, scales, zero_points, false}, panels, sums, minimums);
  }
};

bool passes(const ScaleBlockKernel& kernel, const ScaleBlocks& blocks) {
  const Operands operands;
  const size_t columns = kernel.kernel.nr;
  if (columns > kMostColumns) return false;
  const Weights weights(blocks, operands, columns);
  int32_t init[kRows * kCount];
  float row_scales[kRows * kCount], row_sums[kRows * kCount], lhs_zero_points[kRows],
      sums[kRows * kMostColumns];
  const auto lhs = [&](size_t i, size_t k) {
    return k < kMultiplied ? (int8_t)operands.lhs[i * kStride + k] - (int32_t)i : 0;
  };
  for (size_t i = 0; i < kRows; ++i) {
    lhs_zero_points[i] = (float)i;
    for (size_t b = 0; b < kCount; ++b) {
      int32_t sum = 0;
      for (size_t k = 0; k < kBlockDepth; ++k)
        sum += (int8_t)operands.lhs[i * kStride + b * kBlockDepth + k];
      init[i * kCount + b] = init_of_row(kernel, blocks, true, sum, (int32_t)i);
      row_sums[i * kCount + b] = (float)(sum - (int32_t)(i * kBlockDepth));
      row_scales[i * kCount + b] = 2;
    }
  }
  ScaleBlockTile tile = {};
  tile.blocks = blocks;
  tile.lhs = operands.lhs, tile.lhs_stride = kStride;
  tile.row_init = init, tile.row_scales = row_scales;
  tile.lhs_zero_points = lhs_zero_points, tile.column_sums = weights.sums;
  tile.rhs = weights.panels, tile.panels = columns / kScaleBlockColumns;
  alignas(kAlignment) uint8_t room[kRoom];
  tile.sums = sums, tile.room = room;
  const auto multiplies = [&](size_t rows) {
    tile.rows = rows;
    kernel.multiply(tile);
    kernel.add_minimums(
        {kCount, row_sums, row_scales, weights.minimums, rows, tile.panels, columns, sums});
    int32_t out[kRows * kMostColumns];
    for (size_t i = 0; i < rows * columns; ++i) out[i] = (int32_t)sums[i];
    return is_product(out, rows, columns, lhs, [&](size_t k, size_t j) {
      return 2 * scale_of(k / kBlockDepth, j) * (weight_of(blocks, operands, k, j) + 1);
    });
  };
  return multiplies(kSomeRows) && multiplies(kRows);
}

}  // namespace

bool passes(const ScaleBlockKernel& kernel) {
  return passes(kernel, kNibbles) && passes(kernel, kBytes);
}

}  // namespace octet
