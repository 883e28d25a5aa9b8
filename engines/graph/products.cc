// SPDX-License-Identifier: Apache-2.0
// Makes the descriptors of convolutions and products: sizes, padding, rescaling, residual.
#include "engines/graph/products.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engines/graph/check.h"
#include "engines/graph/refused.h"
#include "octet/helpers.h"

namespace octet::graph {
namespace {

constexpr size_t kPhases = 16;  // more take too long to begin
class Describer {
 public:
  Describer(const Graph& g, const Op& op, ProductDescription* to)
      : g_(g),
        op_(op),
        to_(*to),
        tflite_((is_not_of_xnnpack(g, op) ? without_xnnpack(g.arithmetic) : g.arithmetic) ==
                Arithmetic::kTflite) {}

  void describe() {
    to_.is_convolution = op_.kind == Kind::kConvolution;
    if (op_.inputs.size() < 2) refuse("it has ", op_.inputs.size(), " inputs; it needs weights");
    if (op_.outputs.size() != 1) refuse("it has ", op_.outputs.size(), " outputs, not 1");
    x_ = op_.inputs[0], weights_ = op_.inputs[1];
    y_ = op_.quantized_as >= 0 ? op_.quantized_as : op_.outputs[0];
    if (x_ < 0 || weights_ < 0) refuse("its input or its weights are left out");
    if (tensor(weights_).scale_block) return describe_block_product(g_, op_, &to_);
    check_types();
    to_.is_pair = is_pair(g_, op_);
    to_.is_convolution ? convolution() : to_.is_pair ? pair() : product();
    add_bias();
    rescale();
    end();
    add_residual();
    if (op_.kind == Kind::kConvolution) tell_output();
  }

 private:
  // XNNPACK multiplies two activations only where the right one's zero point is 0: else LiteRT runs
  // its own kernel.
  static bool is_not_of_xnnpack(const Graph& g, const Op& op) {
    return is_pair(g, op) && zero_of(g.tensors[(size_t)op.inputs[1]]) != 0;
  }
  static bool is_pair(const Graph& g, const Op& op) {
    const int rhs = op.kind == Kind::kProduct ? input_of(op, 1) : -1;
    return rhs >= 0 && !g.tensors[(size_t)rhs].constant;
  }

  const Tensor& tensor(int index) const { return g_.tensors[(size_t)index]; }
  std::string name(int index) const { return tensor_name(g_, index); }

  void check_types() const {
    if (tensor(x_).constant) refuse("its input ", name(x_), " is a constant; fold it beforehand");
    if (!tensor(weights_).constant && to_.is_convolution)
      refuse("its weights ", name(weights_), " are computed; a convolution needs constants");
    const octet_type weights = tensor(weights_).type;
    const bool nibbles = is_4_bits(weights) && tensor(weights_).constant;
    if (tensor(x_).type == OCTET_S16) return check_s16();
    for (const int t : {x_, weights_})
      if (!is_8_bits(tensor(t).type) && !(t == weights_ && nibbles))
        refuse(name(t), " is not of 8 bits; quantize the operator to int8 or uint8");
    const octet_type dst = tensor(y_).type;
    if (tflite_ && (tensor(x_).type != dst || (weights == OCTET_S4 ? OCTET_S8 : weights) != dst))
      refuse(
          "its input, its weights and its output are of different types, which TFLite's "
          "arithmetic does not have");
    if (!dst || dst == OCTET_S16)
      refuse(name(y_), " is of a type that a product of 8 bits does not make");
    if (dst != OCTET_S32 && tensor(x_).scales.size() != 1)
      refuse(name(x_), " has ", tensor(x_).scales.size(), " scales; it needs one");
  }

