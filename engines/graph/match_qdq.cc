// SPDX-License-Identifier: Apache-2.0
// Replaces groups of DQ, an operator on floats and Q by operators on 8 bits.
#include "engines/graph/match_qdq.h"

#include "engines/graph/check.h"
#include "engines/graph/fuse.h"
#include "engines/graph/products.h"

namespace octet::graph {
namespace {

class Matcher {
 public:
  explicit Matcher(Graph graph)
      : g_(std::move(graph)),
        makers_(makers_of(g_)),
        readers_(readers_of(g_)),
        only_(g_.tensors.size(), -1),
        taken_(g_.ops.size()) {
    for (size_t i = 0; i < g_.ops.size(); ++i)
      for (const int t : g_.ops[i].inputs)
        if (t >= 0) only_[(size_t)t] = (int)i;
  }

  Graph match() {
    for (size_t i = 0; i < g_.ops.size(); ++i) {
      const Kind kind = g_.ops[i].kind;
      if (taken_[i] || kind == Kind::kDequantize || is_foreign(g_.ops[i])) continue;
      kind == Kind::kQuantize ? match_requantize(i) : match_group(i);
    }
    return without_idle();
  }

 private:
  const Tensor& tensor(int t) const { return g_.tensors[(size_t)t]; }

  // The tensor that DQ makes `t` of, or -1.
  int dequantized(int t) const {
    if (t < 0 || makers_[(size_t)t] < 0) return -1;
    const Op& maker = g_.ops[(size_t)makers_[(size_t)t]];
    if (maker.kind != Kind::kDequantize || is_foreign(maker) || maker.inputs.size() != 1) return -1;
    return maker.inputs[0];
  }

  // The only reader of a result that is no output of the graph, or -1.
  int reader(int t) const { return readers_[(size_t)t] == 1 ? only_[(size_t)t] : -1; }
  int reader_of_kind(int t, Kind kind) const {
    const int op = reader(t);
    if (op < 0 || taken_[(size_t)op] || is_foreign(g_.ops[(size_t)op])) return -1;
    return g_.ops[(size_t)op].kind == kind ? op : -1;
  }

  struct Group {
    Op op;
    std::vector<size_t> ops;  // in it, DQ left out
    size_t last;
  };

  void match_requantize(size_t at) {
    const Op& op = g_.ops[at];
    const int from = op.inputs.size() == 1 ? dequantized(op.inputs[0]) : -1;
    if (from < 0 || tensor(from).constant) return;
    Group group = {op, {at}, at};
    group.op.inputs = {from};
    take(std::move(group));
  }

  void match_group(size_t at) {
    Group group = {g_.ops[at], {at}, at};
    Op& op = group.op;
    if (op.kind == Kind::kSplit) return match_split(std::move(group));
    if (op.outputs.size() != 1 || tensor(op.outputs[0]).type != OCTET_F32) return;
    for (int& t : op.inputs) {
      if (t < 0) continue;
      t = dequantized(t);
      if (t < 0) return;
    }
    add_steps(&group);
    const bool product = op.kind == Kind::kConvolution || op.kind == Kind::kProduct;
    add_activation(&group, &op.clamp);
    const bool sum = product && input_of(op, 3) < 0 && add_residual(&group);
    if (const int q = reader_of_kind(op.outputs[0], Kind::kQuantize); q >= 0) {
      group.ops.push_back((size_t)q), group.last = (size_t)q;
      op.outputs = g_.ops[(size_t)q].outputs;
      const Tensor &x = tensor(op.inputs[0]), &y = tensor(op.outputs[0]);
      if (moves_bytes(op.kind) && is_8_bits(x.type) && is_8_bits(y.type) &&
          !same_quantization(x, y))
        op.quantized_as = op.inputs[0];
    } else if (!product || sum) {
      return;
    }
    take(std::move(group));
  }

  // Its parts are quantized one by one. The operator stays in its place: others may read one part
  // before another one is quantized.
  void match_split(Group group) {
    Op& op = group.op;
    const int from = op.inputs.size() == 1 ? dequantized(op.inputs[0]) : -1;
    if (from < 0) return;
    op.inputs = {from};
    for (int& t : op.outputs) {
      const int q = reader_of_kind(t, Kind::kQuantize);
      if (q < 0) return;
      group.ops.push_back((size_t)q);
      t = g_.ops[(size_t)q].outputs[0];
    }
    take(std::move(group));
  }

