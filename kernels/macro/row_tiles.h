// SPDX-License-Identifier: Apache-2.0
// Cuts rows into blocks and blocks into tiles.
#pragma once

#include "kernels/core/micro_kernel.h"

namespace octet {

// Tiles have nearly equal height: 49 rows at mr = 12 are 10 10 10 10 9, not 12 12 12 12 1. Where
// the kernel takes rows in steps (SMMLA: pairs), only the last tile's height may be no multiple of
// it. Where a kernel copies rows and its tile is one step high, a tile of fewer rows takes as long,
// and tiles of equal height need one configuration: a line of 28 pixels is 14 14, not 16 12.
struct Tiling {
  size_t count, height, taller, step, missing;  // the first `taller` tiles have height + step rows
  // cols: columns of the micro-panel; by default no tile is tall.
  Tiling(size_t rows, const MicroKernel& kernel, size_t cols = SIZE_MAX)
      : count(1), height(rows), taller(0), step(kernel.lhs_lanes_step), missing(0) {
    const size_t most = kernel.rows_of(cols);
    if (rows <= most) return;  // a division would be a large part of a small product's time
    if (kernel.copy_rows && most == step) step = 1;
    count = divide_up(rows, most);
    const size_t whole = round_up_pow2(rows, step);
    // Avoids a division
    const size_t steps = step == 1 ? whole : step == 2 ? whole / 2 : whole / step;
    height = steps / count * step;
    taller = steps % count;
    missing = whole - rows;
  }
  size_t rows(size_t tile) const {
    return height + (tile < taller ? step : 0) - (tile + 1 == count ? missing : 0);
  }
};

// Returns the rows of the next block, at most `most`, a multiple of mr. Blocks have nearly equal
// height, so that no row is left alone.
inline size_t next_block(size_t rows, size_t most, size_t mr) {
  return rows <= most ? rows : round_up(divide_up(rows, divide_up(rows, most)), mr);
}

}  // namespace octet
