// SPDX-License-Identifier: Apache-2.0
// Describes the functions that look at windows, images or places.
#include "engines/graph/image_functions.h"

#include <algorithm>
#include <cmath>

#include "engines/graph/check.h"
#include "engines/graph/refused.h"
#include "octet/image_functions.h"

namespace octet::graph {
namespace {

octet_image_size image_size(const Sizes& s) { return {s.h, s.w, s.channels}; }

class Maker {
 public:
  Maker(const Graph& g, const Op& op)
      : g_(g),
        op_(op),
        x_(g.tensors[(size_t)op.inputs[0]]),
        y_(g.tensors[(size_t)op.outputs[0]]),
        moved_(g.channels_first && op.kind != Kind::kSoftmax),
        in_(sizes_of(g, op.inputs[0], moved_)),
        out_(sizes_of(g, op.outputs[0], moved_)) {
    if (in_.batch != out_.batch) refuse("its output has other images than its input");
  }

  octet_function* make() {
    switch (op_.kind) {
      case Kind::kMaxPool: return max_pool();
      case Kind::kAveragePool: return average_pool();
      case Kind::kMean: return mean();
      case Kind::kPad: return pad();
      case Kind::kSlice: return slice();
      case Kind::kResizeNearest:
      case Kind::kResizeBilinear: return resize();
      default: return softmax();
    }
  }

 private:
  template <typename Desc>
  octet_function* create(const Desc& desc,
                         octet_status (*with)(const Desc*, octet_function**, octet_error*)) const {
    octet_function* function = nullptr;
    octet_error error = {};
    check(with(&desc, &function, &error), error);
    return function;
  }

  void need_type() const {
    if (!is_8_or_16_bits(x_.type) || x_.type != y_.type)
      refuse("its tensors are not of 8 or 16 bits, or of different types");
  }
  void need_channels() const {
    if (in_.channels != out_.channels) refuse("its output has other channels than its input");
  }
  void need_alike() const {
    if (!same_quantization(x_, y_)) refuse("its input and its output are quantized differently");
  }
  octet_quantized quantized(const Tensor& t) const {
    if (t.scales.size() != 1)
      refuse("tensor '", t.name, "' has ", t.scales.size(), " scales, not 1");
    return {stored_type(t), scale_of(t), stored_zero(t)};
  }
  octet_image_input input() const {
    octet_image_input input = {};
    input.size = image_size(in_);
    input.values = {stored_type(x_), scale_of(x_), stored_zero(x_)};
    return input;
  }
  template <typename Desc>
  void bound(Desc* d) const {
    const Arithmetic arithmetic =
        op_.kind == Kind::kMaxPool ? g_.arithmetic : without_xnnpack(g_.arithmetic);
    const Bounds b = bounds_of_descriptor(
        stored_bounds(bounds_of(op_.clamp, y_.type, scale_of(y_), zero_of(y_), arithmetic), y_),
        stored_type(y_));
    d->least = b.least, d->most = b.most;
  }

  // ---- windows

  struct Pads {
    size_t before, after;
  };
  Pads pads(size_t in, size_t out, size_t kernel, size_t stride, Pads given) const {
    if (stride == 0 || kernel == 0) refuse("its stride or its window is 0");
    constexpr size_t kMost = 1 << 15;
    if (stride > kMost || kernel > kMost) refuse("its windows are larger than ", kMost);
    const size_t reach = (out - 1) * stride + kernel;
    const size_t total = reach > in ? reach - in : 0;
    const Padding p = op_.window.padding;
    size_t before = p == Padding::kExplicit    ? given.before
                    : p == Padding::kSame      ? total / 2
                    : p == Padding::kSameLower ? total - total / 2
                                               : 0;
    const size_t after = total > before ? total - before : 0;
    const bool reaches = op_.window.ceil && (out - 1) * stride < in + before;
    const size_t most = given.after + (reaches ? stride - 1 : 0);
    const bool fits = p == Padding::kExplicit ? after <= most : p != Padding::kValid || after == 0;
    if (!fits || before >= kernel || in + before + after < kernel ||
        (in + before + after - kernel) / stride + 1 != out)
      refuse("its windows do not fit its tensors");
    return {before, after};
  }
  octet_window window() const {
    const Window& w = op_.window;
    if (w.dilation_h != 1 || w.dilation_w != 1) refuse("it would need a dilated pooling");
    const Pads h = pads(in_.h, out_.h, w.kernel_h, w.stride_h, {w.top, w.bottom});
    const Pads v = pads(in_.w, out_.w, w.kernel_w, w.stride_w, {w.left, w.right});
    return {w.kernel_h, w.kernel_w, w.stride_h, w.stride_w, h.before, v.before, h.after, v.after};
  }

