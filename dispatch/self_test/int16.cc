// SPDX-License-Identifier: Apache-2.0
// Self-test of the kernels of int16 operands.
#include "dispatch/self_test/conv.h"
#include "dispatch/self_test/product.h"

namespace octet {

// Rows of each height that multiply_eights has, and an even and an odd number of whole eights.
bool multiplies_eights(const MicroKernel& kernel, const int16_t* lhs, const int16_t* rhs) {
  constexpr size_t kRows = 15, kGroups = divide_up(kDepth, 8), kTaps = 2;
  static_assert(kRows <= kTileRows, "operands have so many rows");
  alignas(64) int16_t eights[kTaps][kGroups][kRows][8] = {};
  alignas(64) int32_t out[kTaps][kRows * kTileColumns];
  for (size_t tap = 0; tap < kTaps; ++tap)
    for (size_t i = 0; i < kRows; ++i)
      for (size_t k = 0; k < kDepth; ++k)
        eights[tap][k / 8][i][k % 8] = lhs[((i + tap) % kRows) * kDepth + k];
  const ptrdiff_t steps[] = {sizeof eights[0], 0, sizeof out[0]};
  for (size_t depth = kDepth; depth >= kDepth - 8; depth -= 8) {
    Tile tile = make_tile(eights, rhs, sizeof(int16_t), kRows, kernel.nr, out[0]);
    tile.lhs_stride = sizeof eights[0][0];
    tile.depth = depth;
    tile.taps = kTaps;
    tile.tap_steps = steps;
    kernel.multiply_eights(tile);
    for (size_t tap = 0; tap < kTaps; ++tap)
      if (!is_product(
              out[tap], kRows, kernel.nr,
              [&](size_t i, size_t k) { return eights[tap][k / 8][i][k % 8]; },
              [&](size_t k, size_t j) { return rhs[k * kernel.nr + j]; }, depth))
        return false;
  }
  return true;
}

// int16 kernels add modulo 2^32.
bool passes_int16(const MicroKernel& kernel) {
  const KernelState state(&kernel);
  alignas(64) int16_t lhs[kTileRows * kDepth + 16], packed[kPanelBytes / 2];
  alignas(64) int32_t out[kMaxTile];
  const Operands operands;
  const size_t rows = smaller(kernel.mr, kTileRows), columns = smaller(kernel.nr, kTileColumns);
  const RhsLayout& layout = kernel.rhs_layout;
  const size_t depth = layout.steps(kDepth), width = layout.width, kr = layout.kr;
  if (round_up(columns, width) * depth > kPanelBytes / 2) return false;
  for (size_t i = 0; i < kTileRows * kDepth + 16; ++i)
    lhs[i] = doubled(operands.lhs[i % (kTileRows * kDepth)]);
  int16_t* to = packed;
  for (size_t panel = 0; panel < columns; panel += width)
    for (size_t group = 0; group < depth; group += kr)
      for (size_t j = panel; j < panel + width; ++j)
        for (size_t k = group; k < group + kr; ++k)
          *to++ = k < kDepth && j < columns ? doubled(operands.rhs[k * kTileColumns + j]) : 0;
  Tile tile = make_tile(lhs, packed, sizeof(int16_t), rows, columns, out);
  tile.rhs_stride = width * kr * sizeof(int16_t);
  tile.rhs_panel_stride = width * depth * sizeof(int16_t);
  kernel.multiply(tile);
  if (kernel.multiply_eights && !multiplies_eights(kernel, lhs, packed)) return false;
  return is_product(
      out, rows, columns, [&](size_t i, size_t k) { return lhs[i * kDepth + k]; },
      [&](size_t k, size_t j) { return doubled(operands.rhs[k * kTileColumns + j]); });
}

}  // namespace octet
