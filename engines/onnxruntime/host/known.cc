// SPDX-License-Identifier: Apache-2.0
// Follows shapes and small tensors of integers and floats from node to node.
#include "engines/onnxruntime/host/known.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <set>

namespace octet::onnxruntime {
namespace {

constexpr size_t kMostElements = 64;

using Sizes = std::vector<Size>;

bool is_number(const Size& size) { return size.names.empty(); }
bool are_numbers(const Sizes& sizes) { return std::all_of(sizes.begin(), sizes.end(), is_number); }
Size number(int64_t value) { return {value, {}}; }

Size times(const Size& a, const Size& b) {
  Size c = {(int64_t)((uint64_t)a.factor * (uint64_t)b.factor), {}};
  std::merge(a.names.begin(), a.names.end(), b.names.begin(), b.names.end(),
             std::back_inserter(c.names));
  return c;
}

Size product(const Sizes& sizes) {
  Size all = number(1);
  for (const Size& size : sizes) all = times(all, size);
  return all;
}

std::optional<Size> divided(const Size& a, const Size& b) {
  if (b.factor <= 0 || a.factor % b.factor) return {};
  if (!std::includes(a.names.begin(), a.names.end(), b.names.begin(), b.names.end())) return {};
  Size c = {a.factor / b.factor, {}};
  std::set_difference(a.names.begin(), a.names.end(), b.names.begin(), b.names.end(),
                      std::back_inserter(c.names));
  return c;
}

class Finder {
 public:
  explicit Finder(HostGraph* host) : host_(*host) {
    known_.values.resize(host_.values.size()), known_.nodes.resize(host_.nodes.size());
    for (size_t t = 0; t < host_.values.size(); ++t) begin_with(host_.values[t], &value((int)t));
  }

  Known find() {
    for (size_t i = 0; i < host_.nodes.size(); ++i) {
      const Node& node = host_.nodes[i];
      // Of several outputs the others are scales and zero points, or what is seldom read
      if (node.outputs.empty() || node.outputs[0] < 0 || node.inputs.empty() || node.taken ||
          !(node.domain.empty() || node.domain == "com.microsoft"))
        continue;
      KnownValue made;
      follow_shape(node, &made);
      follow_elements(node, &made);
      known_.nodes[i] = made.has_elements || !made.numbers.empty();
      keep(node.outputs[0], std::move(made));
      for (size_t k = 1; k < node.outputs.size() && node.op == "DynamicQuantizeLinear"; ++k)
        if (node.outputs[k] >= 0) value(node.outputs[k]).has_shape = true;  // a scalar
    }
    for (const int t : host_.outputs)
      if (t >= 0) is_output_.insert(t);
    for (size_t i = 0; i < host_.nodes.size(); ++i)
      if (known_.nodes[i]) set_constant(host_.nodes[i].outputs[0]);
    return std::move(known_);
  }

 private:
  KnownValue& value(int t) { return known_.values[(size_t)t]; }
  int name_of(const std::string& name) {
    return name.empty() ? next_name_++ : names_.emplace(name, next_name_++).first->second;
  }

  void begin_with(const Value& from, KnownValue* to) {
    to->has_shape = from.shape_known;
    for (size_t axis = 0; axis < from.shape.size(); ++axis) {
      const int64_t size = from.shape[axis];
      to->shape.push_back(size >= 0 ? number(size) : Size{1, {name_of(from.dim[axis])}});
    }
    if (!from.constant || from.count > kMostElements) return;
    to->numbers = from.floats();
    if (!to->numbers.empty()) return;
    const std::vector<int64_t> all = from.integers();
    to->has_elements = all.size() == from.count;
    for (const int64_t element : all) to->elements.push_back(number(element));
  }

  // The host's own numbers stay; what follows from inputs is better than a size without a relation.
  void keep(int t, KnownValue made) {
    KnownValue& to = value(t);
    if (made.has_shape && to.has_shape && made.shape.size() == to.shape.size())
      for (size_t axis = 0; axis < to.shape.size(); ++axis)
        if (is_number(to.shape[axis])) made.shape[axis] = to.shape[axis];
    if (!made.has_shape) made.has_shape = to.has_shape, made.shape = to.shape;
    Value& own = host_.values[(size_t)t];
    if (made.has_shape && (!own.shape_known || own.shape.size() == made.shape.size())) {
      own.shape_known |= !made.shape.empty();  // a scalar counts as unknown
      own.shape.resize(made.shape.size(), -1), own.dim.resize(made.shape.size());
      for (size_t axis = 0; axis < made.shape.size(); ++axis)
        if (is_number(made.shape[axis])) own.shape[axis] = made.shape[axis].factor;
    }
    to = std::move(made);
  }

  // ---- shapes