  octet_function* max_pool() const {
    need_type(), need_channels(), need_alike();
    octet_max_pool_desc d = OCTET_MAX_POOL_DESC_INIT;
    d.input = input(), d.window = window();
    bound(&d);
    return create(d, octet_max_pool_create);
  }

  octet_function* average_pool() const {
    need_type(), need_channels();
    octet_average_pool_desc d = OCTET_AVERAGE_POOL_DESC_INIT;
    d.window = window(), d.arithmetic = arithmetic_of(g_, op_);
    const bool whole = in_.h == d.window.kernel_h && in_.w == d.window.kernel_w &&
                       out_.h * out_.w == 1 && d.window.pad_top + d.window.pad_left == 0;
    // ONNX Runtime replaces an average of whole images by QLinearGlobalAveragePool.
    if (whole && d.arithmetic == OCTET_ARITHMETIC_ONNXRUNTIME) return mean();
    d.input = input(), d.output = quantized(y_), d.count_include_pad = op_.count_pads;
    bound(&d);
    return create(d, octet_average_pool_create);
  }

  octet_function* mean() const {
    need_type(), need_channels();
    if (out_.h * out_.w != 1) refuse("its output has more than one pixel for each image");
    quantized(x_);
    if (arithmetic_of(g_, op_) == OCTET_ARITHMETIC_STANDARD) return average_of_image();
    octet_mean_desc d = OCTET_MEAN_DESC_INIT;
    d.input = input(), d.output = quantized(y_), d.arithmetic = arithmetic_of(g_, op_);
    bound(&d);
    return create(d, octet_mean_create);
  }

  // The standard's mean is its average pool, with a window of the whole image.
  octet_function* average_of_image() const {
    octet_average_pool_desc d = OCTET_AVERAGE_POOL_DESC_INIT;
    d.window = {in_.h, in_.w, 1, 1, 0, 0, 0, 0};
    d.input = input(), d.output = quantized(y_), d.arithmetic = OCTET_ARITHMETIC_STANDARD;
    bound(&d);
    return create(d, octet_average_pool_create);
  }

  // ---- places

  octet_function* pad() const {
    need_type(), need_alike(), need_channels();
    const Window& w = op_.window;
    if (out_.h < in_.h || out_.w < in_.w || w.top > out_.h - in_.h ||
        out_.h - in_.h - w.top != w.bottom || w.left > out_.w - in_.w ||
        out_.w - in_.w - w.left != w.right)
      refuse("its output is not its input with ", w.top, " and ", w.bottom, " lines and ", w.left,
             " and ", w.right, " columns more");
    octet_pad_desc d = OCTET_PAD_DESC_INIT;
    d.input = input(), d.before = {w.top, w.left, 0}, d.after = {w.bottom, w.right, 0};
    d.value = stored_zero(x_);
    return create(d, octet_pad_create);
  }

