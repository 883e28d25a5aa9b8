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
constexpr ScaleBlocks kBlocks = {kLeastScaleBlock, 2, true, true, 8};
constexpr size_t kMultiplied = kBlocks.count * kBlocks.depth;
static_assert((kRows - 1) * kStride + kMultiplied <= sizeof Operands::lhs && kMultiplied <= kDepth,
              "operands are deep enough");
constexpr size_t kMostColumns = 2 * kScaleBlockColumns;  // of a kernel
constexpr size_t kRoom = 2048 * kBlocks.count;           // of kernels that decode these blocks

// Scales are 1, 2, 4 and 8: sums stay integers, and every addition is exact.
constexpr int scale_of(size_t b, size_t j) { return 1 << (b + j) % 4; }
constexpr uint16_t half_of(int scale) {
  uint16_t bits = 0x3c00;
  for (; scale > 1; scale /= 2) bits = (uint16_t)(bits + 0x400);
  return bits;
}
constexpr int zero_point_of(size_t b, size_t j) { return (int)((3 * b + j) % 16) - 8; }

struct Weights {
  uint8_t panels[kTileColumns / kScaleBlockColumns * kBlocks.panel_bytes()];
  int16_t sums[kTileColumns * kBlocks.count];

  Weights(const Operands& operands, size_t columns) {
    uint8_t nibbles[kMultiplied * kTileColumns / 2] = {};
    uint16_t scales[kTileColumns * kBlocks.count];
    int32_t zero_points[kTileColumns * kBlocks.count];
    for (size_t j = 0; j < columns; ++j) {
      for (size_t k = 0; k < kMultiplied; ++k)
        nibbles[(j * kMultiplied + k) / 2] |=
            (uint8_t)((operands.rhs[k * kTileColumns + j] & 15) << k % 2 * 4);
      for (size_t b = 0; b < kBlocks.count; ++b) {
        scales[j * kBlocks.count + b] = half_of(scale_of(b, j));
        zero_points[j * kBlocks.count + b] = zero_point_of(b, j) + 8;
      }
    }
    const RhsView view = {nibbles,     columns,          kMultiplied, 1,
                          kMultiplied, ElementType::kU4, nullptr,     0};
    pack_scale_blocks(kBlocks, view, {scales, zero_points, false}, panels, sums);
  }
};

}  // namespace

bool passes(const ScaleBlockKernel& kernel) {
  const Operands operands;
  const size_t columns = kernel.kernel.nr;
  if (columns > kMostColumns) return false;
  const Weights weights(operands, columns);
  int32_t init[kRows * kBlocks.count];
  float row_scales[kRows * kBlocks.count], lhs_zero_points[kRows], sums[kRows * kMostColumns];
  const auto lhs = [&](size_t i, size_t k) {
    return k < kMultiplied ? (int8_t)operands.lhs[i * kStride + k] - (int32_t)i : 0;
  };
  for (size_t i = 0; i < kRows; ++i) {
    lhs_zero_points[i] = (float)i;
    for (size_t b = 0; b < kBlocks.count; ++b) {
      int32_t sum = 0;
      for (size_t k = 0; k < kBlocks.depth; ++k)
        sum += (int8_t)operands.lhs[i * kStride + b * kBlocks.depth + k];
      init[i * kBlocks.count + b] = init_of_row(kernel, kBlocks, true, sum, (int32_t)i);
      row_scales[i * kBlocks.count + b] = 2;
    }
  }
  ScaleBlockTile tile = {};
  tile.blocks = kBlocks;
  tile.lhs = operands.lhs, tile.lhs_stride = kStride;
  tile.row_init = init, tile.row_scales = row_scales;
  tile.lhs_zero_points = lhs_zero_points, tile.column_sums = weights.sums;
  tile.rhs = weights.panels, tile.panels = columns / kScaleBlockColumns;
  alignas(kAlignment) uint8_t room[kRoom];
  tile.sums = sums, tile.room = room;
  const auto multiplies = [&](size_t rows) {
    tile.rows = rows;
    kernel.multiply(tile);
    int32_t out[kRows * kMostColumns];
    for (size_t i = 0; i < rows * columns; ++i) out[i] = (int32_t)sums[i];
    return is_product(out, rows, columns, lhs, [&](size_t k, size_t j) {
      const size_t b = k / kBlocks.depth;
      const int32_t weight = operands.rhs[k * kTileColumns + j] & 15;
      return 2 * scale_of(b, j) * (weight - 8 - zero_point_of(b, j));
    });
  };
  return multiplies(kSomeRows) && multiplies(kRows);
}

}  // namespace octet
