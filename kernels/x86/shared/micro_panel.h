// What kernels share that multiply all rows of a micro-panel in one call.
#pragma once

#include "kernels/core/micro_kernel.h"

namespace octet {
namespace {

// Whether a tile's bytes leave in float mode and its depth is whole groups of four: most are so.
// Loops over all rows take no other tiles.
inline bool requantizes_whole_groups(const Tile& t) {
  return t.scale && !t.requantization->to_floats && !t.requantization->tflite_apart &&
         t.depth % 4 == 0;
}

// Goes on to the tile's row `rows`.
inline void pass_rows(Tile* t, size_t rows) {
  t->lhs = (const uint8_t*)t->lhs + rows * t->lhs_stride;
  t->dst = (uint8_t*)t->dst + rows * t->dst_stride;
  if (t->row_scale) t->row_scale += rows;
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