  octet_function* slice() const {
    slice_sizes(g_, op_);
    std::vector<int64_t> begins = op_.begins;
    const size_t rank = begins.size();
    if (rank < 2 || rank > 4) refuse("its input has ", rank, " axes; it would need 2 to 4 of them");
    if (moved_) move_channels(&begins);
    octet_slice_desc d = OCTET_SLICE_DESC_INIT;
    d.input = input(), d.size = image_size(out_);
    d.first.channels = (size_t)begins[rank - 1];
    if (rank > 2) d.first.w = (size_t)begins[rank - 2];
    if (rank > 3) d.first.h = (size_t)begins[1];
    return create(d, octet_slice_create);
  }

  octet_function* resize() const {
    need_type(), need_channels();
    octet_resize_desc d = OCTET_RESIZE_DESC_INIT;
    d.input = input(), d.out_h = out_.h, d.out_w = out_.w;
    d.coordinates = op_.coordinates, d.arithmetic = arithmetic_of(g_, op_);
    if (op_.kind == Kind::kResizeNearest) {
      need_alike();
      d.interpolation = OCTET_INTERPOLATION_NEAREST, d.nearest = op_.nearest;
      return create(d, octet_resize_create);
    }
    d.interpolation = OCTET_INTERPOLATION_BILINEAR;
    if (d.arithmetic == OCTET_ARITHMETIC_STANDARD)
      quantized(x_), d.output = quantized(y_);
    else
      need_alike();
    return create(d, octet_resize_create);
  }

  octet_function* softmax() const {
    const bool same = y_.type == x_.type && is_8_or_16_bits(x_.type),
               to_floats = y_.type == OCTET_F32 && is_8_bits(x_.type);
    if (!same && !to_floats)
      refuse("it is not from 8 or 16 bits to the same type, nor from 8 bits to f32");
    octet_softmax_desc d = OCTET_SOFTMAX_DESC_INIT;
    quantized(x_);
    d.input = input(), d.beta = op_.beta;
    d.output.type = y_.type, d.arithmetic = arithmetic_of(g_);
    if (y_.type != OCTET_F32) d.output = quantized(y_);
    if (op_.clamp.activation != Activation::kNone)
      refuse("it would need an activation of a softmax's results");
    return create(d, octet_softmax_create);
  }