  const KnownValue& input(const Node& node, size_t i) const {
    static const KnownValue unknown;
    const int t = i < node.inputs.size() ? node.inputs[i] : -1;
    return t < 0 ? unknown : known_.values[(size_t)t];
  }
  bool has(const Node& node, size_t i) const {
    return i < node.inputs.size() && node.inputs[i] >= 0;
  }

  // Integers that are an attribute or a later input; empty: none, or not known.
  std::vector<int64_t> numbers_of(const Node& node, const char* attribute, size_t i) const {
    std::vector<int64_t> all = node.integers(attribute);
    const KnownValue& given = input(node, i);
    if (all.empty() && given.has_elements && are_numbers(given.elements))
      for (const Size& element : given.elements) all.push_back(element.factor);
    return all;
  }

  // Of two sizes that only a run has, the result is either: a size of its own.
  Sizes broadcast(const Sizes& a, const Sizes& b) {
    const size_t rank = std::max(a.size(), b.size());
    const Size one = number(1);
    Sizes to;
    for (size_t i = 0; i < rank; ++i) {
      const Size& x = i + a.size() < rank ? one : a[i + a.size() - rank];
      const Size& y = i + b.size() < rank ? one : b[i + b.size() - rank];
      if (x == y || y == one)
        to.push_back(x);
      else if (x == one || is_number(y))
        to.push_back(y);
      else
        to.push_back(is_number(x) ? x : Size{1, {next_name_++}});
    }
    return to;
  }

  void follow_shape(const Node& node, KnownValue* made) {
    static const std::set<std::string> same = {"QuantizeLinear",
                                               "DequantizeLinear",
                                               "Cast",
                                               "Identity",
                                               "Relu",
                                               "Clip",
                                               "Sigmoid",
                                               "Tanh",
                                               "Erf",
                                               "Gelu",
                                               "Sqrt",
                                               "Reciprocal",
                                               "FastGelu",
                                               "BiasGelu",
                                               "Softmax",
                                               "LeakyRelu",
                                               "Neg",
                                               "DynamicQuantizeLinear",
                                               "SkipLayerNormalization",
                                               "HardSwish",
                                               "LayerNormalization"};
    const KnownValue& x = input(node, 0);
    if (!x.has_shape) return;
    Sizes& shape = made->shape;
    const int64_t rank = (int64_t)x.shape.size();
    if (same.count(node.op)) {
      shape = x.shape, made->has_shape = true;
    } else if (node.op == "Add" || node.op == "Sub" || node.op == "Mul" || node.op == "Div") {
      made->has_shape = input(node, 1).has_shape;
      if (made->has_shape) shape = broadcast(x.shape, input(node, 1).shape);
    } else if (node.op == "MatMul" || node.op == "MatMulInteger" ||
               node.op == "MatMulIntegerToFloat" || node.op == "DynamicQuantizeMatMul") {
      const KnownValue& w = input(node, 1);
      if (!w.has_shape || rank < 2 || w.shape.size() < 2) return;
      shape = broadcast({x.shape.begin(), x.shape.end() - 2}, {w.shape.begin(), w.shape.end() - 2});
      shape.push_back(x.shape[(size_t)rank - 2]), shape.push_back(w.shape.back());
      made->has_shape = true;
    } else if (node.op == "Transpose") {
      std::vector<int64_t> order = node.integers("perm");
      for (int64_t i = rank; order.empty() && i-- > 0;) shape.push_back(x.shape[(size_t)i]);
      for (const int64_t axis : order) {
        if (axis < 0 || axis >= rank) return;
        shape.push_back(x.shape[(size_t)axis]);
      }
      made->has_shape = true;
    } else if (node.op == "Shape") {
      shape = {number((int64_t)of_shape(node, x).size())}, made->has_shape = true;
    } else if (node.op == "Reshape") {
      reshape(node, made);
    } else if (node.op == "Unsqueeze" || node.op == "Squeeze") {
      squeeze(node, numbers_of(node, "axes", 1), made);
    } else if (node.op == "Gather") {
      gather_shape(node, made);
    }
  }

  static Sizes of_shape(const Node& node, const KnownValue& x) {
    const int64_t rank = (int64_t)x.shape.size();
    const auto place = [&](int64_t at) {
      return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
    };
    const int64_t start = place(node.integer("start", 0)), end = place(node.integer("end", rank));
    if (start >= end) return {};
    return {x.shape.begin() + start, x.shape.begin() + end};
  }

