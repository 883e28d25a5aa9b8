// Lines between the caller's tensors and what algorithms take: NCHW to NHWC and back, inputs whose
// borders are wanted, floats that are to be bytes.
#pragma once

#include "operators/conv/algorithms/algorithm.h"

namespace octet {

// A tensor as the caller has it.
struct Tensor {
  uint8_t* data;
  bool nchw;  // dense then
  size_t h, w, channels;
  size_t element;  // bytes: 1 or 4
  size_t pixel;    // NHWC: bytes from one pixel to the next
  // Not 0: a ring of so many lines, NHWC; line y of the only image is at (first + y) % ring
  size_t ring = 0, first = 0;

  const uint8_t* line(size_t image, size_t y) const {  // NHWC
    return data + (image * h + (ring ? (first + y) % ring : y)) * w * pixel;
  }
  size_t line_bytes() const { return w * channels * element; }  // dense, in NHWC
};

// What the pixels of a staged input line are that the caller's does not have.
struct Borders {
  size_t top, left;  // of the padding that is filled in
  size_t h, w;       // of the staged input
};

// How floats become bytes; without a function they are bytes.
struct Quantizer {
  QuantizeFloatsFn quantize;
  Quantization by;
};

// Readable bytes behind a staged input
constexpr size_t kStageSlack = 64;

// Line y of a staged input, dense NHWC. zero: the byte that borders hold.
void stage_line(const Tensor& from, const Quantizer& quantizer, const Borders& borders,
                size_t image, size_t y, uint8_t zero, uint8_t* to);

// Line y of an NCHW tensor, from and to dense NHWC.
void nchw_to_nhwc(const Tensor& from, size_t image, size_t y, uint8_t* to);
void nhwc_to_nchw(const uint8_t* from, size_t image, size_t y, const Tensor& to);

}  // namespace octet
