// SPDX-License-Identifier: Apache-2.0
// The object that octet_gemm_create makes.
#pragma once

#include "dispatch/select/choice.h"
#include "octet/octet.h"
#include "operators/common/task_size.h"
#include "operators/gemm/schedule.h"
#include "packing/container.h"

// A created GEMM: the plan, and the bounds of a run's arguments. One allocation; the plan's
// arrays follow the object.
struct octet_gemm {
  octet::GemmPlan plan;
  octet::Choice choice;
  bool measured;  // the choice was, on this machine
  size_t m_max, batch_max;
  octet::Sparsity sparsity;  // of the packed weights
  octet_type lhs_type, rhs_type, dst_type, residual_type;
  octet_rhs_order rhs_order;
  // m_max where the fast path serves: packed weights without zero points, static lhs, no residual,
  // no trace; else 0
  size_t m_fast;
  size_t fast_workspace;             // bytes that every run on the fast path can do with
  double matrix_cycles, row_cycles;  // estimated, of a matrix, and of each of its rows
  size_t row_bytes;                  // of dst
  size_t packed_bytes;
  const void* packed;
  int64_t max_bias;  // largest |bias|: run-time weights are bounded per run
  int64_t max_acc;   // the largest |acc|: int32's, less TFLite's left shift
  int verbose;
  octet_allocator allocator;
  size_t bytes;  // of the object and its arrays
};

namespace octet {
// Made of an outline: it has no weights, and does not run.
constexpr bool is_outline(const octet_gemm& g) { return !g.plan.runtime_rhs && !g.plan.packed; }
// The most tasks that a run of these sizes is cut into.
inline size_t tasks_of(const octet_gemm& gemm, const GemmSizes& z, size_t concurrency) {
  const double cycles = gemm.matrix_cycles + (double)z.m * gemm.row_cycles;
  return tasks_worth((double)z.batch * cycles, concurrency);
}
}  // namespace octet
