// SPDX-License-Identifier: Apache-2.0
// Fuses operators into the convolutions and products beside them.
#include "engines/graph/fuse.h"

#include <algorithm>

#include "engines/graph/check.h"
#include "engines/graph/functions.h"
#include "engines/graph/products.h"
#include "engines/graph/refused.h"
#include "engines/graph/tables.h"

namespace octet::graph {
namespace {

bool is_product(const Op& op) { return op.kind == Kind::kConvolution || op.kind == Kind::kProduct; }

class Fuser {
 public:
  explicit Fuser(Graph graph) : g_(std::move(graph)), gone_(g_.ops.size()) { count(); }

  Graph fuse() {
    for (size_t i = 0; i < g_.ops.size(); ++i)
      if (is_product(g_.ops[i])) take_padding(i);
    // An operator takes what follows it, and stands in its place.
    for (size_t i = 0; i < g_.ops.size(); ++i) {
      if (g_.ops[i].kind == Kind::kAdd)
        take_addition(i);
      else if (is_table(g_, g_.ops[i]))
        take_table(i);
    }
    for (size_t i = 0; i < g_.ops.size(); ++i)
      if (g_.ops[i].kind == Kind::kConcatenate) join_tables(i);
    std::vector<Op> left;
    for (size_t i = 0; i < g_.ops.size(); ++i)
      if (!gone_[i]) left.push_back(std::move(g_.ops[i]));
    g_.ops = std::move(left);
    return std::move(g_);
  }

 private:
  // Of the operators that are left.
  void count() {
    readers_.assign(g_.tensors.size(), 0), makers_.assign(g_.tensors.size(), -1);
    for (const int t : g_.outputs) ++readers_[(size_t)t];
    for (size_t i = 0; i < g_.ops.size(); ++i) {
      if (gone_[i]) continue;
      for (const int t : g_.ops[i].inputs)
        if (t >= 0) ++readers_[(size_t)t];
      for (const int t : g_.ops[i].outputs) makers_[(size_t)t] = (int)i;
    }
  }
  const Tensor& tensor(int t) const { return g_.tensors[(size_t)t]; }

  // The operator that makes the tensor and that nothing but one reader needs, or -1.
  int only_maker(int t) const {
    if (t < 0 || readers_[(size_t)t] != 1) return -1;
    return makers_[(size_t)t];
  }

  static bool described(const Graph& g, const Op& op) {
    ProductDescription description;
    try {
      describe_product(g, op, &description);
    } catch (const Refused&) {
      return false;
    }
    return true;
  }

  void replace(size_t op, Op by, size_t taken) {
    std::vector<size_t> made_of = g_.ops[taken].made_of;
    const std::vector<size_t>& own = g_.ops[op].made_of;
    made_of.insert(made_of.end(), own.begin(), own.end());
    by.made_of = std::move(made_of);
    by.name = g_.ops[taken].name;
    g_.ops[op] = std::move(by);
    gone_[taken] = true;
    count();
  }

  // PAD before a convolution that pads nothing by itself: outside of an image is zero, as PAD's
  // pixels are.
  void take_padding(size_t at) {
    const Op& op = g_.ops[at];
    const int pad = only_maker(input_of(op, 0));
    if (op.kind != Kind::kConvolution || op.transposed || pad < 0) return;
    const Op& from = g_.ops[(size_t)pad];
    if (from.kind != Kind::kPad || from.inputs.size() != 1 ||
        !same_quantization(tensor(from.inputs[0]), tensor(op.inputs[0])))
      return;
    if (op.window.padding != Padding::kValid && op.window.padding != Padding::kExplicit) return;
    Op padded = op;
    padded.window.padding = Padding::kExplicit;
    if (op.window.padding == Padding::kValid)
      padded.window.top = padded.window.bottom = padded.window.left = padded.window.right = 0;
    padded.window.top += from.window.top, padded.window.bottom += from.window.bottom;
    padded.window.left += from.window.left, padded.window.right += from.window.right;
    padded.inputs[0] = from.inputs[0];
    if (described(g_, padded)) replace(at, std::move(padded), (size_t)pad);
  }

