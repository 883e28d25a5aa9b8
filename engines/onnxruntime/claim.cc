// SPDX-License-Identifier: Apache-2.0
// Cuts a graph into regions of quantized operators that reach each other without the host.
#include "engines/onnxruntime/claim.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "engines/graph/check.h"
#include "engines/graph/match_qdq.h"
#include "engines/graph/would.h"
#include "engines/onnxruntime/attention.h"
#include "engines/onnxruntime/block_product.h"
#include "engines/onnxruntime/dynamic.h"
#include "engines/onnxruntime/find_floats.h"
#include "engines/onnxruntime/host/whole.h"
#include "engines/onnxruntime/region.h"

namespace octet::onnxruntime {
namespace {

using graph::Kind;

// Sizes that are not known before a run, as operators are asked about: images one at a time.
constexpr int64_t kAssumedSize = 64;

bool is_product(const graph::Op& op) {
  return op.kind == Kind::kConvolution || op.kind == Kind::kProduct;
}

// Gives each unknown size of what comes from outside, or from the host, a value: one name, one
// value. Other shapes follow. Returns whether any size was unknown.
bool assume_shapes(const HostGraph& host, Translation* t) {
  std::vector<graph::Tensor>& tensors = t->graph.tensors;
  std::vector<char> follows(tensors.size());
  for (size_t i = 0; i < t->graph.ops.size(); ++i)
    for (size_t k = 0; k < t->rules[i].size(); ++k) follows[(size_t)t->graph.ops[i].outputs[k]] = 1;
  bool any = false;
  std::map<std::string, int64_t> named;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (graph::known_sizes(tensors[i])) continue;
    any = true;
    if (follows[i]) continue;
    for (size_t axis = 0; axis < tensors[i].shape.size(); ++axis) {
      int64_t& size = tensors[i].shape[axis];
      if (size >= 0) continue;
      size = axis == 0 ? 1 : kAssumedSize;
      const std::string& name = host.values[i].dim[axis];
      if (!name.empty()) size = named.emplace(name, size).first->second;
    }
  }
  if (!any) return false;
  for (size_t i = 0; i < t->graph.ops.size(); ++i) {
    const graph::Op& op = t->graph.ops[i];
    std::vector<Shape> shapes;
    bool known = true;
    for (const int x : op.inputs)
      if (x >= 0) {
        known &= graph::known_sizes(tensors[(size_t)x]);
        shapes.push_back(tensors[(size_t)x].shape);
      }
    for (size_t k = 0; known && k < t->rules[i].size(); ++k) {
      graph::Tensor& y = tensors[(size_t)op.outputs[k]];
      if (graph::known_sizes(y)) continue;
      y.shape = t->rules[i][k](shapes);
      y.shape_known = !y.shape.empty();
    }
  }
  return true;
}

class Claimer {
 public:
  Claimer(const HostGraph& host, const Known& known, std::shared_ptr<const Shared> shared,
          const std::function<void(const std::string&)>& say)
      : host_(host), known_(known), uses_(host), shared_(std::move(shared)), say_(say) {
    FoundDynamic found = find_dynamic(host);
    claim_dynamic(found.chains);
    claim_single(&found.refused);
    nodes_ = translate(host, known, shared_->options.arithmetic);
    for (const auto& [node, why] : found.refused) nodes_.graph.ops[node].refused = why;
    for (const size_t node : taken_) {
      graph::Op& op = nodes_.graph.ops[node];
      op.kind = Kind::kOther, op.refused = "it runs apart from networks", op.inputs.clear();
      for (const int t : host.nodes[node].inputs)
        if (t >= 0) op.inputs.push_back(t);
      nodes_.rules[node].clear();
    }
    free_ = assume_shapes(host, &nodes_);
    matched_ = graph::match_qdq(nodes_.graph);
    reasons_ = graph::would(matched_);
    makers_ = graph::makers_of(matched_);
    node_makers_ = graph::makers_of(nodes_.graph);
    readers_.resize(nodes_.graph.tensors.size());
    for (size_t i = 0; i < nodes_.graph.ops.size(); ++i)
      for (const int t : nodes_.graph.ops[i].inputs)
        if (t >= 0) readers_[(size_t)t].push_back(i);
  }

