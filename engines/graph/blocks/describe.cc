// SPDX-License-Identifier: Apache-2.0
// Describes products of f32 tensors by weights in scale blocks for the library.
#include <cmath>
#include <cstring>

#include "engines/graph/check.h"
#include "engines/graph/products.h"
#include "engines/graph/refused.h"

namespace octet::graph {
namespace {

void add_bias(const Graph& g, int b, size_t n, ProductDescription* to) {
  if (b < 0) return;
  const Tensor& bias = g.tensors[(size_t)b];
  if (!bias.constant || bias.type != OCTET_F32 || element_count(bias) != n)
    refuse("its bias ", tensor_name(g, b), " is no constant of ", n, " numbers of f32");
  if (!bias.data) return;  // only a question
  to->bias_f32.resize(n);
  std::memcpy(to->bias_f32.data(), bias.data, n * sizeof(float));
  to->gemm.epilogue.bias_f32 = to->bias_f32.data();
}

void clamp(const Clamp& c, octet_epilogue* e) {
  if (c.activation == Activation::kNone) return;
  const bool clips = c.activation == Activation::kClip;
  e->activation = OCTET_ACTIVATION_CLAMP;
  e->clamp_min = clips ? c.least : c.activation == Activation::kReluN1To1 ? -1.f : 0.f;
  e->clamp_max = clips                                    ? c.most
                 : c.activation == Activation::kRelu6     ? 6.f
                 : c.activation == Activation::kReluN1To1 ? 1.f
                                                          : INFINITY;
}

}  // namespace

void describe_block_product(const Graph& g, const Op& op, ProductDescription* to) {
  const auto name = [&](int t) { return tensor_name(g, t); };
  const int x = op.inputs[0], w = op.inputs[1], y = op.outputs[0];
  const Tensor& weights = g.tensors[(size_t)w];
  const size_t block = weights.scale_block;
  if (op.kind != Kind::kProduct || !weights.constant || op.weights_kn)
    refuse("its weights ", name(w),
           " have scale blocks; only those of a product do, as a constant of N x K");
  if (input_of(op, 3) >= 0 || !op.table.empty() || op.quantized_as >= 0)
    refuse("its weights have scale blocks: it takes no residual and no table");
  for (const int t : {x, y})
    if (g.tensors[(size_t)t].type != OCTET_F32 || g.tensors[(size_t)t].constant)
      refuse(name(t), " is no computed tensor of f32, as weights in scale blocks need it");
  const size_t k = depth_of(g, op), n = (size_t)weights.shape[0],
               rows = sizes_of(g, x, false).count() / k;
  if (sizes_of(g, y, false).count() != rows * n)
    refuse("its output has ", sizes_of(g, y, false).count(), " elements, but it makes ", rows,
           " rows of ", n);
  if (k % block) refuse("its weights have blocks of ", block, ", which do not divide ", k);
  if (weights.scales.size() != n * (k / block))
    refuse("its weights have ", weights.scales.size(), " scales, and ", n * (k / block), " blocks");
  octet_rhs_desc& rhs = to->rhs;
  rhs.type = weights.type, rhs.order = OCTET_NK, rhs.n = n, rhs.k = k, rhs.data = weights.data;
  rhs.scale_block = block, rhs.scale_type = OCTET_F32, rhs.scales = weights.scales.data();
  rhs.zero_point_count = weights.zero_points.size();
  if (rhs.zero_point_count) rhs.zero_points = weights.zero_points.data();
  octet_gemm_desc& gemm = to->gemm;
  gemm.m_max = rows, gemm.n = n, gemm.k = k;
  gemm.lhs_type = gemm.dst_type = OCTET_F32, gemm.rhs_type = weights.type;
  gemm.lhs_quant = OCTET_LHS_SYMMETRIC_BLOCKS;
  to->scales = {1};
  gemm.epilogue.scales = to->scales.data(), gemm.epilogue.scale_count = 1;
  add_bias(g, input_of(op, 2), n, to);
  clamp(op.clamp, &gemm.epilogue);
}

}  // namespace octet::graph