  void reshape(const Node& node, KnownValue* made) const {
    const KnownValue &x = input(node, 0), &to = input(node, 1);
    if (!to.has_elements) return;
    made->shape = to.elements;
    Size* left = nullptr;
    for (size_t i = 0; i < made->shape.size(); ++i) {
      Size& size = made->shape[i];
      if (size == number(0) && !node.integer("allowzero", 0)) {
        if (i >= x.shape.size()) return;
        size = x.shape[i];
      }
      if (!(size == number(-1))) continue;
      if (left) return;
      left = &size, size = number(1);
    }
    if (left) {
      const std::optional<Size> rest = divided(product(x.shape), product(made->shape));
      if (!rest) return;
      *left = *rest;
    }
    made->has_shape = true;
  }

  void squeeze(const Node& node, std::vector<int64_t> axes, KnownValue* made) const {
    const Sizes& x = input(node, 0).shape;
    if (axes.empty()) return;
    const bool adds = node.op == "Unsqueeze";
    const int64_t rank = (int64_t)(x.size() + (adds ? axes.size() : 0));
    size_t next = 0;
    for (int64_t i = 0; i < rank; ++i) {
      const bool named =
          std::any_of(axes.begin(), axes.end(), [&](int64_t a) { return a == i || a + rank == i; });
      if (adds && named)
        made->shape.push_back(number(1));
      else if (next < x.size() && (adds || !named))
        made->shape.push_back(x[next++]);
      else
        ++next;
    }
    made->has_shape = true;
  }

  void gather_shape(const Node& node, KnownValue* made) const {
    const KnownValue &x = input(node, 0), &at = input(node, 1);
    if (!at.has_shape) return;
    int64_t axis = node.integer("axis", 0);
    if (axis < 0) axis += (int64_t)x.shape.size();
    if (axis < 0 || axis >= (int64_t)x.shape.size()) return;
    made->shape.assign(x.shape.begin(), x.shape.begin() + axis);
    made->shape.insert(made->shape.end(), at.shape.begin(), at.shape.end());
    made->shape.insert(made->shape.end(), x.shape.begin() + axis + 1, x.shape.end());
    made->has_shape = true;
  }

  // ---- elements

  void follow_elements(const Node& node, KnownValue* made) const {
    const KnownValue& x = input(node, 0);
    if (node.op == "Shape") {
      if (!x.has_shape) return;
      made->elements = of_shape(node, x), made->has_elements = true;
    } else if (node.op == "Concat") {
      join(node, made);
    } else if (node.op == "Gather") {
      gather(node, made);
    } else if (node.op == "Slice") {
      slice(node, made);
    } else if (node.op == "QuantizeLinear") {
      quantize(node, made);
    } else if (node.op == "Cast") {
      cast(node, made);
    } else if (node.op == "Unsqueeze" || node.op == "Squeeze" || node.op == "Identity" ||
               node.op == "Reshape") {
      if (!made->has_shape) return;
      made->elements = x.elements, made->has_elements = x.has_elements, made->numbers = x.numbers;
    } else {
      compute(node, made);
    }
  }

  void join(const Node& node, KnownValue* made) const {
    Sizes all;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const KnownValue& x = input(node, i);
      if (!x.has_elements || x.shape.size() != 1) return;
      all.insert(all.end(), x.elements.begin(), x.elements.end());
    }
    if (all.size() > kMostElements) return;
    made->shape = {number((int64_t)all.size())}, made->has_shape = true;
    made->elements = std::move(all), made->has_elements = true;
  }

  void gather(const Node& node, KnownValue* made) const {
    const KnownValue &x = input(node, 0), &at = input(node, 1);
    if (!x.has_elements || x.shape.size() != 1 || !at.has_elements || !made->has_shape) return;
    Sizes all;
    for (Size place : at.elements) {
      if (!is_number(place)) return;
      if (place.factor < 0) place.factor += (int64_t)x.elements.size();
      if (place.factor < 0 || place.factor >= (int64_t)x.elements.size()) return;
      all.push_back(x.elements[(size_t)place.factor]);
    }
    made->elements = std::move(all), made->has_elements = true;
  }

  void slice(const Node& node, KnownValue* made) const {
    const KnownValue& x = input(node, 0);
    const std::vector<int64_t> starts = numbers_of(node, "starts", 1),
                               ends = numbers_of(node, "ends", 2),
                               steps = numbers_of(node, "steps", 4);
    if (!x.has_elements || x.shape.size() != 1 || starts.size() != 1 || ends.size() != 1 ||
        (has(node, 4) && (steps.size() != 1 || steps[0] != 1)))
      return;
    const auto count = (int64_t)x.elements.size();
    const auto place = [&](int64_t at) {
      return std::clamp<int64_t>(at < 0 ? at + count : at, 0, count);
    };
    const int64_t start = place(starts[0]), end = std::max(start, place(ends[0]));
    made->elements.assign(x.elements.begin() + start, x.elements.begin() + end);
    made->has_elements = true;
    made->shape = {number(end - start)}, made->has_shape = true;
  }

