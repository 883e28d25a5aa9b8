// How many tasks are worth their start: a run that takes microseconds is not cut.
#pragma once

#include <stddef.h>

namespace octet {

// Cycles of the plan's nominal clock that a task should have at least, by its estimate. A variable
// of a file of its own, so that tests link one in its place that cuts small problems, too.
extern const double least_task_cycles;

// A caller may allow any number of tasks, but each cut up to it is compared with the others, and
// each task of a chain is planned.
constexpr size_t kMostTasks = 4096;

// At most `concurrency` tasks, at least one.
inline size_t tasks_worth(double cycles, size_t concurrency) {
  if (concurrency > kMostTasks) concurrency = kMostTasks;
  if (!(cycles < (double)concurrency * least_task_cycles)) return concurrency;
  const size_t tasks = (size_t)(cycles / least_task_cycles);
  return tasks ? tasks : 1;
}

}  // namespace octet
