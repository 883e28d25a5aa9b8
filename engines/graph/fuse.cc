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

  Graph g_;
  std::vector<bool> gone_;  // part of another one
  std::vector<int> readers_, makers_;
};

// ---- tensors of int8 that are stored as uint8

// Tensors that are stored alike, and what becomes of them.
class Alike {
 public:
  explicit Alike(Graph* g)
      : g_(*g), from_(g->tensors.size()), kept_(from_.size()), gains_(from_.size()) {
    for (size_t t = 0; t < from_.size(); ++t) {
      from_[t] = t;
      const Tensor& tensor = g_.tensors[t];
      kept_[t] = tensor.type != OCTET_S8 || tensor.constant || tensor.variable;
    }
    for (const int t : g_.inputs) keep(t);
    for (const int t : g_.outputs) keep(t);
  }

  void mark() {
    for (const Op& op : g_.ops) take(op);
    for (size_t t = 0; t < from_.size(); ++t)
      g_.tensors[t].stored_unsigned = !kept_[first(t)] && gains_[first(t)];
  }

 private:
  size_t first(size_t t) {
    while (from_[t] != t) t = from_[t] = from_[from_[t]];
    return t;
  }
  void keep(int t) {
    if (t >= 0) kept_[first((size_t)t)] = true;
  }
  void join(int a, int b) {
    if (a < 0 || b < 0) return;
    const size_t x = first((size_t)a), y = first((size_t)b);
    from_[y] = x;
    kept_[x] = kept_[x] || kept_[y], gains_[x] = gains_[x] || gains_[y];
  }

  // A product of constant weights of 8 bits reads one type and makes another. An activation whose
  // only byte is the least one would have bounds that descriptors do not.
  void take(const Op& op) {
    const int y = op.outputs[0];
    const Tensor& out = g_.tensors[(size_t)y];
    if (op.clamp.activation != Activation::kNone && out.type == OCTET_S8 &&
        bounds_of(op.clamp, OCTET_S8, scale_of(out), zero_of(out), g_.arithmetic).most <= -kTurned)
      keep(y);
    if (is_product(op) && g_.tensors[(size_t)op.inputs[1]].constant) {
      if (g_.tensors[(size_t)op.inputs[1]].type != OCTET_S8) keep(op.inputs[0]);
      gains_[first((size_t)op.inputs[0])] = true;
      return join(y, input_of(op, 3));
    }
    for (const int t : op.inputs)
      does_not_mind(op) ? join(y, t) : keep(t);
    if (!does_not_mind(op))
      for (const int t : op.outputs) keep(t);
  }

  // Whether the operator makes the same bytes, turned, of bytes that are: it computes with their
  // differences from zero points, or moves them.
  bool does_not_mind(const Op& op) const {
    switch (op.kind) {
      case Kind::kAdd:
      case Kind::kSubtract:
      case Kind::kMultiply:
        return g_.arithmetic == Arithmetic::kTflite || g_.arithmetic == Arithmetic::kXnnpack;
      case Kind::kMaxPool:
      case Kind::kPad:
      case Kind::kSlice:
      case Kind::kReshape:
      case Kind::kTranspose:
      case Kind::kResizeNearest:
      case Kind::kDepthToSpace:
      case Kind::kSpaceToDepth: return true;
      case Kind::kConcatenate:
        return std::all_of(op.inputs.begin(), op.inputs.end(), [&](int t) {
          return same_quantization(g_.tensors[(size_t)t], g_.tensors[(size_t)op.outputs[0]]);
        });
      default: return false;
    }
  }

  Graph& g_;
  std::vector<size_t> from_;
  std::vector<char> kept_, gains_;
};

}  // namespace

void store_unsigned(Graph* graph) { Alike(graph).mark(); }

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
