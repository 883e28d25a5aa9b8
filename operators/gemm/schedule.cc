// SPDX-License-Identifier: Apache-2.0
// Computes a run's schedule from its sizes, and the workspace of all runs that a query covers.
#include "operators/gemm/schedule.h"

#include "kernels/core/parts.h"
#include "kernels/core/sections.h"
#include "operators/gemm/scale_blocks.h"

namespace octet {
namespace {

// The columns of run-time weights that are packed, and then multiplied, at a time. Where the rows
// stay in the L2 cache, so do the packed weights: most L2 caches have room for both. Rows that each
// pass would quantize again have one pass. The plan's k decides, so that a run with a smaller k
// needs no more workspace.
size_t columns_at_a_time(const GemmPlan& plan, const MicroKernel& kernel, size_t m, size_t n) {
  constexpr size_t kPanels = 256 * 1024, kRows = 128 * 1024;  // bytes
  if (quantizes(plan) || plan.k == 0 || m > kRows / plan.k) return n;
  const size_t unit = larger(kernel.rhs_layout.width, kernel.nr);
  return smaller(n, larger(kPanels / kernel.rhs_layout.lane_bytes(plan.k) / unit, 1) * unit);
}

// For a task of m rows and n columns. Leaves out sections that the plan does not need: to clear all
// would take as long as a small product.
void lay_out(const GemmPlan& plan, const MicroKernel& kernel, size_t m, size_t n, size_t k,
             GemmSections* out) {
  GemmSections& at = *out;
  at.rows = smaller(m, plan.block_rows);
  at.bytes = at.prepared.bytes = 0;
  if (!plan.needs_workspace) return;
  const bool few = leaves_weights(plan, m);
  at.prepared = few || plan.scale_block_kernel || has_s16(plan)
                    ? PreparedSections{}
                    : prepared_sections(macro_kernel_of(plan, kernel, k),
                                        plan.runtime_rhs || plan.columns[0].zero_point, at.rows);
  Sections sections = {at.prepared.bytes};
  if (quantizes(plan) || copies_lhs(plan, kernel)) {
    at.quantized_stride = round_up(k, kAlignment);
    at.quantized = sections.take(at.rows * at.quantized_stride);
  }
  if (per_row(plan)) {
    at.zero_points = sections.take(at.rows * sizeof(int32_t));
    at.scales = sections.take(at.rows * quantized_parts(plan) * sizeof(float));
  }
  if (OCTET_IF(INT16, has_s16(plan), false)) {
    lay_out_s16(plan, kernel, n, k, &sections, &at);
  } else if (OCTET_IF(INT4, plan.scale_block_kernel, false)) {
    lay_out_scale_blocks(plan, k, &sections, &at);
  } else if (few) {  // a row of ones follows the rows
    at.few_stride = round_up(k, kAlignment);
    at.few_lhs = sections.take((m + 1) * at.few_stride);
    at.few_columns = round_up(smaller(n, kFewColumns), 64);
    at.few_sums = sections.take((m + 1) * at.few_columns * sizeof(int32_t));
    at.few_zero_points = sections.take(at.few_columns * sizeof(int32_t));
  } else if (plan.runtime_rhs) {
    at.rhs_columns = columns_at_a_time(plan, kernel, m, n);
    const size_t columns = padded_columns(plan, at.rhs_columns);
    at.rhs_panels = sections.take(kernel.rhs_layout.bytes(at.rhs_columns, k));
    at.rhs_bias = sections.take(columns * sizeof(int32_t));
    at.rhs_weight_sum = sections.take(columns * sizeof(int32_t));
    at.rhs_zero_points = sections.take(columns * sizeof(int32_t));
  }
  at.bytes = sections.bytes;
}

// Fewer rows may be cut otherwise than m rows are, so each task gets the workspace of all rows:
// that grows with m only.
size_t workspace_of_rows(const GemmPlan& plan, size_t batch_max, size_t m, size_t concurrency) {
  if (m == 0) return 0;
  const auto tasks_with = [&](size_t tasks, size_t parts) {
    return schedule(plan, {1, m, plan.n, plan.k}, parts).workspace(tasks);
  };
  if (!plan.runtime_rhs) return tasks_with(concurrency, 1);

  // Run-time weights are cut by columns only, into at least so many parts as the largest batch
  // leaves tasks for; and a run may use fewer tasks than it declared. All numbers of parts whose
  // widest is `width` units are looked at together: the most of them, and the most tasks that are
  // cut into them.
  const size_t units = divide_up(plan.n, kernel_for(plan, m).rhs_layout.width);
  size_t bytes = 0, tasks = 0;
  for (size_t parts = 1; bytes != SIZE_MAX && tasks < concurrency && parts <= units;) {
    const size_t width = divide_up(units, parts),
                 most = width == 1 ? units : (units - 1) / (width - 1);
    size_t next;  // tasks that would be cut into more parts
    if (__builtin_mul_overflow(most + 1, batch_max, &next)) next = SIZE_MAX;
    tasks = smaller(concurrency, most == units ? next - batch_max : next - 1);
    bytes = larger(bytes, tasks_with(tasks, parts));
    parts = most + 1;
  }
  return bytes;
}

}  // namespace

GridSteps steps_of(const GemmPlan& plan, const MicroKernel& kernel, size_t m, size_t n,
                   size_t tasks) {
  // Tasks begin at a panel. Where they pack their own columns, small units keep the parts even, and
  // the workspace with them.
  const size_t width = kernel.rhs_layout.width,
               n_unit = plan.runtime_rhs ? width : larger(width, kernel.nr),
               m_unit = plan.runtime_rhs ? m : kernel.mr;
  return cut_grid({m, m_unit, n, n_unit}, tasks, plan.tasks, false);
}

GemmSchedule schedule(const GemmPlan& plan, const GemmSizes& z, size_t tasks) {
  const MicroKernel& kernel = kernel_for(plan, z.m);
  GemmSchedule s;
  s.sizes = z;
  s.batch_tasks = s.m_tasks = s.n_tasks = 1;
  s.batch_step = z.batch, s.m_step = z.m, s.n_step = z.n;
  if (tasks > 1) {
    // Whole matrices first.
    const size_t batch_tasks = smaller(z.batch, tasks);
    const GridSteps steps = steps_of(plan, kernel, z.m, z.n, tasks / batch_tasks);
    s.batch_step = divide_up(z.batch, batch_tasks);
    s.m_step = steps.rows;
    s.n_step = steps.columns;
    s.batch_tasks = divide_up(z.batch, s.batch_step);
    s.m_tasks = divide_up(z.m, s.m_step);
    s.n_tasks = divide_up(z.n, s.n_step);
  }
  lay_out(plan, kernel, smaller(z.m, s.m_step), smaller(z.n, s.n_step), z.k, &s.sections);
  return s;
}

size_t workspace_for(const GemmPlan& plan, size_t batch_max, size_t m, size_t concurrency) {
  return larger(workspace_of_rows(plan, batch_max, m, concurrency),
                larger(workspace_of_rows(plan, batch_max, smaller(m, plan.small_m), concurrency),
                       workspace_of_rows(plan, batch_max, smaller(m, plan.few_rows), concurrency)));
}

bool needs_more_than_panels(const GemmPlan& plan) {
  return plan.runtime_rhs || plan.scale_block_kernel || has_s16(plan) || per_row(plan) ||
         plan.columns[0].zero_point;
}

}  // namespace octet
