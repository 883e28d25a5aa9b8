// The loops of a product: its operands, and a fast and a general path over them.
#include "operators/gemm/loops.h"

#include <string.h>

namespace octet {
namespace {

// ---- lhs ----------------------------------------------------------------------------------------

// Rows from m0 on as the macro-kernel reads them: quantized where they are f32, with their zero
// points in the kernel's element type.
void read_lhs(const GemmRun& run, const MicroKernel& kernel, const GemmMatrix& matrix, size_t m0,
              uint8_t* workspace, Block* block) {
  const GemmPlan& plan = run.plan;
  const GemmSections& at = run.schedule.sections;
  const int32_t shift = type_shift(plan.lhs_type, kernel.lhs_element_type);
  LhsTerms& terms = block->terms;
  terms = {};
  block->lhs = matrix.lhs + m0 * run.lhs_stride;
  block->lhs_stride = run.lhs_stride;
  terms.in_bias = plan.lhs_quant == LhsQuant::kStatic;
  if (plan.lhs_quant == LhsQuant::kPerTensor) {
    terms.zero_point = (matrix.lhs_zero_points ? *matrix.lhs_zero_points : 0) + shift;
    terms.scaled = true;
    terms.scale = matrix.lhs_scales ? *matrix.lhs_scales : 1.0f;
  }
  if (!per_row(plan)) return;

  int32_t* zero_points = (int32_t*)(workspace + at.zero_points);
  float* scales = (float*)(workspace + at.scales);
  terms.zero_points = zero_points;
  if (quantizes(plan)) {
    uint8_t* out = workspace + at.quantized;
    for (size_t i = 0; i < block->rows; ++i) {
      const RowQuant q = plan.ops->quantize_row(
          (const float*)(block->lhs + i * run.lhs_stride), run.schedule.sizes.k,
          plan.lhs_quant == LhsQuant::kAsymmetric, out + i * at.quantized_stride);
      zero_points[i] = q.zero_point + shift;
      scales[i] = q.scale;
    }
    block->lhs = out;
    block->lhs_stride = at.quantized_stride;
    terms.scales = scales;
  } else {
    for (size_t i = 0; i < block->rows; ++i)
      zero_points[i] = (matrix.lhs_zero_points ? matrix.lhs_zero_points[m0 + i] : 0) + shift;
    terms.scales = matrix.lhs_scales ? matrix.lhs_scales + m0 : nullptr;
  }
  terms.scaled = terms.scales != nullptr;
}

// ---- rhs ----------------------------------------------------------------------------------------

Weights packed_weights(const GemmPlan& plan, size_t index) {
  return {plan.packed + index * plan.packed_stride,
          plan.packed_lanes,
          plan.packed_lane,
          0,
          plan.columns[index],
          nullptr,
          0};
}

// Records the accesses of packing, which reads the caller's lines `passes` times.
void tell_packed(MemoryTraceFn touch, const RhsView& rhs, int passes, const uint8_t* panels,
                 size_t bytes) {
  const bool rows = rhs.n_stride <= rhs.k_stride;
  const size_t lines = rows ? rhs.k : rhs.n, line = rows ? rhs.n : rhs.k,
               stride = rows ? rhs.k_stride : rhs.n_stride;
  for (int pass = 0; pass < passes; ++pass)
    for (size_t i = 0; i < lines; ++i) touch(rhs.data + i * stride, line, false);
  touch(panels, bytes, true);
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
    case LhsQuant::kAsymmetric: break;
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

// Packs the task's columns of a run-time rhs into its workspace.
Weights pack_weights(const GemmRun& run, const MicroKernel& kernel, const GemmMatrix& matrix,
                     const GemmTask& task, uint8_t* workspace) {
  const GemmPlan& plan = run.plan;
  const GemmSections& at = run.schedule.sections;
  const size_t n = task.n1 - task.n0, k = run.schedule.sizes.k;
  RhsView view = {matrix.rhs + task.n0 * run.rhs_n_stride,
                  n,
                  k,
                  run.rhs_k_stride,
                  run.rhs_n_stride,
                  plan.rhs_type,
                  run.rhs_zero_points,
                  run.rhs_zero_point_count};
  if (run.rhs_zero_point_count > 1) {  // the zero points of the task's columns
    view.zero_points += task.n0;
    view.zero_point_count = n;
  }
  const RhsLayout& layout = kernel.rhs_layout;
  int32_t* bias = (int32_t*)(workspace + at.rhs_bias);
  int32_t* weight_sum = (int32_t*)(workspace + at.rhs_weight_sum);
  int32_t* zero_points = (int32_t*)(workspace + at.rhs_zero_points);
  plan.packing->pack(layout, view, 0, n, workspace + at.rhs_panels);
  const int32_t rhs_shift = type_shift(view.type, layout.element_type),
                lhs_shift = type_shift(plan.lhs_type, kernel.lhs_element_type);
  const bool sums = needs_weight_sums(plan, matrix, lhs_shift);
  if (sums)
    sum_runtime_columns(*plan.ops, view, weight_sum);
  else
    memset(weight_sum, 0, n * sizeof *weight_sum);
  // The tier's code records the rows that it sums itself
  if (plan.touch)
    tell_packed(plan.touch, view, sums && view.k_stride != 1 ? 2 : 1, workspace + at.rhs_panels,
                layout.bytes(n, k));

  bool any_zero_point = false;
  for (size_t j = 0; j < n; ++j) {
    bias[j] = 0;
    zero_points[j] = view.zero_point(j) + rhs_shift;
    any_zero_point |= zero_points[j] != 0;
  }
  const int32_t static_zero_point = plan.static_zero_point + lhs_shift;
  Init init = {};
  init.cols = n;
  init.base = plan.bias ? plan.bias + task.n0 : bias;
  if (plan.lhs_quant == LhsQuant::kStatic) init.lhs_zero_points = &static_zero_point;
  init.weight_sums = weight_sum;
  init.out = bias;
  plan.ops->init(init);
  for (size_t j = n; j < padded_columns(plan, n); ++j) bias[j] = weight_sum[j] = zero_points[j] = 0;
  return {workspace + at.rhs_panels,
          layout.lanes(n),
          layout.lane_bytes(k),
          task.n0,
          {bias, weight_sum, any_zero_point ? zero_points : nullptr, view.zero_point_count == 1},
          nullptr,
          0};
}

// ---- the fast path ---------------------------------------------------------------------------

// The general path for one whole matrix, where kernels do not store the output themselves. Not
// inlined: its objects would take the fast path's stack.
__attribute__((noinline)) void run_in_general(const GemmPlan& plan, size_t m, const uint8_t* lhs,
                                              size_t lhs_stride, uint8_t* dst, size_t dst_stride,
                                              uint8_t* workspace) {
  const GemmMatrix only = {lhs, nullptr, nullptr, nullptr, nullptr, dst};
  const auto matrix = [](const void* matrix, size_t) { return *(const GemmMatrix*)matrix; };
  const GemmSchedule whole = schedule(plan, {1, m, plan.n, plan.k}, 1);
  run_task({plan, whole, workspace, matrix, &only, lhs_stride, dst_stride}, 0);
}

// One panel for each tile.
void gather_panels(const MicroKernel& kernel, const Tiling& tiling, Rows rows, size_t panel_bytes,
                   uint8_t* panels) {
  for (size_t t = 0; t < tiling.count; ++t, panels += panel_bytes) {
    rows.rows = tiling.rows(t);
    kernel.gather(rows, round_up_pow2(rows.rows, kernel.lhs_lanes_step), panels);
    rows.data += rows.rows * rows.stride;
  }
}

// Multiplies tiles that the kernel itself stores. The tile comes as large as the matrix and is
// changed: a copy would wait for the last write to it. This path exists because the macro-kernel's
// overhead is a third of the time of a product of 8x8x8.
template <bool gathers>
void run_tiles(const GemmPlan& plan, const MicroKernel& kernel, Tile* tile, uint8_t* workspace) {
  const RhsLayout& layout = kernel.rhs_layout;
  const uint8_t *const lhs = (const uint8_t*)tile->lhs, *const rhs = tile->rhs;
  const int32_t* const init = tile->init;
  const float* const scale = tile->scale;
  uint8_t* const dst = (uint8_t*)tile->dst;
  const size_t m = tile->rows, columns = tile->cols, depth = tile->depth,
               group = layout.group_bytes();
  // The workspace holds panels and room for decoded weights (prepared_sections)
  const size_t panel_bytes = gathers ? kernel.lhs_panel_bytes(depth) : 0;
  for (size_t m0 = 0, rows; m0 < m; m0 += rows) {
    rows = next_block(m - m0, plan.block_rows, kernel.mr);
    const uint8_t* block = lhs + m0 * tile->lhs_stride;
    const Tiling tiling(gathers ? rows : 0, kernel);  // for every micro-panel
    uint8_t* const decoded = workspace + tiling.count * panel_bytes;
    if (gathers) {
      gather_panels(kernel, tiling, {block, tile->lhs_stride, rows, depth, lhs_flip(plan, kernel)},
                    panel_bytes, workspace);
      block = workspace;
    }
    tile->rhs_decoded = gathers && kernel.decoder.decode && tiling.count >= kDecodeTiles &&
                        decoded_bytes(macro_kernel_of(plan, kernel, depth));
    for (size_t n = 0, lane = 0; n < columns; n += kernel.nr, lane += kernel.nr) {
      if (lane >= layout.width) lane = 0;
      const size_t panel = n - lane;
      tile->cols = smaller(kernel.nr, columns - n);
      tile->rhs = rhs + panel * plan.packed_lane + lane * group;
      tile->rhs_stride = smaller(layout.width, plan.packed_lanes - panel) * group;
      if (tile->rhs_decoded) {
        kernel.decoder.decode(tile->rhs, tile->rhs_stride, plan.packed_lane / group, decoded);
        tile->rhs = decoded;
      }
      tile->init = init + n;
      if (scale) tile->scale = scale + n;
      tile->lhs = block;
      tile->dst = dst + m0 * tile->dst_stride + n * plan.dst_bytes;
      if (gathers)
        multiply_tiles(kernel, tiling, panel_bytes, tile);
      else
        multiply_rows(kernel, rows, 0, tile);
    }
  }
}

}  // namespace

void run_task(const GemmRun& run, size_t index) {
  const GemmPlan& plan = run.plan;
  const GemmSections& at = run.schedule.sections;
  const GemmTask task = run.schedule.task(index);
  uint8_t* const workspace = run.workspace + index * at.bytes;
  const MicroKernel& kernel = kernel_for(plan, run.schedule.sizes.m);
  const KernelState state(&kernel);
  const MacroKernel macro_kernel = macro_kernel_of(plan, kernel, run.schedule.sizes.k);
  const bool requantization =
      run.rhs_zero_point_count ? plan.requantize_with_zero_points : plan.requantize_in_kernel;
  Block block = {};
  block.output = {plan.ops,       &plan.epilogue, &plan.requantization,
                  requantization, plan.dst_bytes, {}};
  for (size_t b = task.batch0; b < task.batch1; ++b) {
    const GemmMatrix matrix = run.matrix(run.matrix_context, b);
    const Weights weights = plan.runtime_rhs ? pack_weights(run, kernel, matrix, task, workspace)
                                             : packed_weights(plan, plan.columns_count > 1 ? b : 0);
    const Output to = {matrix.dst, run.dst_stride, matrix.residual, run.residual_stride};
    const bool passes = plan.pass && task.m1 - task.m0 > at.rows;
    for (size_t n0 = task.n0, columns; n0 < task.n1; n0 += columns) {
      columns = smaller(task.n1 - n0, passes ? plan.pass : SIZE_MAX);
      for (size_t m0 = task.m0; m0 < task.m1; m0 += block.rows) {
        block.rows = next_block(task.m1 - m0, at.rows, kernel.mr);
        block.output.to = to.from(m0);
        read_lhs(run, kernel, matrix, m0, workspace, &block);
        prepare(macro_kernel, weights.columns, at.prepared, workspace, &block);
        multiply(macro_kernel, weights, block, n0 - weights.first, n0 + columns - weights.first);
      }
    }
  }
}

Tile first_tile(const GemmPlan& plan) {
  Tile tile = {};
  const auto fits = [](const MicroKernel& kernel) {
    const size_t width = kernel.rhs_layout.width;
    return !kernel.enter && (kernel.nr % width == 0 || width % kernel.nr == 0);
  };
  if (!(plan.requantize_in_kernel || plan.epilogue.mode == EpilogueMode::kS32) || plan.pass ||
      !fits(*plan.kernel) || !fits(*plan.small_kernel))
    return tile;
  const Weights rhs = packed_weights(plan, 0);
  const RhsLayout& layout = plan.kernel->rhs_layout;
  tile.lhs_flip = lhs_flip(plan, *plan.kernel) ? 0x80808080u : 0;
  tile.rhs = rhs.panels;
  tile.rhs_stride = smaller(layout.width, rhs.lanes) * layout.group_bytes();
  tile.rhs_panel_stride = layout.width * rhs.lane_bytes;
  tile.depth = plan.k;
  tile.cols = plan.n;
  tile.init = rhs.columns.bias;
  tile.scale = plan.requantize_in_kernel ? plan.epilogue.scale : nullptr;
  tile.requantization = &plan.requantization;
  return tile;
}

void run_matrix(const GemmPlan& plan, size_t m, const uint8_t* lhs, size_t lhs_stride, uint8_t* dst,
                size_t dst_stride, uint8_t* workspace) {
  const MicroKernel& kernel = kernel_for(plan, m);
  Tile tile = plan.first;
  tile.rows = m;
  tile.lhs = lhs;
  tile.lhs_stride = lhs_stride;
  tile.dst = dst;
  tile.dst_stride = dst_stride;
  if (!tile.rhs)
    run_in_general(plan, m, lhs, lhs_stride, dst, dst_stride, workspace);
  else if (kernel.gather)
    run_tiles<true>(plan, kernel, &tile, workspace);
  else if (m <= kernel.rows_of(tile.cols) && tile.cols <= kernel.nr)
    kernel.multiply(tile);
  else
    run_tiles<false>(plan, kernel, &tile, nullptr);
}

}  // namespace octet
