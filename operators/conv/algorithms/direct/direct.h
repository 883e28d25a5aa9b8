// SPDX-License-Identifier: Apache-2.0
// Declares the functions that direct_plan.cc, which plans the direct algorithm, shares with
// direct.cc and direct_s16.cc, which run it.
#pragma once

#include "operators/conv/algorithms/block.h"
#include "operators/conv/algorithms/direct/window_copies.h"

namespace octet {

void run_direct(const ConvPlan& plan, const ConvRun& run, const ConvTask& task, uint8_t* workspace);

inline bool takes_s16(const ConvPlan& plan) { return plan.lhs_type == ElementType::kS16; }
size_t direct_s16_workspace(const ConvPlan& plan, size_t pixels, size_t out_w);
void run_direct_s16(const ConvPlan& plan, const ConvRun& run, const ConvTask& task,
                    uint8_t* workspace);

// The workspace of a task that copies no windows.
struct DirectWorkspace {
  size_t rows;  // rows of a block
  // offsets of: steps between taps; pointers to rows; tiles of a block
  size_t steps, pointers, tiles;
  PreparedSections prepared;
  size_t prepared_at;
  size_t arranged;  // the copy of a block's rows, where arranges_rows()
  size_t bytes;
};
// pointed: how many rows may be pointed at; 0 if the rows are those of a matrix.
DirectWorkspace plan_direct(const ConvPlan& plan, const Taps& taps, size_t pixels,
                            size_t pointed = SIZE_MAX);

// ... of a task that copies windows of single kernel lines.
struct LinesWorkspace {
  DirectWorkspace direct;
  size_t windows, bytes;
};
LinesWorkspace plan_lines(const ConvPlan& plan, size_t batch, size_t out_h, size_t out_w);
// Whether blocks are cut for such copies, because runs of the declared sizes make them.
bool plans_lines(const ConvPlan& plan);

// Whether there is room for copies of pixels that are rows of a matrix in the kernel's own order,
// flipped where they are of the other sign, for tasks of so many columns.
inline bool has_room_to_arrange(const ConvPlan& plan, size_t columns) {
  return plan.kernel->arranges(columns, plan.shape.group_in(), plan.lhs_flip) &&
         !plan.columns.zero_point && !plan.runtime_zero_point && !takes_s16(plan);
}
// Whether a run makes them. An outline, which knows no weights, does not know it.
inline bool arranges_rows(const ConvPlan& plan, size_t columns) {
  return has_room_to_arrange(plan, columns) &&
         (plan.requantize_in_kernel || plan.epilogue.has_residual ||
          plan.epilogue.mode == EpilogueMode::kS32);
}
inline size_t arranged_stride(const ConvPlan& plan) {
  return round_up(plan.shape.group_in(), kAlignment);
}

// Whether a kernel that takes rows at one stride has whole windows as rows.
inline bool copies_whole_windows(const ConvPlan& plan, const ConvShape& s) {
  const MicroKernel& kernel = *plan.kernel;
  return kernel.copy_rows && !copies_windows(s) && WholeWindows::are_copied(kernel.step_depth, s);
}
// The window as one tap.
inline Taps whole_window(const ConvPlan& plan, const Taps& taps) {
  return {1, taps.count * plan.kernel->rhs_layout.steps(taps.depth), taps.groups, 1};
}

// value: bytes of one
inline size_t window_stride(const Taps& taps, size_t value = 1) {
  return round_up(taps.depth * value + kCopySlack, 64);
}
// Copies the windows of `rows` pixels, kernel row by kernel row. The staged input has its borders,
// no gaps, and readable bytes behind it.
void copy_windows(const ConvPlan& plan, const ConvRun& run, size_t pixel, size_t rows,
                  size_t stride, uint8_t* out);

// Copies windows of one line from a tensor whose bytes end at `end`: the copies of the last ones
// may not read beyond a window.
void copy_windows_of(const ConvPlan& plan, const uint8_t* end, Windows w);

inline bool reads_lines(const ConvPlan& plan) {
  const MicroKernel& kernel = *plan.kernel;
  // Two micro-panels of many rows take less time than a copy and one of each
  constexpr size_t kTwoMicroPanels = 32;
  const size_t most = kernel.micro_panel.taps ? larger(kernel.nr, kTwoMicroPanels) : kernel.nr;
  return !kernel.gather && reads_lines(kernel.rhs_layout, most, plan.shape);
}
inline ConvShape shape_for_kernels(const ConvPlan& plan) {
  return reads_lines(plan) ? lines_as_positions(plan.shape) : as_columns(plan.shape);
}

}  // namespace octet
