// SPDX-License-Identifier: Apache-2.0
// Chooses the function of each operator between products, in the graph's arithmetic.
#include "engines/graph/functions.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "engines/graph/check.h"
#include "engines/graph/image_functions.h"
#include "engines/graph/products.h"
#include "engines/graph/refused.h"
#include "engines/graph/tables.h"
#include "octet/functions.h"

namespace octet::graph {
namespace {

using CreateSum = octet_status (*)(const octet_add_desc*, octet_function**, octet_error*);

// Sums and products that were asked for last. To create a sum takes 0.1 to 2 ms, and one graph asks
// for each three times: `would` before and in Program::create, and the program itself; each further
// size again.
class Sums {
 public:
  Function get(const octet_add_desc& d, CreateSum create) {
    const Key key = {create, words_of(d)};
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (const auto& [kept, function] : kept_)
        if (kept == key) return function;
    }
    octet_function* made = nullptr;
    octet_error error = {};
    check(create(&d, &made, &error), error);
    Function function = owned_function(made);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (kept_.size() == kMost) kept_.erase(kept_.begin());
    kept_.emplace_back(key, function);
    return function;
  }

 private:
  using Words = std::array<uint32_t, 13>;
  using Key = std::pair<CreateSum, Words>;
  static constexpr size_t kMost = 128;

  static Words words_of(const octet_add_desc& d) {
    Words words = {(uint32_t)d.arithmetic, (uint32_t)d.broadcast, (uint32_t)d.least,
                   (uint32_t)d.most};
    size_t at = 4;
    for (const octet_quantized* const q : {&d.a, &d.b, &d.output}) {
      words[at++] = (uint32_t)q->type, words[at++] = (uint32_t)q->zero_point;
      std::memcpy(&words[at++], &q->scale, sizeof q->scale);
    }
    return words;
  }

  std::mutex mutex_;
  std::vector<std::pair<Key, Function>> kept_;
};

Function sum_of(const octet_add_desc& d, CreateSum create) {
  static Sums sums;
  return sums.get(d, create);
}

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
        return from_floats(y_, octet_quantize_create);
      case Kind::kDequantize:
        if (!is_8_or_16_bits(x().type) || y_.type != OCTET_F32)
          refuse("it is not from 8 or 16 bits to f32");
        return from_floats(x(), octet_dequantize_create);
      default: break;
    }
    if (is_move(op_.kind) || takes_images(g_, op_)) return make_move(g_, op_);
    if (is_mean_of_planes(g_, op_)) return make_mean_of_planes(g_, op_);
    if (is_image_function(op_.kind)) return owned_function(make_image_function(g_, op_));
    if (x().type == OCTET_S16 || y_.type == OCTET_S16) return of_words();
    return look_up();
  }

 private:
  const Tensor& x() const { return *inputs_[0]; }
  void need_scale(const Tensor& t) const {
    if (!is_8_or_16_bits(t.type) || t.scales.size() != 1)
      refuse("tensor '", t.name, "' is not of 8 or 16 bits with one scale");
  }
  Bounds bounds() const {
    return bounds_of(op_.clamp, y_.type, scale_of(y_), zero_of(y_), g_.arithmetic);
  }

  octet_quantized quantized(const Tensor& t) const {
    need_scale(t);
    return {stored_type(t), scale_of(t), stored_zero(t)};
  }

  Function binary(CreateSum create) const {
    octet_add_desc d = OCTET_ADD_DESC_INIT;
    d.a = quantized(*inputs_[0]), d.b = quantized(*inputs_[1]), d.output = quantized(y_);
    d.arithmetic = arithmetic_of(g_, op_), d.broadcast = broadcast_of(g_, op_);
    const Bounds b = bounds_of_descriptor(stored_bounds(bounds(), y_), stored_type(y_));
    d.least = b.least, d.most = b.most;
    return sum_of(d, create);
  }

  Function from_floats(const Tensor& bytes,
                       octet_status (*create)(const octet_quantize_desc*, octet_function**,
                                              octet_error*)) const {
    octet_quantize_desc d = OCTET_QUANTIZE_DESC_INIT;
    d.quantized = quantized(bytes), d.arithmetic = arithmetic_of(g_);
    octet_function* function = nullptr;
    octet_error error = {};
    check(create(&d, &function, &error), error);
    return owned_function(function);
  }

  // 16 bits are no table's. TensorFlow Lite's RELU computes its factor in float, as LEAKY_RELU
  // does, and not as QUANTIZE.
  Function of_words() const {
    if (op_.kind == Kind::kFloats)
      refuse("its tensors are of 16 bits; division, erf and GELU are tables of 8 bits");
    octet_unary_desc d = OCTET_UNARY_DESC_INIT;
    d.input = quantized(x()), d.output = quantized(y_), d.arithmetic = arithmetic_of(g_);
    d.function = op_.kind == Kind::kActivation ? OCTET_UNARY_LEAKY_RELU : unary_of(op_.kind);
    if (d.function == OCTET_UNARY_LEAKY_RELU)
      d.alpha = op_.kind == Kind::kActivation ? 1 : op_.alpha;
    const Bounds b = bounds_of_descriptor(stored_bounds(bounds(), y_), stored_type(y_));
    d.least = b.least, d.most = b.most;
    octet_function* function = nullptr;
    octet_error error = {};
    check(octet_unary_create(&d, &function, &error), error);
    return owned_function(function);
  }

  Function look_up() const { return look_up_function(x().type, y_.type, table_of(g_, op_)); }

  const Graph& g_;
  const Op& op_;
  const Tensor& y_;
  std::vector<const Tensor*> inputs_;
};

