// SPDX-License-Identifier: Apache-2.0
// Matches the nodes of LayerNormalization, GELU and attention, from their last one backwards.
#include "engines/onnxruntime/find_floats.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engines/onnxruntime/float_uses.h"
#include "engines/onnxruntime/float_works.h"
#include "engines/onnxruntime/host/whole.h"

namespace octet::onnxruntime {
namespace {

constexpr int64_t kMostHeads = 1 << 16, kMostDepth = 1 << 16;

class Finder : FloatUses {
 public:
  Finder(const HostGraph& host, const Known& known, const std::set<size_t>& taken,
         const Options& options)
      : FloatUses(host, known, taken), all_uses_(host), threads_(options.threads) {}

  std::vector<Unit> find(std::map<size_t, std::string>* refused) {
    std::vector<Unit> found;
    for (size_t i = host_.nodes.size(); i-- > 0;) {
      if (taken_.count(i)) continue;
      Unit unit;
      try {
        if (!match(i, &unit)) continue;
      } catch (const graph::Refused& why) {
        (*refused)[i] = why.why();
        continue;
      }
      if (!add_sizes(&unit)) continue;
      taken_.insert(unit.nodes.begin(), unit.nodes.end());
      unit.is_float = true;
      found.push_back(std::move(unit));
    }
    std::reverse(found.begin(), found.end());
    return found;
  }

 private:
  using FloatUses::find;

  // Adds nodes that compute nothing but sizes for the unit; whether it runs as one with them.
  bool add_sizes(Unit* unit) const {
    std::set<size_t> nodes(unit->nodes.begin(), unit->nodes.end());
    add_known(all_uses_, known_, taken_, &nodes);
    std::set<int> made;
    for (const size_t i : nodes)
      for (const int t : node(i).outputs)
        if (t >= 0 &&
            std::count(unit->work->outputs.begin(), unit->work->outputs.end(), value(t).name))
          made.insert(t);
    unit->nodes.assign(nodes.begin(), nodes.end());
    return find_hindrance(all_uses_, nodes, made).why.empty();
  }

  bool match(size_t i, Unit* unit) const {
    if (!result(i)) return false;
    if (is(i, "", "LayerNormalization")) return normalization(i, unit);
    if (is(i, "com.microsoft", "SkipLayerNormalization")) return skip_normalization(i, unit);
    if (is(i, "com.microsoft", "Gelu") || is(i, "", "Gelu") || is(i, "com.microsoft", "BiasGelu") ||
        is(i, "com.microsoft", "FastGelu"))
      return gelu(i, unit);
    if (is(i, "", "Add")) return written_normalization(i, unit);
    if (is(i, "", "Mul")) return written_gelu(i, unit);
    if (is(i, "", "Reshape")) return attention(i, unit);
    return false;
  }

  // ---- normalization

  // The Add that makes a tensor, which others may read, too, or -1.
  int add_before(int t) const {
    const int add = maker(t);
    if (add < 0 || !is((size_t)add, "", "Add") || !is_free((size_t)add)) return -1;
    for (const size_t k : {0, 1})
      if (!find((size_t)add, k) || find((size_t)add, k)->type != kFloat ||
          !find((size_t)add, k)->shape_known)
        return -1;
    return add;
  }

  static bool is_computed(const Value* v) { return v && !v->constant; }

  static float epsilon_of(const Node& n, float otherwise) {
    const float epsilon = n.number("epsilon", otherwise);
    if (!std::isfinite(epsilon) || epsilon < 0)
      graph::refuse("its epsilon is not finite, or below 0");
    return epsilon;
  }

  bool normalization(size_t i, Unit* unit) const {
    const Node& n = node(i);
    Normalization::Ends ends = {};
    ends.x = find(i, 0), ends.scale = find(i, 1), ends.shift = find(i, 2), ends.y = result(i);
    need_float(ends.x, "input");
    const int64_t axis = n.integer("axis", -1);
    if (axis != -1 && !(ends.x->shape_known && axis + 1 == (int64_t)ends.x->shape.size()))
      graph::refuse("it is not over the last axis");
    need_vector(ends.scale, "scale");
    if (ends.shift) need_vector(ends.shift, "bias");
    if (n.integer("stash_type", 1) != 1) graph::refuse("it computes in another type than f32");
    if (result(i, 1) || result(i, 2)) graph::refuse("it gives out its means");
    unit->nodes = {i}, unit->says = "LayerNormalization '" + n.name + "'";
    take_sum(n.inputs[0], &ends, unit);
    unit->work = std::make_unique<Normalization>(ends, epsilon_of(n, 1e-5f), threads_);
    return true;
  }

