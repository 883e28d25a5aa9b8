// A created convolution by lines of one image, from and to tensors that may be rings. For callers
// within the library, who have checked all that octet_conv2d_run checks.
#pragma once

#include "operators/conv/object.h"

namespace octet {

// One image of an NHWC tensor, or a ring with some of its lines.
struct LineTensor {
  uint8_t* data;
  size_t h, w;
  size_t pixel, line;  // bytes from one to the next
  size_t ring, first;  // not 0: of so many lines; line y is at (first + y) % ring

  uint8_t* at(size_t y) const { return data + (ring ? (first + y) % ring : y) * line; }
  // Of the lines from y on, how many lie one after the other
  size_t together(size_t y) const { return ring ? ring - (first + y) % ring : h - y; }
};

// Whether any range of lines has the bytes of the whole: NHWC, exact, no quantization by images.
bool has_lines(const octet_conv2d& conv);
// For at most so many output lines at a time of an input of these sizes; grows with them.
size_t lines_workspace(const octet_conv2d& conv, size_t in_h, size_t in_w, size_t most);
// Output lines, at most `most`, which lie one after the other in dst and in the residual (null if
// there is none).
void run_lines(const octet_conv2d& conv, const LineTensor& lhs, const LineTensor* residual,
               const LineTensor& dst, LineRange out, size_t most, uint8_t* workspace);

}  // namespace octet
