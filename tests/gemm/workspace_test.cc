// SPDX-License-Identifier: Apache-2.0
// Checks that the queried workspace is enough for every run that the query covers.
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "octet/octet.h"

namespace octet_test {
namespace {

void in_order(void*, size_t count, void (*fn)(void*, size_t), void* arg) {
  for (size_t i = 0; i < count; ++i) fn(arg, i);
}

// Fewer rows, columns, matrices or tasks than declared are cut otherwise, and must not need more.
// Run-time weights are the hard case: they are packed into the workspace.
TEST(Workspace, CoversEverySmallerRun) {
  std::mt19937 random(7);
  const auto up_to = [&](size_t most) { return 1 + random() % most; };
  for (int declared = 0; declared < 300; ++declared) {
    const size_t m = up_to(40), n = up_to(300), k = up_to(70), batch = up_to(6),
                 concurrency = up_to(12);
    octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
    desc.m_max = m, desc.n = n, desc.k = k, desc.batch_max = batch;
    desc.lhs_type = desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_S32;
    desc.lhs_quant = declared % 2 ? OCTET_LHS_PER_ROW : OCTET_LHS_STATIC;
    octet_gemm* gemm = nullptr;
    octet_error error = {};
    ASSERT_EQ(octet_gemm_create(&desc, &gemm, &error), OCTET_OK) << error.message;
    size_t bytes = 0;
    ASSERT_EQ(octet_gemm_workspace(gemm, m, concurrency, &bytes, &error), OCTET_OK)
        << error.message;
    std::vector<uint8_t> memory(bytes + OCTET_ALIGNMENT);
    const size_t misaligned = (uintptr_t)memory.data() % OCTET_ALIGNMENT;

    const std::vector<int8_t> lhs(batch * m * k, 1), rhs(batch * n * k, 1);
    std::vector<int32_t> dst(batch * m * n);
    for (int run = 0; run < 12; ++run) {
      octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
      args.m = up_to(m), args.n = up_to(n), args.k = up_to(k), args.batch = up_to(batch),
      args.concurrency = up_to(concurrency);
      args.lhs = lhs.data(), args.rhs = rhs.data(), args.dst = dst.data();
      args.workspace = memory.data() + (misaligned ? OCTET_ALIGNMENT - misaligned : 0),
      args.workspace_bytes = bytes;
      args.parallel_for = in_order;
      ASSERT_EQ(octet_gemm_run(gemm, &args, &error), OCTET_OK)
          << error.message << "; m " << args.m << '/' << m << " n " << args.n << '/' << n << " k "
          << args.k << '/' << k << " batch " << args.batch << '/' << batch << " tasks "
          << args.concurrency << '/' << concurrency;
      ASSERT_EQ(dst[args.m * args.n * args.batch - 1], (int32_t)args.k);
    }
    octet_gemm_destroy(gemm);
  }
}

// One run must not be charged the whole of the weights once for each task.
TEST(Workspace, RuntimeWeightsAreSharedOut) {
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  desc.m_max = 9, desc.n = 4096, desc.k = 4096;
  desc.lhs_type = desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_S32;
  octet_gemm* gemm = nullptr;
  ASSERT_EQ(octet_gemm_create(&desc, &gemm, nullptr), OCTET_OK);
  size_t one = 0, many = 0;
  ASSERT_EQ(octet_gemm_workspace(gemm, 9, 1, &one, nullptr), OCTET_OK);
  ASSERT_EQ(octet_gemm_workspace(gemm, 9, 64, &many, nullptr), OCTET_OK);
  EXPECT_LT(one, 4 * desc.n * desc.k);   // tiers without their own packing pack all columns at once
  EXPECT_LT(many, 4 * desc.n * desc.k);  // not 64 times: tasks have rows of their own, AVX2 widens
  octet_gemm_destroy(gemm);
}

// There are at most as many tasks as pieces of the run-time weights, with any declared concurrency,
// and the query takes no longer for it.
TEST(Workspace, ConcurrencyBeyondThePieces) {
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  desc.m_max = 9, desc.n = 1000, desc.k = 64, desc.batch_max = 3;
  desc.lhs_type = desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_S32;
  octet_gemm* gemm = nullptr;
  ASSERT_EQ(octet_gemm_create(&desc, &gemm, nullptr), OCTET_OK);
  size_t pieces = 0, all = 0, before = 0;
  ASSERT_EQ(octet_gemm_workspace(gemm, 9, desc.batch_max * desc.n, &pieces, nullptr), OCTET_OK);
  ASSERT_EQ(octet_gemm_workspace(gemm, 9, SIZE_MAX, &all, nullptr), OCTET_OK);
  EXPECT_EQ(all, pieces);
  for (size_t concurrency = 1; concurrency <= 400; ++concurrency) {
    size_t bytes = 0;
    ASSERT_EQ(octet_gemm_workspace(gemm, 9, concurrency, &bytes, nullptr), OCTET_OK);
    EXPECT_GE(bytes, before) << concurrency;
    EXPECT_LE(bytes, all) << concurrency;
    before = bytes;
  }
  octet_gemm_destroy(gemm);
}

}  // namespace
}  // namespace octet_test