  std::vector<Claim> claim() {
    while (!cut()) {
    }
    std::map<size_t, std::vector<size_t>> regions;
    for (size_t i = 0; i < matched_.ops.size(); ++i)
      if (reasons_[i].empty()) regions[region_[i]].push_back(i);
    for (const auto& [first, ops] : regions) add(ops);
    std::map<size_t, std::string> why_floats;
    if (shared_->options.floats)
      for (Unit& unit : find_floats(host_, known_, taken_, shared_->options, &why_floats))
        add_unit(std::move(unit));
    for (std::vector<Unit>& units : join(host_, std::move(units_))) claim_group(std::move(units));
    const auto stays = [&](size_t op) { return !taken_.count(matched_.ops[op].made_of[0]); };
    for (const std::vector<size_t>& ops : without_product_)
      if (std::any_of(ops.begin(), ops.end(), stays))
        say_(graph::join("left to ONNX Runtime: ", ops.size(),
                         " operators without a product among them"));
    for (size_t i = 0; i < reasons_.size(); ++i) {
      const size_t node = matched_.ops[i].made_of[0];
      if (reasons_[i].empty() || !stays(i)) continue;
      const auto why = why_floats.find(node);
      say_("left to ONNX Runtime: " +
           (why == why_floats.end() ? reasons_[i] : matched_.ops[i].name + ": " + why->second));
    }
    return std::move(claims_);
  }

 private:
  void add_unit(Unit unit) {
    taken_.insert(unit.nodes.begin(), unit.nodes.end());
    units_.push_back(std::move(unit));
  }

  // Operators of floats alone stay with the host, whose own are as fast or faster.
  void claim_group(std::vector<Unit> units) {
    Claim made;
    std::vector<std::unique_ptr<Work>> works;
    const bool stays =
        std::all_of(units.begin(), units.end(), [](const Unit& unit) { return unit.is_float; });
    for (Unit& unit : units) {
      if (stays) {
        say_("left to ONNX Runtime: " + unit.says + ": it is next to nothing that Octet takes");
        continue;
      }
      say_(graph::join(unit.nodes.size(),
                       unit.nodes.size() == 1 ? " node: " : " nodes: ", unit.says));
      for (const size_t node : unit.nodes) made.nodes.push_back(host_.nodes[node].node);
      works.push_back(std::move(unit.work));
    }
    if (stays) return;
    if (works.size() > 1)
      say_(graph::join("the ", made.nodes.size(), " nodes of these ", works.size(), " run as one"));
    made.group = std::make_unique<Group>(host_, std::move(works));
    claims_.push_back(std::move(made));
  }

  // These units have one input each, so that no way leads out of one and back.
  void claim_dynamic(const std::vector<DynamicChain>& chains) {
    for (const DynamicChain& chain : chains) {
      if (chain.size() > 1 && claim_chain(chain, false)) continue;
      for (const DynamicNodes& nodes : chain) claim_chain({nodes}, true);
    }
  }

  bool claim_chain(const DynamicChain& chain, bool last_try) {
    std::set<size_t> nodes;
    size_t products = 0;
    for (const DynamicNodes& part : chain) {
      nodes.insert(part.nodes.begin(), part.nodes.end());
      products += part.products.size();
    }
    try {
      Unit made = {{nodes.begin(), nodes.end()}, std::make_unique<DynamicWork>(chain, shared_)};
      made.says = graph::join(products, " products of ", chain.size(),
                              " tensors that are quantized in the run");
      add_unit(std::move(made));
    } catch (const graph::Refused& refused) {
      if (last_try)
        say_(graph::join("left to ONNX Runtime: ", nodes.size(), " nodes: ", refused.what()));
      return false;
    }
    return true;
  }