  void cast(const Node& node, KnownValue* made) const {
    const KnownValue& x = input(node, 0);
    const ONNXTensorElementDataType to = host_.values[(size_t)node.outputs[0]].type;
    if (!x.has_elements || !made->has_shape) return;
    if (to == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64) {
      made->elements = x.elements, made->has_elements = true;
    } else if (to == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT && are_numbers(x.elements)) {
      for (const Size& element : x.elements) made->numbers.push_back((float)element.factor);
    }
  }

  void quantize(const Node& node, KnownValue* made) const {
    const std::vector<float>&x = input(node, 0).numbers, &scale = input(node, 1).numbers;
    const KnownValue& zero = input(node, 2);
    const bool is_signed =
        host_.values[(size_t)node.outputs[0]].type == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8;
    if (x.empty() || scale.size() != 1 || zero.elements.size() != 1 || !made->has_shape) return;
    const int least = is_signed ? -128 : 0;
    for (const float number_ : x) {
      const float steps = std::nearbyint(number_ / scale[0]);
      if (!(std::abs(steps) < 65536)) return made->elements.clear();
      made->elements.push_back(number(
          std::clamp<int64_t>((int64_t)steps + zero.elements[0].factor, least, least + 255)));
    }
    made->has_elements = true;
  }

  void compute(const Node& node, KnownValue* made) const {
    const KnownValue &a = input(node, 0), &b = input(node, 1);
    const auto each = [&](size_t i, size_t count) { return count == 1 ? 0 : i; };
    if (node.op == "Sqrt" || node.op == "Reciprocal") {
      for (const float x : a.numbers)
        made->numbers.push_back(node.op == "Sqrt" ? std::sqrt(x) : 1 / x);
      if (!made->has_shape) made->numbers.clear();
      return;
    }
    const char op = node.op == "Mul" ? '*' : node.op == "Div" ? '/' : node.op == "Add" ? '+' : 0;
    if (!op || !made->has_shape) return;
    if (!a.numbers.empty() && !b.numbers.empty()) {
      const size_t count = std::max(a.numbers.size(), b.numbers.size());
      if (std::min(a.numbers.size(), b.numbers.size()) != 1 && a.numbers.size() != b.numbers.size())
        return;
      // Else each operand is repeated along an axis of the other one
      if (!(product(made->shape) == number((int64_t)count))) return;
      for (size_t i = 0; i < count; ++i) {
        const float x = a.numbers[each(i, a.numbers.size())],
                    y = b.numbers[each(i, b.numbers.size())];
        made->numbers.push_back(op == '*' ? x * y : op == '/' ? x / y : x + y);
      }
    } else if (a.elements.size() == 1 && b.elements.size() == 1 &&
               host_.values[(size_t)node.outputs[0]].type == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64) {
      const Size &x = a.elements[0], &y = b.elements[0];
      std::optional<Size> result;
      if (op == '*') result = times(x, y);
      if (op == '/') result = divided(x, y);
      int64_t sum;
      if (op == '+' && is_number(x) && is_number(y) &&
          !__builtin_add_overflow(x.factor, y.factor, &sum))
        result = number(sum);
      if (result) made->elements = {*result}, made->has_elements = true;
    }
  }

  // ---- constants

  void set_constant(int t) {
    const KnownValue& from = value(t);
    Value& to = host_.values[(size_t)t];
    if (is_output_.count(t) || !from.has_shape || !are_numbers(from.shape) ||
        !are_numbers(from.elements))
      return;
    std::vector<uint8_t> bytes;
    size_t count = 0;
    const auto add = [&](auto element) {
      const auto* const first = (const uint8_t*)&element;
      bytes.insert(bytes.end(), first, first + sizeof element);
      ++count;
    };
    switch (to.type) {
      case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
        for (const float x : from.numbers) add(x);
        break;
      case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64:
        for (const Size& x : from.elements) add(x.factor);
        break;
      case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8:
      case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8:
        for (const Size& x : from.elements) add((uint8_t)x.factor);
        break;
      default: return;
    }
    std::vector<int64_t> shape;
    for (const Size& size : from.shape) shape.push_back(size.factor);
    if (count != count_of(shape)) return;  // elements that are not known, or a malformed model's
    to.dim.assign(shape.size(), {});
    to.shape = std::move(shape), to.shape_known = true;
    to.count = count, to.bytes = bytes.size();
    host_.folded.push_back(std::move(bytes));
    to.data = host_.folded.back().data(), to.constant = true;
  }

  HostGraph& host_;
  Known known_;
  std::map<std::string, int> names_;
  int next_name_ = 0;
  std::set<int> is_output_;
};

}  // namespace

Known find_known(HostGraph* host) { return Finder(host).find(); }

}  // namespace octet::onnxruntime
