// SPDX-License-Identifier: Apache-2.0
// Makes graphs with random weights of the networks that have names.
#include <cmath>
#include <random>

#include "bench/cases/graph.h"
#include "bench/described/described.h"

namespace tool {
namespace {

using octet::graph::Kind;
using octet::graph::Op;
using octet::graph::Tensor;

class Maker {
 public:
  Maker(const std::string& name, size_t batch) : named_(make_graph(name)), to_{name, {}} {
    to_.graph.arithmetic = octet::graph::Arithmetic::kStandard;
    for (const octet_network_tensor& t : named_.tensors) {
      Tensor tensor;
      tensor.type = OCTET_U8;
      tensor.shape = {(int64_t)batch, (int64_t)t.h, (int64_t)t.w, (int64_t)t.channels};
      tensor.scales = {1}, tensor.zero_points = {128};
      to_.graph.tensors.push_back(std::move(tensor));
    }
  }

  RunnableNetwork make() {
    for (const GraphOp& op : named_.ops) {
      join_what_it_reads(op.input);
      to_.graph.ops.push_back(op.kind == OpKind::kConvolution ? convolution(op)
                              : op.kind == OpKind::kPool      ? pool(op)
                                                              : deeper(op));
    }
    to_.graph.inputs = to_.inputs = {(int)named_.input};
    for (size_t i = 0; i < named_.tensors.size(); ++i)
      if (named_.tensors[i].keep && i != named_.input) to_.outputs.push_back((int)i);
    to_.graph.outputs = to_.outputs;
    return std::move(to_);
  }

 private:
  // Results of a ReLU begin at 0, and poolings keep that; joined tensors have one zero point.
  void set_zero(size_t tensor, int32_t zero) {
    if (!named_.tensors[tensor].slice) to_.graph.tensors[tensor].zero_points = {zero};
  }
  Op make(Kind kind, const GraphOp& op) const {
    Op to;
    to.kind = kind, to.name = op.name, to.inputs = {(int)op.input}, to.outputs = {(int)op.output};
    const octet_conv2d_shape& s = op.shape;
    to.window = {s.kernel_h,
                 s.kernel_w,
                 s.stride_h,
                 s.stride_w,
                 s.dilation_h,
                 s.dilation_w,
                 octet::graph::Padding::kExplicit,
                 s.pad_top,
                 s.pad_bottom,
                 s.pad_left,
                 s.pad_right};
    return to;
  }

  Op convolution(const GraphOp& op) {
    const octet_conv2d_shape& s = op.shape;
    Op to = make(Kind::kConvolution, op);
    to.groups = s.groups, to.transposed = s.transposed != 0;
    const size_t depth = s.kernel_h * s.kernel_w * s.in_channels / s.groups;
    Tensor weights;
    weights.type = OCTET_S8, weights.constant = true;
    weights.shape = {(int64_t)s.out_channels, (int64_t)s.kernel_h, (int64_t)s.kernel_w,
                     (int64_t)(s.in_channels / s.groups)};
    // Spreads the outputs of uniform inputs and weights over their range
    weights.scales = {1 / (std::sqrt((float)depth) * 74)};
    std::uniform_int_distribution<int> draw(-127, 127);
    std::vector<char> bytes(depth * s.out_channels);
    for (char& w : bytes) w = (char)draw(random_);
    weights.data = bytes.data(), weights.bytes = bytes.size();
    to_.data.push_back(std::move(bytes));
    to.inputs.push_back((int)to_.graph.tensors.size());
    to_.graph.tensors.push_back(std::move(weights));
    to.inputs.push_back(-1);
    if (op.residual != kNoTensor) to.inputs.push_back((int)op.residual);
    if (op.relu) {
      to.clamp.activation = octet::graph::Activation::kRelu;
      set_zero(op.output, 0);
    }
    return to;
  }
  Op pool(const GraphOp& op) {
    to_.graph.tensors[op.output].zero_points = to_.graph.tensors[op.input].zero_points;
    return make(Kind::kMaxPool, op);
  }
  Op deeper(const GraphOp& op) {
    to_.graph.tensors[op.output].zero_points = to_.graph.tensors[op.input].zero_points;
    Op to = make(Kind::kDepthToSpace, op);
    to.block = op.shape.kernel_h;
    return to;
  }

  // The tensor of slices that ops have written.
  void join_what_it_reads(size_t tensor) {
    Op to;
    to.kind = Kind::kConcatenate, to.name = "join", to.axis = 3, to.outputs = {(int)tensor};
    size_t channels = 0;
    for (bool found = true; found;) {
      found = false;
      for (size_t i = 0; i < named_.tensors.size() && !found; ++i) {
        const octet_network_tensor& t = named_.tensors[i];
        found = t.slice && t.parent == tensor && t.first_channel == channels;
        if (found) to.inputs.push_back((int)i), channels += t.channels;
      }
    }
    for (const Op& op : to_.graph.ops) channels *= op.outputs[0] != (int)tensor;  // once
    if (channels) to_.graph.ops.push_back(std::move(to));
  }

  const Graph named_;
  RunnableNetwork to_;
  std::mt19937 random_{1};
};

}  // namespace

RunnableNetwork named_network(const std::string& name, size_t batch) {
  return Maker(name, batch).make();
}

}  // namespace tool
