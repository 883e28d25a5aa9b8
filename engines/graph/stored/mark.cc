// SPDX-License-Identifier: Apache-2.0
// Decides which tensors are stored as uint8.
#include <algorithm>

#include "engines/graph/fuse.h"
#include "engines/graph/products.h"
#include "engines/graph/sizes.h"

namespace octet::graph {
namespace {

bool is_product(Kind kind) { return kind == Kind::kConvolution || kind == Kind::kProduct; }

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
    if (is_product(op.kind) && g_.tensors[(size_t)op.inputs[1]].constant) {
      if (g_.tensors[(size_t)op.inputs[1]].type != OCTET_S8) keep(op.inputs[0]);
      gains_[first((size_t)op.inputs[0])] = true;
      return join(y, input_of(op, 3));
    }
    for (const int t : op.inputs) does_not_mind(op) ? join(y, t) : keep(t);
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
      case Kind::kConcatenate:
        return op.tables.empty() && std::all_of(op.inputs.begin(), op.inputs.end(), [&](int t) {
                 return same_quantization(g_.tensors[(size_t)t], g_.tensors[(size_t)op.outputs[0]]);
               });
      default: return moves_bytes(op.kind);
    }
  }

  Graph& g_;
  std::vector<size_t> from_;
  std::vector<char> kept_, gains_;
};

}  // namespace

bool multiplies_unsigned(octet_isa isa) {
  constexpr size_t kColumns = 16;
  octet_gemm_desc d = OCTET_GEMM_DESC_INIT;
  d.m_max = d.n = d.k = kColumns;
  d.lhs_type = d.rhs_type = OCTET_S8, d.dst_type = OCTET_S32;
  d.max_isa = isa;
  octet_gemm_explanation told = OCTET_GEMM_EXPLANATION_INIT;
  return octet_gemm_explain(&d, 1, &told, nullptr) == OCTET_OK && told.lhs_type == OCTET_U8;
}

void store_unsigned(Graph* graph) { Alike(graph).mark(); }

}  // namespace octet::graph
