// SPDX-License-Identifier: Apache-2.0
// Finds DynamicQuantizeLinear with the products that read it, and com.microsoft's fused forms.
#include <algorithm>
#include <cmath>

#include "engines/graph/refused.h"
#include "engines/onnxruntime/dynamic.h"
#include "engines/onnxruntime/host/node_uses.h"

namespace octet::onnxruntime {
namespace {

class Finder : NodeUses {
 public:
  using NodeUses::NodeUses;

  // The whole answer; once.
  FoundDynamic find_chains() {
    std::vector<DynamicNodes> all = find();
    refuse_unfound(all);
    std::vector<int> before(all.size(), -1), behind(all.size(), -1);
    for (size_t i = 0; i < all.size(); ++i)
      for (size_t k = 0; k < all.size(); ++k)
        if (behind[i] < 0 && before[k] < 0 && reads_only(all[k], all[i]))
          behind[i] = (int)k, before[k] = (int)i;
    for (size_t i = 0; i < all.size(); ++i) {
      if (before[i] >= 0) continue;
      found_.chains.emplace_back();
      for (int at = (int)i; at >= 0; at = behind[(size_t)at])
        found_.chains.back().push_back(std::move(all[(size_t)at]));
    }
    return std::move(found_);
  }

 private:
  // Whether a product of `from` is the input of `to`, and of nothing else.
  bool reads_only(const DynamicNodes& to, const DynamicNodes& from) const {
    if (to.graph.ops[0].kind != from.graph.ops[0].kind) return false;
    for (const DynamicProduct& product : from.products) {
      if (product.output != to.input || is_output(to.input)) continue;
      const std::vector<size_t>& all = readers(to.input);
      return std::all_of(all.begin(), all.end(), [&](size_t reader) {
        return std::count(to.nodes.begin(), to.nodes.end(), reader) != 0;
      });
    }
    return false;
  }

  std::vector<DynamicNodes> find() {
    std::vector<DynamicNodes> found;
    for (size_t i = 0; i < host_.nodes.size(); ++i) {
      DynamicNodes group;
      try {
        if (is(i, "", "DynamicQuantizeLinear"))
          find_quantizer(i, &group);
        else if (!is(i, "com.microsoft", "DynamicQuantizeMatMul") || !find_fused(i, &group))
          continue;
        found.push_back(std::move(group));
      } catch (const graph::Refused& refused) {
        found_.refused[i] = refused.why();
      }
    }
    return found;
  }

  // MatMulIntegerToFloat is of no kind of its own: its quantizer has to be taken with it.
  void refuse_unfound(const std::vector<DynamicNodes>& all) {
    std::set<size_t> taken;
    for (const DynamicNodes& nodes : all) taken.insert(nodes.nodes.begin(), nodes.nodes.end());
    for (size_t i = 0; i < host_.nodes.size(); ++i)
      if (is(i, "com.microsoft", "MatMulIntegerToFloat") && !taken.count(i))
        found_.refused[i] = "its input is not quantized by a DynamicQuantizeLinear that is taken";
  }

  struct Part {
    Node product;  // as MatMulInteger or ConvInteger, whose input has no zero point
    std::vector<size_t> nodes;
    int scale, bias, output;  // scale and bias: constants; -1: 1, and no bias
    graph::Clamp clamp = {};
  };

  size_t channels_of(const Part& part) const {
    const Shape& w = value(part.product.inputs[1]).shape;
    if (part.product.op == "ConvInteger") return w.empty() ? 0 : (size_t)w[0];
    return w.size() == 2 ? (size_t)w[1] : 0;
  }
  // A value for each channel: of a shape that has nothing but one along the channels' axis.
  bool is_per_channel(const Part& part, int t) const {
    if (!is_constant(t) || value(t).type != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT) return false;
    const size_t n = channels_of(part), rank = value(t).shape.size();
    if (value(t).count != n || rank == 0) return false;
    const size_t behind =
        part.product.op == "ConvInteger" ? value(part.product.inputs[1]).shape.size() - 2 : 0;
    return rank > behind && value(t).shape[rank - 1 - behind] == (int64_t)n;
  }
  // Throws unless weights, scales and bias are constants that belong together.
  void check_constants(const Part& part) const {
    if (!is_constant(part.product.inputs[1]) || (part.scale >= 0 && !is_constant(part.scale)))
      graph::refuse("its weights or their scales are computed; it needs constants");
    if (part.bias >= 0 && !is_per_channel(part, part.bias))
      graph::refuse("its bias is no constant of f32 with a value for each column");
    if (part.scale < 0) return;
    if (value(part.scale).type != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT)
      graph::refuse("the scales of its weights are not of f32");
    if (value(part.scale).count != 1 &&
        (part.product.op != "MatMulInteger" || !is_per_channel(part, part.scale)))
      graph::refuse("its weights have ", value(part.scale).count,
                    " scales, neither one nor one for each column");
  }

