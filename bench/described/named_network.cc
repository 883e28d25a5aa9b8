// SPDX-License-Identifier: Apache-2.0
// Makes graphs with random weights of the networks that have names, and of lists of cases.
#include <cmath>
#include <random>

#include "bench/cases/cases.h"
#include "bench/cases/graph.h"
#include "bench/described/described.h"
#include "engines/graph/check.h"
#include "engines/graph/sizes.h"

namespace tool {
namespace {

using octet::graph::Kind;
using octet::graph::Op;
using octet::graph::Sizes;
using octet::graph::Tensor;

// Cases one after the other. A case reads the output of the one before, if that is its input.
class Sequence {
 public:
  Sequence(const std::string& name, const OperandTypes& types) : linked_(types.lhs == types.dst) {
    graph_.name = name;
    for (const CaseGroup& group : parse_cases({name})) {
      for (const ConvCase& c : group.convolutions) {
        const octet_conv2d_shape& s = c.shape.geometry;
        add(OpKind::kConvolution, c.shape.name(), s, c.count,
            {s.batch_max, s.in_h_max, s.in_w_max, s.in_channels},
            {s.batch_max, c.shape.out_h, c.shape.out_w, s.out_channels});
      }
      for (const GemmCase& c : group.products) {
        octet_conv2d_shape s = OCTET_CONV2D_SHAPE_INIT;
        s.in_channels = c.shape.k, s.out_channels = c.shape.n;
        add(OpKind::kProduct, c.shape.name(), s, c.count, {1, c.shape.m, 1, c.shape.k},
            {1, c.shape.m, 1, c.shape.n});
      }
    }
  }
  Graph take() { return std::move(graph_); }

 private:
  size_t add(const Sizes& sizes) {
    graph_.tensors.push_back(octet::graph::network_tensor(sizes, OCTET_U8));
    graph_.tensors.back().keep = 1;
    return graph_.tensors.size() - 1;
  }
  void add(OpKind kind, const std::string& name, const octet_conv2d_shape& shape, int count,
           const Sizes& in, const Sizes& out) {
    for (int i = 0; i < count; ++i) {
      size_t from = graph_.tensors.size() - 1;
      if (linked_ && last_ == in)
        graph_.tensors[from].keep = 0;
      else
        from = add(in);
      graph_.ops.push_back({kind, name, shape, from, add(out), kNoTensor, false});
      last_ = out;
    }
  }

  const bool linked_;
  Sizes last_ = {0, 0, 0, 0};
  Graph graph_;
};

class Maker {
 public:
  Maker(Graph named, size_t batch, const OperandTypes& types)
      : named_(std::move(named)), types_(types), to_{named_.name, {}} {
    to_.graph.arithmetic = octet::graph::Arithmetic::kStandard;
    std::vector<char> written(named_.tensors.size());
    for (const GraphOp& op : named_.ops) written[op.output] = 1;
    for (size_t i = 0; i < written.size(); ++i) {
      const octet_network_tensor& t = named_.tensors[i];
      const bool is_output = t.keep && written[i];
      Tensor tensor = quantized(is_output ? types.dst : types.lhs);
      tensor.shape = {(int64_t)(batch * t.batch), (int64_t)t.h, (int64_t)t.w, (int64_t)t.channels};
      to_.graph.tensors.push_back(std::move(tensor));
      if (t.keep) (is_output ? to_.outputs : to_.inputs).push_back((int)i);
    }
    to_.graph.inputs = to_.inputs, to_.graph.outputs = to_.outputs;
  }

  RunnableNetwork make() {
    for (const GraphOp& op : named_.ops) {
      join_what_it_reads(op.input);
      to_.graph.ops.push_back(op.kind == OpKind::kConvolution ? convolution(op)
                              : op.kind == OpKind::kProduct   ? product(op)
                              : op.kind == OpKind::kPool      ? pool(op)
                                                              : deeper(op));
    }
    return std::move(to_);
  }

 private:
  // Of the middle zero point; s32 and f32 have none.
  static Tensor quantized(octet_type type) {
    Tensor tensor;
    tensor.type = type;
    if (type == OCTET_S32 || type == OCTET_F32) return tensor;
    tensor.scales = {1}, tensor.zero_points = {type == OCTET_U8 ? 128 : type == OCTET_U4 ? 8 : 0};
    return tensor;
  }
  Tensor& tensor(size_t index) { return to_.graph.tensors[index]; }
  // Results of a ReLU begin at 0, and poolings keep that; joined tensors have one zero point.
  void set_zero(size_t index) {
    const bool is_u8 = tensor(index).type == OCTET_U8;
    if (is_u8 && !named_.tensors[index].slice) tensor(index).zero_points = {0};
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

  // Random ones, from -127 to 127 around the zero point.
  int weights(const std::vector<int64_t>& shape) {
    Tensor weights = quantized(types_.rhs);
    weights.constant = true, weights.shape = shape;
    const size_t count = octet::graph::element_count(weights);
    // Spreads the outputs of uniform inputs and weights over their range
    weights.scales = {1 / (std::sqrt((float)(count / (size_t)shape[0])) * 74)};
    std::uniform_int_distribution<int> draw(-127, 127);
    std::vector<char> bytes(octet::graph::bytes_of(count, types_.rhs));
    for (char& w : bytes) w = (char)(draw(random_) + (types_.rhs == OCTET_U8 ? 128 : 0));
    weights.data = bytes.data(), weights.bytes = bytes.size();
    to_.data.push_back(std::move(bytes));
    to_.graph.tensors.push_back(std::move(weights));
    return (int)to_.graph.tensors.size() - 1;
  }
  Op convolution(const GraphOp& op) {
    const octet_conv2d_shape& s = op.shape;
    Op to = make(Kind::kConvolution, op);
    to.groups = s.groups, to.transposed = s.transposed != 0;
    to.output_padding_h = s.output_padding_h, to.output_padding_w = s.output_padding_w;
    to.inputs.push_back(weights({(int64_t)s.out_channels, (int64_t)s.kernel_h, (int64_t)s.kernel_w,
                                 (int64_t)(s.in_channels / s.groups)}));
    to.inputs.push_back(-1);
    if (op.residual != kNoTensor) to.inputs.push_back((int)op.residual);
    if (op.relu && tensor(op.output).type != OCTET_S32) {
      to.clamp.activation = octet::graph::Activation::kRelu;
      set_zero(op.output);
    }
    return to;
  }
  Op product(const GraphOp& op) {
    Op to = make(Kind::kProduct, op);
    to.inputs.push_back(weights({(int64_t)op.shape.out_channels, (int64_t)op.shape.in_channels}));
    return to;
  }
  Op pool(const GraphOp& op) {
    tensor(op.output).zero_points = tensor(op.input).zero_points;
    return make(Kind::kMaxPool, op);
  }
  Op deeper(const GraphOp& op) {
    tensor(op.output).zero_points = tensor(op.input).zero_points;
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
  const OperandTypes types_;
  RunnableNetwork to_;
  std::mt19937 random_{1};
};

}  // namespace

RunnableNetwork named_network(const std::string& name, size_t batch, const std::string& types) {
  const OperandTypes operands = parse_types(types);
  return Maker(is_graph(name) ? make_graph(name) : Sequence(name, operands).take(), batch, operands)
      .make();
}

}  // namespace tool
