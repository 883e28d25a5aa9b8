// The plan of a product as loops: workspace, operands, and a fast and a general path over them.
#include "operators/gemm/loops.h"

#include "kernels/core/sections.h"

namespace octet {
namespace {

bool quantizes(const GemmPlan& plan) { return plan.lhs_quant >= LhsQuant::kSymmetric; }
bool per_row(const GemmPlan& plan) { return plan.lhs_quant >= LhsQuant::kPerRow; }
uint8_t lhs_flip(const GemmPlan& plan, const MicroKernel& kernel) {
  return plan.lhs_type == kernel.lhs_element_type ? 0 : 0x80;
}

// The macro-kernel that multiplies a block of rows by the plan's columns.
MacroKernel macro_kernel_of(const GemmPlan& plan, const MicroKernel& kernel, size_t k) {
  return {&kernel, plan.ops, lhs_flip(plan, kernel), {1, k, 1, 1}};
}

// ---- workspace ----------------------------------------------------------------------------------

// The workspace that lies between the caller's operands and the kernel: of one block of rows, and
// of the run-time weights. Offsets into the task's workspace.
struct Workspace {
  size_t rows;                // of a block
  PreparedSections prepared;  // at offset 0
  size_t quantized_stride;
  size_t quantized, zero_points, scales;
  size_t rhs_panels, rhs_bias, rhs_weight_sum, rhs_zero_points;
  size_t bytes;
};

// The lanes that columns [0, n) need: kernels may read that far.
size_t padded_columns(const GemmPlan& plan, size_t n) {
  return round_up(n, plan.kernel->rhs_layout.step);
}

Workspace plan_workspace(const GemmPlan& plan, const MicroKernel& kernel, size_t m, size_t n,
                         size_t k) {
  Workspace w = {};
  w.rows = smaller(m, plan.block_rows);
  if (!needs_workspace(plan)) return w;
  w.prepared = prepared_sections(macro_kernel_of(plan, kernel, k),
                                 plan.runtime_rhs || plan.columns[0].zero_point, w.rows);
  Sections sections = {w.prepared.bytes};
  if (quantizes(plan)) {
    w.quantized_stride = round_up(k, kAlignment);
    w.quantized = sections.take(w.rows * w.quantized_stride);
  }
  if (per_row(plan)) {
    w.zero_points = sections.take(w.rows * sizeof(int32_t));
    w.scales = sections.take(w.rows * sizeof(float));
  }
  if (plan.runtime_rhs) {
    const size_t columns = padded_columns(plan, n);
    w.rhs_panels = sections.take(kernel.rhs_layout.bytes(n, k));
    w.rhs_bias = sections.take(columns * sizeof(int32_t));
    w.rhs_weight_sum = sections.take(columns * sizeof(int32_t));
    w.rhs_zero_points = sections.take(columns * sizeof(int32_t));
  }
  w.bytes = sections.bytes;
  return w;
}

// ---- lhs ----------------------------------------------------------------------------------------

// Rows from m0 on as the macro-kernel reads them: quantized where they are f32, with their zero
// points in the kernel's element type.
void read_lhs(const GemmPlan& plan, const MicroKernel& kernel, const GemmRun& run,
              const GemmMatrix& matrix, const Workspace& w, size_t m0, uint8_t* workspace,
              Block* block) {
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

  int32_t* zero_points = (int32_t*)(workspace + w.zero_points);
  float* scales = (float*)(workspace + w.scales);
  terms.zero_points = zero_points;
  if (quantizes(plan)) {
    uint8_t* out = workspace + w.quantized;
    for (size_t i = 0; i < block->rows; ++i) {
      const RowQuant q = plan.ops->quantize_row((const float*)(block->lhs + i * run.lhs_stride),
                                                run.k, plan.lhs_quant == LhsQuant::kAsymmetric,
                                                out + i * w.quantized_stride);
      zero_points[i] = q.zero_point + shift;
      scales[i] = q.scale;
    }
    block->lhs = out;
    block->lhs_stride = w.quantized_stride;
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

// Records the accesses of packing. It reads the caller's lines twice, the second time for the sums.
void tell_packed(MemoryTraceFn touch, const RhsView& rhs, const uint8_t* panels, size_t bytes) {
  const bool rows = rhs.n_stride <= rhs.k_stride;
  const size_t lines = rows ? rhs.k : rhs.n, line = rows ? rhs.n : rhs.k,
               stride = rows ? rhs.k_stride : rhs.n_stride;
  for (int pass = 0; pass < 2; ++pass)
    for (size_t i = 0; i < lines; ++i) touch(rhs.data + i * stride, line, false);
  touch(panels, bytes, true);
}

// Packs the task's columns of a run-time rhs into its workspace.
Weights pack_weights(const GemmPlan& plan, const MicroKernel& kernel, const GemmRun& run,
                     const GemmMatrix& matrix, const Workspace& w, const GemmTask& task,
                     uint8_t* workspace) {
  const size_t n = task.n1 - task.n0;
  RhsView view = {matrix.rhs + task.n0 * run.rhs_n_stride,
                  n,
                  run.k,
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
  int32_t* bias = (int32_t*)(workspace + w.rhs_bias);
  int32_t* weight_sum = (int32_t*)(workspace + w.rhs_weight_sum);
  int32_t* zero_points = (int32_t*)(workspace + w.rhs_zero_points);
  plan.packing->pack(layout, view, 0, n, workspace + w.rhs_panels);
  sum_columns(layout, view, 0, n, {weight_sum, bias});  // bias holds the negative sums for a moment
  if (plan.touch) tell_packed(plan.touch, view, workspace + w.rhs_panels, layout.bytes(n, run.k));

  const int32_t rhs_shift = type_shift(view.type, layout.element_type),
                lhs_shift = type_shift(plan.lhs_type, kernel.lhs_element_type);
  bool any_zero_point = false;
  for (size_t j = 0; j < n; ++j) {
    weight_sum[j] += bias[j];
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
  return {workspace + w.rhs_panels,
          layout.lanes(n),
          layout.lane_bytes(run.k),
          task.n0,
          {bias, weight_sum, any_zero_point ? zero_points : nullptr, view.zero_point_count == 1},
          nullptr,
          0};
}

// ---- the fast path ---------------------------------------------------------------------------

// The general path for one whole matrix, where the fast path's kernels do not store the output.
void run_as_task(const GemmPlan& plan, size_t m, const uint8_t* lhs, size_t lhs_stride,
                 uint8_t* dst, size_t dst_stride, uint8_t* workspace) {
  const GemmMatrix only = {lhs, nullptr, nullptr, nullptr, nullptr, dst};
  GemmRun run = {};
  run.m = m;
  run.n = plan.n;
  run.k = plan.k;
  run.batch = 1;
  run.lhs_stride = lhs_stride;
  run.dst_stride = dst_stride;
  run.matrix = [](const void* matrix, size_t) { return *(const GemmMatrix*)matrix; };
  run.matrix_context = &only;
  run_task(plan, run, {0, 1, 0, m, 0, plan.n}, workspace);
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

size_t choose_block_rows(const MicroKernel& kernel, size_t k, size_t cache_bytes) {
  const size_t rows = cache_bytes / (k * kernel.lhs_element_bytes) / kernel.mr * kernel.mr;
  return rows < kernel.mr ? kernel.mr : rows;
}

bool needs_more_than_panels(const GemmPlan& plan) {
  return plan.runtime_rhs || per_row(plan) || plan.columns[0].zero_point;
}

bool needs_workspace(const GemmPlan& plan) {
  return plan.kernel->gather || plan.small_kernel->gather || needs_more_than_panels(plan);
}

Partition partition(const GemmPlan& plan, size_t m, size_t n, size_t batch, size_t concurrency) {
  Partition best = {1, 1, 1, batch, m, n};
  if (concurrency <= 1) return best;
  const MicroKernel& kernel = kernel_for(plan, m);
  // Tasks begin at a panel. Where they pack their own columns, small units keep the parts even, and
  // the workspace with them.
  const size_t width = kernel.rhs_layout.width,
               n_unit = plan.runtime_rhs ? width : larger(width, kernel.nr);
  // Whole matrices first.
  const size_t batch_tasks = smaller(batch, concurrency);
  const GridSteps steps = cut_grid({m, plan.runtime_rhs ? m : kernel.mr, n, n_unit},
                                   concurrency / batch_tasks, plan.tasks, false);
  best.m_step = steps.rows;
  best.n_step = steps.columns;
  best.batch_step = divide_up(batch, batch_tasks);
  best.batch = divide_up(batch, best.batch_step);
  best.m = divide_up(m, best.m_step);
  best.n = divide_up(n, best.n_step);
  return best;
}

GemmTask task_of(const Partition& p, size_t m, size_t n, size_t batch, size_t index) {
  const size_t tn = index % p.n, tm = index / p.n % p.m, tb = index / p.n / p.m;
  return {tb * p.batch_step, smaller(batch, (tb + 1) * p.batch_step),
          tm * p.m_step,     smaller(m, (tm + 1) * p.m_step),
          tn * p.n_step,     smaller(n, (tn + 1) * p.n_step)};
}

size_t task_workspace(const GemmPlan& plan, const Partition& p, size_t m, size_t n, size_t k) {
  return plan_workspace(plan, kernel_for(plan, m), smaller(m, p.m_step), smaller(n, p.n_step), k)
      .bytes;
}

void run_task(const GemmPlan& plan, const GemmRun& run, const GemmTask& task, uint8_t* workspace) {
  const MicroKernel& kernel = kernel_for(plan, run.m);
  const KernelState state(&kernel);
  const MacroKernel macro_kernel = macro_kernel_of(plan, kernel, run.k);
  const Workspace w = plan_workspace(plan, kernel, task.m1 - task.m0, task.n1 - task.n0, run.k);
  const bool requantization =
      run.rhs_zero_point_count ? plan.requantize_with_zero_points : plan.requantize_in_kernel;
  Block block = {};
  block.output = {plan.ops,       &plan.epilogue, &plan.requantization,
                  requantization, plan.dst_bytes, {}};
  for (size_t b = task.batch0; b < task.batch1; ++b) {
    const GemmMatrix matrix = run.matrix(run.matrix_context, b);
    const Weights weights = plan.runtime_rhs
                                ? pack_weights(plan, kernel, run, matrix, w, task, workspace)
                                : packed_weights(plan, plan.columns_count > 1 ? b : 0);
    const Output to = {matrix.dst, run.dst_stride, matrix.residual, run.residual_stride};
    const bool passes = plan.pass && task.m1 - task.m0 > w.rows;
    for (size_t n0 = task.n0, columns; n0 < task.n1; n0 += columns) {
      columns = smaller(task.n1 - n0, passes ? plan.pass : SIZE_MAX);
      for (size_t m0 = task.m0; m0 < task.m1; m0 += block.rows) {
        block.rows = next_block(task.m1 - m0, w.rows, kernel.mr);
        block.output.to = to.from(m0);
        read_lhs(plan, kernel, run, matrix, w, m0, workspace, &block);
        prepare(macro_kernel, weights.columns, w.prepared, workspace, &block);
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

void run_whole(const GemmPlan& plan, size_t m, const uint8_t* lhs, size_t lhs_stride, uint8_t* dst,
               size_t dst_stride, uint8_t* workspace) {
  const MicroKernel& kernel = kernel_for(plan, m);
  Tile tile = plan.first;
  tile.rows = m;
  tile.lhs = lhs;
  tile.lhs_stride = lhs_stride;
  tile.dst = dst;
  tile.dst_stride = dst_stride;
  if (!tile.rhs)
    run_as_task(plan, m, lhs, lhs_stride, dst, dst_stride, workspace);
  else if (kernel.gather)
    run_tiles<true>(plan, kernel, &tile, workspace);
  else if (m <= kernel.rows_of(tile.cols) && tile.cols <= kernel.nr)
    kernel.multiply(tile);
  else
    run_tiles<false>(plan, kernel, &tile, nullptr);
}

}  // namespace octet