  // An input of 16 bits: TensorFlow Lite's 16x8.
  void check_s16() const {
    if (!tflite_)
      refuse(name(x_), " is of 16 bits, which only TFLite's arithmetic multiplies by 8 bits");
    if (tensor(weights_).type != OCTET_S8 || !tensor(weights_).constant)
      refuse("its input is of 16 bits, but its weights are no constant of int8");
    if (tensor(y_).type != OCTET_S16) refuse("its input is of 16 bits, but not its output");
    for (const int t : {x_, weights_, y_})
      for (const int32_t zero : tensor(t).zero_points)
        if (zero) refuse(name(t), " has the zero point ", zero, "; with 16 bits it must be 0");
    for (const int t : {x_, y_})
      if (tensor(t).scales.size() != 1)
        refuse(name(t), " has ", tensor(t).scales.size(), " scales; it needs one");
  }

  size_t size(int64_t n) const {
    if (n <= 0) refuse("the weights ", name(weights_), " have a size of ", n);
    return (size_t)n;
  }

  // Sets channels and kernel by the weights' shape.
  void read_filter(octet_conv2d_shape* s) {
    std::vector<int64_t> w = tensor(weights_).shape;
    const octet_filter_order order = op_.depthwise ? OCTET_HWIO : op_.order;
    const bool channels_before = order == OCTET_OIHW || order == OCTET_IOHW;
    if (w.size() == 3)
      w.insert(w.begin() + (order == OCTET_HWIO && !op_.depthwise ? 0
                            : channels_before                     ? 2
                                                                  : 1),
               1);
    if (w.size() != 4 || !known_sizes(tensor(weights_)))
      refuse("its weights ", name(weights_),
             " are not of rank 3 or 4; it would need another "
             "number of spatial axes");
    size_t o = 0, i = 0;
    s->groups = op_.depthwise ? s->in_channels : op_.groups;
    if (s->groups == 0) refuse("it has 0 groups");
    if (op_.depthwise) {
      s->kernel_h = size(w[1]), s->kernel_w = size(w[2]), o = size(w[3]), i = 1;
      if (w[0] != 1) refuse("its depthwise weights begin with ", w[0], ", not 1");
    } else if (order == OCTET_OHWI) {
      o = size(w[0]), s->kernel_h = size(w[1]), s->kernel_w = size(w[2]), i = size(w[3]);
    } else if (order == OCTET_OIHW) {
      o = size(w[0]), i = size(w[1]), s->kernel_h = size(w[2]), s->kernel_w = size(w[3]);
    } else if (order == OCTET_HWIO) {
      s->kernel_h = size(w[0]), s->kernel_w = size(w[1]), i = size(w[2]), o = size(w[3]);
    } else {
      i = size(w[0]) / s->groups, o = size(w[1]) * s->groups;
      s->kernel_h = size(w[2]), s->kernel_w = size(w[3]);
    }
    s->out_channels = o;
    if (s->in_channels != i * s->groups)
      refuse("its input has ", s->in_channels, " channels, but its weights are for ",
             i * s->groups);
  }

  void pad(octet_conv2d_shape* s, const Window& w, bool turned, const Sizes& y) {
    octet_error error = {};
    if (w.padding != Padding::kExplicit) {
      const octet_padding padding = w.padding == Padding::kValid  ? OCTET_PADDING_VALID
                                    : w.padding == Padding::kSame ? OCTET_PADDING_SAME
                                                                  : OCTET_PADDING_SAME_LOWER;
      check(op_.transposed ? octet_conv2d_set_output_size(padding, y.h, y.w, s, &error)
                           : octet_conv2d_set_padding(padding, s, &error),
            error);
    } else {
      s->pad_top = w.top, s->pad_bottom = w.bottom, s->pad_left = w.left, s->pad_right = w.right;
      s->output_padding_h = op_.output_padding_h, s->output_padding_w = op_.output_padding_w;
      if (turned) std::swap(s->output_padding_h, s->output_padding_w);
    }
    size_t h = 0, width = 0;
    check(octet_conv2d_output_size(s, s->in_h_max, s->in_w_max, &h, &width, &error), error);
    if (y.batch != s->batch_max || y.h != h || y.w != width || y.channels != s->out_channels)
      refuse("its output is said to be ", y.batch, "x", y.h, "x", y.w, "x", y.channels,
             ", but it makes ", s->batch_max, "x", h, "x", width, "x", s->out_channels);
  }

