// Chooses the function of each operator between products, in the graph's arithmetic.
#include "engines/graph/functions.h"

#include <algorithm>
#include <cmath>

#include "engines/graph/check.h"
#include "engines/graph/image_functions.h"
#include "engines/graph/products.h"
#include "engines/graph/refused.h"
#include "octet/functions.h"
#include "octet/helpers.h"

namespace octet::graph {
namespace {

class Maker {
 public:
  Maker(const Graph& g, const Op& op) : g_(g), op_(op), y_(g.tensors[(size_t)op.outputs[0]]) {
    for (const int t : op.inputs) inputs_.push_back(&g.tensors[(size_t)t]);
  }

  Function make_it() {
    switch (op_.kind) {
      case Kind::kAdd: return binary(octet_add_create);
      case Kind::kSubtract: return binary(octet_sub_create);
      case Kind::kMultiply: return binary(octet_mul_create);
      case Kind::kQuantize:
        if (x().type != OCTET_F32) break;
        need_scale(y_);
        return quantize_function(y_.type, scale_of(y_), zero_of(y_), g_.arithmetic);
      case Kind::kDequantize:
        if (!is_8_bits(x().type) || y_.type != OCTET_F32) refuse("it is not from 8 bits to f32");
        need_scale(x());
        return dequantize_function(x().type, scale_of(x()), zero_of(x()));
      default: break;
    }
    if (is_move(op_.kind)) return make_move(g_, op_);
    if (is_image_function(op_.kind)) return owned_function(make_image_function(g_, op_));
    return look_up();
  }

 private:
  const Tensor& x() const { return *inputs_[0]; }
  void need_scale(const Tensor& t) const {
    if (!is_8_bits(t.type) || t.scales.size() != 1)
      refuse("tensor '", t.name, "' is not of 8 bits with one scale");
  }
  Bounds bounds() const {
    return bounds_of(op_.clamp, y_.type, scale_of(y_), zero_of(y_), g_.arithmetic);
  }

  octet_quantized quantized(const Tensor& t) const {
    need_scale(t);
    return {t.type, scale_of(t), zero_of(t)};
  }

  Function binary(octet_status (*create)(const octet_add_desc*, octet_function**,
                                         octet_error*)) const {
    if (inputs_.size() != 2) refuse("it has ", inputs_.size(), " inputs, not 2");
    octet_add_desc d = OCTET_ADD_DESC_INIT;
    d.a = quantized(*inputs_[0]), d.b = quantized(*inputs_[1]), d.output = quantized(y_);
    d.arithmetic = arithmetic_of(g_, op_), d.broadcast = broadcast_of(g_, op_);
    const Bounds b = bounds_of_descriptor(bounds(), y_.type);
    d.least = b.least, d.most = b.most;
    octet_function* function = nullptr;
    octet_error error = {};
    check(create(&d, &function, &error), error);
    return owned_function(function);
  }

  Function look_up() const {
    const std::vector<uint8_t> table = table_of(g_, op_);
    octet_lut_desc d = OCTET_LUT_DESC_INIT;
    d.input = x().type, d.output = y_.type;
    std::copy(table.begin(), table.end(), d.table);
    octet_function* function = nullptr;
    octet_error error = {};
    check(octet_lut_create(&d, &function, &error), error);
    return owned_function(function);
  }

