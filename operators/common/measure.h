// SPDX-License-Identifier: Apache-2.0
// Finds the scale and zero point of a tensor of floats by its range, in tasks.
#pragma once

#include "kernels/core/tier_ops.h"
#include "octet/octet.h"

namespace octet {

// A thread pool of the caller, or none.
struct Pool {
  octet_parallel_for parallel_for;
  void* context;
  size_t concurrency;
};

// The most tasks that are worth their start for a pass over this many floats, at least 1.
size_t tasks_of_floats(size_t count, const Pool& pool);

// TierOps::measure_rows on the pool. The result does not depend on the number of tasks.
RowQuant measure_in_tasks(const TierOps& ops, const FloatRows& rows, bool asymmetric,
                          const Pool& pool);

}  // namespace octet