  // Functions of floats that follow each other are one.
  void add_steps(Group* group) {
    Op& op = group->op;
    if (op.kind != Kind::kFloats) return;
    for (int next; (next = reader_of_kind(op.outputs[0], Kind::kFloats)) >= 0;) {
      const Op& more = g_.ops[(size_t)next];
      op.steps.insert(op.steps.end(), more.steps.begin(), more.steps.end());
      op.outputs = more.outputs;
      group->ops.push_back((size_t)next), group->last = (size_t)next;
    }
  }

  void add_activation(Group* group, Clamp* clamp) {
    Op& op = group->op;
    if (clamp->activation != Activation::kNone || op.kind == Kind::kActivation) return;
    const int next = reader_of_kind(op.outputs[0], Kind::kActivation);
    if (next < 0) return;
    *clamp = g_.ops[(size_t)next].clamp;
    op.outputs = g_.ops[(size_t)next].outputs;
    group->ops.push_back((size_t)next), group->last = (size_t)next;
  }

  bool add_residual(Group* group) {
    Op& op = group->op;
    const int next = reader_of_kind(op.outputs[0], Kind::kAdd);
    if (next < 0 || g_.ops[(size_t)next].inputs.size() != 2) return false;
    const Op& add = g_.ops[(size_t)next];
    const int other = dequantized(add.inputs[add.inputs[0] == op.outputs[0] ? 1 : 0]);
    if (other < 0 || tensor(other).constant || tensor(other).shape != tensor(add.outputs[0]).shape)
      return false;
    op.inputs.resize(4, -1);
    op.inputs[3] = other;
    op.product_clamp = op.clamp, op.clamp = add.clamp;
    op.outputs = add.outputs;
    group->ops.push_back((size_t)next), group->last = (size_t)next;
    add_activation(group, &op.clamp);
    return true;
  }

  // The group stands where its last operator stood: all that it reads is there by then.
  void take(Group group) {
    group.op.name = g_.ops[group.ops[0]].name;
    group.op.made_of.clear();
    for (const size_t i : group.ops) {
      const std::vector<size_t>& own = g_.ops[i].made_of;
      group.op.made_of.insert(group.op.made_of.end(), own.begin(), own.end());
      taken_[i] = true;
    }
    add_dequantizers(group);
    found_.push_back({group.last, std::move(group.op)});
  }

  // DQs that only this group reads belong to it.
  void add_dequantizers(Group& group) {
    for (const size_t i : group.ops)
      for (const int t : g_.ops[i].inputs) {
        if (dequantized(t) < 0 || readers_[(size_t)t] != 1) continue;
        const std::vector<size_t>& own = g_.ops[(size_t)makers_[(size_t)t]].made_of;
        group.op.made_of.insert(group.op.made_of.end(), own.begin(), own.end());
      }
  }

  // All groups and the operators of none, but DQs that nothing reads any more.
  Graph without_idle() {
    std::vector<Op> ops;
    std::vector<const Op*> at(g_.ops.size(), nullptr);
    for (const auto& [last, op] : found_) at[last] = &op;
    std::vector<bool> read(g_.tensors.size());
    for (const int t : g_.outputs) read[(size_t)t] = true;
    for (size_t i = 0; i < g_.ops.size(); ++i)
      if (const Op* const op = at[i] ? at[i] : taken_[i] ? nullptr : &g_.ops[i])
        for (const int t : op->inputs)
          if (t >= 0) read[(size_t)t] = true;
    for (size_t i = 0; i < g_.ops.size(); ++i) {
      const Op* const op = at[i] ? at[i] : taken_[i] ? nullptr : &g_.ops[i];
      if (!op) continue;
      if (op->kind == Kind::kDequantize && !is_foreign(*op) && !read[(size_t)op->outputs[0]])
        continue;
      ops.push_back(*op);
    }
    g_.ops = std::move(ops);
    return std::move(g_);
  }

  Graph g_;
  const std::vector<int> makers_, readers_;
  std::vector<int> only_;    // of each tensor: the last operator that reads it
  std::vector<bool> taken_;  // operators of a group
  std::vector<std::pair<size_t, Op>> found_;
};

}  // namespace

Graph match_qdq(const Graph& graph) { return Matcher(sort(graph)).match(); }

}  // namespace octet::graph
