// SPDX-License-Identifier: Apache-2.0
// Computes images' sizes from shapes, and the bytes at which activations end.
#include "engines/graph/sizes.h"

#include <algorithm>
#include <cmath>

#include "engines/graph/check.h"
#include "engines/graph/refused.h"

namespace octet::graph {

Sizes sizes_of(const Graph& g, int tensor, bool moved) { return sizes_of(g, tensor, moved, 0); }

Sizes sizes_of(const Graph& g, int tensor, bool moved, size_t rank) {
  const Tensor& t = g.tensors[(size_t)tensor];
  if (!known_sizes(t)) refuse("the sizes of ", tensor_name(g, tensor), " are not known");
  if (element_count(t) == 0) refuse(tensor_name(g, tensor), " has no elements");
  std::vector<size_t> shape(t.shape.begin(), t.shape.end());
  if (shape.size() < rank) shape.insert(shape.begin(), rank - shape.size(), 1);
  if (moved) move_channels(&shape);
  Sizes s;
  if (!shape.empty()) s.channels = shape.back();
  if (shape.size() > 1) s.batch = shape[0];
  if (shape.size() > 2) s.w = shape[shape.size() - 2];
  for (size_t i = 1; i + 2 < shape.size(); ++i) s.h *= shape[i];
  return s;
}

namespace {

bool is_of_columns(const Graph& g, const Op& op) {
  const int weights = input_of(op, 1);
  if (weights < 0 || g.tensors[(size_t)weights].shape.size() != 4) return false;
  const std::vector<int64_t>& kernel = g.tensors[(size_t)weights].shape;
  const size_t width = op.depthwise                                       ? 2
                       : op.order == OCTET_OIHW || op.order == OCTET_IOHW ? 3
                       : op.order == OCTET_HWIO                           ? 1
                                                                          : 2;
  const Sizes x = sizes_of(g, op.inputs[0], g.channels_first),
              y = sizes_of(g, op.outputs[0], g.channels_first);
  return kernel[width] == 1 && x.w == 1 && y.w == 1 &&
         (op.window.left | op.window.right | op.output_padding_w) == 0;
}

}  // namespace

Sizes sizes_of_convolution(const Graph& g, const Op& op, int tensor) {
  Sizes s = sizes_of(g, tensor, g.channels_first);
  if (is_of_columns(g, op)) std::swap(s.h, s.w);
  return s;
}

std::pair<Window, bool> window_of_convolution(const Graph& g, const Op& op) {
  Window w = op.window;
  if (!is_of_columns(g, op)) return {w, false};
  std::swap(w.stride_h, w.stride_w), std::swap(w.dilation_h, w.dilation_w);
  std::swap(w.top, w.left), std::swap(w.bottom, w.right);
  return {w, true};
}

Sizes sizes_from_axis(const Graph& g, int tensor, bool moved, size_t axis) {
  std::vector<int64_t> shape = g.tensors[(size_t)tensor].shape;
  Sizes s = sizes_of(g, tensor, moved);
  if (axis + 1 == shape.size()) return s;
  if (moved) move_channels(&shape);
  s = {};
  if (axis > 0) s.batch = (size_t)shape[0];
  for (size_t i = 1; i < axis; ++i) s.w *= (size_t)shape[i];
  for (size_t i = axis; i < shape.size(); ++i) s.channels *= (size_t)shape[i];
  return s;
}

Sizes sizes_of_joined(const Graph& g, const Op& op, size_t k, bool moved, size_t axis) {
  const bool lacks = lacks_axis(g, op, k);
  const int t = lacks ? op.outputs[0] : op.inputs[k];
  Sizes s = axis == 0 ? sizes_of(g, t, moved) : sizes_from_axis(g, t, moved, axis);
  if (lacks) (axis == 0 ? s.batch : s.channels) /= op.inputs.size();
  return s;
}

const std::vector<int64_t>& slice_sizes(const Graph& g, const Op& slice) {
  const Tensor &x = g.tensors[(size_t)slice.inputs[0]], &y = g.tensors[(size_t)slice.outputs[0]];
  const size_t rank = x.shape.size();
  const std::vector<int64_t>&begins = slice.begins,
        &sizes = slice.sizes.empty() ? y.shape : slice.sizes;
  if (x.type == 0 || !same_quantization(x, y))
    refuse("its input and its output are of different types, or quantized differently");
  if (begins.size() != rank)
    refuse("it has ", begins.size(), " beginnings, its input ", rank, " axes");
  if (sizes.size() != rank)
    refuse("its input and its output differ in rank: ", rank, " and ", sizes.size(), " axes");
  int64_t count = 1;
  for (size_t i = 0; i < rank; ++i) {
    if (begins[i] < 0 || begins[i] > x.shape[i] || sizes[i] < 0 ||
        sizes[i] > x.shape[i] - begins[i])
      refuse("it ends behind its input along axis ", i);
    count *= sizes[i];
  }
  if (count != (int64_t)element_count(y)) refuse("its output has not the elements of its slice");
  return sizes;
}

Op slice_of(const Graph& g, const Op& split, size_t k) {
  if (split.inputs.size() != 1 || split.inputs[0] < 0)
    refuse("it has ", split.inputs.size(), " inputs, not 1");
  if (!known_sizes(g.tensors[(size_t)split.inputs[0]]))
    refuse("the sizes of its input are not known");
  const std::vector<int64_t>& x = g.tensors[(size_t)split.inputs[0]].shape;
  const int rank = (int)x.size(), at = split.axis < 0 ? split.axis + rank : split.axis;
  if (at < 0 || at >= rank)
    refuse("it splits axis ", split.axis, " of rank ", rank, "; it would need another axis");
  const auto axis = (size_t)at;
  Op slice = split;
  slice.kind = Kind::kSlice, slice.outputs = {split.outputs[k]};
  slice.begins.assign(x.size(), 0);
  int64_t left = x[axis];
  for (size_t i = 0; i < split.outputs.size(); ++i) {
    const int t = split.outputs[i];
    std::vector<int64_t> part = g.tensors[(size_t)t].shape;
    const bool lacks_axis = part.size() + 1 == x.size();
    if (lacks_axis) part.insert(part.begin() + at, 1);
    std::vector<int64_t> others = x;
    if (part.size() == x.size()) others[axis] = part[axis];
    if (!known_sizes(g.tensors[(size_t)t]) || part != others || part[axis] > left)
      refuse(tensor_name(g, t), " is no part of its input along axis ", axis);
    if (i == k) {
      slice.begins[axis] = x[axis] - left;
      if (lacks_axis) slice.sizes = part;
    }
    left -= part[axis];
  }
  if (left != 0) refuse("its outputs leave ", left, " of axis ", axis, " of its input");
  return slice;
}

Graph with_slices(const Graph& g) {
  Graph to = g;
  to.ops.clear();
  const std::vector<int> readers = readers_of(g);
  for (size_t i = 0; i < g.ops.size(); ++i) {
    const Op& op = g.ops[i];
    if (op.kind != Kind::kSplit) to.ops.push_back(op);
    for (size_t k = 0; op.kind == Kind::kSplit && k < op.outputs.size(); ++k)
      if (readers[(size_t)op.outputs[k]] != 0) to.ops.push_back(slice_of(g, op, k));
  }
  return to;
}

bool moves_bytes(Kind kind) {
  switch (kind) {
    case Kind::kMaxPool:
    case Kind::kPad:
    case Kind::kSlice:
    case Kind::kReshape:
    case Kind::kTranspose:
    case Kind::kResizeNearest:
    case Kind::kDepthToSpace:
    case Kind::kSpaceToDepth: return true;
    default: return false;
  }
}

Graph with_requantizations(const Graph& g, std::vector<size_t>* from) {
  Graph to = g;
  to.ops.clear(), from->clear();
  for (size_t i = 0; i < g.ops.size(); ++i) {
    to.ops.push_back(g.ops[i]), from->push_back(i);
    const Op& op = g.ops[i];
    if (op.quantized_as < 0 || !moves_bytes(op.kind) || op.outputs.size() != 1) continue;
    const Tensor &as = g.tensors[(size_t)op.quantized_as], &y = g.tensors[(size_t)op.outputs[0]];
    Tensor between = y;
    between.name += " as " + as.name;
    between.type = as.type, between.scales = as.scales, between.zero_points = as.zero_points;
    Op requantize;
    requantize.name = op.name;
    requantize.clamp = op.clamp;
    requantize.kind =
        op.clamp.activation == Activation::kNone ? Kind::kQuantize : Kind::kActivation;
    requantize.inputs = {(int)to.tensors.size()}, requantize.outputs = op.outputs;
    Op& moved = to.ops.back();
    moved.clamp = {}, moved.quantized_as = -1, moved.outputs = requantize.inputs;
    to.tensors.push_back(std::move(between));
    to.ops.push_back(std::move(requantize)), from->push_back(i);
  }
  return to;
}

bool only_slices_read(const Graph& g, int tensor) {
  return std::all_of(g.ops.begin(), g.ops.end(), [&](const Op& op) {
    return op.kind == Kind::kSlice ||
           std::find(op.inputs.begin(), op.inputs.end(), tensor) == op.inputs.end();
  });
}

std::optional<AxisPart> axis_part(const Graph& g, const Op& slice, bool moved) {
  std::vector<int64_t> from = g.tensors[(size_t)slice.inputs[0]].shape, to = slice_sizes(g, slice),
                       begins = slice.begins;
  if (from.empty() || from.size() != g.tensors[(size_t)slice.outputs[0]].shape.size()) return {};
  if (moved) move_channels(&from), move_channels(&to), move_channels(&begins);
  AxisPart part = {from.size() - 1, 0, (size_t)to.back()};
  size_t cut = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == to[i]) continue;
    part = {i, (size_t)begins[i], (size_t)to[i]};
    ++cut;
  }
  if (cut > 1) return {};
  return part;
}

