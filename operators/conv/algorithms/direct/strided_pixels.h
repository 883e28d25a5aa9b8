// SPDX-License-Identifier: Apache-2.0
// Copies the pixels that a 1x1 kernel reads at a stride: side by side they are the rows of a
// matrix, whose tiles end only at the block's end. Where they lie, each line is a matrix of its
// own.
#pragma once

#include "operators/conv/algorithms/direct/direct.h"

namespace octet {

class StridedPixels {
 public:
  // Whether a plan's kernel gets copies.
  static bool suit(const ConvPlan& plan) {
    return plan.shape.skips_pixels() && !copies_windows(plan.shape);
  }
  // Bytes from a copy to the next, which overlap kCopySlack bytes of it: whole groups, or, of many
  // channels, an odd number of lines, as of other copied rows.
  static size_t stride(const ConvPlan& plan) {
    const size_t bytes = depth(plan);
    return bytes <= kAlignment ? round_up(bytes, plan.kernel->rhs_layout.kr * sizeof(int16_t))
                               : (divide_up(bytes, kAlignment) | 1) * kAlignment;
  }

  // Copies a channel group's pixels for `rows` contiguous outputs, from `pixel` of the whole run
  // on, with their padding.
  static void copy(const ConvPlan& plan, const ConvRun& run, size_t group, size_t pixel,
                   size_t rows, uint8_t* to);

 private:
  static size_t depth(const ConvPlan& plan) {
    return plan.shape.group_in() * (takes_s16(plan) ? sizeof(int16_t) : 1);
  }
  static uint8_t* pad(const ConvPlan& plan, const ConvRun& run, size_t image, size_t count,
                      uint8_t* to);
  static uint8_t* copy(const ConvPlan& plan, const ConvRun& run, const uint8_t* from, size_t count,
                       uint8_t* to);
};

}  // namespace octet
