// SPDX-License-Identifier: Apache-2.0
// Copies the pixels that a 1x1 kernel reads at a stride, and their padding.
#include "operators/conv/algorithms/direct/strided_pixels.h"

#include <string.h>

namespace octet {

void StridedPixels::copy(const ConvPlan& plan, const ConvRun& run, size_t group, size_t pixel,
                         size_t rows, uint8_t* to) {
  const size_t step = plan.shape.stride_w, inside = divide_up(run.pad_left, step),
               end = divide_up(run.in_w + run.pad_left, step);
  for (const size_t last = pixel + rows; pixel < last;) {
    const size_t line = pixel / run.out_w, x = pixel - line * run.out_w, image = line / run.out_h,
                 y = line % run.out_h * plan.shape.stride_h - run.pad_top,
                 right = smaller(run.out_w, x + last - pixel);
    const size_t from = y < run.in_h ? smaller(larger(x, inside), right) : right,
                 until = smaller(larger(from, end), right);
    to = pad(plan, run, image, from - x, to);
    if (from < until)
      to = copy(
          plan, run,
          run.line(image, y) + (from * step - run.pad_left) * run.lhs_pixel + group * depth(plan),
          until - from, to);
    to = pad(plan, run, image, right - until, to);
    pixel += right - x;
  }
}

uint8_t* StridedPixels::pad(const ConvPlan& plan, const ConvRun& run, size_t image, size_t count,
                            uint8_t* to) {
  for (; count; --count, to += stride(plan)) memset(to, run.zero_row(image)[0], depth(plan));
  return to;
}

uint8_t* StridedPixels::copy(const ConvPlan& plan, const ConvRun& run, const uint8_t* from,
                             size_t count, uint8_t* to) {
  Windows w = {};
  w.from = from, w.step = plan.shape.stride_w * run.lhs_pixel;
  w.lines = 1, w.bytes = depth(plan);
  w.to = to, w.stride = stride(plan), w.count = count;
  copy_windows_of(plan, run.lhs_end, w);
  return to + count * w.stride;
}

}  // namespace octet