octet_network_tensor network_tensor(const Sizes& s, octet_type type) {
  return {s.batch, s.h, s.w, s.channels, type, 0, 0, 0, 0, 0};
}

std::vector<uint8_t> repeated(const Graph& g, int constant, bool moved, size_t rank, size_t count) {
  const Tensor& t = g.tensors[(size_t)constant];
  rank = std::max(t.shape.size(), rank);
  const Sizes own = sizes_of(g, constant, moved, rank);
  const size_t pixels = moved && rank > 2 ? own.h * own.w : 1, channels = own.image() / pixels;
  const size_t element = type_bytes(t.type);
  std::vector<uint8_t> bytes(count * element);
  for (size_t i = 0; t.data && i < count; ++i) {
    const size_t at = i % own.count(), in_image = at % own.image();
    const size_t source = at - in_image + in_image % channels * pixels + in_image / channels;
    std::copy_n((const uint8_t*)t.data + source * element, element, bytes.data() + i * element);
  }
  return bytes;
}

Bounds bounds_of_type(octet_type type) {
  return type == OCTET_S8    ? Bounds{-128, 127}
         : type == OCTET_S16 ? Bounds{-32768, 32767}
         : type == OCTET_S4  ? Bounds{-8, 7}
         : type == OCTET_U4  ? Bounds{0, 15}
                             : Bounds{0, 255};
}

