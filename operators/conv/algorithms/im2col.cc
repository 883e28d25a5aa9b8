// SPDX-License-Identifier: Apache-2.0
// The im2col algorithm: each output pixel's window is copied into a row, in the order of the packed
// weights, and the rows are a matrix. It is right for every shape and checks the other algorithms.
// The windows of a 1x1 kernel with stride 1 and no padding already are such rows, so nothing is
// copied, as in the direct algorithm.
#include <string.h>

#include "operators/conv/algorithms/block.h"
#include "operators/conv/algorithms/estimate.h"

namespace octet {
namespace {

ConvShape im2col_columns(const RhsLayout& layout, const ConvShape& given) {
  ConvShape s = joined_groups(layout, given);
  s.padded_lines = false;
  return s;
}

Taps im2col_taps(const ConvShape& s) {
  Taps taps = direct_taps(s);
  taps.depth = s.taps() * s.position();
  taps.count = taps.most = 1;
  return taps;
}

Estimate estimate(const ConvWork& w) {
  const ConvShape s = joined_groups(w.layout, w.shape);
  PanelWork p(w, s, 1, s.taps() * s.position());
  if (!s.pointwise()) {
    p.copied = p.windows;
    p.copies = w.pixels * (double)s.groups * (double)s.taps();
    p.traffic = 2 * p.windows;
    if (!copies_windows(s)) p.gathers = w.pixels * (double)s.groups;
  }
  return estimate_panels(w, p);
}

// Has room for the last depth group of any layout.
size_t row_stride(const Taps& taps) { return round_up(taps.depth, 64); }

size_t block(const ConvPlan& plan) {
  if (plan.shape.pointwise()) return direct_algorithm.block(plan);
  return conv_block_rows(plan, row_stride(im2col_taps(plan.shape)) * (plan.kernel->gather ? 2 : 1));
}

// Input position of an output position along one axis, or -1 if there is none.
ptrdiff_t source(size_t out, size_t k, size_t stride, size_t dilation, size_t pad, size_t in,
                 bool transposed) {
  ptrdiff_t at = transposed ? (ptrdiff_t)(out + pad) - (ptrdiff_t)(k * dilation)
                            : (ptrdiff_t)(out * stride + k * dilation) - (ptrdiff_t)pad;
  if (transposed) {
    if (at < 0 || at % (ptrdiff_t)stride) return -1;
    at /= (ptrdiff_t)stride;
  }
  return at >= 0 && at < (ptrdiff_t)in ? at : -1;
}

void copy_window(const ConvPlan& plan, const ConvRun& run, const Taps& taps, size_t group,
                 size_t pixel, uint8_t* to) {
  const ConvShape& s = plan.shape;
  const size_t image = pixel / (run.out_h * run.out_w), y = pixel / run.out_w % run.out_h,
               x = pixel % run.out_w, depth = s.group_in(), position = s.position();
  for (size_t t = 0; t < taps.groups; ++t)
    for_each_position(s, t, [&](size_t ky, size_t kx) {
      const ptrdiff_t iy =
          source(y, ky, s.stride_h, s.dilation_h, run.pad_top, run.in_h, s.transposed);
      const ptrdiff_t ix =
          source(x, kx, s.stride_w, s.dilation_w, run.pad_left, run.in_w, s.transposed);
      const uint8_t* const from =
          iy >= 0 && ix >= 0
              ? run.line(image, (size_t)iy) + (size_t)ix * run.lhs_pixel + group * depth
              : run.zero_row(image);
      memcpy(to, from, depth);
      if (plan.touch) plan.touch(from, depth, false), plan.touch(to, depth, true);
      to += position;  // the gap is multiplied by zeros
    });
}

size_t task_workspace(const ConvPlan& plan, size_t in_h, size_t in_w, size_t out_h, size_t out_w) {
  const ConvShape& s = plan.shape;
  if (s.pointwise()) return direct_algorithm.task_workspace(plan, in_h, in_w, out_h, out_w);
  const Taps taps = im2col_taps(s);
  return windows_workspace(plan, taps, row_stride(taps), s.batch * out_h * out_w).bytes;
}

void run(const ConvPlan& plan, const ConvRun& run, const ConvTask& task, uint8_t* workspace) {
  if (plan.shape.pointwise()) return direct_algorithm.run(plan, run, task, workspace);
  const Taps taps = im2col_taps(plan.shape);
  const size_t stride = row_stride(taps);
  run_windows(plan, run, taps, stride, task, workspace,
              [&](size_t group, size_t pixel, size_t rows, uint8_t* windows) {
                for (size_t i = 0; i < rows; ++i)
                  copy_window(plan, run, taps, group, pixel + i, windows + i * stride);
              });
}

}  // namespace

const ConvAlgorithm im2col_algorithm = on_panels<im2col_taps, im2col_columns>({
    .name = "im2col",
    .operands = KernelKind::kInt8,
    .estimate = estimate,
    .block = block,
    .task_workspace = task_workspace,
    .run = run,
    .rewrite = im2col_columns,
});

}  // namespace octet
