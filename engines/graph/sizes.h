// SPDX-License-Identifier: Apache-2.0
// Gives shapes as images of lines of pixels, and real bounds as bytes.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "engines/graph/graph.h"
#include "octet/network.h"

namespace octet::graph {

// batch x h x w x channels. A matrix is an image of one pixel for each row.
struct Sizes {
  size_t batch = 1, h = 1, w = 1, channels = 1;
  size_t image() const { return h * w * channels; }
  size_t count() const { return batch * image(); }
  bool operator==(const Sizes& o) const {
    return batch == o.batch && h == o.h && w == o.w && channels == o.channels;
  }
};

// Of a tensor with known sizes. moved: the second axis is the channels', as N, C, H, W has it.
// Throws if there are no elements.
Sizes sizes_of(const Graph& graph, int tensor, bool moved);
// With axes of 1 before its own, as many as there are in all.
Sizes sizes_of(const Graph& graph, int tensor, bool moved, size_t rank);

// Axes from `axis` on count as channels, and axes between it and the images as pixels of a line; as
// sizes_of if that is the last axis.
Sizes sizes_from_axis(const Graph& graph, int tensor, bool moved, size_t axis);
// Whether input k of a kConcatenate lacks the axis, as PACK's do: it is one element of it.
inline bool lacks_axis(const Graph& graph, const Op& op, size_t k) {
  const auto rank = [&](int t) { return graph.tensors[(size_t)t].shape.size(); };
  return rank(op.inputs[k]) + 1 == rank(op.outputs[0]);
}
// Of input k of a kConcatenate along `axis` of its output, not below 0, in the place of a slice.
Sizes sizes_of_joined(const Graph& graph, const Op& op, size_t k, bool moved, size_t axis);

// Moves the second of three or more axes to the end.
template <typename T>
void move_channels(std::vector<T>* axes) {
  if (axes->size() > 2) std::rotate(axes->begin() + 1, axes->begin() + 2, axes->end());
}

// Sizes of the slice along its input's axes, which its output may lack where they are 1. Throws a
// sentence unless it lies in its input, begins once for each axis and has its output's elements,
// which are quantized as its input's.
const std::vector<int64_t>& slice_sizes(const Graph& graph, const Op& slice);

// The slice that makes output k of a split. Throws a sentence unless all outputs together are its
// input.
Op slice_of(const Graph& graph, const Op& split, size_t k);
// The graph with a slice in place of each part of a split that anything reads.
Graph with_slices(const Graph& graph);

// Whether the output's bytes are some of the input's: kMaxPool, kSlice and their like.
bool moves_bytes(Kind kind);
// The graph with a requantization behind each operator that moves bytes and has quantized_as.
// *from: the operator of `graph` that each of its operators is, or is a part of.
Graph with_requantizations(const Graph& graph, std::vector<size_t>* from);

// Whether no operator but slices reads the tensor.
bool only_slices_read(const Graph& graph, int tensor);

// `count` values of one axis from `first` on, and all values of the other axes.
struct AxisPart {
  size_t axis, first, count;
};
// Of a slice along at most one axis whose output has all axes of its input, counted as its input
// lies. Nothing: of another one. Throws as slice_sizes does.
std::optional<AxisPart> axis_part(const Graph& graph, const Op& slice, bool moved);

inline int input_of(const Op& op, size_t i) { return i < op.inputs.size() ? op.inputs[i] : -1; }

// Of the image that a convolution takes or makes. Images and kernels that are one pixel wide are
// turned: a column lies in memory as a line does, and tiles are pixels of one line.
Sizes sizes_of_convolution(const Graph& graph, const Op& op, int tensor);
// Its window, and whether that is turned.
std::pair<Window, bool> window_of_convolution(const Graph& graph, const Op& op);

octet_network_tensor network_tensor(const Sizes& sizes, octet_type type);

// The nearest whole number, halves away from zero. MinGW's round() adds a half first, and makes 1
// of the number below a half.
inline float rounded_away(float x) {
  const float whole = std::trunc(x);
  return whole + (std::fabs(x - whole) < 0.5f ? 0 : std::copysign(1.0f, x));
}

// The least and largest byte after an activation: halves go away from zero in TensorFlow Lite's
// arithmetic, to even with the zero point added in XNNPACK's, and before it in the others.
struct Bounds {
  int32_t least, most;
};
Bounds bounds_of(const Clamp& clamp, octet_type type, float scale, int32_t zero_point,
                 Arithmetic arithmetic);
// Of operators that XNNPACK has not: LiteRT runs its own kernels.
inline Arithmetic without_xnnpack(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::kXnnpack ? Arithmetic::kTflite : arithmetic;
}
Bounds bounds_of_type(octet_type type);  // of 16, 8 or 4 bits
// As descriptors of functions have bounds: two zeros are the type's. Throws for an activation that
// leaves nothing but the byte 0, which they cannot say.
Bounds bounds_of_descriptor(const Bounds& bounds, octet_type type);

// The elements of a constant in their order, or with the channels last, again and again up to
// `count`: zeros if it has no data. rank: as many axes as it has at least.
std::vector<uint8_t> repeated(const Graph& graph, int constant, bool moved, size_t rank,
                              size_t count);

inline float scale_of(const Tensor& t) { return t.scales.empty() ? 0.f : t.scales[0]; }
inline int32_t zero_of(const Tensor& t) { return t.zero_points.empty() ? 0 : t.zero_points[0]; }
// As a tensor lies in a network, which is not what its arithmetic is (Tensor::stored_unsigned).
inline octet_type stored_type(const Tensor& t) { return t.stored_unsigned ? OCTET_U8 : t.type; }
constexpr int32_t kTurned = 128;  // what turning the upper bit adds to a byte's value
inline int32_t turned_by(const Tensor& t) { return t.stored_unsigned ? kTurned : 0; }
inline int32_t stored_zero(const Tensor& t) { return zero_of(t) + turned_by(t); }
// Of the bytes that are stored.
inline Bounds stored_bounds(const Bounds& bounds, const Tensor& t) {
  return {bounds.least + turned_by(t), bounds.most + turned_by(t)};
}
inline bool is_8_bits(octet_type type) { return type == OCTET_S8 || type == OCTET_U8; }
// The integers that operators compute with; zero points of 16 bits are 0.
inline bool is_8_or_16_bits(octet_type type) { return is_8_bits(type) || type == OCTET_S16; }
// Weights only: two in a byte.
inline bool is_4_bits(octet_type type) { return type == OCTET_S4 || type == OCTET_U4; }
inline bool same_quantization(const Tensor& a, const Tensor& b) {
  return a.type == b.type && a.scales == b.scales && zero_of(a) == zero_of(b);
}

// The input's channels that a product by constant weights multiplies, K.
size_t depth_of(const Graph& graph, const Op& op);

}  // namespace octet::graph
