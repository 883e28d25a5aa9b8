// SPDX-License-Identifier: Apache-2.0
// Checks indices, sizes, constants and scales of a graph, and orders its operators.
#include "engines/graph/check.h"

#include <algorithm>
#include <cmath>

#include "engines/graph/refused.h"
#include "engines/graph/sizes.h"

namespace octet::graph {
namespace {

constexpr float kLargestScale = 281474976710656.f;  // 2^48

template <typename... Parts>
[[noreturn]] void fail(octet_status status, const Parts&... parts) {
  throw Refused(status, join(parts...));
}

void check_scales(const Graph& g, int index) {
  const Tensor& t = g.tensors[(size_t)index];
  if (t.scale_block) return;  // packing looks at them
  for (const float scale : t.scales)
    if (!(scale > 0) || scale > kLargestScale)
      fail(OCTET_BAD_SCALE, tensor_name(g, index), " has the scale ", scale,
           ", which is not above 0 and at most 2^48");
  if (t.zero_points.size() > 1 && t.zero_points.size() != t.scales.size())
    fail(OCTET_BAD_ZERO_POINT, tensor_name(g, index), " has ", t.zero_points.size(),
         " zero points and ", t.scales.size(), " scales");
  const bool has_zero_point = is_8_bits(t.type) || is_4_bits(t.type) || t.type == OCTET_S16;
  const Bounds range = has_zero_point ? bounds_of_type(t.type) : Bounds{0, 0};
  for (const int32_t zero : t.zero_points)
    if (zero < range.least || zero > range.most)
      fail(OCTET_BAD_ZERO_POINT, tensor_name(g, index), " has the zero point ", zero,
           ", which is outside of its type");
}

// Tensors whose scales Octet reads: of a known type, and of int32 only the biases that it takes.
std::vector<char> scaled_tensors(const Graph& g) {
  std::vector<char> scaled(g.tensors.size());
  for (size_t i = 0; i < g.tensors.size(); ++i)
    scaled[i] = g.tensors[i].type != 0 && g.tensors[i].type != OCTET_S32;
  for (const Op& op : g.ops)
    if ((op.kind == Kind::kConvolution || op.kind == Kind::kProduct) && !is_foreign(op) &&
        op.inputs.size() > 2 && op.inputs[2] >= 0)
      scaled[(size_t)op.inputs[2]] = g.tensors[(size_t)op.inputs[2]].type != 0;
  return scaled;
}

void check_tensor(const Graph& g, int index, bool scaled) {
  const Tensor& t = g.tensors[(size_t)index];
  if (t.type != 0 && (t.type < OCTET_S8 || t.type > OCTET_U4) && t.type != OCTET_S16)
    fail(OCTET_UNKNOWN_ENUM, tensor_name(g, index), " has the type ", (int)t.type,
         ", which is none");
  if (is_4_bits(t.type) && !t.constant)
    fail(OCTET_UNSUPPORTED, tensor_name(g, index),
         " is of 4 bits, but no constant; only weights are of 4 bits");
  if (t.variable && t.constant)
    fail(OCTET_BAD_NETWORK, tensor_name(g, index), " is a constant and a variable");
  if (scaled) check_scales(g, index);
  if (t.type == 0 || !known_sizes(t)) return;
  const size_t bytes = byte_count(g, index);
  if (t.constant && t.data && t.bytes < bytes)
    fail(OCTET_BAD_SIZE, tensor_name(g, index), " is a constant of ", t.bytes,
         " bytes, but its shape takes ", bytes);
}

void check_index(const Graph& g, int tensor, const std::string& where) {
  if (tensor < 0 || (size_t)tensor >= g.tensors.size())
    fail(OCTET_BAD_NETWORK, where, " is tensor ", tensor, ", but there are ", g.tensors.size(),
         " tensors");
}

void check_indices(const Graph& g) {
  for (size_t i = 0; i < g.ops.size(); ++i) {
    const Op& op = g.ops[i];
    if (op.outputs.empty() && !is_foreign(op))
      fail(OCTET_BAD_NETWORK, op_name(g, i), " makes no tensor");
    for (const int t : op.inputs)
      if (t != -1) check_index(g, t, "an input of " + op_name(g, i));
    for (const int t : op.outputs) check_index(g, t, "an output of " + op_name(g, i));
    if (op.between != -1) check_index(g, op.between, "the product of " + op_name(g, i));
    if (op.hidden != -1) check_index(g, op.hidden, "the cells' output of " + op_name(g, i));
    if (op.quantized_as != -1)
      check_index(g, op.quantized_as, "the quantization of " + op_name(g, i));
    if (!op.table.empty() && op.table.size() != 256)
      fail(OCTET_BAD_SIZE, op_name(g, i), " has a table of ", op.table.size(), " bytes, not 256");
  }
  for (const int t : g.inputs) check_index(g, t, "an input of the graph");
  for (const int t : g.outputs) check_index(g, t, "an output of the graph");
}

void check_makers(const Graph& g) {
  std::vector<int> maker(g.tensors.size(), -1);
  const auto make = [&](int tensor, const std::string& what, bool is_op) {
    const Tensor& t = g.tensors[(size_t)tensor];
    if (t.constant)
      fail(OCTET_BAD_NETWORK, what, " makes ", tensor_name(g, tensor), ", a constant");
    if (t.variable && is_op)
      fail(OCTET_BAD_NETWORK, what, " makes ", tensor_name(g, tensor), ", a variable");
    if (maker[(size_t)tensor] >= 0)
      fail(OCTET_BAD_NETWORK, tensor_name(g, tensor), " is made twice, the second time by ", what);
    maker[(size_t)tensor] = 1;
  };
  for (const int t : g.inputs)
    if (!g.tensors[(size_t)t].constant) make(t, "an input of the graph", false);
  for (size_t i = 0; i < g.ops.size(); ++i)
    for (const int t : g.ops[i].outputs) make(t, op_name(g, i), true);
  const auto need = [&](int tensor, const std::string& what) {
    if (tensor >= 0 && !g.tensors[(size_t)tensor].constant && maker[(size_t)tensor] < 0)
      fail(OCTET_BAD_NETWORK, what, " reads ", tensor_name(g, tensor),
           ", which nothing makes and which is no input of the graph");
  };
  for (size_t i = 0; i < g.ops.size(); ++i)
    for (const int t : g.ops[i].inputs) need(t, op_name(g, i));
  for (const int t : g.outputs) {
    if (g.tensors[(size_t)t].variable)
      fail(OCTET_BAD_NETWORK, "an output of the graph is ", tensor_name(g, t),
           ", a variable, which is an input that the graph writes");
    if (g.tensors[(size_t)t].constant)
      fail(OCTET_BAD_NETWORK, "an output of the graph is ", tensor_name(g, t),
           ", a constant, which no operator makes");
    need(t, "an output of the graph");
  }
}

}  // namespace

std::string tensor_name(const Graph& g, int tensor) {
  const std::string& name = g.tensors[(size_t)tensor].name;
  return name.empty() ? join("tensor ", tensor) : join("tensor ", tensor, " ('", name, "')");
}

std::string op_name(const Graph& g, size_t op) {
  return g.ops[op].name.empty() ? join("ops[", op, "]") : g.ops[op].name;
}

size_t type_bytes(octet_type type) { return is_8_bits(type) ? 1 : type == OCTET_S16 ? 2 : 4; }

size_t bytes_of(size_t elements, octet_type type) {
  return is_4_bits(type) ? elements / 2 + elements % 2 : elements * type_bytes(type);
}

size_t byte_count(const Graph& g, int tensor) {
  const Tensor& t = g.tensors[(size_t)tensor];
  return bytes_of(element_count(t), t.type);
}

bool known_sizes(const Tensor& t) {
  return t.shape_known &&
         std::none_of(t.shape.begin(), t.shape.end(), [](int64_t size) { return size < 0; });
}

size_t element_count(const Tensor& t) {
  size_t count = 1;
  bool empty = false, far = false;
  for (const int64_t size : t.shape) {
    if (size == 0)
      empty = true;
    else if (__builtin_mul_overflow(count, (size_t)size, &count) || count > PTRDIFF_MAX / 4)
      far = true;
  }
  if (empty) return 0;
  if (far)
    fail(OCTET_BAD_SIZE, "the elements of tensor '", t.name, "' take more bytes than size_t holds");
  return count;
}

std::vector<int> makers_of(const Graph& g) {
  std::vector<int> makers(g.tensors.size(), -1);
  for (size_t i = 0; i < g.ops.size(); ++i)
    for (const int t : g.ops[i].outputs) makers[(size_t)t] = (int)i;
  return makers;
}

std::vector<int> readers_of(const Graph& g) {
  std::vector<int> readers(g.tensors.size(), 0);
  for (const Op& op : g.ops)
    for (const int t : op.inputs)
      if (t >= 0) ++readers[(size_t)t];
  for (const int t : g.outputs) ++readers[(size_t)t];
  return readers;
}

std::vector<size_t> check_graph(const Graph& g) {
  if (g.tensors.size() > INT32_MAX || g.ops.size() > INT32_MAX)
    fail(OCTET_BAD_SIZE, "the graph has more than 2^31 - 1 tensors or operators");
  check_indices(g);
  const std::vector<char> scaled = scaled_tensors(g);
  for (size_t i = 0; i < g.tensors.size(); ++i) check_tensor(g, (int)i, scaled[i] != 0);
  check_makers(g);
  // Operators without inputs that are still to come, in the order in which they were given.
  const std::vector<int> makers = makers_of(g);
  std::vector<size_t> order;
  std::vector<char> state(g.ops.size(), 0);    // 1: on the way, 2: ordered
  std::vector<std::pair<size_t, size_t>> way;  // an operator, and how many inputs were looked at
  for (size_t first = 0; first < g.ops.size(); ++first) {
    if (!state[first]) way.push_back({first, 0}), state[first] = 1;
    while (!way.empty()) {
      auto& [at, seen] = way.back();
      const std::vector<int>& inputs = g.ops[at].inputs;
      if (seen == inputs.size()) {
        state[at] = 2;
        order.push_back(at);
        way.pop_back();
        continue;
      }
      const int input = inputs[seen++];
      const int maker = input < 0 ? -1 : makers[(size_t)input];
      if (maker < 0 || state[(size_t)maker] == 2) continue;
      if (state[(size_t)maker] == 1)
        fail(OCTET_BAD_NETWORK, op_name(g, (size_t)maker), " needs its own result: a circle");
      state[(size_t)maker] = 1;
      way.push_back({(size_t)maker, 0});
    }
  }
  return order;
}

}  // namespace octet::graph