  const Graph& g_;
  const Op& op_;
  const Tensor &x_, &y_;
  const bool moved_;
  const Sizes in_, out_;
};

Function transposed(const Tensor& x, const Tensor& y, const std::vector<int64_t>& permutation) {
  const size_t rank = x.shape.size();
  std::vector<char> seen(rank);
  bool fits = permutation.size() == rank && y.shape.size() == rank && rank > 0;
  for (size_t i = 0; fits && i < rank; ++i) {
    const int64_t axis = permutation[i];
    fits = axis >= 0 && (size_t)axis < rank && !seen[(size_t)axis] &&
           y.shape[i] == x.shape[(size_t)axis];
    if (fits) seen[(size_t)axis] = 1;
  }
  if (!fits) refuse("its permutation does not lead from its input's shape to its output's");
  const bool of_images = rank > 1 && permutation[0] == 0;
  std::vector<size_t> shape(x.shape.begin(), x.shape.end());
  if (of_images) shape[0] = 1;  // of each image
  const bool all_images = !of_images && rank > 1 && x.shape[0] != 1;
  return permute_function(type_bytes(x.type), shape, {permutation.begin(), permutation.end()},
                          all_images);
}

// A slice of any axes, the images' too.
Function cut(const Graph& g, const Op& op) {
  const std::vector<int64_t>&sizes = slice_sizes(g, op),
        &shape = g.tensors[(size_t)op.inputs[0]].shape;
  if (shape.size() < 2) refuse("its input is a vector; it would need a matrix");
  return cut_function(type_bytes(g.tensors[(size_t)op.inputs[0]].type),
                      {shape.begin(), shape.end()}, {op.begins.begin(), op.begins.end()},
                      {sizes.begin(), sizes.end()});
}

// ---- means in f32

struct PlaneMean {
  float values[256];  // of each byte
  size_t pixels;      // of a plane
  float scale;        // of the output
  int32_t zero_point;
  Bounds bounds;
};

// Eigen adds the f32 pixels of a plane by vectors of kLanes, two at a time, from the first pixel on
// whose address is a multiple of a vector; pixels before and behind follow one by one. ONNX Runtime
// lays the tensor at such a multiple, so that the plane's place tells the rest.
constexpr size_t kLanes = 4;

float sum_of_plane(const PlaneMean& mean, const uint8_t* plane, size_t place) {
  const auto value = [&](size_t i) { return mean.values[plane[i]]; };
  const size_t count = mean.pixels;
  const size_t head = std::min(count, (kLanes - place % kLanes) % kLanes);
  const size_t end = head + (count - head) / kLanes * kLanes;
  float lanes[2][kLanes] = {};
  const size_t pairs = head + (end - head) / (2 * kLanes) * (2 * kLanes);
  for (size_t i = head; i < pairs; i += 2 * kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane)
      lanes[0][lane] += value(i + lane), lanes[1][lane] += value(i + kLanes + lane);
  for (size_t lane = 0; lane < kLanes; ++lane) {
    lanes[0][lane] += lanes[1][lane];
    if (pairs < end) lanes[0][lane] += value(pairs + lane);
  }
  float sum = (lanes[0][0] + lanes[0][2]) + (lanes[0][1] + lanes[0][3]);
  for (size_t i = 0; i < head; ++i) sum += value(i);
  for (size_t i = end; i < count; ++i) sum += value(i);
  return sum;
}

void mean_lines(void* context, const octet_network_call* call) {
  const PlaneMean& mean = *(const PlaneMean*)context;
  const auto* const from = (const uint8_t*)octet_network_line(&call->inputs[0], 0);
  const auto least = (float)(mean.bounds.least - mean.zero_point);
  const auto most = (float)(mean.bounds.most - mean.zero_point);
  for (size_t y = call->first; y < call->end; ++y) {
    const size_t place = y * mean.pixels;
    const float average = sum_of_plane(mean, from + place, place) / (float)mean.pixels;
    const float steps = std::nearbyint(std::clamp(average / mean.scale, least, most));
    *(uint8_t*)octet_network_line(&call->output, y) = (uint8_t)((int32_t)steps + mean.zero_point);
  }
}

}  // namespace

octet_arithmetic arithmetic_of(const Graph& g, const Op& op) {
  const Tensor& y = g.tensors[(size_t)op.outputs[0]];
  if (g.arithmetic == Arithmetic::kOnnxruntime && is_8_bits(y.type)) {
    if (op.kind == Kind::kResizeBilinear && op.in_floats) return OCTET_ARITHMETIC_STANDARD;
    if (op.kind == Kind::kSubtract) return OCTET_ARITHMETIC_STANDARD;  // it has no QLinearSub
    const Bounds b = bounds_of(op.clamp, y.type, scale_of(y), zero_of(y), g.arithmetic);
    const Bounds all = bounds_of_type(y.type);
    if (b.least != all.least || b.most != all.most) return OCTET_ARITHMETIC_STANDARD;
    for (const int t : op.inputs)
      if (g.tensors[(size_t)t].type != y.type) return OCTET_ARITHMETIC_STANDARD;
  }
  return arithmetic_of(g);
}

octet_arithmetic arithmetic_of(const Graph& g) {
  switch (g.arithmetic) {
    case Arithmetic::kTflite: return OCTET_ARITHMETIC_TFLITE;
    case Arithmetic::kXnnpack: return OCTET_ARITHMETIC_XNNPACK;
    case Arithmetic::kOnnxruntime: return OCTET_ARITHMETIC_ONNXRUNTIME;
    default: return OCTET_ARITHMETIC_STANDARD;
  }
}

bool is_image_function(Kind kind) {
  switch (kind) {
    case Kind::kMaxPool:
    case Kind::kAveragePool:
    case Kind::kMean:
    case Kind::kPad:
    case Kind::kSlice:
    case Kind::kResizeNearest:
    case Kind::kResizeBilinear:
    case Kind::kSoftmax: return true;
    default: return false;
  }
}

bool is_move(Kind kind) {
  return kind == Kind::kTranspose || kind == Kind::kDepthToSpace || kind == Kind::kSpaceToDepth;
}

bool takes_images(const Graph& g, const Op& op) {
  if (op.kind != Kind::kSlice || op.inputs.size() != 1 || op.outputs.size() != 1) return false;
  const Tensor &x = g.tensors[(size_t)op.inputs[0]], &y = g.tensors[(size_t)op.outputs[0]];
  if (!op.sizes.empty()) return true;  // the output's axes are others
  return !x.shape.empty() && !y.shape.empty() && x.shape[0] != y.shape[0];
}

Function make_move(const Graph& g, const Op& op) {
  if (op.inputs.size() != 1) refuse("it has ", op.inputs.size(), " inputs, not 1");
  if (op.kind == Kind::kSlice) return cut(g, op);
  const Tensor &x = g.tensors[(size_t)op.inputs[0]], &y = g.tensors[(size_t)op.outputs[0]];
  if (x.type == 0 || !same_quantization(x, y))
    refuse("its input and its output are of different types, or quantized differently");
  if (op.kind == Kind::kTranspose) return transposed(x, y, op.permutation);
  Sizes in = sizes_of(g, op.inputs[0], g.channels_first),
        out = sizes_of(g, op.outputs[0], g.channels_first);
  const bool to_depth = op.kind == Kind::kSpaceToDepth;
  if (to_depth) std::swap(in, out);
  constexpr size_t kMost = 1 << 14;  // leaves no size_t, and is a function's
  if (op.block == 0 || op.block > kMost || out.h != in.h * op.block || out.w != in.w * op.block ||
      out.channels * op.block * op.block != in.channels || in.batch != out.batch)
    refuse("its output is not its input with blocks of ", op.block, " pixels");
  if (to_depth) return space_to_depth_function(type_bytes(x.type), op.block);
  return depth_to_space_function(type_bytes(x.type), op.block, op.pixels_together);
}

bool is_mean_of_planes(const Graph& g, const Op& op) {
  return op.kind == Kind::kMean && op.in_floats && g.arithmetic == Arithmetic::kOnnxruntime &&
         g.channels_first;
}

Function make_mean_of_planes(const Graph& g, const Op& op) {
  if (op.inputs.size() != 1) refuse("it has ", op.inputs.size(), " inputs, not 1");
  const Tensor &x = g.tensors[(size_t)op.inputs[0]], &y = g.tensors[(size_t)op.outputs[0]];
  for (const Tensor* const t : {&x, &y})
    if (!is_8_bits(t->type) || t->scales.size() != 1)
      refuse("tensor '", t->name, "' is not of 8 bits with one scale");
  const Sizes in = sizes_of(g, op.inputs[0], true), out = sizes_of(g, op.outputs[0], true);
  if (x.shape.size() < 3 || out.h * out.w != 1 || in.batch != out.batch ||
      in.channels != out.channels)
    refuse("its output is not one pixel for each image of its input");
  PlaneMean mean = {};
  for (int i = 0; i < 256; ++i)
    mean.values[i] =
        (float)((x.type == OCTET_S8 ? (int32_t)(int8_t)i : i) - zero_of(x)) * scale_of(x);
  mean.pixels = in.h * in.w, mean.scale = scale_of(y), mean.zero_point = zero_of(y);
  mean.bounds = bounds_of(op.clamp, y.type, mean.scale, mean.zero_point, g.arithmetic);
  // Where each image begins at a whole vector its planes lie as those of the first image do.
  return function_of(mean, mean_lines, reach(in.batch > 1 && in.image() % kLanes != 0));
}

octet_function* make_image_function(const Graph& graph, const Op& op) {
  if (op.inputs.size() != 1) refuse("it has ", op.inputs.size(), " inputs, not 1");
  return Maker(graph, op).make();
}

}  // namespace octet::graph
