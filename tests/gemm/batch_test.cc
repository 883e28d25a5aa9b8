// SPDX-License-Identifier: Apache-2.0
// Checks several matrices per run: strided, interleaved heads, pointer arrays, one weight matrix or
// many, weights at run time.
#include "support/gemm_case.h"

namespace octet_test {
namespace {

TEST(Batch, TwoOneByOnes) {
  GemmCase c;
  c.batch = 2;
  check(c);
}

class BatchKernel : public EachKernel {
 protected:
  bool takes_runtime_rhs() const { return takes_any_weights(kernel()); }
};
OCTET_FOR_EACH_KERNEL(BatchKernel);

TEST_P(BatchKernel, EveryArrangement) {
  uint32_t turn = 0;
  for (const Batching batching : {Batching::kStrided, Batching::kInterleaved, Batching::kArrays})
    for (const bool runtime_rhs : {false, true})
      for (const bool shared_rhs : {false, true})
        for (const bool padded : {false, true})
          for (const size_t concurrency : {1, 3})
            for (const Types types : types_of(kernel())) {
              if (runtime_rhs && !takes_runtime_rhs()) continue;
              GemmCase c;
              c.kernel = kernel().name;
              c.batch = 5;
              c.m = turn % 3 ? kernel().mr + 1u : 1u, c.n = turn % 2 ? kernel().nr + 1u : 3u,
              c.k = kernel().rhs_layout.kr * 2u + 1;
              c.lhs = types.lhs, c.rhs = types.rhs;
              c.dst = turn % 4 == 0   ? OCTET_S32
                      : turn % 4 == 1 ? OCTET_U8
                      : turn % 4 == 2 ? OCTET_S8
                                      : OCTET_F32;
              c.residual = c.dst == OCTET_U8 ? OCTET_S8 : kNoResidual;
              c.batching = batching, c.runtime_rhs = runtime_rhs, c.shared_rhs = shared_rhs,
              c.padded = padded, c.concurrency = concurrency;
              // Shared weights of a run-time rhs come as pointers to one matrix; interleaved
              // weights have rows of their own.
              c.order = turn % 2 ? OCTET_NK : OCTET_KN;
              c.lhs_zero_point = 3;
              c.rhs_zero_points = (ZeroPoints)(turn % 3);
              c.seed = ++turn;
              check(c);
              if (HasFatalFailure()) return;
            }
}

// Run-time weights: every tail, both orders, with and without zero points.
TEST_P(BatchKernel, RuntimeWeights) {
  if (!takes_runtime_rhs())
    GTEST_SKIP() << kernel().name
                 << " needs weights without -128, which nobody can promise of run-time weights";
  const std::vector<size_t> rows = around({kernel().mr}),
                            columns = around({kernel().nr, kernel().rhs_layout.width}),
                            depth = depths(kernel());
  for (const Types types : types_of(kernel())) {
    uint32_t turn = 0;
    for (const size_t m : rows)
      for (const size_t n : columns) {
        GemmCase c;
        c.kernel = kernel().name;
        c.m = m, c.n = n, c.k = depth[turn % depth.size()];
        c.lhs = types.lhs, c.rhs = types.rhs;
        c.dst = turn % 3 == 0 ? OCTET_S32 : turn % 3 == 1 ? OCTET_S8 : OCTET_F32;
        c.runtime_rhs = true;
        c.order = turn % 2 ? OCTET_NK : OCTET_KN;
        c.rhs_zero_points = (ZeroPoints)(turn % 3);
        c.lhs_zero_point = turn % 4 ? 9 : 0;
        c.padded = turn % 5 == 0;
        c.data = (Data)(turn % 5);
        c.concurrency = 1 + turn % 3;
        c.seed = ++turn;
        check(c);
        if (HasFatalFailure()) return;
      }
  }
}

// The attention pattern: one object, a sequence that grows.
TEST_P(BatchKernel, RuntimeWeightsSmallerThanDeclared) {
  if (!takes_runtime_rhs()) GTEST_SKIP() << kernel().name << " needs weights without -128";
  for (const size_t n : {size_t{1}, kernel().nr - size_t{1}, kernel().nr + size_t{1}, size_t{150}})
    for (const size_t k : {1, 7, 64, 100})
      for (const octet_lhs_quant quant : {OCTET_LHS_STATIC, OCTET_LHS_PER_ROW}) {
        GemmCase c;
        c.kernel = kernel().name;
        c.m = kernel().mr + 2u, c.n = n, c.k = k, c.batch = 2;
        c.n_declared = 150, c.k_declared = 100;
        c.lhs = types_of(kernel()).front().lhs, c.rhs = types_of(kernel()).front().rhs;
        c.lhs_quant = quant;
        c.runtime_rhs = true;
        c.bias = false;  // a bias belongs to the declared columns
        c.order = OCTET_NK;
        c.rhs_zero_points = ZeroPoints::kChannel;
        c.dst = OCTET_S32;
        check(c);
        if (HasFatalFailure()) return;
      }
}

TEST(Batch, SharedWeightsServeAnyBatch) {
  for (const size_t batch : {1, 2, 7}) {
    GemmCase c;
    c.batch = batch, c.m = 3, c.n = 20, c.k = 33;
    c.shared_rhs = true;
    check(c);
  }
}

}  // namespace
}  // namespace octet_test