  // MatMulInteger or ConvInteger of quantized x, then Cast, Mul by both scales or by that of x
  // alone, Add.
  void integer_product(size_t at, const Node& quantizer, Part* part) const {
    if (input(at, 0) != quantizer.outputs[0] || input(at, 2) != quantizer.outputs[2])
      refuse_reader(at);
    part->product = node(at), part->product.inputs[2] = -1;
    const auto refuse_factors = [&] {
      graph::refuse("'", node(at).name, "' is not followed by a Cast to f32 and a Mul by the ",
                    "scale of its input, or by that times a constant");
    };
    const int cast = reader(node(at).outputs[0], "Cast");
    if (cast < 0 || node((size_t)cast).integer("to", 0) != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT)
      refuse_factors();
    const int real = node((size_t)cast).outputs[0], mul = reader(real, "Mul");
    if (mul < 0) refuse_factors();
    const int factor = other_input((size_t)mul, real);
    const int own = quantizer.outputs[1];
    part->scale = part->bias = -1;
    part->nodes = {at, (size_t)cast, (size_t)mul};
    if (factor != own) {
      const int scales = maker(factor);
      if (scales < 0 || reader(factor) != mul || !is((size_t)scales, "", "Mul")) refuse_factors();
      if (input((size_t)scales, 0) != own && input((size_t)scales, 1) != own) refuse_factors();
      part->scale = other_input((size_t)scales, own);
      part->nodes.push_back((size_t)scales);
    }
    part->output = node((size_t)mul).outputs[0];
    check_constants(*part);
    const int add = reader(part->output, "Add");
    const int bias = add < 0 ? -1 : other_input((size_t)add, part->output);
    if (bias >= 0 && is_per_channel(*part, bias)) {
      part->bias = bias, part->output = node((size_t)add).outputs[0];
      part->nodes.push_back((size_t)add);
    }
    add_activation(part);
  }

  // As bounds of f32. Clip has its bounds as attributes or as inputs.
  void add_activation(Part* part) const {
    graph::Clamp clamp = {graph::Activation::kClip, 0, INFINITY};
    int next = reader(part->output, "Relu");
    if (next < 0) {
      next = reader(part->output, "Clip");
      if (next < 0) return;
      const Node& clip = node((size_t)next);
      clamp.least = clip.number("min", -INFINITY), clamp.most = clip.number("max", INFINITY);
      for (const size_t k : {1, 2}) {
        const int bound = input((size_t)next, k);
        if (bound < 0) continue;
        const std::vector<float> values = value(bound).floats();
        if (values.size() != 1) return;
        (k == 1 ? clamp.least : clamp.most) = values[0];
      }
      if (!(clamp.least <= clamp.most)) return;
    }
    part->clamp = clamp, part->output = node((size_t)next).outputs[0];
    part->nodes.push_back((size_t)next);
  }

  // Inputs: a, b, scale of a, scale of b, zero points of a and of b, bias.
  void product_to_float(size_t at, const Node& quantizer, Part* part) const {
    if (input(at, 0) != quantizer.outputs[0] || input(at, 2) != quantizer.outputs[1] ||
        input(at, 4) != quantizer.outputs[2])
      refuse_reader(at);
    part->product = node(at), part->product.op = "MatMulInteger", part->product.domain.clear();
    part->product.inputs = {input(at, 0), input(at, 1), -1, input(at, 5)};
    part->scale = input(at, 3), part->bias = input(at, 6);
    part->output = node(at).outputs[0], part->nodes = {at};
    check_constants(*part);
  }

