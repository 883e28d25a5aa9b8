// SPDX-License-Identifier: Apache-2.0
// Runs a created convolution on lines of one image. Tensors may be rings. Only for callers within
// the library, which have checked everything that octet_conv2d_run checks.
#pragma once

#include "operators/conv/object.h"

namespace octet {

// One image of an NHWC tensor, or a ring with some of its lines.
struct LineTensor {
  uint8_t* data;
  size_t h, w;
  size_t pixel, line;  // bytes between pixels and between lines
  size_t ring, first;  // not 0: a ring of so many lines; line y is at (first + y) % ring

  uint8_t* at(size_t y) const { return data + (ring ? (first + y) % ring : y) * line; }
  // Number of lines from y on that are contiguous
  size_t together(size_t y) const { return ring ? ring - (first + y) % ring : h - y; }
};

// True if lines can be computed by themselves with the same bytes: NHWC, exact, and no quantization
// per image.
bool has_lines(const octet_conv2d& conv);
// Workspace for at most `most` output lines at a time of an input of these sizes. Grows with each
// size.
size_t lines_workspace(const octet_conv2d& conv, size_t in_h, size_t in_w, size_t most);
// Computes output lines, at most `most`; they are contiguous in dst and in the residual (null if
// there is none).
void run_lines(const octet_conv2d& conv, const LineTensor& lhs, const LineTensor* residual,
               const LineTensor& dst, LineRange out, size_t most, uint8_t* workspace);

}  // namespace octet
