// SPDX-License-Identifier: Apache-2.0
// The loops of a product: its operands, and a fast and a general path over them.
#include "operators/gemm/loops.h"

#include "kernels/core/assert.h"
#include "kernels/core/half.h"
#include "kernels/core/parts.h"
#include "operators/gemm/runtime_weights.h"
#include "operators/gemm/scale_blocks.h"

namespace octet {
namespace {

// ---- lhs ----------------------------------------------------------------------------------------

// Copies a block's rows to `to`, where the kernel takes them from a copy, which `rows` becomes.
// columns: of the task. Returns whether the copy is arranged.
bool copy_lhs(const GemmPlan& plan, const MicroKernel& kernel, size_t columns, Rows* rows,
              uint8_t* to) {
  const bool arranges = arranges_rows(plan, kernel, columns) && rows->rows >= kernel.mr;
  if (!arranges && !flips_rows(plan, kernel)) return false;
  const size_t depth = rows->depth,
               stride = !arranges && rows->stride == depth ? depth : round_up(depth, kAlignment);
  rows->flip = lhs_flip(plan, kernel);
  (arranges ? kernel.arrange_rows : kernel.flip_rows)(*rows, stride, to);
  rows->data = to;
  rows->stride = stride;
  return arranges;
}

// Rows from m0 on as the macro-kernel reads them: quantized where they are f32, with their zero
// points in the element type that is multiplied.
void read_lhs(const GemmRun& run, ElementType type, const GemmMatrix& matrix, size_t m0,
              size_t columns, uint8_t* workspace, Block* block) {
  const GemmPlan& plan = run.plan;
  const GemmSections& at = run.schedule.sections;
  const int32_t shift = type_shift(plan.lhs_type, type);
  LhsTerms& terms = block->terms;
  terms = {};
  block->lhs = matrix.lhs + m0 * run.lhs_stride;
  block->lhs_stride = run.lhs_stride;
  const MicroKernel& kernel = kernel_for(plan, run.schedule.sizes.m);
  Rows rows = {block->lhs, block->lhs_stride, block->rows, run.schedule.sizes.k, 0};
  const bool copies = copies_lhs(plan, kernel) && !leaves_weights(plan, run.schedule.sizes.m);
  block->lhs_arranged = copies && copy_lhs(plan, kernel, columns, &rows, workspace + at.quantized);
  block->lhs = rows.data;
  block->lhs_stride = rows.stride;
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
    const size_t parts = quantized_parts(plan), depth = run.schedule.sizes.k / parts;
    const FloatRows rows = {(const float*)block->lhs, run.lhs_stride / sizeof(float), block->rows,
                            depth};
    if (parts == 1)
      plan.ops->quantize_rows(rows, plan.lhs_quant == LhsQuant::kAsymmetric, out,
                              at.quantized_stride, scales, zero_points);
    for (size_t i = 0; parts > 1 && i < block->rows; ++i) {
      plan.ops->quantize_rows({rows.data + i * rows.stride, depth, parts, depth}, false,
                              out + i * at.quantized_stride, depth, scales + i * parts, nullptr);
      zero_points[i] = 0;
    }
    for (size_t i = 0; i < block->rows; ++i) zero_points[i] += shift;
    for (size_t i = 0; plan.lhs_quant == LhsQuant::kSymmetricBlocksF16 && i < block->rows * parts;
         ++i)
      scales[i] = rounded_to_half(scales[i]);
    block->lhs = out;
    block->lhs_stride = at.quantized_stride;
    terms.scales = scales;
  } else {
    for (size_t i = 0; i < block->rows; ++i)
      zero_points[i] = (matrix.lhs_zero_points ? matrix.lhs_zero_points[m0 + i] : 0) + shift;
    terms.scales = matrix.lhs_scales ? matrix.lhs_scales + m0 * quantized_parts(plan) : nullptr;
  }
  terms.scaled = terms.scales != nullptr;
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

// Multiplies columns [first, end) by tiles that the kernel itself stores. The tile comes as large
// as the matrix and is changed: a copy would wait for the last write to it. This path exists
// because the macro-kernel's overhead is a third of the time of a product of 8x8x8.
template <bool gathers>
void run_tiles(const GemmPlan& plan, const MicroKernel& kernel, size_t first, size_t end,
               Tile* tile, uint8_t* workspace) {
  const RhsLayout& layout = kernel.rhs_layout;
  const uint8_t *const lhs = (const uint8_t*)tile->lhs, *const rhs = tile->rhs;
  const int32_t* const init = tile->init;
  const float* const scale = tile->scale;
  uint8_t* const dst = (uint8_t*)tile->dst;
  const size_t m = tile->rows, depth = tile->depth, group = layout.group_bytes();
  // The workspace holds panels and room for decoded weights (prepared_sections)
  const size_t panel_bytes = gathers ? kernel.lhs_panel_bytes(depth) : 0,
               panel_stride = tile->rhs_panel_stride;
  const bool decodes = kernel.decoder.decode;
  const size_t lhs_stride = tile->lhs_stride,
               to_groups = gathers || lhs_stride != depth
                               ? 0
                               : rows_read_to_groups(kernel, depth, depth, m * depth);
  const uint32_t lhs_flip_in_loop = flips_rows(plan, kernel) ? 0 : tile->lhs_flip;
  for (size_t m0 = 0, rows; m0 < m; m0 += rows) {
    const bool whole = m0 < to_groups;
    rows = next_block((whole ? to_groups : m) - m0, plan.block_rows, kernel.mr);
    tile->depth = whole ? layout.steps(depth) : depth;
    const uint8_t* block = lhs + m0 * lhs_stride;
    const Tiling tiling(gathers || decodes ? rows : 0, kernel);  // for every micro-panel
    if (tile->room) {
      tile->room = workspace + tiling.count * panel_bytes;
      if (kernel.micro_panel.room) *(const void**)tile->room = nullptr;
    }
    if (gathers) {
      gather_panels(kernel, tiling, {block, lhs_stride, rows, depth, lhs_flip(plan, kernel)},
                    panel_bytes, workspace);
      block = workspace;
    }
    if (!gathers) {
      Rows in_place = {block, lhs_stride, rows, depth, 0};
      tile->lhs_arranged = copy_lhs(plan, kernel, end - first, &in_place, workspace);
      tile->lhs_flip = tile->lhs_arranged ? 0 : lhs_flip_in_loop;
      block = in_place.data;
      tile->lhs_stride = in_place.stride;
    }
    tile->rhs_decoded = decodes_once(kernel, 1, depth, rows, tiling.count);
    const size_t groups = tile->rhs_decoded ? plan.packed_lane / group : 0;
    tile->rhs_panel_stride = tile->rhs_decoded ? groups * kernel.decoder.group_bytes : panel_stride;
    const size_t nr =
        columns_of_micro_panel(kernel, makes_words_in_kernel(*tile, kernel), rows, tile->depth);
    for (size_t n = first, lane = 0; n < end; n += nr, lane += nr) {
      if (lane >= layout.width) lane = 0;
      const size_t panel = n - lane;
      tile->cols = smaller(nr, end - n);
      tile->rhs = rhs + panel * plan.packed_lane + lane * group;
      tile->rhs_stride = smaller(layout.width, plan.packed_lanes - panel) * group;
      if (tile->rhs_decoded) {
        uint8_t* const decoded = workspace + tiling.count * panel_bytes +
                                 round_up_pow2(kernel.room_bytes(1, depth), kAlignment);
        decode_panels(kernel, tile->rhs, tile->rhs_stride, panel_stride, tile->cols, groups,
                      decoded);
        tile->rhs = decoded;
        tile->rhs_stride = kernel.decoder.operand_stride;
      }
      tile->init = init + n;
      if (scale) tile->scale = scale + n;
      tile->lhs = block;
      tile->dst = dst + m0 * tile->dst_stride + n * plan.dst_bytes;
      if (gathers)
        multiply_tiles(kernel, tiling, panel_bytes, tile);
      else
        multiply_rows(kernel, rows, Tiling(rows, kernel, tile->cols), 0, tile);
    }
  }
}

}  // namespace

Weights packed_weights(const GemmPlan& plan, size_t index) {
  return {plan.packed + index * plan.packed_stride,
          plan.packed_lanes,
          plan.packed_lane,
          0,
          plan.columns[index],
          nullptr,
          0};
}

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
  // The end of the rows that are read to groups
  const size_t k = run.schedule.sizes.k,
               to_groups =
                   quantizes(plan) || run.lhs_stride != k
                       ? 0
                       : task.m0 + rows_read_to_groups(kernel, k, k, (task.m1 - task.m0) * k);
  Block block = {};
  block.output = {plan.ops,       &plan.epilogue, &plan.requantization,
                  requantization, plan.dst_bytes, {}};
  for (size_t b = task.batch0; b < task.batch1; ++b) {
    const GemmMatrix matrix = run.matrix(run.matrix_context, b);
    const Output to = {matrix.dst, run.dst_stride, matrix.residual, run.residual_stride};
    if (OCTET_IF(RUNTIME_WEIGHTS, leaves_weights(plan, run.schedule.sizes.m), false)) {
      block.rows = run.schedule.sizes.m;
      read_lhs(run, kFewRowsLhs, matrix, 0, 0, workspace, &block);
      block.output.to = to;
      multiply_few_rows(run, matrix, task, block, workspace);
      continue;
    }
    const size_t packed = plan.columns_count > 1 ? b : 0;
    if (OCTET_IF(INT16, has_s16(plan), false)) {
      multiply_s16(run, kernel, matrix, packed, task, workspace);
      continue;
    }
    if (OCTET_IF(INT4, plan.scale_block_kernel, false)) {
      for (size_t m0 = task.m0; m0 < task.m1; m0 += block.rows) {
        block.rows = smaller(task.m1 - m0, at.rows);
        block.output.to = to.from(m0);
        read_lhs(run, kernel.lhs_element_type, matrix, m0, 0, workspace, &block);
        multiply_scale_blocks(run, packed, task, block, workspace);
      }
      continue;
    }
    // Run-time weights are packed for the columns of a pass at a time
    const size_t pass = plan.runtime_rhs                           ? at.rhs_columns
                        : plan.pass && task.m1 - task.m0 > at.rows ? plan.pass
                                                                   : SIZE_MAX;
    for (size_t n0 = task.n0, n1; n0 < task.n1; n0 = n1) {
      n1 = n0 + smaller(task.n1 - n0, pass);
      const Weights weights = OCTET_IF(RUNTIME_WEIGHTS, plan.runtime_rhs, false)
                                  ? pack_weights(run, kernel, matrix, n0, n1, workspace)
                                  : packed_weights(plan, packed);
      for (size_t m0 = task.m0; m0 < task.m1; m0 += block.rows) {
        block.reads_to_groups = m0 < to_groups;
        block.rows = next_block((m0 < to_groups ? to_groups : task.m1) - m0, at.rows, kernel.mr);
        block.output.to = to.from(m0);
        read_lhs(run, kernel.lhs_element_type, matrix, m0, n1 - n0, workspace, &block);
        prepare(macro_kernel, weights.columns, at.prepared, workspace, &block);
        multiply(macro_kernel, weights, block, n0 - weights.first, n1 - weights.first);
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
  if (!(plan.requantize_in_kernel || plan.epilogue.mode == EpilogueMode::kS32) ||
      plan.epilogue.lut || plan.pass || !fits(*plan.kernel) || !fits(*plan.small_kernel))
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
  if (plan.needs_workspace) tile.room = workspace;
  if (!tile.rhs)
    run_in_general(plan, m, lhs, lhs_stride, dst, dst_stride, workspace);
  else if (kernel.gather)
    run_tiles<true>(plan, kernel, 0, plan.n, &tile, workspace);
  else if (m <= kernel.rows_of(tile.cols) && tile.cols <= kernel.nr)
    kernel.multiply(tile);
  else
    run_tiles<false>(plan, kernel, 0, plan.n, &tile, workspace);
}

// Small, because each line of it costs each task the time of a message between cores.
struct MatrixTasks {
  const GemmPlan& plan;
  const MicroKernel& kernel;
  size_t m;
  const uint8_t* lhs;
  size_t lhs_stride;
  uint8_t* dst;
  size_t dst_stride;
  GridSteps steps;
};

void run_matrix_in_tasks(const GemmPlan& plan, size_t m, const uint8_t* lhs, size_t lhs_stride,
                         uint8_t* dst, size_t dst_stride, const Pool& pool) {
  OCTET_ASSERT(plan.tasks_need_none && plan.first.rhs);
  const MicroKernel& kernel = kernel_for(plan, m);
  alignas(64) MatrixTasks tasks = {
      plan,       kernel, m,          lhs,
      lhs_stride, dst,    dst_stride, steps_of(plan, kernel, m, plan.n, pool.concurrency)};
  const size_t count = divide_up(m, tasks.steps.rows) * divide_up(plan.n, tasks.steps.columns);
  if (count == 1) return run_matrix(plan, m, lhs, lhs_stride, dst, dst_stride, nullptr);
  pool.parallel_for(
      pool.context, count,
      [](void* context, size_t index) {
        const MatrixTasks& t = *(const MatrixTasks*)context;
        const size_t across = divide_up(t.plan.n, t.steps.columns),
                     row = index / across * t.steps.rows, column = index % across * t.steps.columns;
        Tile tile = t.plan.first;
        tile.rows = smaller(t.steps.rows, t.m - row);
        tile.lhs = t.lhs + row * t.lhs_stride;
        tile.lhs_stride = t.lhs_stride;
        tile.dst = t.dst + row * t.dst_stride;
        tile.dst_stride = t.dst_stride;
        run_tiles<false>(t.plan, t.kernel, column, smaller(t.plan.n, column + t.steps.columns),
                         &tile, nullptr);
      },
      &tasks);
}

}  // namespace octet