  [[noreturn]] void refuse_reader(size_t at) const {
    graph::refuse("'", node(at).name, "' (", node(at).op,
                  ") reads what it makes; only products by its scale and zero point may");
  }

  void find_quantizer(size_t at, DynamicNodes* group) const {
    const Node& n = node(at);
    if (input(at, 0) < 0 || n.outputs.size() != 3 ||
        *std::min_element(n.outputs.begin(), n.outputs.end()) < 0)
      graph::refuse("its input or one of its outputs is left out");
    std::vector<Part> parts;
    std::set<size_t> nodes = {at};
    for (const size_t reader : readers(n.outputs[0])) {
      Part part;
      if (is(reader, "com.microsoft", "MatMulIntegerToFloat"))
        product_to_float(reader, n, &part);
      else if (is(reader, "", "MatMulInteger") || is(reader, "", "ConvInteger"))
        integer_product(reader, n, &part);
      else
        refuse_reader(reader);
      nodes.insert(part.nodes.begin(), part.nodes.end());
      parts.push_back(std::move(part));
    }
    for (const int t : n.outputs) {
      if (is_output(t)) graph::refuse("the graph gives out what it makes");
      for (const size_t reader : readers(t))
        if (!nodes.count(reader)) refuse_reader(reader);
    }
    make(nodes, n.inputs[0], parts, group);
  }

  // Inputs: a of f32, b, scale and zero point of b, bias.
  Part fused_part(size_t at) const {
    Part part;
    part.product = node(at), part.product.op = "MatMulInteger", part.product.domain.clear();
    part.product.inputs = {input(at, 0), input(at, 1), -1, input(at, 3)};
    part.scale = input(at, 2), part.bias = input(at, 4);
    part.output = node(at).outputs[0], part.nodes = {at};
    check_constants(part);
    return part;
  }

  // Returns false where the first DynamicQuantizeMatMul of the same tensor has found all of them.
  bool find_fused(size_t at, DynamicNodes* group) const {
    if (input(at, 0) < 0) graph::refuse("it has no input");
    std::vector<Part> parts = {fused_part(at)};
    std::set<size_t> nodes = {at};
    for (const size_t i : readers(input(at, 0))) {
      if (i == at || !is(i, "com.microsoft", "DynamicQuantizeMatMul")) continue;
      if (input(i, 0) != input(at, 0) || found_.refused.count(i)) continue;
      if (i < at) return false;
      try {
        parts.push_back(fused_part(i));
        nodes.insert(i);
      } catch (const graph::Refused&) {  // its own turn says why
      }
    }
    make(nodes, input(at, 0), parts, group);
    return true;
  }

  void make(const std::set<size_t>& nodes, int x, const std::vector<Part>& parts,
            DynamicNodes* group) const {
    if (parts.empty()) graph::refuse("no product reads what it makes");
    HostGraph products = {host_.values, {}, {}, {}};
    for (const Part& part : parts) {
      products.nodes.push_back(part.product);
      products.values[(size_t)part.product.outputs[0]].type = ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32;
      products.values[(size_t)part.product.inputs[0]].type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8;
      group->products.push_back(
          {group->products.size(),
           part.scale < 0 ? std::vector<float>{1} : value(part.scale).floats(),
           part.bias < 0 ? std::vector<float>() : value(part.bias).floats(), part.clamp,
           part.output});
    }
    Known nothing;
    nothing.values.resize(products.values.size()), nothing.nodes.resize(products.nodes.size());
    Translation translation = translate(products, nothing, graph::Arithmetic::kOnnxruntime);
    for (const graph::Op& op : translation.graph.ops)
      if (!op.refused.empty()) graph::refuse("its product ", op.name, ": ", op.refused);
    group->nodes.assign(nodes.begin(), nodes.end()), group->input = x;
    group->graph = std::move(translation.graph), group->rules = std::move(translation.rules);
  }

  FoundDynamic found_;
};

}  // namespace

FoundDynamic find_dynamic(const HostGraph& host) { return Finder(host).find_chains(); }

}  // namespace octet::onnxruntime
