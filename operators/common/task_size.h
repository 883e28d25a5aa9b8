// SPDX-License-Identifier: Apache-2.0
// The number of tasks that are worth their start: a run of a few microseconds is not cut.
#pragma once

#include <stddef.h>

namespace octet {

// The least estimated cycles of a task, on the plan's nominal clock. A variable in its own file, so
// that tests can link a smaller one that cuts small problems, too.
extern const double least_task_cycles;

// A limit, because each cut up to it is compared with the others, and each task of a chain is
// planned.
constexpr size_t kMostTasks = 4096;

// At most `concurrency` tasks, whose mean is never below the least. The first question is the
// cheapest, because a small product asks no other.
inline size_t tasks_worth(double cycles, size_t concurrency) {
  if (cycles < 2 * least_task_cycles) return 1;
  if (concurrency > kMostTasks) concurrency = kMostTasks;
  return cycles < (double)concurrency * least_task_cycles ? (size_t)(cycles / least_task_cycles)
                                                          : concurrency;
}

}  // namespace octet
