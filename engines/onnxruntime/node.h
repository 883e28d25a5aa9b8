// SPDX-License-Identifier: Apache-2.0
// A node of ONNX with its graph, and the operator that its translation fills in.
#pragma once

#include "engines/onnxruntime/translate.h"

namespace octet::onnxruntime {

// The largest window, step or pad that is read: sums of these stay in int64_t.
constexpr int64_t kFarthest = (int64_t)1 << 31;

class Form {
 public:
  Form(const HostGraph& host, const Known& known, size_t index, Translation* to)
      : host_(host), known_(known), node_(host.nodes[index]), to_(*to), index_(index) {}

  const Node& node() const { return node_; }
  graph::Op& op() const { return to_.graph.ops[index_]; }
  graph::Tensor& tensor(int t) const { return to_.graph.tensors[(size_t)t]; }
  void refuse(std::string why) const {
    if (op().refused.empty()) op().refused = std::move(why);
  }

  // The value of an input, or -1 where it is left out.
  int input(size_t i) const { return i < node_.inputs.size() ? node_.inputs[i] : -1; }
  const Value* value(size_t i) const {
    return input(i) < 0 ? nullptr : &host_.values[(size_t)input(i)];
  }
  // Values of a constant input; empty for others.
  std::vector<int64_t> integers(size_t i) const {
    return value(i) ? value(i)->integers() : std::vector<int64_t>();
  }
  std::vector<float> floats(size_t i) const {
    return value(i) ? value(i)->floats() : std::vector<float>();
  }
  // The known sizes and elements of an input that is not left out.
  const KnownValue& known(size_t i) const { return known_.values[(size_t)input(i)]; }
  size_t rank(size_t i) const { return value(i) ? value(i)->shape.size() : 0; }

  // Gives the tensor the scale and the zero point that these inputs of the node hold. axis: where
  // more than one of them has to lie. Refuses those of run time, and others than it has already.
  void quantize(int tensor, size_t scale, size_t zero_point, int axis = -1) const;
  // Of a tensor whose scale is not needed.
  void set_zero_point(int tensor, size_t zero_point, int axis = -1) const;

  // The operator takes these values, and makes the node's outputs.
  void take(graph::Kind kind, std::vector<int> inputs) const {
    op().kind = kind, op().inputs = std::move(inputs);
  }
  void rule(ShapeRule rule) const { rules({std::move(rule)}); }
  void rules(std::vector<ShapeRule> rules) const { to_.rules[index_] = std::move(rules); }

  // These fill in attributes that several operators share.
  void read_window() const;  // kernel, strides, dilations and padding
  void convolve(int x, int weights, int bias) const;
  void multiply(int x, int weights, int bias, bool weights_kn) const;
  void pool(graph::Kind kind) const;
  void average_all() const;  // over lines and columns
  void concatenate(std::vector<int> inputs) const;
  // The attribute `axis`, after a refusal if the tensor has no such axis.
  int read_axis(int tensor, int64_t usual) const;

 private:
  void set_scales(int tensor, const std::vector<float>& scales, const std::vector<int32_t>& zeros,
                  int axis) const;

  const HostGraph& host_;
  const Known& known_;
  const Node& node_;
  Translation& to_;
  size_t index_;
};

// An operator by its name and how it is translated.
struct NamedForm {
  const char* domain;
  const char* op;
  void (*translate)(const Form& form);
};
// The form of an operator on quantized tensors that ONNX or ONNX Runtime has; null: none.
const NamedForm* find_quantized(const Node& node);
// Of an operator as it stands between DequantizeLinear and QuantizeLinear, and these two.
const NamedForm* find_standard(const Node& node);

}  // namespace octet::onnxruntime
