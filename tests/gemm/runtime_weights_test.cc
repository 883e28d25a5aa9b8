// SPDX-License-Identifier: Apache-2.0
// Checks weights that come with a run on each tier's best choice: few rows that leave them where
// they lie, and rows for which they are packed, in one pass or in several.
#include "kernels/core/runtime_weights.h"
#include "support/gemm_case.h"

namespace octet_test {
namespace {

constexpr Types kTypes[] = {
    {OCTET_U8, OCTET_S8}, {OCTET_S8, OCTET_S8}, {OCTET_U8, OCTET_U8}, {OCTET_S8, OCTET_U8}};
constexpr octet_type kOutputs[] = {OCTET_S32, OCTET_U8, OCTET_F32, OCTET_S8};

// One of the many combinations, by its number.
GemmCase combination(octet_isa isa, uint32_t turn) {
  GemmCase c;
  c.max_isa = isa;
  c.runtime_rhs = true;
  c.lhs = kTypes[turn % 4].lhs, c.rhs = kTypes[turn % 4].rhs;
  c.dst = kOutputs[turn / 4 % 4];
  c.order = turn / 3 % 2 ? OCTET_NK : OCTET_KN;
  c.rhs_zero_points = (ZeroPoints)(turn / 5 % 3);
  c.lhs_quant = turn / 7 % 3 == 0   ? OCTET_LHS_STATIC
                : turn / 7 % 3 == 1 ? OCTET_LHS_PER_ROW
                                    : OCTET_LHS_PER_TENSOR;
  c.lhs_zero_point = c.lhs_quant == OCTET_LHS_STATIC && turn / 2 % 3 ? 5 : 0;
  c.data = (Data)(turn / 11 % 7);
  c.padded = turn / 13 % 2;
  c.batch = turn / 17 % 4 ? 1 : 2;
  c.bias = turn / 19 % 2;
  c.residual = c.dst == OCTET_U8 && c.lhs_quant == OCTET_LHS_STATIC && turn / 23 % 2 ? OCTET_S8
                                                                                     : kNoResidual;
  c.concurrency = 1 + turn / 29 % 3;
  c.seed = turn + 1;
  return c;
}

// Every tail of the vectors of 16, 32 and 64 bytes, in both directions.
TEST(RuntimeWeights, FewRowsOfEachTier) {
  constexpr size_t kDepths[] = {1, 3, 4, 7, 15, 16, 17, 31, 32, 33, 50, 63, 64, 65, 67, 100, 129};
  constexpr size_t kColumns[] = {1, 2, 5, 8, 15, 16, 17, 31, 33, 48, 63, 64, 65, 100, 130, 2060};
  for (const octet_isa isa : tiers_to_test()) {
    uint32_t turn = 0;
    for (const size_t k : kDepths)
      for (const size_t n : kColumns)
        for (size_t m = 1; m <= octet::kFewRows + 1; ++m) {
          GemmCase c = combination(isa, turn++);
          c.m = m, c.n = n, c.k = k;
          check(c);
          if (HasFatalFailure()) return;
        }
  }
}

// Contiguous columns of which the L1 cache keeps a part, the last of which is not whole.
TEST(RuntimeWeights, FewRowsByPartsOfTheColumns) {
  for (const octet_isa isa : tiers_to_test()) {
    uint32_t turn = 0;
    for (const size_t k : {300, 2003, 30000})
      for (const size_t n : {17, 100, 130})
        for (const size_t m : {3, 4}) {
          GemmCase c = combination(isa, turn += 5);
          c.m = m, c.n = n, c.k = k, c.order = OCTET_NK, c.batch = 1;
          c.data = Data::kRandom;
          check(c);
          if (HasFatalFailure()) return;
        }
  }
}

// Packed blocks of depth and passes of columns, the last of which is a part.
TEST(RuntimeWeights, PackedInPasses) {
  for (const octet_isa isa : tiers_to_test()) {
    uint32_t turn = 0;
    for (const size_t k : {2000, 2053})
      for (const size_t n : {129, 300})
        for (const size_t m : {5, 13}) {
          GemmCase c = combination(isa, turn += 7);
          c.m = m, c.n = n, c.k = k;
          check(c);
          if (HasFatalFailure()) return;
        }
  }
}

// One object serves runs of few and of many rows, with the workspace for the most.
TEST(RuntimeWeights, OneObjectServesFewAndManyRows) {
  for (const octet_isa isa : tiers_to_test())
    for (const octet_rhs_order order : {OCTET_KN, OCTET_NK}) {
      GemmCase c = combination(isa, 1);
      c.m = 40, c.n = 70, c.k = 300, c.order = order, c.batch = 1, c.concurrency = 3;
      Gemm gemm(c);
      ASSERT_EQ(gemm.status(), OCTET_OK) << gemm.error().message;
      for (size_t m = 1; m <= c.m; ++m) {
        gemm.args().m = m;
        gemm.clear_dst();
        ASSERT_EQ(gemm.run(), OCTET_OK) << gemm.error().message;
        ASSERT_TRUE(gemm.as_expected(m)) << "m = " << m << ' ' << c;
      }
    }
}

// Rows of weights that are far apart are read in blocks of their own depth, and prefetched.
TEST(RuntimeWeights, RowsFarApart) {
  constexpr size_t kMostRows = 6, kMostColumns = 70, kDepth = 65, kStride = 300000;
  std::vector<uint8_t> lhs(kMostRows * kDepth);
  for (size_t i = 0; i < lhs.size(); ++i) lhs[i] = (uint8_t)(i * 37 + i / 251);
  for (const octet_isa isa : tiers_to_test()) {
    octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
    desc.m_max = kMostRows, desc.n = kMostColumns, desc.k = kDepth, desc.max_isa = isa;
    desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_S32;
    desc.lhs_zero_point = 5;
    octet_gemm* gemm = nullptr;
    octet_error error = {};
    ASSERT_EQ(octet_gemm_create(&desc, &gemm, &error), OCTET_OK) << error.message;
    size_t bytes = 0;
    ASSERT_EQ(octet_gemm_workspace(gemm, kMostRows, 1, &bytes, &error), OCTET_OK) << error.message;
    const Guarded workspace(bytes, Side::kBack, OCTET_ALIGNMENT);
    std::vector<int32_t> dst(kMostRows * kMostColumns);
    for (const size_t k : {31, 32, 33, 48, 65})
      for (const size_t n : {16, 64, 70}) {
        const Guarded weights((k - 1) * kStride + n, Side::kBack);  // nothing beyond the last row
        uint8_t* const rhs = weights.data();
        for (size_t at = 0; at < k; ++at)
          for (size_t j = 0; j < n; ++j) rhs[at * kStride + j] = (uint8_t)(at * 91 + j * 53);
        for (size_t m = 1; m <= kMostRows; ++m) {
          std::fill(dst.begin(), dst.end(), -1);
          octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
          args.m = m, args.n = n, args.k = k, args.rhs_stride = kStride;
          args.lhs = lhs.data(), args.rhs = rhs, args.dst = dst.data();
          args.workspace = workspace.data(), args.workspace_bytes = bytes;
          ASSERT_EQ(octet_gemm_run(gemm, &args, &error), OCTET_OK) << error.message;
          for (size_t i = 0; i < m; ++i)
            for (size_t j = 0; j < n; ++j) {
              int32_t sum = 0;
              for (size_t at = 0; at < k; ++at)
                sum += (lhs[i * k + at] - 5) * (int8_t)rhs[at * kStride + j];
              ASSERT_EQ(dst[i * n + j], sum) << octet_isa_name(isa) << ' ' << m << 'x' << n << 'x'
                                             << k << " at " << i << ',' << j;
            }
        }
      }
    octet_gemm_destroy(gemm);
  }
}

// The workspace of the declared sizes serves every smaller run.
TEST(RuntimeWeights, WorkspaceServesSmallerRuns) {
  const std::vector<uint8_t> lhs(16 * 2600, 1), rhs(1024 * 2600, 1);
  std::vector<int32_t> dst(16 * 1024);
  for (const octet_isa isa : tiers_to_test())
    for (const size_t declared : {1028, 2052, 2546})
      for (const size_t m_max : {3, 8, 16}) {
        octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
        desc.m_max = m_max, desc.n = 1024, desc.k = declared, desc.max_isa = isa;
        desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_S32;
        octet_gemm* gemm = nullptr;
        octet_error error = {};
        ASSERT_EQ(octet_gemm_create(&desc, &gemm, &error), OCTET_OK) << error.message;
        size_t bytes = 0;
        ASSERT_EQ(octet_gemm_workspace(gemm, m_max, 1, &bytes, &error), OCTET_OK) << error.message;
        const Guarded workspace(bytes, Side::kBack, OCTET_ALIGNMENT);
        for (size_t m = 1; m <= m_max; m += 5)
          for (const size_t k : {declared, declared - 4, declared - 52, size_t{1}})
            for (const size_t n : {1024, 400, 1}) {
              octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
              args.m = m, args.n = n, args.k = k;
              args.lhs = lhs.data(), args.rhs = rhs.data(), args.dst = dst.data();
              args.workspace = workspace.data(), args.workspace_bytes = bytes;
              ASSERT_EQ(octet_gemm_run(gemm, &args, &error), OCTET_OK)
                  << error.message << ": " << octet_isa_name(isa) << ' ' << m << 'x' << n << 'x'
                  << k << " within " << m_max << "x1024x" << declared;
              ASSERT_EQ(dst[m * n - 1], (int32_t)k);
            }
        octet_gemm_destroy(gemm);
      }
}

}  // namespace
}  // namespace octet_test