  // An output line of a transposed convolution uses one line of the kernel at most if the input has
  // one line, whatever the stride. With a stride as long as the kernel no others are multiplied.
  static void spread(size_t in, size_t kernel, size_t dilation, size_t* stride) {
    if (in == 1 && dilation == 1 && kernel <= kPhases) *stride = std::max(*stride, kernel);
  }

  void convolution() {
    for (const int t : {x_, y_})
      if (tensor(t).shape.size() != 3 && tensor(t).shape.size() != 4)
        refuse(name(t), " is not of rank 3 or 4, as a convolution needs it");
    const Sizes x = sizes_of_convolution(g_, op_, x_), y = sizes_of_convolution(g_, op_, y_);
    octet_conv2d_shape& s = to_.conv.shape;
    s.batch_max = x.batch, s.in_h_max = x.h, s.in_w_max = x.w, s.in_channels = x.channels;
    read_filter(&s);
    n_ = s.out_channels;
    const auto [w, turned] = window_of_convolution(g_, op_);
    if (turned) std::swap(s.kernel_h, s.kernel_w);
    s.stride_h = w.stride_h, s.stride_w = w.stride_w;
    s.dilation_h = w.dilation_h, s.dilation_w = w.dilation_w, s.transposed = op_.transposed;
    pad(&s, w, turned, y);
    if (s.transposed) {
      spread(s.in_h_max, s.kernel_h, s.dilation_h, &s.stride_h);
      spread(s.in_w_max, s.kernel_w, s.dilation_w, &s.stride_w);
    }
    to_.filter.shape = s;
    to_.filter.order = op_.depthwise ? OCTET_HWIO : op_.order;
    set_weights(&to_.filter);
    if (!to_.by_rows || !is_of_rows(s)) return set_operands(&to_.conv);
    to_.is_convolution = false;
    multiply_rows(x.count() / s.in_channels, s.in_channels, op_.order == OCTET_HWIO);
  }

  // Whether pixels are rows of a matrix. A product takes less time to begin than a convolution.
  bool is_of_rows(const octet_conv2d_shape& s) const {
    return (s.kernel_h | s.kernel_w | s.stride_h | s.stride_w | s.groups) == 1 && !s.transposed &&
           !(op_.depthwise || s.pad_top || s.pad_bottom || s.pad_left || s.pad_right) &&
           tensor(x_).type != OCTET_S16 && is_8_bits(tensor(weights_).type);
  }

  void product() {
    const Sizes x = sizes_of(g_, x_, false), y = sizes_of(g_, y_, false);
    const size_t k = depth_of(g_, op_);
    n_ = size(tensor(weights_).shape[op_.weights_kn ? 1 : 0]);
    const size_t rows = x.count() / k;
    if (y.count() != rows * n_ || (y.channels != n_ && y.image() != n_))
      refuse("its output has ", y.count(), " elements, but it makes ", rows, " rows of ", n_);
    multiply_rows(rows, k, op_.weights_kn);
  }

  void multiply_rows(size_t rows, size_t k, bool kn) {
    to_.rhs.n = n_, to_.rhs.k = k;
    to_.rhs.order = kn ? OCTET_KN : OCTET_NK;
    set_weights(&to_.rhs);
    to_.gemm.m_max = rows, to_.gemm.n = n_, to_.gemm.k = k;
    set_operands(&to_.gemm);
  }