Bounds bounds_of_descriptor(const Bounds& bounds, octet_type type) {
  const Bounds all = bounds_of_type(type);
  if (bounds.least == all.least && bounds.most == all.most) return {0, 0};
  if (bounds.least == 0 && bounds.most == 0)
    refuse("its activation leaves nothing but the byte 0; it would need bounds of 0 and 0");
  return bounds;
}

Bounds bounds_of(const Clamp& clamp, octet_type type, float scale, int32_t zero_point,
                 Arithmetic arithmetic) {
  constexpr float kFar = 1 << 20;  // leaves 8 and 16 bits by far, and stays in int32
  Bounds bounds = bounds_of_type(type);
  const Bounds all = bounds;
  const auto quantized = [&](float x) {
    const float steps = std::clamp(x / scale, -kFar, kFar);
    const int32_t byte =
        arithmetic == Arithmetic::kTflite    ? zero_point + (int32_t)rounded_away(steps)
        : arithmetic == Arithmetic::kXnnpack ? (int32_t)std::nearbyint(steps + (float)zero_point)
                                             : zero_point + (int32_t)std::nearbyint(steps);
    return std::clamp(byte, all.least, all.most);
  };
  const bool divides =
      clamp.activation != Activation::kNone && clamp.activation != Activation::kRelu;
  if (divides && !(scale > 0)) refuse("its output has no scale");
  switch (clamp.activation) {
    case Activation::kNone: break;
    case Activation::kRelu: bounds.least = std::max(bounds.least, zero_point); break;
    case Activation::kRelu6: bounds = {quantized(0), quantized(6)}; break;
    case Activation::kReluN1To1: bounds = {quantized(-1), quantized(1)}; break;
    case Activation::kClip:
      if (std::isnan(clamp.least) || std::isnan(clamp.most) || clamp.least > clamp.most)
        refuse("its bounds ", clamp.least, " and ", clamp.most, " have nothing between them");
      bounds = {quantized(clamp.least), quantized(clamp.most)};
  }
  return bounds;
}

size_t depth_of(const Graph& g, const Op& op) {
  const Tensor& weights = g.tensors[(size_t)op.inputs[1]];
  if (weights.shape.size() != 2 || !known_sizes(weights) || element_count(weights) == 0)
    refuse("its weights ", tensor_name(g, op.inputs[1]), " are no matrix");
  const size_t k = (size_t)weights.shape[op.weights_kn ? 0 : 1];
  const Sizes x = sizes_of(g, op.inputs[0], false);
  // TFLite takes all axes together, and cuts them into rows.
  if (x.channels != k && x.image() != k)
    refuse("its weights are for rows of ", k, " elements, which are neither the last axis of ",
           tensor_name(g, op.inputs[0]), " nor all axes but the first");
  return k;
}

}  // namespace octet::graph
