// SPDX-License-Identifier: Apache-2.0
// Translates nodes one by one: a function for each form of operator, and a table of the forms.
#include "engines/litert/translate.h"

#include <tensorflow/lite/builtin_ops.h>
#include <tensorflow/lite/core/c/builtin_op_data.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "engines/litert/node.h"

namespace octet::litert {
namespace {

using graph::Activation;
using graph::Kind;
using graph::Op;
using graph::Padding;
using graph::Tensor;

octet_type type_of(const TfLiteTensor& t) {
  switch (t.type) {
    case kTfLiteInt8: return OCTET_S8;
    case kTfLiteUInt8: return OCTET_U8;
    case kTfLiteInt16: return OCTET_S16;
    case kTfLiteInt32: return OCTET_S32;
    case kTfLiteFloat32: return OCTET_F32;
    // Weights; Octet computes no tensor of 4 bits
    case kTfLiteInt4: return t.allocation_type == kTfLiteMmapRo ? OCTET_S4 : (octet_type)0;
    default: return (octet_type)0;
  }
}

Tensor tensor_of(const TfLiteTensor& t) {
  Tensor to;
  to.name = t.name ? t.name : "";
  to.type = type_of(t);
  to.int64 = t.type == kTfLiteInt64;
  to.shape_known = t.dims != nullptr;
  if (t.dims) to.shape.assign(t.dims->data, t.dims->data + t.dims->size);
  if (t.quantization.type == kTfLiteAffineQuantization && t.quantization.params &&
      to.type != OCTET_F32) {
    const auto& q = *(const TfLiteAffineQuantization*)t.quantization.params;
    if (q.scale) to.scales.assign(q.scale->data, q.scale->data + q.scale->size);
    if (q.zero_point && to.type != OCTET_S32)
      to.zero_points.assign(q.zero_point->data, q.zero_point->data + q.zero_point->size);
  }
  to.constant = t.allocation_type == kTfLiteMmapRo;
  to.variable = t.is_variable;
  if (to.constant) to.data = t.data.raw_const, to.bytes = t.bytes;
  return to;
}

graph::Clamp clamp_of(TfLiteFusedActivation activation, Op* op) {
  switch (activation) {
    case kTfLiteActNone: return {};
    case kTfLiteActRelu: return {Activation::kRelu};
    case kTfLiteActReluN1To1: return {Activation::kReluN1To1};
    case kTfLiteActRelu6: return {Activation::kRelu6};
    default: op->refused = "its fused activation is not Octet's"; return {};
  }
}

Padding padding_of(TfLitePadding padding) {
  return padding == kTfLitePaddingSame ? Padding::kSame : Padding::kValid;
}

// ---- products

template <typename Params>
void strides(const Params& p, Op* op) {
  op->window.stride_h = (size_t)p.stride_height, op->window.stride_w = (size_t)p.stride_width;
  op->window.padding = padding_of(p.padding);
}
template <typename Params>
void dilations(const Params& p, Op* op) {
  op->window.dilation_h = (size_t)p.dilation_height_factor;
  op->window.dilation_w = (size_t)p.dilation_width_factor;
}

void conv_2d(const Node& n) {
  const auto& p = n.params<TfLiteConvParams>();
  strides(p, n.op), dilations(p, n.op);
  n.op->clamp = clamp_of(p.activation, n.op);
  const TfLiteTensor *const x = n.input(0), *const weights = n.input(1);
  if (!x || !weights || n.rank() != 4 || !weights->dims || weights->dims->size != 4 ||
      weights->dims->data[3] <= 0)
    return n.refuse("its input and its weights are not of rank 4");
  n.op->groups = (size_t)(x->dims->data[3] / weights->dims->data[3]);
}

void depthwise_conv_2d(const Node& n) {
  const auto& p = n.params<TfLiteDepthwiseConvParams>();
  strides(p, n.op), dilations(p, n.op);
  n.op->clamp = clamp_of(p.activation, n.op);
  n.op->depthwise = true, n.op->order = OCTET_HWIO;
}

// Inputs: the output's shape, weights, x, bias.
void transpose_conv(const Node& n) {
  const auto& p = n.params<TfLiteTransposeConvParams>();
  strides(p, n.op);
  n.op->clamp = clamp_of(p.activation, n.op);
  n.op->transposed = true;
  if (n.values(0).empty()) n.refuse("its output shape is computed; it needs a constant");
  std::vector<int> inputs = n.op->inputs;
  if (inputs.size() < 3) return n.refuse("it has no input");
  std::swap(inputs[0], inputs[2]);
  inputs.erase(inputs.begin() + 2);
  n.op->inputs = inputs;
}

void fully_connected(const Node& n) {
  const auto& p = n.params<TfLiteFullyConnectedParams>();
  n.op->clamp = clamp_of(p.activation, n.op);
  if (p.weights_format != kTfLiteFullyConnectedWeightsFormatDefault)
    n.refuse("its weights are in a shuffled format");
  const TfLiteTensor* const weights = n.input(1);
  if (weights && weights->allocation_type != kTfLiteMmapRo)
    n.refuse_own_kernel("its weights are computed");
  n.op->in_double = n.rounding.in_double;
}

void batch_matmul(const Node& n) {
  const auto& p = n.params<TfLiteBatchMatMulParams>();
  n.op->weights_kn = !p.adj_y;
  if (p.adj_x) n.refuse("its first operand is turned; it would need a transpose before it");
}

// ---- layers with a state

// Inputs: x, four weights of x, four of the output state, three peepholes, four biases, projection
// and its bias, output state, cell state, and, of 24, four of a layer norm.
template <typename Params>
void lstm(const Node& n) {
  const auto& p = n.params<Params>();
  const std::vector<int> from = n.op->inputs;
  if (from.size() != 20 && from.size() != 24) return n.refuse("it has neither 20 nor 24 inputs");
  const auto any = [&](size_t first, size_t end) {
    return std::any_of(from.begin() + (ptrdiff_t)first,
                       from.begin() + (ptrdiff_t)std::min(end, from.size()),
                       [](int t) { return t >= 0; });
  };
  if (any(9, 12)) n.refuse("it has peepholes, which Octet does not compute");
  if (any(20, 24)) n.refuse("it has layer norms, which Octet does not compute");
  if (p.activation != kTfLiteActTanh) n.refuse("its activation is not TANH");
  n.op->cell_clip = p.cell_clip, n.op->projection_clip = p.proj_clip;
  const TfLiteIntArray* const intermediates = n.node.intermediates;
  if (intermediates && intermediates->size == 12)
    n.refuse("it is of the form 8x8_8, which Octet does not compute");
  if (intermediates && intermediates->size > 4) {
    // An interpreter checks the tensors that a file names as inputs and outputs, but not these
    const int hidden = intermediates->data[4];
    if (hidden < 0 || (size_t)hidden >= n.context.tensors_size)
      n.refuse("the tensor of its cells' outputs is not there");
    else
      n.op->hidden = hidden;
  }
  n.op->inputs.erase(n.op->inputs.begin() + 20, n.op->inputs.end());
  n.op->inputs.erase(n.op->inputs.begin() + 9, n.op->inputs.begin() + 12);
}

// LiteRT takes the first two axes for images and depth, whatever is behind them.
void lstm_step(const Node& n) {
  if (n.rank() != 2) return n.refuse("its input is no matrix");
  lstm<TfLiteLSTMParams>(n);
}

void sequence_lstm(const Node& n) {
  n.op->time_major = n.params<TfLiteUnidirectionalSequenceLSTMParams>().time_major;
  lstm<TfLiteUnidirectionalSequenceLSTMParams>(n);
}

void svdf(const Node& n) {
  const auto& p = n.params<TfLiteSVDFParams>();
  n.op->rank = (size_t)std::max(p.rank, 0);
  n.op->clamp = clamp_of(p.activation, n.op);
}

// ---- functions of two tensors

template <typename Params>
void binary(const Node& n) {
  n.op->clamp = clamp_of(n.params<Params>().activation, n.op);
}

// Whether LiteRT takes a scale for a power of two.
bool is_power_of_two(float scale) {
  const float log2 = std::log(scale) * (1.0f / std::log(2.0f));
  return std::fabs(log2 - std::round(log2)) < 1e-3f;
}

// Where a model does not say otherwise, LiteRT adds 16 bits with scales that are powers of two by a
// shift of one operand. With one scale for all the results are the same.
template <typename Params>
void sum(const Node& n) {
  binary<Params>(n);
  if (!n.params<Params>().pot_scale_int16 || n.node.outputs->size != 1) return;
  const TfLiteTensor *const a = n.input(0), *const b = n.input(1),
                            *const y = &n.context.tensors[n.node.outputs->data[0]];
  if (!a || !b || y->type != kTfLiteInt16) return;
  const float scale = y->params.scale;
  if (a->params.scale == scale && b->params.scale == scale) return;
  if (is_power_of_two(a->params.scale) && is_power_of_two(b->params.scale) &&
      is_power_of_two(scale))
    n.refuse(
        "its tensors of 16 bits have scales that are powers of two, which LiteRT adds in "
        "another way");
}

// ---- windows

void pool_2d(const Node& n) {
  const auto& p = n.params<TfLitePoolParams>();
  strides(p, n.op);
  n.op->window.kernel_h = (size_t)p.filter_height, n.op->window.kernel_w = (size_t)p.filter_width;
  n.op->clamp = clamp_of(p.activation, n.op);
}

void mean(const Node& n) {
  std::vector<int64_t> axes = n.values(1);
  for (int64_t& axis : axes) axis += axis < 0 ? n.rank() : 0;
  if (n.rank() != 4 || (axes != std::vector<int64_t>{1, 2} && axes != std::vector<int64_t>{2, 1}))
    n.refuse("its axes are not those of lines and columns");
  n.op->inputs.resize(1);
}

// Inputs: x, {before, after} for each axis, and of PADV2 a value.
void pad(const Node& n) {
  const std::vector<int64_t> pads = n.values(1);
  if (n.op->inputs.size() > 2) return n.refuse("it pads with a value of its own");
  if (n.rank() != 4 || pads.size() != 8)
    return n.refuse("its paddings are no constant of four axes");
  if (pads[0] || pads[1] || pads[6] || pads[7])
    return n.refuse("it pads images or channels, not only lines and columns");
  graph::Window& w = n.op->window;
  w.top = (size_t)pads[2], w.bottom = (size_t)pads[3];
  w.left = (size_t)pads[4], w.right = (size_t)pads[5];
  n.op->inputs.resize(1);
}

template <typename Params>
void resize(const Node& n) {
  const auto& p = n.params<Params>();
  n.op->coordinates = p.align_corners        ? OCTET_COORDINATES_ALIGN_CORNERS
                      : p.half_pixel_centers ? OCTET_COORDINATES_HALF_PIXEL
                                             : OCTET_COORDINATES_ASYMMETRIC;
  if (n.values(1).empty()) n.refuse("its output size is computed; it needs a constant");
  n.op->inputs.resize(1);
}

// ---- places

void concatenation(const Node& n) {
  const auto& p = n.params<TfLiteConcatenationParams>();
  n.op->axis = p.axis;
  n.op->clamp = clamp_of(p.activation, n.op);
}

void transpose(const Node& n) {
  n.op->permutation = n.values(1);
  if ((int)n.op->permutation.size() != n.rank()) n.refuse("its permutation is computed");
  n.op->inputs.resize(1);
}

void depth_to_space(const Node& n) {
  n.op->block = (size_t)n.params<TfLiteDepthToSpaceParams>().block_size;
}
void space_to_depth(const Node& n) {
  n.op->block = (size_t)n.params<TfLiteSpaceToDepthParams>().block_size;
}

void first_input(const Node& n) { n.op->inputs.resize(1); }

// ---- functions of one tensor

void softmax(const Node& n) { n.op->beta = n.params<TfLiteSoftmaxParams>().beta; }
void leaky_relu(const Node& n) { n.op->alpha = n.params<TfLiteLeakyReluParams>().alpha; }
void relu(const Node& n) { n.op->clamp = {Activation::kRelu}; }
void relu6(const Node& n) { n.op->clamp = {Activation::kRelu6}; }
void relu_n1_to_1(const Node& n) { n.op->clamp = {Activation::kReluN1To1}; }
void nothing(const Node&) {}

struct Form {
  int code;
  const char* name;
  Kind kind;
  void (*translate)(const Node& node);
  bool needs_params;
};
constexpr Form kForms[] = {
    {kTfLiteBuiltinConv2d, "CONV_2D", Kind::kConvolution, conv_2d, true},
    {kTfLiteBuiltinDepthwiseConv2d, "DEPTHWISE_CONV_2D", Kind::kConvolution, depthwise_conv_2d,
     true},
    {kTfLiteBuiltinTransposeConv, "TRANSPOSE_CONV", Kind::kConvolution, transpose_conv, true},
    {kTfLiteBuiltinFullyConnected, "FULLY_CONNECTED", Kind::kProduct, fully_connected, true},
    {kTfLiteBuiltinBatchMatmul, "BATCH_MATMUL", Kind::kProduct, batch_matmul, true},
    {kTfLiteBuiltinUnidirectionalSequenceLstm, "UNIDIRECTIONAL_SEQUENCE_LSTM", Kind::kLstm,
     sequence_lstm, true},
    {kTfLiteBuiltinLstm, "LSTM", Kind::kLstm, lstm_step, true},
    {kTfLiteBuiltinSvdf, "SVDF", Kind::kSvdf, svdf, true},
    {kTfLiteBuiltinAdd, "ADD", Kind::kAdd, sum<TfLiteAddParams>, true},
    {kTfLiteBuiltinSub, "SUB", Kind::kSubtract, sum<TfLiteSubParams>, true},
    {kTfLiteBuiltinMul, "MUL", Kind::kMultiply, binary<TfLiteMulParams>, true},
    {kTfLiteBuiltinMaxPool2d, "MAX_POOL_2D", Kind::kMaxPool, pool_2d, true},
    {kTfLiteBuiltinAveragePool2d, "AVERAGE_POOL_2D", Kind::kAveragePool, pool_2d, true},
    {kTfLiteBuiltinMean, "MEAN", Kind::kMean, mean, false},
    {kTfLiteBuiltinPad, "PAD", Kind::kPad, pad, false},
    {kTfLiteBuiltinPadv2, "PADV2", Kind::kPad, pad, false},
    {kTfLiteBuiltinResizeBilinear, "RESIZE_BILINEAR", Kind::kResizeBilinear,
     resize<TfLiteResizeBilinearParams>, true},
    {kTfLiteBuiltinResizeNearestNeighbor, "RESIZE_NEAREST_NEIGHBOR", Kind::kResizeNearest,
     resize<TfLiteResizeNearestNeighborParams>, true},
    {kTfLiteBuiltinConcatenation, "CONCATENATION", Kind::kConcatenate, concatenation, true},
    {kTfLiteBuiltinSlice, "SLICE", Kind::kSlice, slice, false},
    {kTfLiteBuiltinStridedSlice, "STRIDED_SLICE", Kind::kSlice, strided_slice, true},
    {kTfLiteBuiltinSplit, "SPLIT", Kind::kSplit, split, false},
    {kTfLiteBuiltinSplitV, "SPLIT_V", Kind::kSplit, split_v, false},
    {kTfLiteBuiltinPack, "PACK", Kind::kConcatenate, pack, true},
    {kTfLiteBuiltinUnpack, "UNPACK", Kind::kSplit, unpack, true},
    {kTfLiteBuiltinTranspose, "TRANSPOSE", Kind::kTranspose, transpose, false},
    {kTfLiteBuiltinDepthToSpace, "DEPTH_TO_SPACE", Kind::kDepthToSpace, depth_to_space, true},
    {kTfLiteBuiltinSpaceToDepth, "SPACE_TO_DEPTH", Kind::kSpaceToDepth, space_to_depth, true},
    {kTfLiteBuiltinReshape, "RESHAPE", Kind::kReshape, first_input, false},
    {kTfLiteBuiltinSqueeze, "SQUEEZE", Kind::kReshape, first_input, false},
    {kTfLiteBuiltinExpandDims, "EXPAND_DIMS", Kind::kReshape, first_input, false},
    {kTfLiteBuiltinSoftmax, "SOFTMAX", Kind::kSoftmax, softmax, true},
    {kTfLiteBuiltinLogistic, "LOGISTIC", Kind::kLogistic, nothing, false},
    {kTfLiteBuiltinTanh, "TANH", Kind::kTanh, nothing, false},
    {kTfLiteBuiltinHardSwish, "HARD_SWISH", Kind::kHardSwish, nothing, false},
    {kTfLiteBuiltinLeakyRelu, "LEAKY_RELU", Kind::kLeakyRelu, leaky_relu, true},
    {kTfLiteBuiltinRelu, "RELU", Kind::kActivation, relu, false},
    {kTfLiteBuiltinRelu6, "RELU6", Kind::kActivation, relu6, false},
    {kTfLiteBuiltinReluN1To1, "RELU_N1_TO_1", Kind::kActivation, relu_n1_to_1, false},
    {kTfLiteBuiltinQuantize, "QUANTIZE", Kind::kQuantize, nothing, false},
    {kTfLiteBuiltinDequantize, "DEQUANTIZE", Kind::kDequantize, nothing, false},
};

void translate_as(const Form& form, const Node& node) {
  form.translate(node);
  if (form.kind != Kind::kConvolution && form.kind != Kind::kProduct) return;
  const auto type_of_input = [&](size_t k) {  // of the operator's own order
    const std::vector<int>& inputs = node.op->inputs;
    return k < inputs.size() && inputs[k] >= 0 ? node.context.tensors[inputs[k]].type
                                               : kTfLiteNoType;
  };
  if (type_of_input(1) == kTfLiteInt4) node.refuse_own_kernel("its weights are of 4 bits");
  if (type_of_input(0) == kTfLiteInt16) node.refuse_own_kernel("its input is of 16 bits");
}

Op op_of(const TfLiteContext& context, int index, const TfLiteNode& node,
         const TfLiteRegistration& registration, const Rounding& rounding) {
  Op op;
  op.inputs.assign(node.inputs->data, node.inputs->data + node.inputs->size);
  op.outputs.assign(node.outputs->data, node.outputs->data + node.outputs->size);
  const std::string number = "operators[" + std::to_string(index) + "]";
  for (const Form& form : kForms)
    if (form.code == registration.builtin_code) {
      op.name = number + " (" + form.name + ")";
      op.kind = form.kind;
      if (op.inputs.empty())
        op.refused = "it has no input";
      else if (form.needs_params && !node.builtin_data)
        op.refused = "its parameters are missing";
      else
        translate_as(form, {context, node, rounding, &op});
      return op;
    }
  op.name =
      number + " (" + operator_name(registration.builtin_code, registration.custom_name) + ")";
  op.refused = "Octet has no such operator";
  return op;
}

}  // namespace

graph::Graph translate(TfLiteContext* context, const std::vector<int>& nodes,
                       const Rounding& rounding) {
  graph::Graph to;
  to.arithmetic = rounding.arithmetic;
  to.tensors.resize(context->tensors_size);
  for (const int index : nodes) {
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    if (context->GetNodeAndRegistration(context, index, &node, &registration) != kTfLiteOk) {
      to.ops.emplace_back().refused = "the interpreter does not have it";
      continue;
    }
    to.ops.push_back(op_of(*context, index, *node, *registration, rounding));
    const Op& op = to.ops.back();
    const std::vector<int> hidden = {op.hidden};
    for (const std::vector<int>* tensors : {&op.inputs, &op.outputs, &hidden})
      for (const int t : *tensors)
        if (t >= 0) to.tensors[(size_t)t] = tensor_of(context->tensors[t]);
  }
  return to;
}

}  // namespace octet::litert