  // Matrices of the last two axes, as many as all others have; one of the rhs may do for all.
  void pair() {
    sizes_of(g_, x_, false), sizes_of(g_, weights_, false), sizes_of(g_, y_, false);
    const std::vector<int64_t>&x = tensor(x_).shape, &w = tensor(weights_).shape,
          &y = tensor(y_).shape;
    const size_t rank = x.size();
    if (rank < 2 || w.size() < 2 || y.size() != rank || w.size() > rank)
      refuse("its operands are no matrices, or its output has another rank than its input");
    const auto m = (size_t)x[rank - 2], k = (size_t)x[rank - 1];
    const int64_t rows = w[w.size() - 2], columns = w[w.size() - 1];
    n_ = (size_t)(op_.weights_kn ? columns : rows);
    if ((size_t)(op_.weights_kn ? rows : columns) != k)
      refuse("its input has rows of ", k, " elements, but ", name(weights_), " has ",
             op_.weights_kn ? rows : columns);
    std::vector<int64_t> made = x;
    made[rank - 1] = (int64_t)n_;
    if (y != made) refuse("its output has another shape than ", m, " x ", n_, " for each matrix");
    to_.rhs_matrices = element_count(tensor(weights_)) / (size_t)(rows * columns);
    const bool alike = w.size() == rank && std::equal(w.begin(), w.end() - 2, x.begin());
    if (to_.rhs_matrices != 1 && !alike)
      refuse(name(weights_), " has other matrices than its input; it would need broadcasting");
    if (tensor(weights_).scales.size() > 1)
      refuse(name(weights_), " has a scale for each channel, and is computed");
    read_weight_zeros();
    to_.gemm.m_max = m, to_.gemm.n = n_, to_.gemm.k = k;
    to_.gemm.rhs_order = op_.weights_kn ? OCTET_KN : OCTET_NK;
    set_operands(&to_.gemm);
  }

  void read_weight_zeros() {
    const std::vector<int32_t>& zeros = tensor(weights_).zero_points;
    for (const int32_t zero : zeros)
      if (zero != 0) to_.weight_zeros = zeros;
    if (to_.weight_zeros.size() > 1 && to_.weight_zeros.size() != n_)
      refuse("its weights have ", zeros.size(), " zero points, and it has ", n_, " channels");
  }

  template <typename Desc>
  void set_weights(Desc* d) {
    d->type = tensor(weights_).type, d->data = tensor(weights_).data;
    read_weight_zeros();
    if (to_.weight_zeros.empty()) return;
    d->zero_points = to_.weight_zeros.data(), d->zero_point_count = to_.weight_zeros.size();
  }

  template <typename Desc>
  void set_operands(Desc* d) const {
    d->lhs_type = tensor(x_).type, d->rhs_type = tensor(weights_).type;
    d->dst_type = tensor(y_).type, d->lhs_zero_point = zero_of(tensor(x_));
  }

  void add_bias() {
    const int b = input_of(op_, 2);
    if (b < 0) return;
    const Tensor& bias = tensor(b);
    if (!bias.constant) refuse("its bias ", name(b), " is computed; it needs a constant");
    const bool s16 = tensor(x_).type == OCTET_S16, wide = s16 && bias.int64;
    // Its kernels of 16x8 then add in 32 bits and round twice
    if (s16 && bias.type == OCTET_S32 && !op_.in_double)
      refuse("its bias ", name(b), " is of int32, and its input of 16 bits; it needs one of int64");
    if (bias.type != OCTET_S32 && !wide)
      refuse("its bias ", name(b), " is not of int32; quantize it");
    if (element_count(bias) != n_)
      refuse("its bias has ", element_count(bias), " values, and it has ", n_, " channels");
    if (g_.arithmetic == Arithmetic::kXnnpack) {
      // It takes the integers, whatever scales are said to be theirs.
      if (bias.scales.empty())
        refuse("its bias ", name(b),
               " has no scale: XNNPACK leaves it to LiteRT's own kernel, which rounds in a way of "
               "its own; it would need the scale of input times weights");
    } else if (!tflite_) {
      check_bias_scales(bias);
    }
    if (wide && bias.data) {
      if (bias.bytes < n_ * sizeof(int64_t)) refuse("its bias ", name(b), " has too few bytes");
      to_.bias_s64.resize(n_);
      std::memcpy(to_.bias_s64.data(), bias.data, n_ * sizeof(int64_t));
      to_.epilogue().bias_s64 = to_.bias_s64.data();
      return;
    }
    if (!bias.data) return;  // only a question
    to_.bias.resize(n_);
    std::memcpy(to_.bias.data(), bias.data, n_ * sizeof(int32_t));
    to_.epilogue().bias = to_.bias.data();
  }

