// SPDX-License-Identifier: Apache-2.0
// The kernels and tiers that products of matrices select from: more kernels than convolutions have,
// and the tiers that pass the self-test of these.
#include "dispatch/select/select.h"
#include "dispatch/select/tested_machine.h"

namespace octet {
namespace {

Kept<TierMask> failed;

}  // namespace

Machine gemm_machine() { return tested_machine(failing_matrix_tiers, &failed); }

Selection select(const CpuFeatures& cpu, const Problem& problem, const WeightFacts& facts,
                 const char* forced) {
  return select(int8_kernels(), cpu, problem, facts, forced);
}

RhsLayout select_layout(const CpuFeatures& cpu, ElementType rhs_type, const char* forced) {
  return select_layout(int8_kernels(), cpu, rhs_type, forced);
}

RhsLayout select_sparse_layout(const CpuFeatures& cpu, const RhsLayout& best, const char* forced) {
  return select_sparse_layout(int8_kernels(), cpu, best, forced);
}

}  // namespace octet
