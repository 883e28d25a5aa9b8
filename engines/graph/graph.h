// SPDX-License-Identifier: Apache-2.0
// Describes a sub-graph of quantized operators in plain structs, as an engine hands it over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "octet/image_functions.h"

namespace octet::graph {

// How results are rounded: each engine's own way.
enum class Arithmetic {
  kTflite,       // TensorFlow Lite's reference kernels: Q31 multipliers, rounded twice
  kXnnpack,      // XNNPACK: products by a float scale, ADD in 20 bits
  kOnnxruntime,  // ONNX Runtime on x86: products by a float scale, QLinearAdd in float
  kStandard      // ONNX as written: dequantize, compute in float, quantize
};

struct Tensor {
  std::string name;
  // 0: a type that Octet does not compute. Of 4 bits: weights only. s16: with zero point 0, where
  // kTflite has it
  octet_type type = {};
  bool int64 = false;          // of type 0: a constant of int64, such as a bias of 16x8 may be
  bool shape_known = true;     // of a rank, too: a scalar has an empty shape
  std::vector<int64_t> shape;  // below 0: a size that is not known yet
  // Empty: not quantized. One value, or one for each output channel of weights.
  std::vector<float> scales;
  std::vector<int32_t> zero_points;  // empty: 0
  // Of weights N x K of a product whose input and output are of f32: so many consecutive weights of
  // a row share a scale (octet_rhs_desc). scales are N x (K / scale_block), zero_points one, N or
  // as many. 0: none do
  size_t scale_block = 0;
  bool constant = false;
  // An input of the graph that keeps its values between runs: the state of one layer, which reads
  // and writes it in the caller's memory: int8 or int16, dense, aligned as its elements.
  bool variable = false;
  // Of int8, and kept in memory with each byte's upper bit turned, as uint8 (stored/).
  // Type and zero point stay those of int8.
  bool stored_unsigned = false;
  // Of a constant, dense. Borrowed until the program is created; may be null for questions.
  const void* data = nullptr;
  size_t bytes = 0;
};

// The tensors that an operator takes and makes are listed in this order; -1 stands for one that is
// left out. Spatial operators take tensors of rank 3 (one line) or 4.
enum class Kind {
  kOther,        // not Octet's
  kConvolution,  // x, weights, bias, residual
  // x, weights, bias, residual: x's last axis, or all axes but the first. Weights that are computed
  // are a matrix, or one for each of x, of the last two axes; then there is no residual. With
  // weights in scale blocks x is quantized in the same blocks, and bias and output are of f32.
  kProduct,
  kAdd,             // a, b: one of them may be a constant, here and in the next two
  kSubtract,        // a, b
  kMultiply,        // a, b
  kMaxPool,         // x
  kAveragePool,     // x
  kMean,            // x, over all axes between the images' and the channels'
  kPad,             // x, along lines and columns
  kConcatenate,     // any number; all may lack an axis of 1, but not with channels_first
  kSlice,           // x
  kSplit,           // x, into parts along its axis: all outputs, which may lack an axis of 1
  kReshape,         // x: the same elements in the same order
  kTranspose,       // x
  kActivation,      // x: only its activation
  kLogistic,        // x
  kTanh,            // x
  kHardSwish,       // x
  kLeakyRelu,       // x
  kSoftmax,         // x, over the last axis
  kResizeNearest,   // x
  kResizeBilinear,  // x
  kQuantize,        // x of f32, or of 8 or 16 bits with another scale
  kDequantize,      // x of 8 or 16 bits, to f32
  kDepthToSpace,    // x: groups of channels become pixels, the group of the first line first
  kSpaceToDepth,    // x: the other way round
  kFloats,          // x of 8 bits: dequantized, through `steps`, quantized
  // Layers with a state, in TensorFlow Lite's integer forms; the states are variables.
  // UNIDIRECTIONAL_SEQUENCE_LSTM of 8x8_16: x of images x steps x depth (or of images x depth, one
  // step), weights of x of the input, forget, cell and output gate, weights of the output state of
  // these four, four biases, the projection's weights and bias, output state, cell state. Without
  // the first of each four, the input gate is 1 - forget; -1 for those and for the projection's.
  kLstm,
  kSvdf  // x, feature weights, time weights, bias, state
};
inline bool has_state(Kind kind) { return kind == Kind::kLstm || kind == Kind::kSvdf; }
const char* kind_name(Kind kind);  // "convolution"; "other" outside the enumeration

enum class Activation { kNone, kRelu, kRelu6, kReluN1To1, kClip };

// A fused activation in real values; kClip has bounds of its own.
struct Clamp {
  Activation activation = Activation::kNone;
  float least = 0, most = 0;  // kClip: infinite means none
};

// A function of one float, with one rounding to float at its end.
struct FloatStep {
  enum Function {
    kDivide,    // x / by
    kMultiply,  // x * by
    kAdd,       // x + by
    kUnit,      // x, at least 0 and at most 1
    kErf,
    kGelu,     // x / 2 * (1 + erf(x / sqrt(2)))
    kTanhGelu  // x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))
  };
  Function function;
  float by = 1;  // finite; of kDivide not 0
};

enum class Padding { kExplicit, kValid, kSame, kSameLower };

struct Window {
  size_t kernel_h = 1, kernel_w = 1;  // of a pooling; weights have their own
  size_t stride_h = 1, stride_w = 1;
  size_t dilation_h = 1, dilation_w = 1;
  Padding padding = Padding::kExplicit;
  size_t top = 0, bottom = 0, left = 0, right = 0;  // kExplicit
  // Of a pooling: its last windows, which begin inside of the image or of the pads before it, may
  // end up to a stride behind the pads.
  bool ceil = false;
};

struct Op {
  Kind kind = Kind::kOther;
  std::string name;                  // for sentences: "operators[3] (PAD)"
  std::vector<int> inputs, outputs;  // one output, of kSplit more; none: only if it is foreign
  Clamp clamp;
  Window window;
  // Convolutions and products.
  size_t groups = 1;
  octet_filter_order order = OCTET_OHWI;
  bool depthwise = false;  // of a convolution: weights are 1 x H x W x C, and groups is not read
  bool transposed = false;
  size_t output_padding_h = 0, output_padding_w = 0;  // of a transposed one with explicit padding
  bool weights_kn = false;                            // of a product: K x N instead of N x K
  // In kTflite: rounded once, in double, as FULLY_CONNECTED is from LiteRT 1.3 on.
  bool in_double = false;
  // Of a product without an activation's tensor between: a residual that is added in float before
  // the only rounding, after product_clamp. With `between`, the tensor of the product alone, the
  // residual is added as by an operator of its own.
  Clamp product_clamp;
  int between = -1;
  // The tensor whose quantization the output has before `table`; -1: the output itself. Of an
  // operator that moves bytes its input: then the output's quantization is another one.
  int quantized_as = -1;
  // Other kinds.
  bool count_pads = false;  // kAveragePool: ONNX's count_include_pad
  // In kOnnxruntime: of dequantized values. kMean: as its ReduceMean of f32 adds them;
  // kResizeBilinear: quantized again, where bytes are truncated.
  bool in_floats = false;
  int axis = -1;                             // kConcatenate, kSplit; below 0: from the end
  float alpha = 0;                           // kLeakyRelu
  float beta = 1;                            // kSoftmax
  size_t rank = 1;                           // kSvdf
  bool time_major = false;                   // kLstm: x and the output are steps x images x depth
  float cell_clip = 0, projection_clip = 0;  // kLstm: real bounds; 0: none
  // kLstm: the tensor, of int8, of the cells' outputs before the projection, and without one the
  // output itself. Only its scale and zero point are read.
  int hidden = -1;
  size_t block = 1;              // kDepthToSpace, kSpaceToDepth: pixels along each axis
  bool pixels_together = false;  // kDepthToSpace: a group is a channel's pixels (ONNX's CRD)
  std::vector<FloatStep> steps;  // kFloats
  octet_coordinates coordinates = OCTET_COORDINATES_ASYMMETRIC;  // kResize*
  octet_nearest_pixel nearest = OCTET_NEAREST_PIXEL_TFLITE;      // kResizeNearest
  std::vector<int64_t> begins;                                   // kSlice: per axis
  // kSlice: per axis. Empty: the output's shape has them; else the output may lack axes of 1.
  std::vector<int64_t> sizes;
  std::vector<int64_t> permutation;  // kTranspose
  std::vector<uint8_t> table;        // 256 bytes: applied to the output bytes after all else
  // Of each input of a concatenation, its bytes on their way to the output; empty: as they are
  std::vector<std::vector<uint8_t>> tables;
  std::vector<size_t> made_of;  // ops that passes put together; empty: itself
  std::string refused;          // the caller's own reason against it
};

struct Graph {
  Arithmetic arithmetic = Arithmetic::kTflite;
  // Tensors of rank 3 and 4 that spatial operators take are N, C, H, W, as ONNX has them, else
  // N, H, W, C. Inside they are N, H, W, C.
  bool channels_first = false;
  std::vector<Tensor> tensors;
  std::vector<Op> ops;               // in any order without a circle
  std::vector<int> inputs, outputs;  // what comes from outside, and what is wanted
};

}  // namespace octet::graph
