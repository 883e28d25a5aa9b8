// How a grid of rows and columns is cut for tasks. Pure: the workspace query and run agree because
// both ask it.
#pragma once

#include "kernels/core/layout.h"

namespace octet {

// Tasks along either axis, at most; 0 = as many as are of use.
struct TaskLimits {
  size_t rows, columns;
};

// Tasks begin at multiples of the units.
struct Grid {
  size_t rows, row_unit, columns, column_unit;
};

struct GridSteps {
  size_t rows, columns;  // of a task
};

// The cut into at most `tasks` pieces whose largest is smallest; among equals the one with the most
// tasks along rows, or with the fewest.
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
    const size_t work = steps.rows * steps.columns;
    if (work < best_work) best_work = work, best = steps;
  }
  return best;
}

}  // namespace octet