  // Takes the Add that makes what the unit normalizes. Where others read the sum, they may make the
  // scale of it, which then has to be a constant.
  void take_sum(int sum, Normalization::Ends* ends, Unit* unit) const {
    const int add = add_before(sum);
    const std::vector<size_t>& nodes = unit->nodes;
    const bool is_read =
        is_output(sum) || std::any_of(readers(sum).begin(), readers(sum).end(), [&](size_t reader) {
          return std::count(nodes.begin(), nodes.end(), reader) == 0;
        });
    if (add < 0 || (is_read && (is_computed(ends->scale) || is_computed(ends->shift)))) return;
    const size_t last = is_constant(input((size_t)add, 0)) ? 0 : 1;
    const Value* const second = find((size_t)add, last);
    ends->x = find((size_t)add, 1 - last);
    const bool is_bias = second->constant && second->shape.size() == 1 && !ends->x->shape.empty() &&
                         second->shape[0] == ends->x->shape.back();
    (is_bias ? ends->bias : ends->added) = second;
    if (is_read) ends->sum = &value(sum);
    unit->nodes.push_back((size_t)add);
  }

  // The mean over the last axis of what is returned, or -1.
  int mean_of(int t, std::vector<size_t>* nodes) const {
    const int mean = before(t, "ReduceMean");
    if (mean < 0) return -1;
    const Node& n = node((size_t)mean);
    std::vector<int64_t> axes = n.integers("axes");
    if (const Value* const given = find((size_t)mean, 1)) axes = given->integers();
    const Value* const x = find((size_t)mean, 0);
    if (!x || x->type != kFloat || axes.size() != 1 || !n.integer("keepdims", 1)) return -1;
    if (axes[0] != -1 && !(x->shape_known && axes[0] + 1 == (int64_t)x->shape.size())) return -1;
    nodes->push_back((size_t)mean);
    return n.inputs[0];
  }

  // d / sqrt(mean of d * d + epsilon) * scale + shift, where d is x - mean of x. i: the last Add.
  bool written_normalization(size_t i, Unit* unit) const {
    const auto is_vector = [&](int t) {
      return is_constant(t) && value(t).type == kFloat && value(t).shape.size() == 1;
    };
    std::vector<size_t>& nodes = unit->nodes;
    const auto operands = [&](int at, int* constant) {  // the other one, or -1
      nodes.push_back((size_t)at);
      const size_t k = is_constant(input((size_t)at, 0)) ? 0 : 1;
      *constant = input((size_t)at, k);
      return is_constant(*constant) ? input((size_t)at, 1 - k) : -1;
    };
    int scale = -1, shift = -1, epsilon = -1, two = -1;
    const int mul = before(operands((int)i, &shift), "Mul");
    const int div = mul < 0 ? -1 : before(operands(mul, &scale), "Div");
    if (div < 0 || !is_vector(scale) || !is_vector(shift)) return false;
    const int d = input((size_t)div, 0), root = before(input((size_t)div, 1), "Sqrt");
    const int sum = root < 0 ? -1 : before(input((size_t)root, 0), "Add");
    if (sum < 0) return false;
    nodes.insert(nodes.end(), {(size_t)div, (size_t)root});
    double e = 0;
    const int squares = mean_of(operands(sum, &epsilon), &nodes), pow = before(squares, "Pow");
    if (pow < 0 || operands(pow, &two) != d || !is_number(two, 2) || !number(epsilon, &e) || e < 0)
      return false;
    const int sub = maker(d);
    if (sub < 0 || !is((size_t)sub, "", "Sub") || !is_free((size_t)sub) || is_output(d) ||
        readers(d).size() != 2 || !std::isfinite((float)e))
      return false;
    nodes.push_back((size_t)sub);
    const int x = input((size_t)sub, 0);
    if (x < 0 || mean_of(input((size_t)sub, 1), &nodes) != x) return false;
    Normalization::Ends ends = {};
    ends.x = &value(x), ends.scale = &value(scale), ends.shift = &value(shift), ends.y = result(i);
    unit->says = "LayerNormalization '" + node(i).name + "' from single operators";
    take_sum(x, &ends, unit);
    unit->work = std::make_unique<Normalization>(ends, (float)e, threads_);
    return true;
  }