  // Nodes that are a unit each: MatMulNBits, and QAttention with the quantizer of its input.
  void claim_single(std::map<size_t, std::string>* refused) {
    for (size_t i = 0; i < host_.nodes.size(); ++i) {
      const Node& node = host_.nodes[i];
      const bool attends = node.op == "QAttention";
      if (!(attends || node.op == "MatMulNBits") || node.domain != "com.microsoft" || node.taken)
        continue;
      try {
        Unit made = {{i}, nullptr};
        const int quantizer = attends ? quantizer_of(node) : -1;
        if (quantizer >= 0) made.nodes.push_back((size_t)quantizer);
        if (attends)
          made.work = std::make_unique<Attention>(
              host_, node, quantizer < 0 ? nullptr : &host_.nodes[(size_t)quantizer], *shared_);
        else
          made.work = std::make_unique<BlockProduct>(host_, node, *shared_);
        made.says = "'" + node.name +
                    (attends ? "', an exact product and attention in f32"
                             : "', a product by weights of 4 bits in scale blocks");
        add_unit(std::move(made));
      } catch (const graph::Refused& why) {
        (*refused)[i] = why.why();
      }
    }
  }

  // The DynamicQuantizeLinear whose three outputs the attention reads, and nothing else; or -1.
  int quantizer_of(const Node& attention) const {
    if (attention.inputs.size() < 7) return -1;
    const std::vector<int> made = {attention.inputs[0], attention.inputs[3], attention.inputs[6]};
    int found = -1;
    for (size_t i = 0; i < host_.nodes.size(); ++i) {
      const Node& node = host_.nodes[i];
      if (node.op == "DynamicQuantizeLinear" && node.domain.empty() && node.outputs == made &&
          !node.taken && !node.inputs.empty() && node.inputs[0] >= 0)
        found = (int)i;
      for (const std::vector<int>* ends : {&node.inputs, &node.captured})
        for (const int t : *ends)
          if (&node != &attention && std::count(made.begin(), made.end(), t)) return -1;
    }
    for (const int t : host_.outputs)
      if (std::count(made.begin(), made.end(), t)) return -1;
    return found;
  }

  // Gives each operator that is taken its region, and each region its nodes: those of its
  // operators, those that compute what is known, and the DequantizeLinears that several operators
  // read.
  // Returns false after it took an operator back because a node of its region is read elsewhere,
  // too, or reads what the host computes of the region's results.
  bool cut() {
    find_regions();
    members_.clear();
    for (size_t i = 0; i < matched_.ops.size(); ++i)
      if (reasons_[i].empty())
        members_[region_[i]].insert(matched_.ops[i].made_of.begin(), matched_.ops[i].made_of.end());
    std::map<size_t, size_t> owner;  // of a node: the region
    for (auto& [region, nodes] : members_) {
      add_known(uses_, known_, taken_, &nodes);
      for (const size_t node : nodes) owner[node] = region;
    }
    bool whole = true;
    for (size_t i = 0; i < matched_.ops.size(); ++i) {
      if (!reasons_[i].empty()) continue;
      for (const size_t dq : dequantizers_of(matched_.ops[i], owner)) {
        const std::vector<size_t>& all = readers_[(size_t)nodes_.graph.ops[dq].outputs[0]];
        const bool inside = std::all_of(all.begin(), all.end(), [&](size_t reader) {
          const auto found = owner.find(reader);
          return found != owner.end() && found->second == region_[i];
        });
        if (inside) {
          members_[region_[i]].insert(dq);
          continue;
        }
        reasons_[i] = matched_.ops[i].name + ": it shares the DequantizeLinear '" +
                      host_.nodes[dq].name + "' with operators elsewhere";
        whole = false;
      }
    }
    for (const auto& [region, nodes] : members_) whole = whole && is_one(region, nodes);
    return whole;
  }

