// SPDX-License-Identifier: Apache-2.0
// Describes the functions between products that look at windows, at whole images or at places, as
// their loops take them: tensors in NHWC, of s8, u8 or s16, one image at a time.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "octet/network.h"

namespace octet {

using ImageLines = octet_network_image;

// Output lines [first, end) of an image.
struct ImageCall {
  size_t first, end;
  ImageLines input, output;
};

// In pixels. Each window has at least one pixel of the image.
struct ImageWindow {
  size_t kernel_h, kernel_w, stride_h, stride_w, pad_top, pad_left;
};

struct MaxPool {
  bool is_signed;       // of bytes; s16 values are
  size_t element;       // 1 or 2
  int32_t least, most;  // of the output
  ImageWindow window;
};

enum class AverageKind {
  kTflite,    // integers: the sum, with half of the count away from 0, divided by the count
  kQLinear,   // f32: the output's zero point is added before rounding
  kStandard,  // f32: dequantized, averaged, quantized
};

struct AveragePool {
  bool is_signed;
  size_t element;  // 1; 2 with kTflite
  AverageKind kind;
  bool counts_padding;  // pixels beyond the image count, as 0 in real numbers; not with kTflite
  int32_t least, most;
  int32_t zero_point, out_zero_point;  // these four: not with kTflite
  float scale, out_scale;
  ImageWindow window;
};

enum class MeanKind {
  kTflite,   // tflite_scale(sum - addend, multiplier, shift) + out_zero_point
  kXnnpack,  // round(sum * factor + offset)
  kQLinear,  // round((sum - addend) * factor) + out_zero_point
};

// Of the whole image: `addend` is the count times the zero point, factors include the count.
struct Mean {
  bool is_signed;
  size_t element;  // 1; 2 with kTflite
  MeanKind kind;
  int32_t least, most;
  int32_t addend, out_zero_point;
  int32_t multiplier, shift;
  float factor, offset;
};

// Where an output line or pixel comes from.
struct ResizePlace {
  uint32_t low, high;  // lines or pixels of the input
  int32_t part;        // weight of `high`: of 1024 (kTflite, kTfliteS16), of 2048 (kXnnpack)
  float weights[2];    // of low and high; linear kinds
};

enum class ResizeKind {
  kNearest,      // copies `low`
  kTflite,       // the integers of TFLite's int8
  kTfliteS16,    // the same of int16
  kTfliteFloat,  // the floats of TFLite's uint8
  kXnnpack,
  kOnnx,      // f32 of the bytes, truncated
  kStandard,  // f32, dequantized and quantized
};

struct Resize {
  bool is_signed;
  ResizeKind kind;
  bool coarse;     // all weights are multiples of 1/64
  size_t element;  // bytes of one: any with kNearest, 2 with kTfliteS16, else 1
  const ResizePlace *lines, *pixels;
  int32_t zero_point, out_zero_point;  // kStandard
  float scale, out_scale;              // kStandard
};

enum class SoftmaxKind {
  kFloat,     // f32 output: exponential / sum
  kTflite,    // exponential * (1 / (sum * out_scale)) + 0.5, truncated
  kQLinear,   // round(exponential * out_scale / sum) in double
  kStandard,  // round(exponential / sum / out_scale)
};

// Over the channels of each pixel. exponentials[i] is for values that are i below the largest.
struct Softmax {
  bool is_signed;
  SoftmaxKind kind;
  float out_scale;  // kQLinear: its reciprocal as a whole number; not with kFloat
  int32_t out_zero_point;
  float exponentials[256];
};

// Of s16 values: numbers from -2^15 on lie on straight pieces, 128 numbers wide, between these
// ends.
struct S16Curve {
  int16_t ends[513];
};

// Over the channels of each pixel, of s16 values, in TFLite's integers. A value, less the largest
// one and scaled, plus 2^15 - 1, is a place on `exponentials`; the sum's 16 bits behind its highest
// one are a place on `reciprocals`.
struct S16Softmax {
  int32_t multiplier, shift;
  S16Curve exponentials, reciprocals;
};

// Output (y, x, c) is input (y - top, x - left, c - front), or `fill` where there is none.
struct Place {
  ptrdiff_t top, left, front;
  size_t element;
  uint8_t fill[4];  // one element
};

struct Reshape {
  size_t element;
};

// Between NHWC and NCHW, which is an image of a line for each channel and one element for each
// pixel.
struct Transpose {
  bool to_nhwc;
  size_t element;  // 1, 2 or 4
};

// A tier's functions. Each computes output lines [first, end) from the lines that they read.
struct ImageFunctions {
  void (*max_pool)(const MaxPool& f, const ImageCall& call);
  void (*average_pool)(const AveragePool& f, const ImageCall& call);
  void (*mean)(const Mean& f, const ImageCall& call);
  void (*resize)(const Resize& f, const ImageCall& call);
  void (*softmax)(const Softmax& f, const ImageCall& call);
  void (*softmax_s16)(const S16Softmax& f, const ImageCall& call);
  void (*place)(const Place& f, const ImageCall& call);
  void (*reshape)(const Reshape& f, const ImageCall& call);
  void (*transpose)(const Transpose& f, const ImageCall& call);
};

}  // namespace octet
