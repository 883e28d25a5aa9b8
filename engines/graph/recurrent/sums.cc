// SPDX-License-Identifier: Apache-2.0
// Packs and runs products whose outputs are the accumulators.
#include "engines/graph/recurrent/sums.h"

#include <cstdlib>

#include "engines/graph/refused.h"

namespace octet::graph::recurrent {

void Sums::pack(const std::vector<int8_t>& weights, size_t n, size_t k, int32_t zero_point,
                const std::vector<int32_t>& bias, size_t rows_max, const Packing& packing) {
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = OCTET_S8, rhs.order = OCTET_NK, rhs.n = n, rhs.k = k, rhs.data = weights.data();
  blob_ = packing.weights->get(rhs, packing.isa);
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  desc.m_max = rows_max, desc.n = n, desc.k = k;
  desc.lhs_type = desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_S32;
  desc.lhs_zero_point = zero_point, desc.max_isa = packing.isa;
  desc.packed = blob_->data, desc.packed_bytes = blob_->bytes;
  if (!bias.empty()) desc.epilogue.bias = bias.data();
  octet_error error = {};
  check(octet_gemm_create(&desc, &gemm_, &error), error);
  check(octet_gemm_workspace(gemm_, rows_max, 1, &workspace_bytes_, &error), error);
  most_.resize(n);
  for (size_t column = 0; column < n; ++column) {
    most_[column] = bias.empty() ? 0 : std::llabs(bias[column]);
    for (size_t i = 0; i < k; ++i) most_[column] += 255 * std::abs(weights[column * k + i]);
  }
}

void Sums::need_shift(size_t first, size_t count, int32_t shift) const {
  for (size_t column = first; shift > 0 && column < first + count; ++column)
    if (most_[column] > INT32_MAX >> shift)
      throw Refused(OCTET_ACCUMULATOR_OVERFLOW, join("its scales shift sums to the left by ", shift,
                                                     ", which could take them out of int32"));
}

void Sums::run(const int8_t* rows, size_t stride, size_t count, int32_t* sums,
               void* workspace) const {
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  args.m = count, args.lhs = rows, args.lhs_stride = stride, args.dst = sums;
  if (workspace_bytes_) args.workspace = workspace, args.workspace_bytes = workspace_bytes_;
  octet_error error = {};
  check(octet_gemm_run(gemm_, &args, &error), error);
}

}  // namespace octet::graph::recurrent
