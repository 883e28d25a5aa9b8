// SPDX-License-Identifier: Apache-2.0
// Fills in what operators have in common: quantization, windows, weights and shapes of outputs.
#include "engines/onnxruntime/node.h"

#include <algorithm>
#include <cmath>

namespace octet::onnxruntime {

using graph::Kind;
using graph::Padding;

namespace {

constexpr float kLargestScale = 281474976710656.f;  // 2^48

bool all_equal(const std::vector<int32_t>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

// The output size of a window along one axis.
// ceil: without a window that would begin behind the image and the pads before it.
int64_t windows(int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int64_t before,
                int64_t after, const graph::Window& w) {
  const Padding padding = w.padding;
  if (padding == Padding::kSame || padding == Padding::kSameLower)
    return (in + stride - 1) / stride;
  const int64_t reach = dilation * (kernel - 1) + 1;
  const int64_t free = in + before + after - reach;
  if (free < 0) return 0;
  const int64_t whole = free / stride + 1;
  return w.ceil && free % stride && whole * stride < in + before ? whole + 1 : whole;
}

// The last two sizes of a shape of N, C, ... after a window.
Shape slide(Shape x, const graph::Window& w, int64_t kernel_h, int64_t kernel_w) {
  const auto n = [](size_t value) { return (int64_t)value; };
  const size_t rank = x.size();
  x[rank - 1] =
      windows(x[rank - 1], kernel_w, n(w.stride_w), n(w.dilation_w), n(w.left), n(w.right), w);
  if (rank == 4)
    x[2] = windows(x[2], kernel_h, n(w.stride_h), n(w.dilation_h), n(w.top), n(w.bottom), w);
  return x;
}

int64_t unpool(int64_t in, int64_t kernel, size_t stride, size_t dilation, size_t pads,
               size_t output_padding) {
  return (in - 1) * (int64_t)stride + (int64_t)dilation * (kernel - 1) + 1 +
         (int64_t)output_padding - (int64_t)pads;
}

}  // namespace

// ---- quantization

void Form::quantize(int t, size_t scale, size_t zero_point, int axis) const {
  const std::vector<float> scales = floats(scale);
  if (scales.empty()) return refuse("a scale is no constant of f32; it needs one");
  const std::vector<int64_t> zeros = integers(zero_point);
  if (input(zero_point) >= 0 && zeros.empty())
    return refuse("a zero point is no constant; it needs one");
  set_scales(t, scales, {zeros.begin(), zeros.end()}, axis);
}

void Form::set_zero_point(int t, size_t zero_point, int axis) const {
  const std::vector<int64_t> zeros = integers(zero_point);
  if (input(zero_point) >= 0 && zeros.empty())
    return refuse("a zero point is no constant; it needs one");
  if (t < 0) return refuse("one of its inputs is left out");
  graph::Tensor& to = tensor(t);
  if (zeros.size() > 1)
    return set_scales(t, std::vector<float>(zeros.size(), 1.f), {zeros.begin(), zeros.end()}, axis);
  const std::vector<int32_t> zero = {zeros.empty() ? 0 : (int32_t)zeros[0]};
  if (to.zero_points.empty())
    to.zero_points = zero;
  else if (to.zero_points != zero)
    refuse("tensor '" + to.name + "' has another zero point elsewhere");
}

void Form::set_scales(int t, const std::vector<float>& scales, const std::vector<int32_t>& given,
                      int axis) const {
  if (t < 0) return refuse("one of its inputs is left out");
  graph::Tensor& to = tensor(t);
  std::vector<int32_t> zeros = given;
  if (zeros.empty()) zeros = {0};
  if (zeros.size() != scales.size() && zeros.size() != 1 && scales.size() != 1)
    return refuse("a tensor has other numbers of scales and of zero points");
  if (zeros.size() < scales.size()) zeros.resize(scales.size(), zeros[0]);
  std::vector<float> all = scales;
  if (all.size() < zeros.size()) all.resize(zeros.size(), all[0]);
  for (const float scale : all)
    if (!(scale > 0) || scale > kLargestScale)
      return refuse("a scale is not above 0 and at most 2^48");
  if (to.type == OCTET_S32 && std::any_of(zeros.begin(), zeros.end(), [](int z) { return z; }))
    return refuse("a tensor of int32 has another zero point than 0");
  const int last = (int)to.shape.size();
  if (all.size() > 1 && (axis < 0 || axis >= last || to.shape[(size_t)axis] != (int64_t)all.size()))
    return refuse("a tensor has " + std::to_string(all.size()) +
                  " scales or zero points, which do not belong to its channels");
  if (all_equal(zeros)) zeros.resize(1);
  if (to.type == OCTET_S32) zeros.clear();
  const bool same_zeros = to.zero_points.empty() || to.zero_points == zeros;
  if (to.scales.empty() && same_zeros) {
    to.scales = all, to.zero_points = zeros;
  } else if (to.scales != all || !same_zeros) {
    refuse("tensor '" + to.name + "' has another scale or zero point elsewhere");
  }
}

// ---- windows

void Form::read_window() const {
  graph::Window& w = op().window;
  const auto pick = [&](const char* attribute, size_t* h, size_t* width) {
    std::vector<int64_t> values = node_.integers(attribute);
    if (values.empty()) return;
    if (values.size() == 1) values.insert(values.begin(), 1);
    if (values.size() != 2 || std::min(values[0], values[1]) <= 0 ||
        std::max(values[0], values[1]) > kFarthest)
      return refuse(std::string("its ") + attribute + " are not 1 to 2^31 of one or two axes");
    *h = (size_t)values[0], *width = (size_t)values[1];
  };
  pick("kernel_shape", &w.kernel_h, &w.kernel_w);
  pick("strides", &w.stride_h, &w.stride_w);
  pick("dilations", &w.dilation_h, &w.dilation_w);
  const std::string padding = node_.text("auto_pad");
  if (padding == "SAME_UPPER") {
    w.padding = Padding::kSame;
  } else if (padding == "SAME_LOWER") {
    w.padding = Padding::kSameLower;
  } else if (padding == "VALID") {
    w.padding = Padding::kValid;
  } else {
    std::vector<int64_t> pads = node_.integers("pads");
    if (pads.size() == 2) pads = {0, pads[0], 0, pads[1]};
    if (pads.empty()) pads = {0, 0, 0, 0};
    if (pads.size() != 4 || *std::min_element(pads.begin(), pads.end()) < 0 ||
        *std::max_element(pads.begin(), pads.end()) > kFarthest)
      return refuse("its pads are not 0 to 2^31 of one or two axes");
    w.top = (size_t)pads[0], w.left = (size_t)pads[1];
    w.bottom = (size_t)pads[2], w.right = (size_t)pads[3];
  }
}

void Form::convolve(int x, int weights, int bias) const {
  if (weights < 0) return refuse("it has no weights");
  read_window();
  const int64_t groups = node_.integer("group", 1);
  if (groups <= 0) return refuse("it has no groups");
  op().groups = (size_t)groups;
  op().order = op().transposed ? OCTET_IOHW : OCTET_OIHW;
  const Shape w = tensor(weights).shape;
  if (w.size() != 3 && w.size() != 4) return refuse("its weights are not of rank 3 or 4");
  take(Kind::kConvolution, {x, weights, bias});
  const graph::Op o = op();
  rule([o, w](const std::vector<Shape>& inputs) {
    Shape x = inputs[0];
    if (x.size() != w.size()) return Shape();
    const int64_t kernel_h = w.size() == 4 ? w[2] : 1, kernel_w = w.back();
    if (!o.transposed) {
      x = slide(x, o.window, kernel_h, kernel_w);
      x[1] = w[0];
      return x;
    }
    const graph::Window& d = o.window;
    x[1] = w[1] * (int64_t)o.groups;
    x.back() =
        unpool(x.back(), kernel_w, d.stride_w, d.dilation_w, d.left + d.right, o.output_padding_w);
    if (x.size() == 4)
      x[2] = unpool(x[2], kernel_h, d.stride_h, d.dilation_h, d.top + d.bottom, o.output_padding_h);
    return x;
  });
}

void Form::multiply(int x, int weights, int bias, bool weights_kn) const {
  if (weights < 0) return refuse("it has no second operand");
  const bool constant = tensor(weights).constant;
  if (constant && tensor(weights).shape.size() != 2)
    return refuse("its second operand is a constant, but no matrix");
  op().weights_kn = weights_kn;
  take(Kind::kProduct, {x, weights, bias});
  if (!constant)  // a matrix, or one for each of x
    return rule([weights_kn](const std::vector<Shape>& inputs) {
      Shape x = inputs[0];
      const Shape& w = inputs[1];
      if (x.empty() || w.size() < 2) return Shape();
      x.back() = w[w.size() - (weights_kn ? 1 : 2)];
      return x;
    });
  const Shape w = tensor(weights).shape;
  rule([w, weights_kn](const std::vector<Shape>& inputs) {
    Shape x = inputs[0];
    if (x.empty() || w.size() != 2) return Shape();
    x.back() = w[weights_kn ? 1 : 0];
    return x;
  });
}

void Form::pool(Kind kind) const {
  read_window();
  if (node_.integer("channels_last", 0)) return refuse("its channels are last");
  if (node_.integers("kernel_shape").empty()) return refuse("it has no window");
  op().count_pads = node_.integer("count_include_pad", 0) != 0;
  take(kind, {input(0)});
  op().window.ceil = node_.integer("ceil_mode", 0) != 0;
  // ONNX Runtime's versions count such windows' pads in different ways
  if (op().window.ceil && op().count_pads) return refuse("it counts pads, and rounds its size up");
  const graph::Window w = op().window;
  rule([w](const std::vector<Shape>& inputs) {
    if (inputs[0].size() != 3 && inputs[0].size() != 4) return Shape();
    return slide(inputs[0], w, (int64_t)w.kernel_h, (int64_t)w.kernel_w);
  });
}

void Form::average_all() const {
  if (node_.integer("channels_last", 0)) return refuse("its channels are last");
  take(Kind::kMean, {input(0)});
  rule([](const std::vector<Shape>& inputs) {
    Shape x = inputs[0];
    for (size_t i = 2; i < x.size(); ++i) x[i] = 1;
    return x;
  });
}

int Form::read_axis(int of, int64_t usual) const {
  const int64_t axis = node_.integer("axis", usual),
                rank = of < 0 ? 0 : (int64_t)tensor(of).shape.size();
  if (axis < -rank || axis >= rank) refuse("it has no axis " + std::to_string(axis));
  return (int)axis;
}

void Form::concatenate(std::vector<int> inputs) const {
  const int axis = read_axis(inputs.empty() ? -1 : inputs[0], 1);
  op().axis = axis;
  take(Kind::kConcatenate, std::move(inputs));
  rule([axis](const std::vector<Shape>& inputs) {
    Shape all = inputs[0];
    const size_t at = (size_t)(axis < 0 ? axis + (int)all.size() : axis);
    for (size_t i = 1; i < inputs.size(); ++i) {
      if (at >= all.size() || inputs[i].size() != all.size()) return Shape();
      all[at] += inputs[i][at];
    }
    return all;
  });
}

}  // namespace octet::onnxruntime
