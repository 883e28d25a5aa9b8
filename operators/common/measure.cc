// SPDX-License-Identifier: Apache-2.0
// Cuts the search for the ends of a tensor's range into tasks.
#include "operators/common/measure.h"

#include "operators/common/task_size.h"

namespace octet {
namespace {

constexpr double kCyclesPerFloat = 0.25;  // of a pass in vectors
constexpr size_t kMostParts = 64;         // their ends lie on the stack

struct Parts {
  const TierOps& ops;
  const FloatRows& rows;
  size_t count;
  FloatEnds ends[kMostParts];
};

// A share of the rows, or of the only row.
FloatRows part_of(const FloatRows& r, size_t index, size_t count) {
  const size_t whole = r.rows == 1 ? r.depth : r.rows;
  const size_t share = whole / count, begin = index * share;
  const size_t size = index + 1 == count ? whole - begin : share;
  if (r.rows == 1) return {r.data + begin, r.stride, 1, size};
  return {r.data + begin * r.stride, r.stride, size, r.depth};
}

void find_ends_of_part(void* context, size_t index) {
  Parts& parts = *(Parts*)context;
  parts.ends[index] = parts.ops.find_ends(part_of(parts.rows, index, parts.count));
}

}  // namespace

size_t tasks_of_floats(size_t count, const Pool& pool) {
  if (!pool.parallel_for || pool.concurrency < 2) return 1;
  return tasks_worth((double)count * kCyclesPerFloat, pool.concurrency);
}

RowQuant measure_in_tasks(const TierOps& ops, const FloatRows& rows, bool asymmetric,
                          const Pool& pool) {
  const size_t tasks = tasks_of_floats(rows.rows * rows.depth, pool);
  if (tasks == 1) return ops.measure_rows(rows, asymmetric);
  Parts parts = {ops, rows, tasks < kMostParts ? tasks : kMostParts, {}};
  pool.parallel_for(pool.context, parts.count, find_ends_of_part, &parts);
  // The scale of a tensor is that of its parts' ends.
  const size_t ends = sizeof(FloatEnds) / sizeof(float) * parts.count;
  return ops.measure_rows({&parts.ends[0].least, ends, 1, ends}, asymmetric);
}

}  // namespace octet
