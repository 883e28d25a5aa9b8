// SPDX-License-Identifier: Apache-2.0
// Copies the pixels that a 1x1 kernel reads at a stride: side by side they are the rows of a
// matrix, whose tiles end only at the block's end. Where they lie, each line is a matrix of its
// own.
#pragma once

#include <string.h>

#include "operators/conv/algorithms/block.h"

namespace octet {

class StridedPixels {
 public:
  // Whether kernels get copies, of inputs without padding: all but those that copy rows themselves.
  static bool suit(const ConvShape& s) {
    return s.taps() == 1 && s.stride_w > 1 && !s.transposed &&
           !(s.pad_top | s.pad_bottom | s.pad_left | s.pad_right);
  }
  static bool suit(const ConvPlan& plan, const ConvShape& s) {
    return !plan.kernel->copy_rows && suit(s);
  }
  // A run may have pads of its own.
  static bool suit(const ConvPlan& plan, const ConvShape& s, const ConvRun& run) {
    return suit(plan, s) && !run.pad_top && !run.pad_left &&
           (run.out_h - 1) * s.stride_h < run.in_h && (run.out_w - 1) * s.stride_w < run.in_w;
  }
  // Bytes from a copy to the next: an odd number of lines, as of other copied rows.
  static size_t stride(const ConvShape& s) {
    return (divide_up(s.group_in(), kAlignment) | 1) * kAlignment;
  }

  // Copies a channel group's pixels for `rows` contiguous outputs, from `pixel` of the whole run
  // on.
  static void copy(const ConvPlan& plan, const ConvRun& run, size_t group, size_t pixel,
                   size_t rows, uint8_t* to) {
    const ConvShape& s = plan.shape;
    const size_t depth = s.group_in();
    Windows w = {};
    w.step = s.stride_w * run.lhs_pixel, w.lines = 1, w.bytes = depth, w.stride = stride(s);
    for (size_t done = 0, count; done < rows; done += count) {
      const size_t line = (pixel + done) / run.out_w, x = (pixel + done) % run.out_w;
      count = smaller(rows - done, run.out_w - x);
      w.from =
          run.line(line / run.out_h, line % run.out_h * s.stride_h) + x * w.step + group * depth;
      w.to = to + done * w.stride;
      w.count = count;
      // A copy may read beyond its end, where the tensor may end
      const size_t left = (size_t)(run.lhs_end - w.from);
      while (w.count && left < (w.count - 1) * w.step + depth + kCopySlack) --w.count;
      if (w.count) plan.ops->copy_windows(w);
      for (size_t i = w.count; i < count; ++i)
        memcpy(w.to + i * w.stride, w.from + i * w.step, depth);
    }
  }
};

}  // namespace octet