// Where channels are the second axis (moved) or the last one; OCTET_BROADCAST_NONE, too, where the
// shapes are alike. Nothing: neither is one pixel of the output.
std::optional<octet_broadcast> broadcast_in(const Graph& g, const Op& op, bool moved) {
  const std::vector<int64_t>& y = g.tensors[(size_t)op.outputs[0]].shape;
  const Sizes out = sizes_of(g, op.outputs[0], moved);
  octet_broadcast broadcast = OCTET_BROADCAST_NONE;
  for (const size_t k : {0, 1}) {
    const Tensor& tensor = g.tensors[(size_t)op.inputs[k]];
    if (tensor.shape == y) continue;
    Sizes in = sizes_of(g, op.inputs[k], moved, y.size());
    if (tensor.constant && in.batch == 1) in.batch = out.batch;
    if (in == out && tensor.shape.size() <= y.size()) continue;
    const bool one_pixel = in.h * in.w == 1 && in.batch == out.batch &&
                           (in.channels == out.channels || in.channels == 1);
    if (!one_pixel || broadcast != OCTET_BROADCAST_NONE) return {};
    broadcast = k == 0 ? OCTET_BROADCAST_A : OCTET_BROADCAST_B;
  }
  return broadcast;
}

}  // namespace

octet_broadcast broadcast_of(const Graph& g, const Op& op) {
  if (op.inputs.size() != 2) refuse("it has ", op.inputs.size(), " inputs, not 2");
  for (const bool moved : {g.channels_first, false})
    if (const auto found = broadcast_in(g, op, moved)) return *found;
  refuse("its inputs have different shapes; it would need to broadcast other than one pixel");
}

Place place_of(const Graph& g, const Op& op) {
  if (is_binary(op.kind) && broadcast_of(g, op) != OCTET_BROADCAST_NONE)
    return broadcast_in(g, op, g.channels_first) ? Place::kImages : Place::kRows;
  if (op.kind == Kind::kSoftmax) return Place::kRows;
  const bool moves_blocks = op.kind == Kind::kDepthToSpace || op.kind == Kind::kSpaceToDepth;
  return is_image_function(op.kind) || moves_blocks ? Place::kImages : Place::kElements;
}

bool is_binary(Kind kind) {
  return kind == Kind::kAdd || kind == Kind::kSubtract || kind == Kind::kMultiply;
}

bool is_function(Kind kind) {
  return is_binary(kind) || is_table(kind) || is_move(kind) || kind == Kind::kDequantize ||
         is_image_function(kind);
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
