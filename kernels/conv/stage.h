// Tensors that the kernels cannot take as they are, converted in the workspace line by line: NCHW
// to NHWC and back, and inputs whose borders are wanted.
#pragma once

#include "kernels/conv/conv.h"

namespace octet {

struct Stage {
  bool input, output;  // whether they are staged at all
  bool borders;        // the staged input holds the padding
  size_t in_h, in_w;   // of the staged input
  size_t row, image;   // bytes of the staged input
  // In the workspace, with readable bytes behind; multiples of 64
  size_t input_bytes, output_bytes, residual_bytes;
};

// borders: the algorithm wants them. Sizes must be checked before: the products fit.
Stage plan_stage(const ConvShape& shape, bool lhs_nchw, bool dst_nchw, bool borders, size_t batch,
                 size_t in_h, size_t in_w, size_t dst_bytes, bool residual);

// One line of the staged input, from the caller's tensor.
struct InputLine {
  const ConvShape* shape;
  const Stage* stage;
  bool nchw;
  const uint8_t* from;  // the caller's tensor
  size_t in_h, in_w;
  size_t pixel;  // NHWC: bytes between pixels
  uint8_t* to;   // the staged tensor
  const uint8_t* zero_rows;
  size_t zero_row_stride;
};
void stage_input_line(const InputLine& line, size_t index);  // index = image * stage.in_h + y

// One line of an output-like tensor, between NHWC and the caller's NCHW.
struct OutputLine {
  size_t channels, out_h, out_w;
  size_t element_bytes;  // 1 or 4
};
// Index = image * out_h + y
void nhwc_to_nchw(const OutputLine& line, const uint8_t* nhwc, uint8_t* nchw, size_t index);
void nchw_to_nhwc(const OutputLine& line, const uint8_t* nchw, uint8_t* nhwc, size_t index);

}  // namespace octet
