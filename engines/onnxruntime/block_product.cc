// SPDX-License-Identifier: Apache-2.0
// Describes a MatMulNBits for the library, and hands it the rows of each run.
#include "engines/onnxruntime/block_product.h"

#include <octet/quantized_weights.h>

#include <algorithm>

#include "engines/onnxruntime/node_inputs.h"

namespace octet::onnxruntime {
namespace {

enum Input { kA, kB, kScales, kZeroPoints, kGroups, kBias };

constexpr int64_t kInt8 = 4;            // the accuracy_level that lets the input be quantized
constexpr int64_t kMostSize = 1 << 30;  // of N and K: their products stay in int64

// The constants of a MatMulNBits.
struct Weights {
  size_t n, k, block;
  octet_type type;
  const uint8_t* data;
  std::vector<float> scales, bias;   // copies: the host's arrays may lie anywhere
  std::vector<int32_t> zero_points;  // one, or one for each block
};

class Reader : NodeInputs {
 public:
  using NodeInputs::NodeInputs;

  // Throws a sentence about the first thing that Octet does not compute.
  Weights read(bool any_accuracy) const {
    check_node(any_accuracy);
    const bool nibbles = node().integer("bits", 4) == 4;
    const int64_t n = size("N"), k = size("K"), block = node().integer("block_size", 0),
                  most = nibbles ? 256 : 128;
    if (block < 16 || block > most || block % 16)
      graph::refuse("its block_size is ", block, "; it takes multiples of 16 up to ", most);
    Weights w = {(size_t)n, (size_t)k, (size_t)block, nibbles ? OCTET_U4 : OCTET_U8, nullptr, {},
                 {},        {}};
    const int64_t blocks = (k + block - 1) / block,
                  of_zeros = n * (nibbles ? (blocks + 1) / 2 : blocks);
    w.data = bytes(kB, "B", n * blocks * (nibbles ? block / 2 : block));
    w.scales = floats(kScales, "scales", n * blocks);
    if (find(kBias)) w.bias = floats(kBias, "bias", n);
    w.zero_points = {nibbles ? 8 : 128};
    if (!find(kZeroPoints)) return w;
    const uint8_t* const zeros = bytes(kZeroPoints, "zero_points", of_zeros);
    if (!nibbles) {
      if (std::any_of(zeros, zeros + of_zeros, [](uint8_t zero) { return zero != 128; }))
        graph::refuse("its weights have 8 bits and zero points other than 128");
      return w;
    }
    w.zero_points.resize(w.n * (size_t)blocks);
    octet_error error = {};
    graph::check(octet_unpack_zero_points(zeros, w.n, (size_t)blocks, w.zero_points.data(), &error),
                 error);
    return w;
  }

 private:
  void check_node(bool any_accuracy) const {
    if (node().outputs.size() != 1 || node().outputs[0] < 0) graph::refuse("it has no output");
    if (!find(kA) || find(kA)->constant || find(kA)->type != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT)
      graph::refuse("its input is not a computed tensor of f32");
    if (find(kGroups)) graph::refuse("it has g_idx, an order of the groups");
    const int64_t bits = node().integer("bits", 4);
    if (bits != 4 && bits != 8) graph::refuse("its weights have ", bits, " bits, not 4 or 8");
    if (node().integer("weight_prepacked", 0))
      graph::refuse("its weights are packed for another provider (weight_prepacked)");
    const int64_t level = node().integer("accuracy_level", 0);
    if (level != kInt8 && !any_accuracy)
      graph::refuse("its accuracy_level is ", level, ", and Octet quantizes the input to int8, as ",
                    kInt8, " allows; with the option accuracy_level = ", kInt8,
                    " it takes any node so");
  }

  int64_t size(const char* attribute) const {
    const int64_t given = node().integer(attribute, 0);
    if (given < 1 || given > kMostSize)
      graph::refuse("its ", attribute, " is ", given, "; it takes 1 to ", kMostSize);
    return given;
  }

  const uint8_t* bytes(Input i, const char* what, int64_t count) const {
    constexpr auto type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8;
    return (const uint8_t*)constant(i, what, type, "uint8", count).data;
  }
};

// Rows with zeros behind them; returns `to`.
const float* pad_rows(const float* from, size_t rows, size_t k, size_t depth, float* to) {
  for (size_t i = 0; i < rows; ++i) {
    std::copy_n(from + i * k, k, to + i * depth);
    std::fill(to + i * depth + k, to + (i + 1) * depth, 0.f);
  }
  return to;
}

}  // namespace

BlockProduct::BlockProduct(const HostGraph& host, const Node& node, const Shared& shared)
    : threads_(shared.options.threads) {
  const Weights w = Reader(host, node).read(shared.options.any_accuracy);
  inputs = {host.values[(size_t)node.inputs[kA]].name};
  outputs = {host.values[(size_t)node.outputs[0]].name};
  n_ = w.n, k_ = w.k, depth_ = (w.k + w.block - 1) / w.block * w.block;
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = w.type, rhs.order = OCTET_NK, rhs.n = n_, rhs.k = depth_, rhs.data = w.data;
  rhs.zero_points = w.zero_points.data(), rhs.zero_point_count = w.zero_points.size();
  rhs.scale_block = w.block, rhs.scale_type = OCTET_F32, rhs.scales = w.scales.data();
  object_.blob = shared.weights->get(rhs, OCTET_ISA_AUTO);
  const float one = 1;  // the scale of the columns
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  desc.m_max =
      std::min<size_t>((size_t)1 << 31, PTRDIFF_MAX / sizeof(float) / std::max(n_, depth_));
  desc.n = n_, desc.k = depth_;
  desc.lhs_type = OCTET_F32, desc.rhs_type = w.type, desc.dst_type = OCTET_F32;
  desc.lhs_quant = OCTET_LHS_SYMMETRIC_BLOCKS;
  desc.packed = object_.blob->data, desc.packed_bytes = object_.blob->bytes;
  desc.epilogue.scales = &one, desc.epilogue.scale_count = 1;
  if (!w.bias.empty()) desc.epilogue.bias_f32 = w.bias.data();
  octet_gemm* gemm = nullptr;
  octet_error error = {};
  graph::check(octet_gemm_create(&desc, &gemm, &error), error);
  object_.gemm.reset(gemm);
}

std::vector<Shape> BlockProduct::shapes(const std::vector<Shape>& given) {
  Shape shape = given[0];
  if (shape.empty() || shape.back() != (int64_t)k_)
    graph::refuse("the rows of '", inputs[0], "' do not have ", k_, " elements");
  shape.back() = (int64_t)n_;
  return {shape};
}

void BlockProduct::run(OrtKernelContext* context, const std::vector<Given>& from,
                       const std::vector<void*>& to) {
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  args.m = count_of(from[0].shape) / k_;
  if (args.m == 0) return;
  args.lhs = from[0].data, args.dst = to[0];
  const size_t padded = depth_ == k_ ? 0 : graph::aligned(args.m * depth_ * sizeof(float));
  lend(context, threads_, &args);
  octet_error error = {};
  graph::check(
      octet_gemm_workspace(object_.gemm.get(), args.m, threads_, &args.workspace_bytes, &error),
      error);
  memory_.use(padded + args.workspace_bytes, [&](void* all) {
    if (padded) args.lhs = pad_rows((const float*)args.lhs, args.m, k_, depth_, (float*)all);
    args.workspace = (uint8_t*)all + padded;
    graph::check(octet_gemm_run(object_.gemm.get(), &args, &error), error);
  });
}

}  // namespace octet::onnxruntime