  // Inputs: x, skip, gamma, beta, bias; outputs: y, mean, inverse of the deviation, sum.
  bool skip_normalization(size_t i, Unit* unit) const {
    Normalization::Ends ends = {find(i, 0), find(i, 1),   find(i, 4), find(i, 2),
                                find(i, 3), result(i, 3), result(i)};
    need_float(ends.x, "input"), need_float(ends.added, "skip"), need_vector(ends.scale, "gamma");
    if (ends.shift) need_vector(ends.shift, "beta");
    if (ends.bias) need_vector(ends.bias, "bias");
    if (result(i, 1) || result(i, 2)) graph::refuse("it gives out its means");
    unit->nodes = {i}, unit->says = "SkipLayerNormalization '" + node(i).name + "'";
    unit->work = std::make_unique<Normalization>(ends, epsilon_of(node(i), 1e-12f), threads_);
    return true;
  }

  // ---- GELU

  bool gelu(size_t i, Unit* unit) const {
    const Value *const x = find(i, 0), *const bias = find(i, 1);
    need_float(x, "input");
    if (bias) need_vector(bias, "bias");
    if (x->constant) graph::refuse("its input is a constant");
    if (node(i).text("approximate") == "tanh" || node(i).op == "FastGelu")
      graph::refuse("it approximates by tanh");
    unit->nodes = {i}, unit->says = node(i).op + " '" + node(i).name + "'";
    unit->work = std::make_unique<GeluWork>(*x, bias, *result(i), threads_);
    return true;
  }

  // x * (1 + erf(x / sqrt(2))) * 0.5, whichever product comes first. i: the last product.
  bool written_gelu(size_t i, Unit* unit) const {
    for (const size_t k : {0, 1}) {
      const int half_or_sum = input(i, k), other = input(i, 1 - k);
      if (is_number(half_or_sum, 0.5)) {  // (x * sum) * 0.5
        const int inner = before(other, "Mul");
        if (inner < 0) continue;
        for (const size_t m : {0, 1})
          if (gelu_of(input((size_t)inner, m), input((size_t)inner, 1 - m), {(size_t)inner, i},
                      unit))
            return true;
        continue;
      }
      const int inner = before(half_or_sum, "Mul");  // (x * 0.5) * sum, or (sum * 0.5) * x
      if (inner < 0) continue;
      for (const size_t m : {0, 1}) {
        if (!is_number(input((size_t)inner, m), 0.5)) continue;
        const int x = input((size_t)inner, 1 - m);
        if (gelu_of(x, other, {(size_t)inner, i}, unit) ||
            gelu_of(other, x, {(size_t)inner, i}, unit))
          return true;
      }
    }
    return false;
  }

  // Whether sum is 1 + erf(x / sqrt(2)); the last of the nodes makes the result.
  bool gelu_of(int x, int sum, std::vector<size_t> nodes, Unit* unit) const {
    const int add = before(sum, "Add");
    if (x < 0 || add < 0 || value(x).type != kFloat || value(x).constant) return false;
    int erf = -1;
    for (const size_t k : {0, 1})
      if (is_number(input((size_t)add, k), 1)) erf = before(input((size_t)add, 1 - k), "Erf");
    if (erf < 0) return false;
    const int scaled = input((size_t)erf, 0), div = before(scaled, "Div"),
              mul = before(scaled, "Mul");
    const bool divides =
        div >= 0 && input((size_t)div, 0) == x && is_number(input((size_t)div, 1), std::sqrt(2.0));
    const bool multiplies = mul >= 0 &&
                            (input((size_t)mul, 0) == x || input((size_t)mul, 1) == x) &&
                            is_number(other_input((size_t)mul, x), std::sqrt(0.5));
    if (!divides && !multiplies) return false;
    const size_t last = nodes.back();
    nodes.insert(nodes.end(), {(size_t)add, (size_t)erf, (size_t)(divides ? div : mul)});
    unit->says = "GELU '" + node(last).name + "'";
    unit->work = std::make_unique<GeluWork>(value(x), nullptr, *result(last), threads_);
    unit->nodes = std::move(nodes);
    return true;
  }