  const Graph& g_;
  const Op& op_;
  const Tensor& y_;
  std::vector<const Tensor*> inputs_;
};

// x * multiplier / 2^31 * 2^shift as TensorFlow Lite rounds it, twice.
int32_t rescale(int32_t x, int32_t multiplier, int32_t shift) {
  const int64_t product = (int64_t)x * (1 << std::max(shift, 0)) * multiplier;
  const int64_t high = (product + ((int64_t)1 << 30)) >> 31;
  const int32_t right = std::max(-shift, 0);
  if (right == 0) return (int32_t)high;
  const int64_t half = (int64_t)1 << (right - 1), magnitude = high < 0 ? -high : high;
  const int64_t rounded = (magnitude + half) >> right;
  return (int32_t)(high < 0 ? -rounded : rounded);
}

}  // namespace

octet_broadcast broadcast_of(const Graph& g, const Op& op) {
  const std::vector<int64_t>& y = g.tensors[(size_t)op.outputs[0]].shape;
  const Sizes out = sizes_of(g, op.outputs[0], g.channels_first);
  octet_broadcast broadcast = OCTET_BROADCAST_NONE;
  for (const size_t k : {0, 1}) {
    const Tensor& tensor = g.tensors[(size_t)op.inputs[k]];
    if (tensor.shape == y) continue;
    Sizes in = sizes_of(g, op.inputs[k], g.channels_first, y.size());
    if (tensor.constant && in.batch == 1) in.batch = out.batch;
    if (in == out && tensor.shape.size() <= y.size()) continue;
    const bool one_pixel = in.h * in.w == 1 && in.batch == out.batch &&
                           (in.channels == out.channels || in.channels == 1);
    if (!one_pixel || broadcast != OCTET_BROADCAST_NONE)
      refuse("its inputs have different shapes; it would need to broadcast other than one pixel");
    broadcast = k == 0 ? OCTET_BROADCAST_A : OCTET_BROADCAST_B;
  }
  return broadcast;
}

Place place_of(const Graph& g, const Op& op) {
  if (is_binary(op.kind) && broadcast_of(g, op) != OCTET_BROADCAST_NONE) return Place::kImages;
  if (op.kind == Kind::kSoftmax) return Place::kRows;
  return is_image_function(op.kind) || op.kind == Kind::kDepthToSpace ? Place::kImages
                                                                      : Place::kElements;
}

bool is_binary(Kind kind) {
  return kind == Kind::kAdd || kind == Kind::kSubtract || kind == Kind::kMultiply;
}

bool is_function(Kind kind) {
  if (is_binary(kind)) return true;
  switch (kind) {
    case Kind::kActivation:
    case Kind::kQuantize:
    case Kind::kTranspose:
    case Kind::kDepthToSpace:
    case Kind::kDequantize: return true;
    default: return is_image_function(kind);
  }
}

bool is_table(const Graph& g, const Op& op) {
  const auto type = [&](int t) { return g.tensors[(size_t)t].type; };
  return (op.kind == Kind::kActivation || op.kind == Kind::kQuantize) && op.inputs.size() == 1 &&
         op.outputs.size() == 1 && op.inputs[0] >= 0 && is_8_bits(type(op.inputs[0])) &&
         is_8_bits(type(op.outputs[0]));
}

namespace {

// The byte of each byte less its zero point; empty if the tensors are quantized alike.
template <typename Steps>
std::vector<uint8_t> make_table(const Tensor& from, const Tensor& to, const Steps& steps) {
  const Bounds all = bounds_of_type(to.type);
  std::vector<uint8_t> table;
  for (int i = 0; i < 256; ++i) {
    const int32_t x = (from.type == OCTET_S8 ? (int8_t)i : i) - zero_of(from);
    table.push_back((uint8_t)std::clamp(steps(x) + zero_of(to), all.least, all.most));
  }
  return table;
}

void need_scales(const Tensor& from, const Tensor& to) {
  if (from.scales.size() != 1 || to.scales.size() != 1 || !is_8_bits(from.type) ||
      !is_8_bits(to.type))
    refuse("tensor '", from.name, "' or '", to.name, "' is not of 8 bits with one scale");
}

int32_t nearest(float real) { return (int32_t)std::nearbyint(std::clamp(real, -65536.f, 65536.f)); }

// In 8 bits after the point.
std::vector<uint8_t> xnnpack_table(const Tensor& from, const Tensor& to) {
  const float ratio = scale_of(from) / scale_of(to);
  if (ratio < 0x1p-8f || ratio > 0x1p7f)
    refuse("its scales are further apart than XNNPACK's 2^-8 to 2^7");
  const auto multiplier = (int32_t)std::nearbyint(256.f * ratio);
  return make_table(from, to, [&](int32_t x) {
    const int32_t steps = x * multiplier + 128;
    return steps >= 0 ? steps / 256 : -((255 - steps) / 256);
  });
}

}  // namespace

std::vector<uint8_t> requantize_table(const Graph& g, const Tensor& from, const Tensor& to) {
  if (same_quantization(from, to)) return {};
  need_scales(from, to);
  if (g.arithmetic == Arithmetic::kXnnpack && from.type == to.type) return xnnpack_table(from, to);
  if (g.arithmetic != Arithmetic::kTflite && g.arithmetic != Arithmetic::kXnnpack)
    return make_table(from, to,
                      [&](int32_t x) { return nearest((float)x * scale_of(from) / scale_of(to)); });
  int32_t multiplier = 0, shift = 0;
  octet_error error = {};
  check(octet_quantize_multiplier((double)scale_of(from) / (double)scale_of(to), &multiplier,
                                  &shift, &error),
        error);
  if (shift > 20) refuse("its scales are more than 2^20 apart");
  return make_table(from, to, [&](int32_t x) { return rescale(x, multiplier, shift); });
}

std::vector<uint8_t> join_table(const Graph& g, const Tensor& from, const Tensor& to) {
  if (g.arithmetic != Arithmetic::kTflite && g.arithmetic != Arithmetic::kXnnpack)
    return requantize_table(g, from, to);
  if (same_quantization(from, to)) return {};
  need_scales(from, to);
  // XNNPACK joins no tensors with different scales: LiteRT runs its own kernel.
  const float inverse = 1 / scale_of(to), scale = scale_of(from) * inverse;
  const float bias = -(float)zero_of(from) * scale;
  return make_table(from, to, [&](int32_t x) {
    const float stored = (float)(x + zero_of(from));
    return (int32_t)std::clamp(std::round(stored * scale + bias), -65536.f, 65536.f);
  });
}

std::vector<uint8_t> table_of(const Graph& g, const Op& op) {
  if (!is_table(g, op)) refuse("it is not from 8 bits to 8 bits");
  const Tensor &x = g.tensors[(size_t)op.inputs[0]], &y = g.tensors[(size_t)op.outputs[0]];
  std::vector<uint8_t> table = requantize_table(g, x, y);
  if (table.empty())
    for (int i = 0; i < 256; ++i) table.push_back((uint8_t)i);
  const Bounds b =
      bounds_of(op.clamp, y.type, scale_of(y), zero_of(y), without_xnnpack(g.arithmetic));
  for (uint8_t& byte : table) {
    const int32_t value = y.type == OCTET_S8 ? (int8_t)byte : byte;
    byte = (uint8_t)std::clamp(value, b.least, b.most);
  }
  return table;
}

Function make_function(const Graph& graph, const Op& op) {
  if (op.outputs.size() != 1) refuse("it has ", op.outputs.size(), " outputs, not 1");
  for (const int t : op.inputs)
    if (t < 0) refuse("one of its inputs is left out");
  if (op.inputs.empty()) refuse("it has no input");
  bool computed = false;
  for (const int t : op.inputs) computed |= !graph.tensors[(size_t)t].constant;
  if (!computed) refuse("all that it reads is constant; fold it beforehand");
  for (const std::vector<int>* tensors : {&op.inputs, &op.outputs})
    for (const int t : *tensors) sizes_of(graph, t, graph.channels_first);
  if (op.inputs.size() == 1 && place_of(graph, op) == Place::kElements &&
      element_count(graph.tensors[(size_t)op.inputs[0]]) !=
          element_count(graph.tensors[(size_t)op.outputs[0]]))
    refuse("its input and its output have different numbers of elements");
  return Maker(graph, op).make_it();
}

}  // namespace octet::graph
