// SPDX-License-Identifier: Apache-2.0
// Computes the input lines that output lines read, and runs some lines of a convolution.
#include "operators/conv/algorithms/lines.h"

namespace octet {
namespace {

// Lines from the first to the last that one output line reads.
size_t reach(const ConvShape& s) { return s.dilation_h * (s.kernel_h - 1); }

// The line where output line y begins, in the padded input, or, transposed, in the uncropped
// output.
size_t top_of(const ConvShape& s, size_t y) { return s.transposed ? y : y * s.stride_h; }

}  // namespace

LineRange input_lines(const ConvShape& s, size_t pad_top, size_t in_h, LineRange out) {
  LineRange lines;
  if (s.transposed) {
    const size_t top = out.first + pad_top;
    lines.first = top > reach(s) ? (top - reach(s)) / s.stride_h : 0;
    lines.end = (out.end - 1 + pad_top) / s.stride_h + 1;
  } else {
    const size_t top = top_of(s, out.first), bottom = top_of(s, out.end - 1) + reach(s);
    lines.first = top > pad_top ? top - pad_top : 0;
    lines.end = bottom >= pad_top ? bottom - pad_top + 1 : 0;
  }
  lines.end = smaller(lines.end, in_h);
  lines.first = smaller(lines.first, lines.end);
  return lines;
}

size_t most_input_lines(const ConvShape& s, size_t out_lines) {
  return s.transposed ? (out_lines - 1 + reach(s)) / s.stride_h + 2
                      : (out_lines - 1) * s.stride_h + reach(s) + 1;
}

ConvRun run_of_lines(const ConvPlan& plan, const ConvRun& whole, size_t image, size_t images,
                     LineRange out) {
  const ConvShape& s = plan.shape;
  const LineRange in = input_lines(s, whole.pad_top, whole.in_h, out);
  ConvRun run = whole;
  run.batch = images;
  run.in_h = in.count();
  run.out_h = out.count();
  const size_t top = top_of(s, out.first);
  if (s.transposed)
    run.pad_top = top + whole.pad_top - in.first * s.stride_h;
  else
    run.pad_top = whole.pad_top > top ? whole.pad_top - top : 0;
  run.zero_rows = whole.zero_row(image);
  if (run.lhs_zero_points) run.lhs_zero_points += whole.zero_of(image);
  if (run.lhs_scales) run.lhs_scales += image;
  run.to = whole.to.from((image * whole.out_h + out.first) * whole.out_w);
  return run;
}

void read_lines(const ConvRun& from, size_t image, LineRange in, ConvRun* run) {
  const bool together =
      in.count() == 0 || from.lhs_ring == 0 || from.lines_together(in.first) >= in.count();
  run->lhs = in.count() && together ? from.line(image, in.first) : from.lhs;
  run->lhs_end = from.lhs_end;
  run->lhs_ring = together ? 0 : from.lhs_ring;
  run->lhs_first = together ? 0 : (from.lhs_first + in.first) % from.lhs_ring;
}

void run_passes(const ConvPlan& plan, const ConvRun& run, const ConvTask& task,
                uint8_t* workspace) {
  ConvTask pass = task;
  for (; pass.n0 < task.n1; pass.n0 = pass.n1) {
    pass.n1 = pass.n0 + smaller(task.n1 - pass.n0, plan.pass ? plan.pass : SIZE_MAX);
    plan.implementation->run(plan, run, pass, workspace);
  }
}

void run_all(const ConvPlan& plan, const ConvRun& run, uint8_t* workspace) {
  const ConvGrain grain = plan.implementation->grain(plan, run.out_h, run.out_w);
  run_passes(plan, run, {0, run.batch * grain.units, 0, plan.shape.out_channels}, workspace);
}

}  // namespace octet
