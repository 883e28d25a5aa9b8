// SPDX-License-Identifier: Apache-2.0
// Packs weights that come with a run, and multiplies few rows by them without packing.
#include "operators/gemm/runtime_weights.h"

#include <string.h>

#include "kernels/core/assert.h"
#include "operators/gemm/row_terms.h"

namespace octet {
namespace {

// Records that the caller's lines are read.
void tell_lines(MemoryTraceFn touch, const RhsView& rhs) {
  const bool rows = rhs.n_stride <= rhs.k_stride;
  const size_t lines = rows ? rhs.k : rhs.n, line = rows ? rhs.n : rhs.k,
               stride = rows ? rhs.k_stride : rhs.n_stride;
  for (size_t i = 0; i < lines; ++i) touch(rhs.data + i * stride, line, false);
}

// Whether some lhs zero point may not be 0 in the kernel's element type. Otherwise nothing reads
// the sums of the weights.
bool needs_weight_sums(const GemmPlan& plan, const GemmMatrix& matrix, int32_t lhs_shift) {
  switch (plan.lhs_quant) {
    case LhsQuant::kStatic: return plan.static_zero_point + lhs_shift != 0;
    case LhsQuant::kPerTensor:
      return (matrix.lhs_zero_points ? *matrix.lhs_zero_points : 0) + lhs_shift != 0;
    case LhsQuant::kPerRow: return matrix.lhs_zero_points || lhs_shift != 0;
    case LhsQuant::kSymmetric: return lhs_shift != 0;
    case LhsQuant::kAsymmetric:
    case LhsQuant::kSymmetricBlocks:
    case LhsQuant::kSymmetricBlocksF16:
    case LhsQuant::kPerBlock: break;
  }
  return true;
}

// Fills sums[n] with the sum of w - zero_point of column n. A column whose weights are adjacent is
// a row to the tier's own code.
void sum_runtime_columns(const TierOps& ops, const RhsView& rhs, int32_t* sums) {
  if (rhs.k_stride != 1) return total_columns(rhs, sums);
  ops.sum_rows({rhs.data, rhs.n_stride, rhs.n, rhs.k, 0}, rhs.type == ElementType::kS8, sums);
  for (size_t n = 0; n < rhs.n; ++n)
    sums[n] = (int32_t)((uint32_t)sums[n] - (uint32_t)rhs.k * (uint32_t)rhs.zero_point(n));
}

// Columns [n0, n1) of the matrix's weights.
RhsView columns_of(const GemmRun& run, const GemmMatrix& matrix, size_t n0, size_t n1) {
  RhsView view = {matrix.rhs + n0 * run.rhs_n_stride,
                  n1 - n0,
                  run.schedule.sizes.k,
                  run.rhs_k_stride,
                  run.rhs_n_stride,
                  run.plan.rhs_type,
                  run.rhs_zero_points,
                  run.rhs_zero_point_count};
  if (run.rhs_zero_point_count > 1) {
    view.zero_points += n0;
    view.zero_point_count = n1 - n0;
  }
  return view;
}
RuntimeWeights weights_of(const RhsView& view) {
  return {view.data, view.k_stride, view.n_stride,
          view.n,    view.k,        (uint8_t)(view.type == ElementType::kS8 ? 0 : 0x80)};
}

// The zero points of weights that `shift` makes those of the kernel's element type, padded; or null
// if all are 0.
const int32_t* read_zero_points(const RhsView& view, int32_t shift, size_t padded, int32_t* to) {
  const auto is_zero = [&](size_t j) { return view.zero_points[j] + shift == 0; };
  bool all = view.zero_points || shift == 0;
  for (size_t j = 0; j < view.zero_point_count; ++j) all &= is_zero(j);
  if (all) return nullptr;
  for (size_t j = 0; j < padded; ++j) to[j] = j < view.n ? view.zero_point(j) + shift : 0;
  return to;
}

// ---- few rows -----------------------------------------------------------------------------------

// A row of ones, as RuntimeOps::multiply reads it.
void prepare_ones(size_t k, size_t stride, uint8_t* to) {
  memset(to, 1, k);
  memset(to + k, 0, stride - k);
}

// The terms of each row: its zero point as u8, its run-time scale, and the sum of its bytes.
struct FewRowsTerms {
  int32_t zero_point[kFewRows], row_sum[kFewRows];
  float scales[kFewRows];
  const float* scale = nullptr;  // scales, or null for 1

