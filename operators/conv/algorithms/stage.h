// SPDX-License-Identifier: Apache-2.0
// Copies lines between the caller's tensors and the algorithms': NCHW to NHWC and back, inputs with
// filled borders, floats to int8, s16 values to bytes.
#pragma once

#include "operators/conv/algorithms/algorithm.h"

namespace octet {

// A tensor in the caller's layout.
struct Tensor {
  uint8_t* data;
  bool nchw;  // NCHW tensors are dense
  size_t h, w, channels;
  size_t element;  // bytes of a value: 1, 2 or 4
  size_t pixel;    // NHWC: bytes from one pixel to the next
  // Not 0: the tensor is a ring of so many lines, NHWC; line y of the only image is at (first + y)
  // % ring
  size_t ring = 0, first = 0;

  const uint8_t* line(size_t image, size_t y) const {  // NHWC
    return data + (image * h + (ring ? (first + y) % ring : y)) * w * pixel;
  }
  size_t line_bytes() const { return w * channels * element; }  // dense, in NHWC
};

// Borders of a staged input that the caller's tensor does not have.
struct Borders {
  size_t top, left;  // filled padding
  size_t h, w;       // size of the staged input
};

// Quantizes floats to int8. Without a function the input is int8 already.
struct Quantizer {
  QuantizeFloatsFn quantize;
  Quantization by;
};

// Readable bytes behind a staged input
constexpr size_t kStageSlack = 64;

// Writes line y of a staged input, dense NHWC. zero: the byte in the borders. flip: turns bits of
// all others.
void stage_line(const Tensor& from, const Quantizer& quantizer, const Borders& borders,
                size_t image, size_t y, uint8_t zero, uint8_t flip, uint8_t* to);

// Writes line y of a staged input of s16 as two: a line of their high bytes and one of their low
// bytes, each made `type`.
void split_line(const Tensor& from, SplitS16Fn split, ElementType type, const Borders& borders,
                size_t image, size_t y, uint8_t* high, uint8_t* low);

// Converts line y of an NCHW tensor from or to dense NHWC.
void nchw_to_nhwc(const Tensor& from, size_t image, size_t y, uint8_t* to);
void nhwc_to_nchw(const uint8_t* from, size_t image, size_t y, const Tensor& to);

}  // namespace octet
