// SPDX-License-Identifier: Apache-2.0
// Describes convolutions and products for the library.
#pragma once

#include <vector>

#include "engines/graph/sizes.h"

namespace octet::graph {

// The descriptors of one operator, and the arrays that they point to; data of the weights and
// `packed` are left to the caller.
struct ProductDescription {
  ProductDescription() = default;
  ProductDescription(const ProductDescription&) = delete;
  ProductDescription& operator=(const ProductDescription&) = delete;

  // Set by the caller, whose tensors are NHWC: a convolution that multiplies pixels as rows of a
  // matrix is to be a product, which has a filter, too.
  bool by_rows = false;
  bool is_convolution = false;
  bool is_pair = false;     // a product whose rhs is computed
  size_t rhs_matrices = 1;  // of a pair; 1: the same one for all of the lhs
  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
  octet_conv2d_desc conv = OCTET_CONV2D_DESC_INIT;
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  octet_gemm_desc gemm = OCTET_GEMM_DESC_INIT;
  std::vector<int32_t> weight_zeros, bias, multipliers, shifts;
  std::vector<int64_t> bias_s64;
  std::vector<float> scales, bias_f32;
  std::vector<double> factors;
  std::vector<uint8_t> table;

  octet_epilogue& epilogue() { return is_convolution ? conv.epilogue : gemm.epilogue; }
};

// Throws a sentence if the library does not compute the operator. Reads the bias, if it is there,
// and no weights.
void describe_product(const Graph& graph, const Op& op, ProductDescription* to);

// The same of a product by weights in scale blocks (blocks/), which has all its inputs and outputs.
void describe_block_product(const Graph& graph, const Op& op, ProductDescription* to);

// Describes the bytes of a product as they are stored (stored/), of which describe_product knows
// nothing. Its residual is stored as its output is.
void describe_stored(const Graph& graph, const Op& op, ProductDescription* to);

}  // namespace octet::graph