  void check_bias_scales(const Tensor& bias) const {
    const std::vector<float>& scales = tensor(weights_).scales;
    for (size_t i = 0; i < bias.scales.size() && !scales.empty(); ++i) {
      const double wanted = (double)scale_of(tensor(x_)) * scales[i % scales.size()];
      if (std::fabs(bias.scales[i] / wanted - 1) > 0x1p-22)
        refuse("its bias has the scale ", bias.scales[i], ", not that of input times weights, ",
               wanted);
    }
  }

  // The scales of the weights, with which the accumulators leave.
  void rescale() {
    octet_epilogue& e = to_.epilogue();
    const octet_type dst = tensor(y_).type;
    if (dst == OCTET_S32) return;
    const std::vector<float>& weights = tensor(weights_).scales;
    if (weights.size() != 1 && weights.size() != n_)
      refuse("its weights have ", weights.size(), " scales, and it has ", n_, " channels");
    const Tensor& made = tensor(op_.between >= 0 ? op_.between : y_);
    if (dst != OCTET_F32 && made.scales.size() != 1)
      refuse(name(y_), " has ", made.scales.size(), " scales; it needs one");
    if (tflite_ && op_.in_double) {
      for (const float w : weights)
        to_.factors.push_back((double)scale_of(tensor(x_)) * (double)w / (double)scale_of(made));
      e.requant = OCTET_REQUANT_DOUBLE;
      e.factors = to_.factors.data(), e.factor_count = weights.size();
      return;
    }
    if (tflite_) {
      to_.multipliers.resize(weights.size()), to_.shifts.resize(weights.size());
      octet_error error = {};
      check(octet_tflite_multipliers(op_.kind == Kind::kConvolution ? OCTET_TFLITE_CONVOLUTION
                                                                    : OCTET_TFLITE_FULLY_CONNECTED,
                                     dst, scale_of(tensor(x_)), weights.data(), weights.size(),
                                     scale_of(made), to_.multipliers.data(), to_.shifts.data(),
                                     &error),
            error);
      // As TFLite's kernels do; a multiplier of 0 has no shift
      constexpr int32_t kLongestShift = 7;
      for (size_t i = 0; dst == OCTET_S16 && i < weights.size(); ++i)
        if (to_.multipliers[i] && to_.shifts[i] > kLongestShift)
          refuse("its output's scale is too small for 16 bits: it shifts by ", to_.shifts[i]);
      e.requant = OCTET_REQUANT_TFLITE;
      e.multipliers = to_.multipliers.data(), e.shifts = to_.shifts.data();
      e.multiplier_count = weights.size();
      return;
    }
    for (const float w : weights) {
      const float product = scale_of(tensor(x_)) * w;  // engines round it to float, too
      to_.scales.push_back(dst == OCTET_F32 ? product : product / scale_of(tensor(y_)));
    }
    e.scales = to_.scales.data(), e.scale_count = to_.scales.size();
  }

  // Zero point, activation and table.
  void end() {
    octet_epilogue& e = to_.epilogue();
    const Tensor& y = tensor(y_);
    if (!op_.table.empty() && is_8_bits(y.type)) e.lut = op_.table.data();
    if (is_8_bits(y.type) || y.type == OCTET_S16) {
      e.dst_zero_point = zero_of(y);
      const Bounds bounds = bounds_of(op_.clamp, y.type, scale_of(y), zero_of(y), g_.arithmetic);
      clamp(bounds, y.type, &e.activation, &e.clamp_min, &e.clamp_max);
    } else if (op_.clamp.activation != Activation::kNone) {
      if (y.type == OCTET_S32) refuse("its output of int32 has an activation");
      e.activation = OCTET_ACTIVATION_CLAMP;
      const Clamp& c = op_.clamp;
      e.clamp_min = c.activation == Activation::kClip        ? c.least
                    : c.activation == Activation::kReluN1To1 ? -1.f
                                                             : 0.f;
      e.clamp_max = c.activation == Activation::kClip        ? c.most
                    : c.activation == Activation::kRelu6     ? 6.f
                    : c.activation == Activation::kReluN1To1 ? 1.f
                                                             : INFINITY;
    }
  }

