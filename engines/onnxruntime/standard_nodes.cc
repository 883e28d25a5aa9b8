// SPDX-License-Identifier: Apache-2.0
// Translates operators that models compute in f32 between DequantizeLinear and QuantizeLinear.
#include <algorithm>
#include <cmath>

#include "engines/graph/sizes.h"
#include "engines/onnxruntime/place_nodes.h"

namespace octet::onnxruntime {
namespace {

using graph::Activation;
using graph::Kind;

int output(const Form& f) { return f.node().outputs[0]; }

// ---- between f32 and 8 bits

void quantize_linear(const Form& f) {
  if (f.node().integer("block_size", 0)) return f.refuse("it has a scale for each block");
  f.quantize(output(f), 1, 2);
  f.take(Kind::kQuantize, {f.input(0)});
}

void dequantize_linear(const Form& f) {
  if (f.node().integer("block_size", 0)) return f.refuse("it has a scale for each block");
  int64_t axis = f.node().integer("axis", 1);
  if (axis < 0) axis += (int64_t)f.rank(0);
  if (f.floats(1).size() > 1 && !f.value(0)->constant)
    return f.refuse("it has a scale for each channel of a tensor that is computed");
  f.quantize(f.input(0), 1, 2, (int)axis);
  f.take(Kind::kDequantize, {f.input(0)});
  if (!f.value(0)->constant) return;
  // The host does not say that a tensor is a scalar.
  graph::Tensor& made = f.tensor(output(f));
  made.shape = f.value(0)->shape, made.shape_known = true;
}

// ---- products

void conv(const Form& f) { f.convolve(f.input(0), f.input(1), f.input(2)); }

void conv_transpose(const Form& f) {
  const std::string padding = f.node().text("auto_pad");
  if (!f.node().integers("output_shape").empty() || (!padding.empty() && padding != "NOTSET"))
    return f.refuse("its padding is told by the output's shape; it needs explicit pads");
  std::vector<int64_t> more = f.node().integers("output_padding");
  if (more.size() == 1) more.insert(more.begin(), 0);
  if (more.size() == 2)
    f.op().output_padding_h = (size_t)more[0], f.op().output_padding_w = (size_t)more[1];
  f.op().transposed = true;
  f.convolve(f.input(0), f.input(1), f.input(2));
}

void gemm(const Form& f) {
  if (f.node().integer("transA", 0) || f.node().number("alpha", 1) != 1 ||
      f.node().number("beta", 1) != 1)
    return f.refuse("its first operand is transposed, or its alpha or beta is not 1");
  f.multiply(f.input(0), f.input(1), f.input(2), f.node().integer("transB", 0) == 0);
}

void matmul(const Form& f) { f.multiply(f.input(0), f.input(1), -1, true); }

// ---- functions of one or two tensors

template <Kind kKind>
void binary(const Form& f) {
  f.take(kKind, {f.input(0), f.input(1)});
}

// One of both may be a number of f32 that is not quantized.
template <Kind kKind, graph::FloatStep::Function kFunction, int kSign = 1>
void with_number(const Form& f) {
  for (const size_t i : {1, 0}) {
    const std::vector<float> by = f.floats(i);
    if (by.size() != 1 || (i == 0 && kSign < 0) || f.input(1 - i) < 0 ||
        f.value(i)->shape.size() > f.rank(1 - i))
      continue;
    if (!std::isfinite(by[0])) return f.refuse("its number is not finite");
    f.op().steps = {{kFunction, (float)kSign * by[0]}};
    return f.take(Kind::kFloats, {f.input(1 - i)});
  }
  binary<kKind>(f);
}

template <Kind kKind>
void unary(const Form& f) {
  f.take(kKind, {f.input(0)});
}

void relu(const Form& f) {
  f.op().clamp = {Activation::kRelu};
  f.take(Kind::kActivation, {f.input(0)});
}

void clip(const Form& f) {
  graph::Clamp clamp = {Activation::kClip, f.node().number("min", -INFINITY),
                        f.node().number("max", INFINITY)};
  for (const size_t i : {1, 2}) {
    if (f.input(i) < 0) continue;
    const std::vector<float> bound = f.floats(i);
    if (bound.size() != 1) return f.refuse("its bounds are computed; it needs constants of f32");
    (i == 1 ? clamp.least : clamp.most) = bound[0];
  }
  f.op().clamp = clamp;
  f.take(Kind::kActivation, {f.input(0)});
}

void leaky_relu(const Form& f) {
  f.op().alpha = f.node().number("alpha", 0.01f);
  f.take(Kind::kLeakyRelu, {f.input(0)});
}

void compute_in_floats(const Form& f, graph::FloatStep step) {
  f.op().steps = {step};
  f.take(Kind::kFloats, {f.input(0)});
}

void divide(const Form& f) {
  const std::vector<float> by = f.floats(1);
  if (by.size() != 1 || !std::isfinite(by[0]) || by[0] == 0 || f.value(1)->shape.size() > f.rank(0))
    return f.refuse("its divisor is no finite number of f32 but 0, constant and alone");
  compute_in_floats(f, {graph::FloatStep::kDivide, by[0]});
}

void hard_sigmoid(const Form& f) {
  f.op().steps = {{graph::FloatStep::kMultiply, f.node().number("alpha", 0.2f)},
                  {graph::FloatStep::kAdd, f.node().number("beta", 0.5f)},
                  {graph::FloatStep::kUnit}};
  f.take(Kind::kFloats, {f.input(0)});
}

void erf(const Form& f) { compute_in_floats(f, {graph::FloatStep::kErf}); }

// Inputs: x and, of BiasGelu and FastGelu, a bias.
void gelu(const Form& f) {
  const std::string approximate = f.node().text("approximate");
  if (!approximate.empty() && approximate != "none" && approximate != "tanh")
    return f.refuse("it approximates by '" + approximate + "'");
  const bool tanh = approximate == "tanh" || f.node().op == "FastGelu";
  compute_in_floats(f, {tanh ? graph::FloatStep::kTanhGelu : graph::FloatStep::kGelu});
  if (f.input(1) < 0) return;
  const std::vector<float> bias = f.floats(1);
  const auto differs = [&](float b) { return b != bias[0] || !std::isfinite(b); };
  if (bias.empty() || std::any_of(bias.begin(), bias.end(), differs))
    return f.refuse("its bias is no constant with one value for all channels; add it beforehand");
  f.op().steps.insert(f.op().steps.begin(), {graph::FloatStep::kAdd, bias[0]});
}

void softmax(const Form& f) {
  const int64_t axis = f.node().integer("axis", f.node().version < 13 ? 1 : -1);
  if (axis != -1 && axis + 1 != (int64_t)f.rank(0)) return f.refuse("it is not over the last axis");
  f.take(Kind::kSoftmax, {f.input(0)});
}

// ---- windows and images

void max_pool(const Form& f) { f.pool(Kind::kMaxPool); }
void average_pool(const Form& f) { f.pool(Kind::kAveragePool); }
void global_average_pool(const Form& f) { f.average_all(); }

// Inputs: x, axes; before the 18th operator set x alone.
void reduce_mean(const Form& f) {
  const size_t rank = f.rank(0);
  if (rank != 3 && rank != 4) return f.refuse("its input is not known to be of rank 3 or 4");
  if (f.input(1) >= 0 && !f.value(1)->constant)
    return f.refuse("its axes are computed; it needs constants");
  std::vector<int64_t> axes = f.node().version < 18 ? f.node().integers("axes") : f.integers(1);
  for (int64_t& axis : axes)
    if (axis < 0) axis += (int64_t)rank;
  std::sort(axes.begin(), axes.end());
  const std::vector<int64_t> pixels = {2, 3};
  if (axes.size() != rank - 2 || !std::equal(axes.begin(), axes.end(), pixels.begin()))
    return f.refuse("its axes are not those of lines and columns, which Octet averages");
  f.average_all();
  f.op().in_floats = true;
  if (f.node().integer("keepdims", 1)) return;
  f.rule([](const std::vector<Shape>& inputs) {
    return Shape(inputs[0].begin(), inputs[0].begin() + std::min<long>(2, (long)inputs[0].size()));
  });
}

bool read_coordinates(const Form& f) {
  const std::string mode = f.node().text("coordinate_transformation_mode");
  octet_coordinates& to = f.op().coordinates;
  if (mode == "asymmetric" || f.node().version < 11)
    to = OCTET_COORDINATES_ASYMMETRIC;
  else if (mode.empty() || mode == "half_pixel")
    to = OCTET_COORDINATES_HALF_PIXEL;
  else if (mode == "align_corners")
    to = OCTET_COORDINATES_ALIGN_CORNERS;
  else if (mode == "pytorch_half_pixel")
    to = OCTET_COORDINATES_PYTORCH_HALF_PIXEL;
  else
    return false;
  const std::string nearest = f.node().text("nearest_mode");
  f.op().nearest = nearest == "floor" || f.node().version < 11 ? OCTET_NEAREST_PIXEL_FLOOR
                   : nearest == "ceil"                         ? OCTET_NEAREST_PIXEL_CEIL
                   : nearest == "round_prefer_ceil" ? OCTET_NEAREST_PIXEL_ROUND_PREFER_CEIL
                                                    : OCTET_NEAREST_PIXEL_ROUND_PREFER_FLOOR;
  return true;
}

// Inputs: x, region, scales, sizes; before the 11th operator set x and scales.
void resize(const Form& f) {
  const std::string mode = f.node().text("mode");
  if (!mode.empty() && mode != "nearest" && mode != "linear")
    return f.refuse("its interpolation is '" + mode + "'");
  if (!read_coordinates(f) || f.node().integer("antialias", 0))
    return f.refuse("its coordinates are not Octet's, or it smooths");
  if (!f.node().integers("axes").empty()) return f.refuse("it names its axes");
  const std::vector<float> scales = f.floats(f.node().version < 11 ? 1 : 2);
  const std::vector<int64_t> sizes = f.integers(3);
  f.take(mode == "linear" ? Kind::kResizeBilinear : Kind::kResizeNearest, {f.input(0)});
  f.op().in_floats = f.tensor(f.input(0)).type == OCTET_F32;
  if (scales.empty() && sizes.empty())
    return f.refuse("its output size is computed; it needs a constant");
  // Octet resizes by the ratio of the sizes, which is the scale where that one is whole.
  for (const float scale : scales)
    if (scale != std::floor(scale) || std::fabs(scale) > 0x1p31f)
      return f.refuse("one of its scales is no whole number of at most 2^31");
  f.rule([scales, sizes](const std::vector<Shape>& inputs) {
    if (!sizes.empty()) return sizes;
    Shape x = inputs[0];
    if (x.size() != scales.size()) return Shape();
    for (size_t i = 0; i < x.size(); ++i) x[i] *= (int64_t)scales[i];
    return x;
  });
}

// Whether the third input, or no one, pads a tensor of bytes with its zero point.
bool pads_with_zero_point(const Form& f) {
  const graph::Tensor& x = f.tensor(f.input(0));
  const std::vector<int64_t> byte = f.integers(2);
  return x.scales.size() == 1 && (f.input(2) < 0 || byte.size() == 1) &&
         (byte.empty() ? 0 : byte[0]) == graph::zero_of(x);
}

// Pads: before and after of all axes, of N, C, H and W.
void pad(const Form& f) {
  const std::vector<int64_t> pads =
      f.node().version < 11 ? f.node().integers("pads") : f.integers(1);
  const std::string mode = f.node().text("mode");
  if (!mode.empty() && mode != "constant") return f.refuse("it pads by '" + mode + "'");
  const std::vector<float> value = f.floats(2);
  const bool floats = f.tensor(f.input(0)).type == OCTET_F32,
             zero = floats ? f.input(2) < 0 || (!value.empty() && value[0] == 0)
                           : pads_with_zero_point(f);
  if (f.input(3) >= 0 || !zero || f.node().number("value", 0) != 0)
    return f.refuse("it names its axes, or pads with another value than 0");
  if (pads.size() != 8 || pads[0] || pads[1] || pads[4] || pads[5] ||
      *std::min_element(pads.begin(), pads.end()) < 0 ||
      *std::max_element(pads.begin(), pads.end()) > kFarthest)
    return f.refuse("its pads are no constant, up to 2^31, of lines and columns");
  graph::Window& w = f.op().window;
  w.top = (size_t)pads[2], w.left = (size_t)pads[3];
  w.bottom = (size_t)pads[6], w.right = (size_t)pads[7];
  f.take(Kind::kPad, {f.input(0)});
  f.rule([pads](const std::vector<Shape>& inputs) {
    Shape x = inputs[0];
    if (x.size() != 4) return Shape();
    for (size_t i = 0; i < 4; ++i) x[i] += pads[i] + pads[i + 4];
    return x;
  });
}

constexpr NamedForm kForms[] = {
    {"", "QuantizeLinear", quantize_linear},
    {"", "DequantizeLinear", dequantize_linear},
    {"com.microsoft", "QuantizeLinear", quantize_linear},
    {"com.microsoft", "DequantizeLinear", dequantize_linear},
    {"", "Conv", conv},
    {"", "ConvTranspose", conv_transpose},
    {"", "Gemm", gemm},
    {"", "MatMul", matmul},
    {"", "Add", with_number<Kind::kAdd, graph::FloatStep::kAdd>},
    {"", "Sub", with_number<Kind::kSubtract, graph::FloatStep::kAdd, -1>},
    {"", "Mul", with_number<Kind::kMultiply, graph::FloatStep::kMultiply>},
    {"", "Relu", relu},
    {"", "Clip", clip},
    {"", "Sigmoid", unary<Kind::kLogistic>},
    {"", "Tanh", unary<Kind::kTanh>},
    {"", "HardSwish", unary<Kind::kHardSwish>},
    {"", "HardSigmoid", hard_sigmoid},
    {"", "LeakyRelu", leaky_relu},
    {"", "Div", divide},
    {"", "Erf", erf},
    {"", "Gelu", gelu},
    {"com.microsoft", "Gelu", gelu},
    {"com.microsoft", "BiasGelu", gelu},
    {"com.microsoft", "FastGelu", gelu},
    {"", "Softmax", softmax},
    {"", "MaxPool", max_pool},
    {"", "AveragePool", average_pool},
    {"", "GlobalAveragePool", global_average_pool},
    {"", "ReduceMean", reduce_mean},
    {"", "Resize", resize},
    {"", "Upsample", resize},
    {"", "Pad", pad},
    {"", "Concat", concat},
    {"", "Reshape", reshape},
    {"", "Flatten", flatten},
    {"", "Squeeze", squeeze},
    {"", "Unsqueeze", unsqueeze},
    {"", "Identity", identity},
    {"", "Transpose", transpose},
    {"", "Slice", slice},
    {"", "Split", split},
    {"", "DepthToSpace", depth_to_space},
    {"", "SpaceToDepth", space_to_depth},
};

}  // namespace

const NamedForm* find_standard(const Node& node) {
  for (const NamedForm& form : kForms)
    if (node.op == form.op && node.domain == form.domain) return &form;
  return nullptr;
}

}  // namespace octet::onnxruntime
