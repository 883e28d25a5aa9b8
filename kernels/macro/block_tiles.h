// SPDX-License-Identifier: Apache-2.0
// Parts of a block: all rows of a matrix, and the micro-tiles of rows that use the same taps.
#pragma once

#include "kernels/macro/macro_kernel.h"

namespace octet {
namespace {

// All rows of a matrix as one tile.
inline BlockTile whole_matrix(const MacroKernel& macro_kernel, const Block& block) {
  return {0,
          1,
          (uint32_t)block.rows,
          0,
          (uint32_t)macro_kernel.taps.groups,
          0,
          0,
          {0, macro_kernel.taps.count},
          block.reads_to_groups,
          block.lhs,
          nullptr};
}

// Whether a tile's rows are copied for the kernel: where it could not read them in place, and where
// taps side by side take half the steps.
inline bool copies_rows(const MacroKernel& macro_kernel, const BlockTile& tile) {
  const MicroKernel& kernel = *macro_kernel.kernel;
  if (!kernel.copy_rows) return false;
  if (!tile.base) return true;
  const Taps& taps = macro_kernel.taps;
  return taps.most * divide_up(taps.depth, kernel.step_depth) >=
         2 * divide_up(taps.most * taps.depth, kernel.step_depth);
}

// Splits rows that use the same taps into micro-tiles, for micro-panels of `cols` columns.
inline Tiling tiling_of(const BlockTile& tile, const MicroKernel& kernel, size_t cols) {
  return Tiling(tile.rows, kernel, tile.base || kernel.copy_rows ? cols : SIZE_MAX);
}
inline BlockTile part_of(const BlockTile& tile, const Block& block, size_t from, size_t rows) {
  BlockTile part = tile;
  part.pixel += from * tile.step;
  part.rows = (uint32_t)rows;
  if (tile.base) part.base += from * block.lhs_stride;
  return part;
}

}  // namespace
}  // namespace octet