  // ---- attention

  struct Side {  // Q, K or V
    const Value* x = nullptr;
    int64_t heads = 0, depth = 0;
    double scale = 1;
  };

  // Finds x where t is x as [image, token, head, element], transposed so. Behind the Transpose
  // there may be a Mul by a number.
  bool side(int t, const std::vector<int64_t>& perm, std::vector<size_t>* nodes, Side* to) const {
    if (const int mul = before(t, "Mul"); mul >= 0) {
      const size_t k = is_constant(input((size_t)mul, 0)) ? 0 : 1;
      if (!number(input((size_t)mul, k), &to->scale)) return false;
      nodes->push_back((size_t)mul), t = input((size_t)mul, 1 - k);
    }
    int at = before(t, "Transpose");
    if (at < 0) return false;
    std::vector<int64_t> all = node((size_t)at).integers("perm");
    nodes->push_back((size_t)at);
    const int first = before(input((size_t)at, 0), "Transpose");
    if (first >= 0) {  // two after each other
      const std::vector<int64_t> inner = node((size_t)first).integers("perm");
      if (inner.size() != 4) return false;
      for (int64_t& axis : all) axis = axis < 0 || axis > 3 ? -1 : inner[(size_t)axis];
      nodes->push_back((size_t)first), at = first;
    }
    const int reshape = before(input((size_t)at, 0), "Reshape");
    if (all != perm || reshape < 0) return false;
    const Value* const x = find((size_t)reshape, 0);
    if (!x || x->type != kFloat || x->constant || x->shape.size() != 3) return false;
    const std::vector<Size>&from = sizes_of(*x), &sizes = sizes_of(*result((size_t)reshape));
    if (sizes.size() != 4 || from.size() != 3 || !(sizes[0] == from[0]) || !(sizes[1] == from[1]) ||
        !sizes[2].names.empty() || !sizes[3].names.empty())
      return false;
    const int64_t heads = sizes[2].factor, depth = sizes[3].factor;
    if (heads < 1 || heads > kMostHeads || depth < 1 || depth > kMostDepth ||
        x->shape[2] != heads * depth)
      return false;
    nodes->push_back((size_t)reshape);
    to->x = x, to->heads = heads, to->depth = depth;
    return true;
  }

  bool are_same_sizes(const Value& a, const Value& b) const { return sizes_of(a) == sizes_of(b); }

  // Of what becomes probabilities: the product of Q and K, a factor, a mask.
  struct Scores {
    int product = -1, mask = -1;
    double scale = 1;
  };
  // Of the axes images, heads, queries and tokens all but the last one may be 1, or left out. Each
  // run looks at a size that is not known.
  bool is_mask(int t, const Value& q) const {
    if (t < 0 || value(t).type != kFloat || !value(t).shape_known) return false;
    const Value& mask = value(t);
    const size_t rank = mask.shape.size();
    const int axes[] = {1, 1, -1, 0};  // q's, of the mask's from the last one on
    if (rank < 1 || rank > 4) return false;
    for (size_t k = 0; k < rank; ++k) {
      const size_t i = rank - 1 - k;
      if (k > 0 && mask.shape[i] == 1) continue;
      if (axes[k] < 0) return false;
      if (mask.shape[i] >= 0 && mask.shape[i] != q.shape[(size_t)axes[k]]) return false;
    }
    return true;
  }
  // The product of Q and K, with or without a factor.
  bool scaled(int t, std::vector<size_t>* nodes, Scores* to) const {
    const int mul = before(t, "Mul"), div = before(t, "Div");
    if (mul >= 0) {
      const size_t k = is_constant(input((size_t)mul, 0)) ? 0 : 1;
      if (!number(input((size_t)mul, k), &to->scale)) return false;
      nodes->push_back((size_t)mul), t = input((size_t)mul, 1 - k);
    } else if (div >= 0) {
      if (!number(input((size_t)div, 1), &to->scale)) return false;
      nodes->push_back((size_t)div), t = input((size_t)div, 0);
      to->scale = 1 / (float)to->scale;
    }
    to->product = before(t, "MatMul");
    return to->product >= 0 && std::isfinite((float)to->scale);
  }
  bool scores(int t, std::vector<size_t>* nodes, Scores* to) const {
    const int add = before(t, "Add");
    if (add < 0) return scaled(t, nodes, to);
    for (const size_t k : {0, 1}) {
      std::vector<size_t> found = {(size_t)add};
      if (!scaled(input((size_t)add, k), &found, to)) continue;
      to->mask = input((size_t)add, 1 - k);
      nodes->insert(nodes->end(), found.begin(), found.end());
      return true;
    }
    return false;
  }

