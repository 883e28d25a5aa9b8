// SPDX-License-Identifier: Apache-2.0
// Runs the direct algorithm: kernels read the input in place. Kernels that broadcast copy no patch;
// kernels that want rows side by side gather them from the tensor. Inputs of few channels are
// staged, and their windows are read there line by line or, if a line does not fill whole groups of
// the layout, copied from there, vector by vector. Where that pays, packed lines are padded to
// whole groups.
#include <string.h>

#include "kernels/macro/tile_output.h"
#include "operators/conv/algorithms/block.h"
#include "operators/conv/algorithms/byte_windows.h"
#include "operators/conv/algorithms/direct/by_taps.h"
#include "operators/conv/algorithms/direct/direct.h"
#include "operators/conv/algorithms/direct/group_windows.h"
#include "operators/conv/algorithms/direct/in_place.h"
#include "operators/conv/algorithms/direct/line_windows.h"
#include "operators/conv/algorithms/direct/strided_pixels.h"
#include "operators/conv/algorithms/direct/transposed.h"
#include "operators/conv/algorithms/direct/window.h"

namespace octet {

void copy_windows(const ConvPlan& plan, const ConvRun& run, size_t pixel, size_t rows,
                  size_t stride, uint8_t* out) {
  const ConvShape& s = plan.shape;
  const size_t value = takes_s16(plan) ? sizeof(int16_t) : 1, row = line_depth(s) * value;
  Windows w = {};
  w.step = s.stride_w * s.in_channels * value;
  w.line = s.dilation_h * run.lhs_row;
  w.bytes = row;
  w.stride = stride;
  size_t x = pixel % run.out_w, line = pixel / run.out_w;
  for (size_t i = 0; i < rows; i += w.count, out += w.count * stride, x = 0, ++line) {
    const size_t image = line / run.out_h, top = line % run.out_h * s.stride_h;
    w.count = smaller(rows - i, run.out_w - x);
    // Copies all kernel rows at once, or one by one where a ring wraps among them: a copy may write
    // beyond a row's end, where the next row begins.
    w.lines = run.lines_together(top) > s.dilation_h * (s.kernel_h - 1) ? s.kernel_h : 1;
    for (size_t ky = 0; ky < s.kernel_h; ky += w.lines) {
      w.from = run.line(image, top + ky * s.dilation_h) + x * w.step;
      w.to = out + ky * row;
      plan.ops->copy_windows(w);
    }
  }
}

void copy_windows_of(const ConvPlan& plan, const uint8_t* end, Windows w) {
  const size_t left = (size_t)(end - w.from), count = w.count;
  while (w.count && left < (w.count - 1) * w.step + w.bytes + kCopySlack) --w.count;
  if (w.count) plan.ops->copy_windows(w);
  for (size_t i = w.count; i < count; ++i)
    memcpy(w.to + i * w.stride, w.from + i * w.step, w.bytes);
}

namespace {

// Computes a task by windows of kernel lines. Returns false if other rows are copied less often, or
// if the workspace, of so many bytes, was planned for those.
__attribute__((noinline)) bool run_line_windows(const ConvPlan& plan, const ConvRun& run,
                                                size_t bytes, const ConvTask& task,
                                                uint8_t* workspace) {
  const MicroKernel& kernel = *plan.kernel;
  if (!kernel.copy_rows ||
      !LineWindows::are_fewer(kernel.step_depth, kernel.mr, plan.shape, run.out_w))
    return false;
  const LinesWorkspace lines = plan_lines(plan, run.batch, run.out_h, run.out_w);
  if (!plans_lines(plan) && lines.bytes > bytes) return false;
  const DirectWorkspace& w = lines.direct;
  ConvPlan by_lines = plan;
  by_lines.shape = lines_as_positions(plan.shape);
  ptrdiff_t* const steps = (ptrdiff_t*)(workspace + w.steps);
  const uint8_t** const pointers = (const uint8_t**)(workspace + w.pointers);
  BlockTile* const tiles = (BlockTile*)(workspace + w.tiles);
  LineWindows windows(plan, run, w.rows, workspace + lines.windows);
  windows.tap_steps(steps);
  Block block = make_block(plan);
  block.lhs_stride = windows.row_stride();
  block.tap_steps = steps;
  block.tiles = tiles;
  run_blocks(by_lines, run, direct_taps(by_lines.shape), task, w.rows,
             {w.prepared, workspace + w.prepared_at}, &block, [&](size_t group, size_t pixel) {
               windows.copy(group, pixel, block.rows);
               block.tile_count = windows.point(pixel, block.rows, pointers, tiles);
             });
  return true;
}

// Computes a task by copies: of windows in the staged input, of pixels at a stride, or of windows
// for a kernel that takes rows at one stride. Pixels at a stride are flipped, too, where the kernel
// has a function for it.
void run_copies(const ConvPlan& plan, const ConvRun& run, const Taps& taps, const ConvTask& task,
                uint8_t* workspace) {
  const ConvShape& s = plan.shape;
  const bool staged = copies_windows(s), strided = StridedPixels::suit(plan);
  const Taps window = staged || strided ? taps : whole_window(plan, taps);
  const size_t stride = staged    ? window_stride(taps)
                        : strided ? StridedPixels::stride(plan)
                                  : WholeWindows::stride(*plan.kernel, s);
  ConvPlan copied = plan;
  const bool flips = strided && plan.lhs_flip && plan.kernel->flip_rows;
  if (flips) copied.lhs_flip = 0;
  run_windows(copied, run, window, stride, task, workspace,
              [&](size_t group, size_t pixel, size_t rows, uint8_t* windows) {
                if (staged)
                  copy_windows(plan, run, pixel, rows, stride, windows);
                else if (strided)
                  StridedPixels::copy(plan, run, group, pixel, rows, windows);
                else
                  WholeWindows(plan, run).copy(group, pixel, rows, windows);
                if (!flips) return;
                // Copies side by side are one row, for vectors reach from one into the next
                const bool one = stride <= kAlignment;
                const size_t by = one ? rows * stride : stride;
                plan.kernel->flip_rows(
                    {windows, by, one ? 1 : rows, one ? by : s.group_in(), plan.lhs_flip}, by,
                    windows);
              });
}

// Has a block's rows read to groups; those that may not are left to the next block.
void read_to_groups(const ConvPlan& plan, const ConvRun& run, Block* block) {
  const size_t rows = run.lhs_pixel == plan.shape.in_channels
                          ? rows_read_to_groups(*plan.kernel, plan.shape.group_in(), run.lhs_pixel,
                                                (size_t)(run.lhs_end - block->lhs))
                          : 0;
  block->reads_to_groups = rows > 0;
  if (rows) block->rows = smaller(block->rows, rows);
}

// by_lines: windows are read line by line, so lines have more pixels than positions.
void run_ordinary(const ConvPlan& plan, const ConvRun& run, const ConvTask& task,
                  uint8_t* workspace, bool by_lines) {
  const ConvShape& s = plan.shape;
  const Taps taps = direct_taps(s);
  if (copies_windows(s) ||
      (!by_lines && (StridedPixels::suit(plan) || copies_whole_windows(plan, s))))
    return run_copies(plan, run, taps, task, workspace);
  const bool tiles_rows = by_lines || !s.pointwise();
  const DirectWorkspace w =
      plan_direct(plan, taps, run.batch * run.out_h * run.out_w, tiles_rows ? SIZE_MAX : 0);
  if (tiles_rows && !by_lines && run_line_windows(plan, run, w.bytes, task, workspace)) return;
  const Prepared prepared = {w.prepared, workspace + w.prepared_at};
  Block block = make_block(plan);
  if (!tiles_rows) {  // the pixels are rows of a matrix
    const bool arranges = arranges_rows(plan, smaller(task.n1 - task.n0, s.group_out()));
    // One call per run of contiguous lines
    const bool dense = !run.lhs_ring && run.lhs_image == run.in_h * run.lhs_row;
    ConvTask part = task;
    for (; part.first < task.end; part.first = part.end) {
      const size_t image = dense ? 0 : part.first / run.in_h, y = part.first - image * run.in_h;
      const size_t together = dense ? SIZE_MAX : smaller(run.in_h - y, run.lines_together(y));
      const uint8_t* const first = run.line(image, y);
      part.end = part.first + smaller(task.end - part.first, together);
      run_blocks(plan, run, taps, part, w.rows, prepared, &block, [&](size_t group, size_t pixel) {
        block.lhs = first + (pixel - part.first * run.out_w) * run.lhs_pixel + group * s.group_in();
        block.lhs_stride = run.lhs_pixel;
        block.lhs_arranged = arranges && block.rows >= plan.kernel->mr;
        if (!block.lhs_arranged) return read_to_groups(plan, run, &block);
        uint8_t* const to = workspace + w.arranged;
        plan.kernel->arrange_rows(
            {block.lhs, block.lhs_stride, block.rows, s.group_in(), plan.lhs_flip},
            arranged_stride(plan), to);
        block.lhs = to;
        block.lhs_stride = arranged_stride(plan);
      });
    }
  } else {
    ptrdiff_t* const steps = (ptrdiff_t*)(workspace + w.steps);
    const uint8_t** const pointers = (const uint8_t**)(workspace + w.pointers);
    BlockTile* const tiles = (BlockTile*)(workspace + w.tiles);
    const size_t first_group = task.n0 / s.group_out();
    Window window(plan, run, taps, first_group);
    window.tap_steps(steps);
    block.lhs_stride = window.row_stride();
    block.tap_steps = steps;
    block.tiles = tiles;
    // No window of a staged input leaves it: all tiles of a line are contiguous rows.
    const Cut cut =
        by_lines ? w.rows >= run.out_w ? Cut::kColumns : Cut::kRows : window.best_cut(w.rows);
    if (cut != Cut::kRows) {
      for (size_t line = task.first, lines; line < task.end; line += lines) {
        lines = next_block(smaller(task.end, round_up(line + 1, run.out_h)) - line,
                           w.rows / run.out_w, 1);
        block.rows = lines * run.out_w;
        run_block(plan, run, taps, task, line / run.out_h, line * run.out_w, prepared, &block,
                  [&](size_t group) {
                    if (group == first_group)
                      block.tile_count = window.point_lines(cut, line, lines, pointers, tiles);
                    else
                      window.next_group(pointers, tiles, block.tile_count);
                  });
      }
      return;
    }
    run_blocks(plan, run, taps, task, w.rows, prepared, &block, [&](size_t group, size_t pixel) {
      if (group == first_group)
        block.tile_count = window.point_pixels(pixel, block.rows, pointers, tiles);
      else
        window.next_group(pointers, tiles, block.tile_count);
    });
  }
}

// Computes a task by kernels that read windows in the caller's tensor.
__attribute__((noinline)) void run_in_place(const ConvPlan& plan, const ConvRun& run,
                                            const ConvTask& task, uint8_t* workspace) {
  ConvPlan by_lines = plan;
  by_lines.shape = lines_as_positions(plan.shape);
  const Taps taps = direct_taps(by_lines.shape);
  const DirectWorkspace w = plan_direct(plan, taps, run.batch * run.out_h * run.out_w);
  const InPlace windows(plan, run, workspace + round_up(w.bytes, kAlignment));
  const Prepared prepared = {w.prepared, workspace + w.prepared_at};
  ptrdiff_t* const steps = (ptrdiff_t*)(workspace + w.steps);
  BlockTile* const tiles = (BlockTile*)(workspace + w.tiles);
  Block block = make_block(plan);
  block.tap_steps = steps;
  block.tiles = tiles;
  const auto multiply = [&](size_t image, size_t pixel, ptrdiff_t tap_step, size_t row_stride,
                            size_t count) {
    for (size_t tap = 1; tap < taps.count; ++tap) steps[tap - 1] = tap_step;
    block.lhs_stride = row_stride;
    block.tile_count = count;
    run_block(by_lines, run, taps, task, image, pixel, prepared, &block, [](size_t) {});
  };
  for (size_t line = task.first, lines; line < task.end; line += lines) {
    const size_t image = line / run.out_h, y = line % run.out_h;
    lines = smaller(smaller(task.end - line, run.out_h - y), smaller(InPlace::kLines, w.rows));
    block.rows = lines * run.out_w;
    multiply(image, line * run.out_w, windows.tap_step(), windows.row_stride(),
             windows.point(image, y, lines, tiles));
    if (const size_t columns = windows.copy(image, y, lines, tiles))
      multiply(image, line * run.out_w, windows.edge_tap_step(), windows.edge_row_stride(),
               columns);
  }
}

// Computes a task by copied windows, group by group.
__attribute__((noinline)) void run_groups(const ConvPlan& plan, const ConvRun& run,
                                          const ConvTask& task, uint8_t* workspace) {
  ConvPlan by_lines = plan;
  by_lines.shape = lines_as_positions(plan.shape);
  const Taps taps = direct_taps(by_lines.shape);
  const DirectWorkspace w = plan_direct(plan, taps, run.batch * run.out_h * run.out_w);
  GroupWindows windows(plan, run, workspace + round_up(w.bytes, kAlignment));
  ptrdiff_t* const steps = (ptrdiff_t*)(workspace + w.steps);
  BlockTile* const tiles = (BlockTile*)(workspace + w.tiles);
  Block block = make_block(plan);
  block.tap_steps = steps;
  block.tiles = tiles;
  const size_t group_out = plan.shape.group_out();
  for (size_t line = task.first, lines; line < task.end; line += lines) {
    const size_t image = line / run.out_h, y = line % run.out_h;
    lines = smaller(smaller(task.end - line, run.out_h - y),
                    smaller(windows.most_lines(), larger(w.rows / run.out_w, 1)));
    block.rows = lines * run.out_w;
    for (size_t g = task.n0 / group_out, n0; (n0 = g * group_out) < task.n1; ++g) {
      windows.copy(image, g, y, lines);
      for (int edges = 0; edges < 2; ++edges) {
        const GroupWindows::Part part =
            edges ? windows.edges(lines, steps, tiles) : windows.inside(lines, steps, tiles);
        block.lhs_stride = part.row_stride;
        block.tile_count = part.tiles;
        run_block(by_lines, run, taps,
                  {0, 0, larger(n0, task.n0), smaller(n0 + group_out, task.n1)}, image,
                  line * run.out_w, {w.prepared, workspace + w.prepared_at}, &block, [](size_t) {});
      }
    }
  }
}

// Computes a task tap by tap, or returns false. Not inlined, for it has more of the stack.
__attribute__((noinline)) bool run_by_taps(const ConvPlan& plan, const ConvRun& run,
                                           const ConvTask& task, uint8_t* workspace) {
  const Taps taps = direct_taps(as_columns(plan.shape));
  if (!ByTaps::suits(plan, run, taps)) return false;
  ByTaps(plan, run, taps, workspace).compute(task);
  return true;
}

}  // namespace

void run_direct(const ConvPlan& plan, const ConvRun& run, const ConvTask& task,
                uint8_t* workspace) {
  if (takes_s16(plan)) return run_direct_s16(plan, run, task, workspace);
  if (plan.kernel->add_tap && run_by_taps(plan, run, task, workspace)) return;
  if (plan.shape.transposed)
    return run_transposed(plan, run, direct_taps(as_columns(plan.shape)), task, workspace);
  if (run_byte_windows(plan, run, task, workspace)) return;
  if (GroupWindows::suit(plan, run)) return run_groups(plan, run, task, workspace);
  if (!reads_lines(plan)) return run_ordinary(plan, run, task, workspace, false);
  if (!run.borders) return run_in_place(plan, run, task, workspace);
  ConvPlan by_lines = plan;
  by_lines.shape = lines_as_positions(plan.shape);
  ConvRun positions = run;
  positions.in_w = (run.out_w - 1) * plan.shape.stride_w + 1;
  run_ordinary(by_lines, positions, task, workspace, true);
}

}  // namespace octet
