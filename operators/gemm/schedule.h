// SPDX-License-Identifier: Apache-2.0
// A run's schedule, which depends on its sizes only: the cut into tasks, and their workspace. The
// workspace query and the run agree because both ask for it.
#pragma once

#include "kernels/core/sections.h"
#include "octet/octet.h"
#include "operators/gemm/plan.h"

namespace octet {

struct GemmSizes {
  size_t batch, m, n, k;
};

// A box of the iteration space (batch x rows x columns) that one task computes with its own
// workspace.
struct GemmTask {
  size_t batch0, batch1, m0, m1, n0, n1;
};

// A task's workspace lies between the caller's operands and the kernel: it holds a block of rows of
// the lhs, and run-time weights.
struct GemmSections {
  size_t rows;                // of a block
  PreparedSections prepared;  // at offset 0
  size_t quantized_stride;
  size_t quantized, zero_points, scales;                         // offsets
  size_t rhs_columns;                                            // packed at a time
  size_t rhs_panels, rhs_bias, rhs_weight_sum, rhs_zero_points;  // offsets
  size_t few_stride, few_columns;                                // of few rows; of their sums
  size_t few_lhs, few_sums, few_zero_points;                     // offsets
  // Offsets, of scale blocks
  size_t block_lhs, block_init, block_zero_points, block_sums, block_room, block_row_sums;
  size_t s16_sums_count, s16_sums;  // elements; offset, of s16
  size_t bytes;                     // a multiple of kAlignment
};

struct GemmSchedule {
  GemmSizes sizes;
  size_t batch_tasks, m_tasks, n_tasks;  // along each axis
  size_t batch_step, m_step, n_step;     // size of a task along each axis
  GemmSections sections;                 // of each task

  size_t tasks() const { return batch_tasks * m_tasks * n_tasks; }
  GemmTask task(size_t index) const {
    size_t batch = 0, m = 0, n = 0;
    if (index) {  // most runs are one task, and divisions take long
      n = index % n_tasks * n_step;
      m = index / n_tasks % m_tasks * m_step;
      batch = index / n_tasks / m_tasks * batch_step;
    }
    return {batch, smaller(sizes.batch, batch + batch_step),
            m,     smaller(sizes.m, m + m_step),
            n,     smaller(sizes.n, n + n_step)};
  }
  // Of so many tasks; SIZE_MAX if the bytes exceed size_t
  size_t workspace(size_t count) const {
    size_t bytes;
    return __builtin_mul_overflow(sections.bytes, count, &bytes) ? SIZE_MAX : bytes;
  }
};

// The cut of m rows and n columns into at most so many tasks.
GridSteps steps_of(const GemmPlan& plan, const MicroKernel& kernel, size_t m, size_t n,
                   size_t tasks);

// Pure. tasks: the most tasks.
GemmSchedule schedule(const GemmPlan& plan, const GemmSizes& sizes, size_t tasks);

// Workspace for every run of at most m rows, the plan's n and k, batch_max matrices and
// `concurrency` tasks; SIZE_MAX if the bytes exceed size_t.
size_t workspace_for(const GemmPlan& plan, size_t batch_max, size_t m, size_t concurrency);

// Whether a run needs workspace for more than gathered rows of the lhs and a decoded micro-panel of
// the rhs.
bool needs_more_than_panels(const GemmPlan& plan);

// The part of a task's workspace for products of s16 values by so many columns: rows of bytes and
// sums.
void lay_out_s16(const GemmPlan& plan, const MicroKernel& kernel, size_t columns, size_t k,
                 Sections* sections, GemmSections* at);

}  // namespace octet