  // Whether the host can run a region's nodes as one; else takes one of its operators back.
  bool is_one(size_t region, const std::set<size_t>& nodes) {
    std::set<int> made;
    for (size_t i = 0; i < matched_.ops.size(); ++i)
      if (reasons_[i].empty() && region_[i] == region)
        made.insert(matched_.ops[i].outputs.begin(), matched_.ops[i].outputs.end());
    const Hindrance found = find_hindrance(uses_, nodes, made);
    return found.why.empty() || give_back(region, found.node, found.why);
  }

  // The operator that the node belongs to, or one that reads it, stays with the host.
  bool give_back(size_t region, size_t node, const std::string& why) {
    for (size_t i = 0; i < matched_.ops.size(); ++i) {
      if (!reasons_[i].empty() || region_[i] != region) continue;
      const std::vector<size_t>& own = matched_.ops[i].made_of;
      const auto is_own = [&](size_t n) { return std::count(own.begin(), own.end(), n) != 0; };
      const auto is_read = [&](int t) {
        if (t < 0) return false;
        const std::vector<size_t>& readers = uses_.readers(t);
        return std::any_of(readers.begin(), readers.end(), is_own);
      };
      const std::vector<int>& made = host_.nodes[node].outputs;
      if (!is_own(node) && std::none_of(made.begin(), made.end(), is_read)) continue;
      reasons_[i] = matched_.ops[i].name + ": " + why;
      return false;
    }
    for (size_t i = 0; i < matched_.ops.size(); ++i)
      if (reasons_[i].empty() && region_[i] == region)
        reasons_[i] = matched_.ops[i].name + ": " + why;
    return false;
  }

  // DequantizeLinears that nodes of the operator read and that belong to no operator.
  std::set<size_t> dequantizers_of(const graph::Op& op,
                                   const std::map<size_t, size_t>& owner) const {
    std::set<size_t> found;
    for (const size_t node : op.made_of)
      for (const int t : nodes_.graph.ops[node].inputs) {
        const int maker = t < 0 ? -1 : node_makers_[(size_t)t];
        if (maker < 0 || owner.count((size_t)maker)) continue;
        if (std::find(op.inputs.begin(), op.inputs.end(), t) == op.inputs.end())
          found.insert((size_t)maker);
      }
    return found;
  }

  // A region's operators are of one level, for what is behind an operator of the host is of a
  // higher one, and reach each other. So no way leads out of a region and back.
  void find_regions() {
    const size_t count = matched_.ops.size();
    std::vector<size_t> level(count, 0);
    region_.resize(count);
    std::iota(region_.begin(), region_.end(), 0);
    const auto root = [&](size_t i) {
      while (region_[i] != i) i = region_[i] = region_[region_[i]];
      return i;
    };
    for (size_t i = 0; i < count; ++i) {
      const bool taken = reasons_[i].empty();
      for (const int t : matched_.ops[i].inputs) {
        if (t < 0 || makers_[(size_t)t] < 0) continue;
        const size_t from = (size_t)makers_[(size_t)t];
        level[i] = std::max(level[i], level[from] + (taken && !reasons_[from].empty()));
      }
      for (const int t : matched_.ops[i].inputs) {
        if (!taken || t < 0 || makers_[(size_t)t] < 0) continue;
        const size_t from = (size_t)makers_[(size_t)t];
        if (reasons_[from].empty() && level[from] == level[i]) {
          const size_t a = root(from), b = root(i);
          region_[std::max(a, b)] = std::min(a, b);
        }
      }
    }
    for (size_t i = 0; i < count; ++i) region_[i] = root(i);
  }