  // Whether a Reshape of [image, token, head, element] has these sizes of three axes.
  bool restores(size_t reshape, const std::vector<Size>& wanted) const {
    const int shape = input(reshape, 1);
    if (shape < 0 || node(reshape).integer("allowzero", 0)) return false;
    const std::vector<Size>& sizes = known_.values[(size_t)shape].elements;
    if (sizes.size() != 3 || wanted.size() != 3) return false;
    size_t left = 0;
    for (size_t axis = 0; axis < 3; ++axis) {
      const bool is_left = sizes[axis] == Size{-1, {}};
      left += is_left;
      if (!is_left && !(axis < 2 && sizes[axis] == Size{0, {}}) && !(sizes[axis] == wanted[axis]))
        return false;
    }
    return left <= 1;
  }

  // i: the Reshape that puts the heads side by side.
  bool attention(size_t i, Unit* unit) const {
    std::vector<size_t> nodes = {i};
    const int moved = before(input(i, 0), "Transpose");
    if (moved < 0 || node((size_t)moved).integers("perm") != std::vector<int64_t>{0, 2, 1, 3})
      return false;
    const int product = before(input((size_t)moved, 0), "MatMul");
    const int softmax = product < 0 ? -1 : before(input((size_t)product, 0), "Softmax");
    if (softmax < 0) return false;
    const int64_t axis =
        node((size_t)softmax).integer("axis", node((size_t)softmax).version < 13 ? 1 : -1);
    if (axis != -1 && axis != 3) return false;
    nodes.insert(nodes.end(), {(size_t)moved, (size_t)product, (size_t)softmax});
    Scores found;
    if (!scores(input((size_t)softmax, 0), &nodes, &found)) return false;
    const size_t qk = (size_t)found.product;
    nodes.push_back(qk);
    Side q, k, v;
    if (!side(input(qk, 0), {0, 2, 1, 3}, &nodes, &q) ||
        !side(input(qk, 1), {0, 2, 3, 1}, &nodes, &k) ||
        !side(input((size_t)product, 1), {0, 2, 1, 3}, &nodes, &v))
      return false;
    if (k.heads != q.heads || v.heads != q.heads || k.depth != q.depth || v.depth != q.depth ||
        !are_same_sizes(*q.x, *k.x) || !are_same_sizes(*q.x, *v.x))
      return false;
    if (found.mask >= 0 && !is_mask(found.mask, *q.x)) return false;
    if (!restores(i, sizes_of(*q.x))) return false;
    const auto scale = (float)(found.scale * ((float)q.scale * (float)k.scale));
    if (v.scale != 1 || !std::isfinite(scale)) return false;
    const HeadsWork::Ends ends = {q.x, k.x, v.x, found.mask < 0 ? nullptr : &value(found.mask),
                                  result(i)};
    unit->says = "attention in f32 '" + node((size_t)softmax).name + "'";
    unit->work =
        std::make_unique<HeadsWork>(ends, (size_t)q.heads, (size_t)q.depth, scale, threads_);
    unit->nodes = std::move(nodes);
    return true;
  }

  const NodeUses all_uses_;  // with readers that compute sizes only
  const size_t threads_;
};

}  // namespace

std::vector<Unit> find_floats(const HostGraph& host, const Known& known,
                              const std::set<size_t>& taken, const Options& options,
                              std::map<size_t, std::string>* refused) {
  return Finder(host, known, taken, options).find(refused);
}

}  // namespace octet::onnxruntime
