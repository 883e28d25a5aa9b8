// Helpers of kernels that multiply all rows of a micro-panel in one call.
#pragma once

#include "kernels/core/micro_kernel.h"

namespace octet {
namespace {

// Whether a tile's bytes leave in float mode and its depth is whole groups of four: most are so.
// Loops over all rows take no other tiles.
inline bool requantizes_whole_groups(const Tile& t) {
  return makes_bytes_in_float_mode(t) && t.depth % 4 == 0;
}

// Multiplies rows tile by tile, of nearly equal heights.
template <MultiplyFn multiply, size_t most>
__attribute__((noinline)) void multiply_by_tiles(Tile tile, size_t rows) {
  const size_t count = (rows + most - 1) / most, height = rows / count, taller = rows % count;
  for (size_t i = 0; i < count; ++i) {
    tile.rows = height + (i < taller);
    multiply(tile);
    pass_rows(&tile, tile.rows);
  }
}

}  // namespace
}  // namespace octet