  void add(const std::vector<size_t>& ops) {
    if (std::none_of(ops.begin(), ops.end(), [&](size_t i) { return is_product(matched_.ops[i]); }))
      return without_product_.push_back(ops);
    const std::set<size_t>& nodes = members_[region_[ops[0]]];
    graph::Graph g = matched_;
    g.ops.clear();
    for (const size_t i : ops) g.ops.push_back(matched_.ops[i]), g.ops.back().made_of.clear();
    set_ends(nodes, &g);
    try {
      auto region = std::make_unique<Region>(g, steps_of(nodes), shared_);
      Unit made = {{nodes.begin(), nodes.end()}, nullptr};
      made.says = region->report(), made.work = std::move(region);
      add_unit(std::move(made));
    } catch (const graph::Refused& refused) {
      say_(graph::join("left to ONNX Runtime: ", nodes.size(), " nodes: ", refused.what()));
    }
  }

  void set_ends(const std::set<size_t>& nodes, graph::Graph* g) const {
    std::vector<char> made(g->tensors.size()), read(g->tensors.size()), wanted(g->tensors.size());
    for (const int t : nodes_.graph.outputs) wanted[(size_t)t] = 1;
    for (size_t i = 0; i < host_.nodes.size(); ++i)
      for (const std::vector<int>* ends : {&host_.nodes[i].inputs, &host_.nodes[i].captured})
        for (const int t : *ends)
          if (t >= 0 && !nodes.count(i)) wanted[(size_t)t] = 1;
    for (const graph::Op& op : g->ops) {
      for (const int t : op.outputs) made[(size_t)t] = 1;
      for (const int t : op.inputs)
        if (t >= 0) read[(size_t)t] = 1;
    }
    g->inputs.clear(), g->outputs.clear();
    for (size_t t = 0; t < made.size(); ++t) {
      if (read[t] && !made[t] && !g->tensors[t].constant) g->inputs.push_back((int)t);
      if (made[t] && wanted[t]) g->outputs.push_back((int)t);
    }
  }

  std::vector<Step> steps_of(const std::set<size_t>& nodes) const {
    std::vector<Step> steps;
    if (!free_) return steps;
    for (const size_t node : nodes) {  // their order is one in which they run
      const graph::Op& op = nodes_.graph.ops[node];
      const auto is_constant = [&](int t) {
        return t < 0 || nodes_.graph.tensors[(size_t)t].constant;
      };
      if (std::all_of(op.inputs.begin(), op.inputs.end(), is_constant)) continue;
      if (nodes_.rules[node].empty())
        graph::refuse(op.name, ": the size of its output is known to the host only");
      for (size_t k = 0; k < nodes_.rules[node].size(); ++k) {
        Step step = {{}, op.outputs[k], nodes_.rules[node][k]};
        std::copy_if(op.inputs.begin(), op.inputs.end(), std::back_inserter(step.inputs),
                     [](int t) { return t >= 0; });
        steps.push_back(std::move(step));
      }
    }
    return steps;
  }

  const HostGraph& host_;
  const Known& known_;
  const NodeUses uses_;
  const std::shared_ptr<const Shared> shared_;
  const std::function<void(const std::string&)>& say_;
  std::vector<Claim> claims_;
  std::vector<Unit> units_;
  std::set<size_t> taken_;  // nodes that a unit stands for
  Translation nodes_;       // an operator for each node
  bool free_ = false;       // some sizes are only known at a run
  graph::Graph matched_;
  std::vector<std::string> reasons_;          // why an operator of matched_ stays with the host
  std::vector<int> makers_, node_makers_;     // of each tensor, in matched_ and among all nodes
  std::vector<std::vector<size_t>> readers_;  // of each tensor: nodes
  std::vector<size_t> region_;                // of each operator of matched_: its first operator
  std::vector<std::vector<size_t>> without_product_;  // regions
  std::map<size_t, std::set<size_t>> members_;        // the nodes of each region
};

}  // namespace

std::vector<Claim> claim(const HostGraph& host, const Known& known,
                         std::shared_ptr<const Shared> shared,
                         const std::function<void(const std::string&)>& say) {
  return Claimer(host, known, std::move(shared), say).claim();
}

}  // namespace octet::onnxruntime