  // The filter tells its output, whose cost the choice of an algorithm counts.
  void tell_output() const {
    const octet_epilogue& e = to_.epilogue();
    const octet_type dst = to_.filter.dst_type = tensor(y_).type;
    if (is_8_bits(dst) || dst == OCTET_S16) to_.filter.requant = e.requant;
    to_.filter.has_residual = e.residual.type != 0, to_.filter.has_lut = e.lut != nullptr;
  }

  static void clamp(const Bounds& bounds, octet_type type, octet_activation* activation,
                    float* least, float* most) {
    const Bounds all = bounds_of_type(type);
    if (bounds.least == all.least && bounds.most == all.most) return;
    if (bounds.least > bounds.most) refuse("nothing is between the bounds of its activation");
    *activation = OCTET_ACTIVATION_CLAMP;
    *least = (float)bounds.least, *most = (float)bounds.most;
  }

  void add_residual() {
    const int r = input_of(op_, 3);
    if (r < 0) return;
    if (to_.is_pair) refuse("a product of two activations takes no residual");
    octet_epilogue& e = to_.epilogue();
    const Tensor &residual = tensor(r), &y = tensor(y_);
    if (residual.constant)
      refuse("its residual ", name(r), " is a constant; it needs one that is computed");
    if (!is_8_bits(residual.type) || !is_8_bits(y.type) || residual.scales.size() != 1)
      refuse("its residual ", name(r), " or its output is not of 8 bits with one scale");
    if (element_count(residual) != element_count(y))
      refuse("its residual ", name(r),
             " is of another shape than its output; it would need broadcasting");
    e.residual.type = residual.type, e.residual.zero_point = zero_of(residual);
    if (op_.between < 0) {
      e.residual.scale = scale_of(residual) / scale_of(y);
      return clamp_product_float(scale_of(y), &e);
    }
    if (!tflite_ || op_.in_double)
      refuse("only TFLite's arithmetic with Q31 multipliers adds a residual to a rounded product");
    const Tensor& product = tensor(op_.between);
    octet_error error = {};
    check(octet_tflite_add(scale_of(product), scale_of(residual), scale_of(y), &e.residual, &error),
          error);
    e.residual.intermediate_zero_point = zero_of(product);
    const Bounds bounds =
        bounds_of(op_.product_clamp, y.type, scale_of(product), zero_of(product), g_.arithmetic);
    clamp(bounds, y.type, &e.product_activation, &e.product_clamp_min, &e.product_clamp_max);
  }

  void clamp_product_float(float dst_scale, octet_epilogue* e) const {
    const Clamp& c = op_.product_clamp;
    e->dst_scale = dst_scale;
    switch (c.activation) {
      case Activation::kNone: break;
      case Activation::kRelu: e->product_activation = OCTET_ACTIVATION_RELU; break;
      case Activation::kRelu6: e->product_activation = OCTET_ACTIVATION_RELU6; break;
      case Activation::kReluN1To1: e->product_activation = OCTET_ACTIVATION_RELU_N1_TO_1; break;
      case Activation::kClip:
        e->product_activation = OCTET_ACTIVATION_CLAMP;
        e->product_clamp_min = c.least / dst_scale, e->product_clamp_max = c.most / dst_scale;
    }
  }

  const Graph& g_;
  const Op& op_;
  ProductDescription& to_;
  const bool tflite_;
  int x_ = -1, weights_ = -1, y_ = -1;
  size_t n_ = 0;
};

}  // namespace

void describe_product(const Graph& graph, const Op& op, ProductDescription* to) {
  Describer(graph, op, to).describe();
}

}  // namespace octet::graph