  FewRowsTerms(const GemmPlan& plan, const LhsTerms& terms, const Rows& rows, bool sums_rows) {
    if (sums_rows) plan.ops->sum_rows(rows, false, row_sum);
    for (size_t i = 0; i < rows.rows; ++i) {
      zero_point[i] = zero_point_of(plan, terms, kFewRowsLhs, i);
      scales[i] = terms.scales ? terms.scales[i] : terms.scale;
    }
    if (terms.scaled) scale = scales;
  }
};

// row[j] -= terms[j] * times.
void subtract(const TierOps& ops, size_t n, const int32_t* terms, int32_t times, int32_t* row) {
  Init init = {};
  init.cols = n;
  init.base = init.out = row;
  init.weight_sums = terms;
  init.lhs_zero_points = &times;
  ops.init(init);
}

// Stores the accumulators of columns [n0, n0 + n).
void store_rows(const GemmPlan& plan, size_t rows, size_t n0, size_t n, const int32_t* acc,
                size_t stride, const float* row_scale, const Output& to) {
  if (plan.epilogue.mode == EpilogueMode::kS32) {
    for (size_t i = 0; i < rows; ++i) {
      uint8_t* const row = to.dst + i * to.stride + n0 * sizeof *acc;
      memcpy(row, acc + i * stride, n * sizeof *acc);
      if (plan.touch) plan.touch(row, n * sizeof *acc, true);
    }
    return;
  }
  for (size_t j = 0; j < n; j += kMaxTileColumns)
    plan.ops->epilogue(plan.epilogue, {acc + j, stride, rows, smaller(kMaxTileColumns, n - j),
                                       n0 + j, row_scale, to.column(n0 + j, plan.dst_bytes)});
}

}  // namespace

Weights pack_weights(const GemmRun& run, const MicroKernel& kernel, const GemmMatrix& matrix,
                     size_t n0, size_t n1, uint8_t* workspace) {
  const GemmPlan& plan = run.plan;
  const GemmSections& at = run.schedule.sections;
  const RhsView view = columns_of(run, matrix, n0, n1);
  const size_t n = view.n, k = view.k, padded = padded_columns(plan, n);
  const RhsLayout& layout = kernel.rhs_layout;
  int32_t* bias = (int32_t*)(workspace + at.rhs_bias);
  int32_t* weight_sum = (int32_t*)(workspace + at.rhs_weight_sum);
  uint8_t* const panels = workspace + at.rhs_panels;
  const int32_t rhs_shift = type_shift(view.type, layout.element_type),
                lhs_shift = type_shift(plan.lhs_type, kernel.lhs_element_type);
  const bool sums = needs_weight_sums(plan, matrix, lhs_shift);
  if (plan.runtime)
    plan.runtime->pack(weights_of(view), panels, sums ? weight_sum : nullptr);
  else
    plan.packing->pack(layout, view, 0, n, panels);
  if (!sums)
    memset(weight_sum, 0, n * sizeof *weight_sum);
  else if (!plan.runtime)
    sum_runtime_columns(*plan.ops, view, weight_sum);
  else if (view.zero_points || rhs_shift)
    for (size_t j = 0; j < n; ++j)
      weight_sum[j] -= (int32_t)((uint32_t)k * (uint32_t)(view.zero_point(j) + rhs_shift));
  // The tier's code records the rows that it sums itself
  const bool twice = sums && !plan.runtime && view.k_stride != 1;
  if (plan.touch) {
    for (int pass = 0; pass < (twice ? 2 : 1); ++pass) tell_lines(plan.touch, view);
    plan.touch(panels, layout.bytes(n, k), true);
  }

  const int32_t* const zero_points =
      read_zero_points(view, rhs_shift, padded, (int32_t*)(workspace + at.rhs_zero_points));
  memset(bias, 0, n * sizeof *bias);
  const int32_t static_zero_point = plan.static_zero_point + lhs_shift;
  Init init = {};
  init.cols = n;
  init.base = plan.bias ? plan.bias + n0 : bias;
  if (plan.lhs_quant == LhsQuant::kStatic) init.lhs_zero_points = &static_zero_point;
  init.weight_sums = weight_sum;
  init.out = bias;
  plan.ops->init(init);
  for (size_t j = n; j < padded; ++j) bias[j] = weight_sum[j] = 0;
  return {workspace + at.rhs_panels,
          layout.lanes(n),
          layout.lane_bytes(k),
          n0,
          {bias, weight_sum, zero_points, view.zero_point_count == 1},
          nullptr,
          0};
}

void multiply_few_rows(const GemmRun& run, const GemmMatrix& matrix, const GemmTask& task,
                       const Block& block, uint8_t* workspace) {
  const GemmPlan& plan = run.plan;
  const GemmSections& at = run.schedule.sections;
  const size_t m = block.rows, k = run.schedule.sizes.k;
  OCTET_ASSERT(at.rows == m);  // read_lhs has filled a section of so many
  uint8_t* const lhs = workspace + at.few_lhs;
  int32_t* const sums = (int32_t*)(workspace + at.few_sums);
  int32_t* const ones = sums + m * at.few_columns;
  const int32_t lhs_shift = type_shift(plan.lhs_type, kFewRowsLhs),
                rhs_shift = type_shift(plan.rhs_type, ElementType::kS8);
  const bool sums_weights = needs_weight_sums(plan, matrix, lhs_shift);
  const Rows rows = {block.lhs, block.lhs_stride, m, k, (uint8_t)(lhs_shift ? 0x80 : 0)};
  copy_rows(rows, at.few_stride, lhs);
  for (size_t i = 0; plan.touch && i < m; ++i) plan.touch(rows.row(i), k, false);
  if (sums_weights) prepare_ones(k, at.few_stride, lhs + m * at.few_stride);
  const bool zero_points_of_weights = run.rhs_zero_points || plan.rhs_type == ElementType::kU8;
  const FewRowsTerms terms(plan, block.terms, rows, zero_points_of_weights);
  for (size_t n0 = task.n0, n; n0 < task.n1; n0 += n) {
    n = smaller(at.few_columns, task.n1 - n0);
    const RhsView view = columns_of(run, matrix, n0, n0 + n);
    if (plan.touch) tell_lines(plan.touch, view);
    plan.runtime->multiply(
        {weights_of(view), lhs, at.few_stride, m + sums_weights, sums, at.few_columns});
    const int32_t* const zero_points =
        read_zero_points(view, rhs_shift, n, (int32_t*)(workspace + at.few_zero_points));
    if (sums_weights && zero_points) subtract(*plan.ops, n, zero_points, (int32_t)k, ones);
    for (size_t i = 0; i < m; ++i) {
      int32_t* const row = sums + i * at.few_columns;
      if (plan.bias) subtract(*plan.ops, n, plan.bias + n0, -1, row);
      if (sums_weights) subtract(*plan.ops, n, ones, terms.zero_point[i], row);
      if (zero_points) subtract(*plan.ops, n, zero_points, terms.row_sum[i], row);
    }
    store_rows(plan, m, n0, n, sums, at.few_columns, terms.scale, block.output.to);
  }
}

}  // namespace octet
