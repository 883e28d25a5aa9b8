// SPDX-License-Identifier: Apache-2.0
// Cuts a grid of rows and columns into tasks, and a task's columns into passes. The functions are
// pure: the workspace query and run agree because both call them.
#pragma once

#include "kernels/core/micro_kernel.h"

namespace octet {

// The most tasks along each axis; 0 = no limit.
struct TaskLimits {
  size_t rows, columns;
};

// Tasks begin at multiples of the units. Before its first row a task takes as long as for `start`
// rows.
struct Grid {
  size_t rows, row_unit, columns, column_unit, start = 0;
};

struct GridSteps {
  size_t rows, columns;  // of a task
};

// Returns the cut into at most `tasks` pieces whose largest piece is smallest; among equal cuts,
// the one with the most tasks along rows if most_rows, else with the fewest.
inline GridSteps cut_grid(const Grid& g, size_t tasks, const TaskLimits& limits, bool most_rows) {
  const auto limit = [](size_t most, size_t limit) { return limit ? smaller(most, limit) : most; };
  const size_t row_units = divide_up(g.rows, g.row_unit),
               column_units = divide_up(g.columns, g.column_unit);
  const size_t most = limit(smaller(tasks, row_units), limits.rows);
  GridSteps best = {g.rows, g.columns};
  size_t best_work = SIZE_MAX;
  for (size_t i = 1; i <= most; ++i) {
    const size_t down = most_rows ? most + 1 - i : i,
                 across = limit(smaller(tasks / down, column_units), limits.columns);
    const GridSteps steps = {
        down == 1 ? g.rows : divide_up(row_units, down) * g.row_unit,
        across == 1 ? g.columns : divide_up(column_units, across) * g.column_unit};
    const size_t work = (steps.rows + g.start) * steps.columns;
    if (work < best_work) best_work = work, best = steps;
  }
  return best;
}

// A task whose weights may not fit the cache: each block of rows would load them again.
struct PassProblem {
  size_t blocks, lhs_bytes;  // of all rows
  size_t columns, column_bytes, unit;
  size_t cache_bytes;  // of the last level
};

// Returns the columns of a pass. All rows of a task are multiplied by one pass's columns before the
// next pass, so weights are loaded once, and rows once per pass. Returns 0 (one pass of all
// columns) where passes move no fewer bytes. Half of the cache is left for the other operand.
inline size_t columns_of_pass(const PassProblem& p) {
  const size_t half = p.cache_bytes / 2;
  const double weights = (double)p.columns * (double)p.column_bytes, lhs = (double)p.lhs_bytes;
  const size_t pass = larger(half / larger(p.column_bytes, 1) / p.unit, 1) * p.unit;
  if (p.blocks <= 1 || weights <= (double)half || pass >= p.columns) return 0;
  const double again = p.lhs_bytes <= half ? lhs : lhs * (double)divide_up(p.columns, pass);
  return weights + again < (double)p.blocks * weights + lhs ? pass : 0;
}

// A product whose outputs leave the cache while its weights stay in it.
struct StoresProblem {
  size_t rows, depth, columns, dst_bytes;
  size_t block;  // rows
  size_t cache_bytes;
};

// Rows of a block. Stores bound products of little depth to s32 or f32: a few rows at a time write
// lines of outputs that lie side by side before the prefetchers and the TLB forget them.
inline size_t rows_of_stores(const MicroKernel& kernel, const StoresProblem& p) {
  constexpr size_t kRows = 84, kDepth = 256;  // rows: of tiles of 6, 7, 12 and 14
  const bool wide = p.dst_bytes == 4 && p.columns > kernel.nr && p.depth <= kDepth;
  return wide && p.rows > p.cache_bytes / 4 / p.columns
             ? smaller(p.block, round_up(kRows, kernel.mr))
             : p.block;
}

}  // namespace octet
