// SPDX-License-Identifier: Apache-2.0
// A block of output pixels times the output channels of one group: shared by the direct, transposed
// and im2col algorithms.
#pragma once

#include "kernels/core/sections.h"
#include "operators/conv/algorithms/panels.h"

namespace octet {

// Rows of a block: its data per row fits half of L2; the other half is for the weights.
inline size_t conv_block_rows(const ConvPlan& plan, size_t bytes_per_row) {
  const size_t mr = plan.kernel->mr;
  const size_t bytes = bytes_per_row + plan.kernel->sums_bytes(1) / mr;
  return larger(plan.cache_bytes / 2 / bytes / mr, 1) * mr;
}

// The packed weights of a channel group.
inline Weights weights_of(const ConvPlan& plan, const Taps& taps, size_t group) {
  const ConvPanels p = read_panels(plan.kernel->rhs_layout, plan.shape, taps, plan.payload);
  const size_t first = group * plan.shape.group_out();
  return {p.of_group(group),
          p.lanes,
          p.lane_bytes,
          first,
          plan.columns.from(first),
          p.group_sums + first,
          p.group_sums_stride};
}

inline MacroKernel macro_kernel_of(const ConvPlan& plan, const Taps& taps) {
  return {plan.kernel, plan.ops, plan.lhs_flip, taps};
}
inline PreparedSections prepared_sections(const ConvPlan& plan, const Taps& taps, size_t rows,
                                          size_t pointed) {
  return prepared_sections(macro_kernel_of(plan, taps), plan.columns.zero_point != nullptr, rows,
                           pointed);
}

// Shared by algorithms on panels: they compute every shape, and cut channels between micro-panels
// or between groups.
inline const char* refuse_nothing(const ConvShape&, const ZeroPointRange&) { return nullptr; }
inline ConvGrain panels_grain(const ConvPlan& plan, size_t out_h, size_t) {
  return {out_h,
          plan.shape.groups > 1 || plan.shape.phases > 1
              ? plan.shape.group_out()
              : larger(plan.kernel->rhs_layout.width, plan.kernel->nr),
          plan.shape.transposed ? plan.shape.stride_h : 1};
}

// Adds to an algorithm what algorithms on panels share. For the parameters, see panels.h.
template <Taps (*taps_of)(const ConvShape&), ConvShapeFn shape_of>
constexpr ConvAlgorithm on_panels(ConvAlgorithm algorithm) {
  algorithm.refuse = refuse_nothing;
  algorithm.payload_bytes = panels_payload_bytes<taps_of, shape_of>;
  algorithm.pack = pack_payload<taps_of, shape_of>;
  algorithm.panels = panels_of_payload<taps_of, shape_of>;
  algorithm.block_of_tiles = algorithm.passes = algorithm.takes_sparse = true;
  algorithm.grain = panels_grain;
  return algorithm;
}

// A block that writes output pixels; its destination is not set yet.
inline Block make_block(const ConvPlan& plan) {
  Block block = {};
  block.output = {
      plan.ops, &plan.epilogue, &plan.requantization, plan.requantize_in_kernel, plan.dst_bytes,
      {}};
  return block;
}

// Where a task prepares its blocks.
struct Prepared {
  PreparedSections at;
  uint8_t* workspace;
};

// Multiplies a block, whose lhs is there, by the task's channels of a group.
void multiply_block(const ConvPlan& plan, const Taps& taps, const ConvTask& task, size_t group,
                    const Prepared& prepared, Block* block);

// Computes block->rows output pixels from `pixel` on. All of them lie in `image` if images have
// zero points of their own. fill(group) prepares the block's lhs for a channel group.
template <typename Fill>
void run_block(const ConvPlan& plan, const ConvRun& run, const Taps& taps, const ConvTask& task,
               size_t image, size_t pixel, const Prepared& prepared, Block* block,
               const Fill& fill) {
  block->terms = lhs_terms(plan, run, image);
  block->output.to = run.to.from(pixel);
  const size_t group_out = plan.shape.group_out();
  for (size_t g = task.n0 / group_out; g * group_out < task.n1; ++g) {
    fill(g);
    multiply_block(plan, taps, task, g, prepared, block);
  }
}

// Computes all pixels of a task in blocks of at most `most` rows. fill(group, pixel) prepares a
// block's lhs.
template <typename Fill>
void run_blocks(const ConvPlan& plan, const ConvRun& run, const Taps& taps, const ConvTask& task,
                size_t most, const Prepared& prepared, Block* block, const Fill& fill) {
  const size_t image_pixels = run.out_h * run.out_w, last = task.end * run.out_w;
  for (size_t pixel = task.first * run.out_w; pixel < last; pixel += block->rows) {
    const size_t image = pixel / image_pixels;
    // Images may have zero points of their own.
    const size_t end = plan.runtime_zero_point ? smaller(last, (image + 1) * image_pixels) : last;
    block->rows = next_block(end - pixel, most, plan.kernel->mr);
    run_block(plan, run, taps, task, image, pixel, prepared, block,
              [&](size_t group) { fill(group, pixel); });
  }
}

// The workspace of a task whose blocks are copied windows, one per row.
struct WindowsWorkspace {
  size_t rows;  // of a block
  size_t windows;
  PreparedSections prepared;
  size_t prepared_at, bytes;
};

inline WindowsWorkspace windows_workspace(const ConvPlan& plan, const Taps& taps, size_t stride,
                                          size_t pixels) {
  WindowsWorkspace w = {};
  Sections sections;
  w.rows = smaller(plan.block, pixels);
  w.windows = sections.take(w.rows * stride + kCopySlack);
  w.prepared = prepared_sections(plan, taps, w.rows, 0);
  w.prepared_at = sections.take(w.prepared.bytes);
  w.bytes = sections.bytes;
  return w;
}

// Computes all pixels of a task. copy(group, pixel, rows, windows) copies the windows of a block.
template <typename Copy>
void run_windows(const ConvPlan& plan, const ConvRun& run, const Taps& taps, size_t stride,
                 const ConvTask& task, uint8_t* workspace, const Copy& copy) {
  const WindowsWorkspace w =
      windows_workspace(plan, taps, stride, run.batch * run.out_h * run.out_w);
  Block block = make_block(plan);
  uint8_t* const windows = workspace + w.windows;
  block.lhs = windows;
  block.lhs_stride = stride;
  block.reads_to_groups = true;
  run_blocks(plan, run, taps, task, w.rows, {w.prepared, workspace + w.prepared_at}, &block,
             [&](size_t group, size_t pixel) { copy(group, pixel, block.rows, windows); });
}

}  // namespace octet