  void take_addition(size_t at) {
    const Op& add = g_.ops[at];
    if (g_.arithmetic != Arithmetic::kTflite || add.inputs.size() != 2) return;
    int from = -1;
    size_t which = 0;
    for (const size_t k : {0, 1}) {
      const int maker = only_maker(add.inputs[k]);
      if (maker < 0 || !is_product(g_.ops[(size_t)maker])) continue;
      const Op& op = g_.ops[(size_t)maker];
      if (input_of(op, 3) >= 0 || !op.table.empty() || maker <= from) continue;
      from = maker, which = k;
    }
    if (from < 0) return;
    Op fused = g_.ops[(size_t)from];
    fused.between = fused.outputs[0];
    fused.product_clamp = fused.clamp, fused.clamp = add.clamp;
    fused.inputs.resize(4, -1);
    fused.inputs[3] = add.inputs[1 - which];
    fused.outputs = add.outputs;
    const Tensor &residual = tensor(fused.inputs[3]), &product = tensor(fused.between);
    if (residual.constant || residual.type != product.type || residual.shape != product.shape ||
        tensor(fused.outputs[0]).shape != product.shape)
      return;
    if (described(g_, fused)) replace(at, std::move(fused), (size_t)from);
  }

  // An operator that looks up each byte, after a product with the same type of output.
  void take_table(size_t at) {
    const Op& op = g_.ops[at];
    const int from = only_maker(op.inputs[0]);
    if (from < 0 || !is_product(g_.ops[(size_t)from])) return;
    if (tensor(op.inputs[0]).type != tensor(op.outputs[0]).type ||
        tensor(op.inputs[0]).shape != tensor(op.outputs[0]).shape)
      return;
    Op fused = g_.ops[(size_t)from];
    std::vector<uint8_t> table;
    try {
      table = table_of(g_, op);
    } catch (const Refused&) {
      return;
    }
    if (!fused.table.empty())
      for (size_t i = 0; i < 256; ++i) fused.table[i] = table[fused.table[i]];
    else
      fused.table = std::move(table);
    // The product keeps its own quantization: that of the tensor that nobody sees any more.
    if (fused.quantized_as < 0) fused.quantized_as = fused.outputs[0];
    fused.outputs = op.outputs;
    replace(at, std::move(fused), (size_t)from);
  }

  // Most tensors that are joined along an axis before that of channels are copied, and copies look
  // up the bytes of tables before and behind.
  void join_tables(size_t at) {
    const Op& op = g_.ops[at];
    const int y = op.outputs[0], rank = (int)tensor(y).shape.size();
    const int axis = op.axis < 0 ? op.axis + rank : op.axis;
    if (axis == 0 || axis == (g_.channels_first ? 1 : rank - 1) || !is_8_bits(tensor(y).type))
      return;
    Op fused = op;
    std::vector<size_t> taken;
    const auto take = [&](size_t table) {
      const std::vector<size_t>& made_of = g_.ops[table].made_of;
      fused.made_of.insert(fused.made_of.end(), made_of.begin(), made_of.end());
      taken.push_back(table);
    };
    std::vector<std::vector<uint8_t>> tables;
    try {
      for (int& t : fused.inputs) {
        const int maker = only_maker(t);
        tables.push_back(join_table(g_, tensor(t), tensor(y)));
        if (maker < 0 || !is_table(g_, g_.ops[(size_t)maker]) ||
            tensor(g_.ops[(size_t)maker].inputs[0]).constant)
          continue;
        tables.back() = behind(table_of(g_, g_.ops[(size_t)maker]), tables.back());
        t = g_.ops[(size_t)maker].inputs[0];
        take((size_t)maker);
      }
      for (size_t i = at + 1; i < g_.ops.size() && readers_[(size_t)y] == 1; ++i) {
        const Op& reader = g_.ops[i];
        if (gone_[i] || reader.inputs != std::vector<int>{y} || !is_table(g_, reader)) continue;
        const std::vector<uint8_t> last = table_of(g_, reader);
        for (std::vector<uint8_t>& table : tables) table = behind(std::move(table), last);
        fused.outputs = reader.outputs;
        take(i);
      }
    } catch (const Refused&) {
      return;
    }
    if (taken.empty()) return;
    fused.tables = std::move(tables);
    for (const size_t i : taken) gone_[i] = true;
    g_.ops[at] = std::move(fused);
    count();
  }
  // One look-up in place of two; an empty table leaves bytes as they are.
  static std::vector<uint8_t> behind(std::vector<uint8_t> first, const std::vector<uint8_t>& then) {
    if (first.empty()) return then;
    for (uint8_t& byte : first) byte = then.empty() ? byte : then[byte];
    return first;
  }

  Graph g_;
  std::vector<bool> gone_;  // part of another one
  std::vector<int> readers_, makers_;
};

}  // namespace

Graph sort(const Graph& graph) {
  Graph sorted = graph;
  sorted.ops.clear();
  for (const size_t i : check_graph(graph)) {
    sorted.ops.push_back(graph.ops[i]);
    Op& op = sorted.ops.back();
    if (op.made_of.empty()) op.made_of = {i};
    if (op.name.empty()) op.name = op_name(graph, i);
  }
  return sorted;
}

Graph fuse(const Graph& graph) { return Fuser(sort(graph)).fuse(); }

}  // namespace octet::graph
