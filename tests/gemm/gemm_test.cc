// SPDX-License-Identifier: Apache-2.0
// Checks packed products through the public API, each kernel forced in turn.
#include "kernels/core/runtime_weights.h"
#include "support/gemm_case.h"

namespace octet_test {
namespace {

TEST(Gemm, MultipliesOneByOne) {
  GemmCase c;
  check(c);
}

class GemmKernel : public EachKernel {};
OCTET_FOR_EACH_KERNEL(GemmKernel);

// Every sign pair, every tail of the tile. The depth, the data and the layout of the operands
// rotate through the shapes.
TEST_P(GemmKernel, TailShapes) {
  const std::vector<size_t> rows = around({kernel().mr}), columns = around({kernel().nr}),
                            depth = depths(kernel());
  for (const Types types : types_of(kernel())) {
    uint32_t turn = 0;
    for (const size_t m : rows)
      for (const size_t n : columns)
        for (int repeat = 0; repeat < 2; ++repeat, ++turn) {
          GemmCase c;
          c.kernel = kernel().name;
          c.m = m, c.n = n, c.k = depth[turn % depth.size()];
          c.lhs = types.lhs, c.rhs = types.rhs;
          c.data = repeat ? (Data)(1 + turn / 2 % 4) : Data::kRandom;
          c.seed = turn;
          c.lhs_zero_point = turn % 5 == 0   ? 0
                             : turn % 5 == 1 ? least(types.lhs)
                             : turn % 5 == 2 ? most(types.lhs)
                                             : 17;
          c.rhs_zero_points = (ZeroPoints)(turn % 7 % 3);
          c.order = turn % 3 ? OCTET_KN : OCTET_NK;
          c.padded = turn % 4 == 1;
          c.bias = turn % 6 != 2;
          c.dst = turn % 2 ? OCTET_S32 : turn % 4 ? OCTET_U8 : OCTET_S8;
          check(c);
          if (HasFatalFailure()) return;
        }
  }
}

TEST_P(GemmKernel, EveryDepthUpToTwoGroups) {
  for (size_t k = 1; k <= 2u * kernel().rhs_layout.kr + 1; ++k) {
    GemmCase c;
    c.kernel = kernel().name;
    c.m = kernel().mr + 1u, c.n = kernel().nr + 1u, c.k = k;
    c.lhs = types_of(kernel()).back().lhs, c.rhs = types_of(kernel()).back().rhs;
    c.lhs_zero_point = 7;
    c.rhs_zero_points = ZeroPoints::kChannel;
    check(c);
    if (HasFatalFailure()) return;
  }
}

TEST_P(GemmKernel, EveryColumnCountUpToTwoPanels) {
  for (size_t n = 1; n <= 2u * kernel().rhs_layout.width + 1; ++n) {
    GemmCase c;
    c.kernel = kernel().name;
    c.m = 2, c.n = n, c.k = 5;
    c.rhs = types_of(kernel()).back().rhs, c.lhs = types_of(kernel()).back().lhs;
    c.rhs_zero_points = ZeroPoints::kChannel;
    c.dst = n % 2 ? OCTET_U8 : OCTET_S32;
    check(c);
    if (HasFatalFailure()) return;
  }
}

// One object serves every M up to its maximum, each with the workspace of its own M, and no run
// writes rows beyond its M.
TEST_P(GemmKernel, EveryRowCountOnOneObject) {
  for (const octet_type dst : {OCTET_S32, OCTET_S8}) {
    GemmCase c;
    c.kernel = kernel().name;
    c.m = 3u * kernel().mr + 1, c.n = kernel().nr + 1u, c.k = 19;
    c.lhs = types_of(kernel()).front().lhs, c.rhs = types_of(kernel()).front().rhs;
    c.rhs_zero_points = ZeroPoints::kTensor;
    c.dst = dst;
    Gemm gemm(c);
    ASSERT_EQ(gemm.status(), OCTET_OK) << gemm.error().message;
    for (size_t m = 1; m <= c.m; ++m) {
      gemm.args().m = m;
      gemm.clear_dst();
      gemm.prepare_workspace(m, 1);
      ASSERT_EQ(gemm.run(), OCTET_OK) << gemm.error().message;
      ASSERT_TRUE(gemm.as_expected(m)) << "m = " << m;
    }
  }
}

// K is so large that only some rows fit the cache: the macro-kernel takes the rows in blocks.
TEST_P(GemmKernel, RowBlocks) {
  for (const octet_lhs_quant quant : {OCTET_LHS_STATIC, OCTET_LHS_PER_ROW})
    for (const size_t concurrency : {1, 2}) {
      GemmCase c;
      c.kernel = kernel().name;
      c.m = 5u * kernel().mr + 1, c.n = 5, c.k = 30011;
      c.lhs = types_of(kernel()).front().lhs, c.rhs = types_of(kernel()).front().rhs,
      c.dst = OCTET_U8;
      c.lhs_quant = quant;
      c.rhs_zero_points = ZeroPoints::kChannel;
      c.residual = OCTET_S8;
      c.concurrency = concurrency;
      check(c);
    }
}

// Rows may be copied first in an order of the kernel's own, where a product, or a task of it, has
// many columns.
TEST_P(GemmKernel, RowsOfManyColumns) {
  if (!kernel().flip_rows && !kernel().arrange_rows) GTEST_SKIP() << kernel().name;
  const std::vector<size_t> rows = around({kernel().mr, 2u * kernel().mr});
  uint32_t turn = 0;
  for (const size_t n : {15, 16, 39, 40, 63, 64, 73, 95, 96, 264, 531})
    for (const size_t k : {24, 31, 32, 37, 44, 57, 71, 303})
      for (const octet_type lhs : {OCTET_S8, OCTET_U8}) {
        GemmCase c;
        c.kernel = kernel().name;
        c.m = rows[turn % rows.size()], c.n = n, c.k = k;
        c.lhs = lhs, c.rhs = types_of(kernel()).front().rhs;
        c.seed = ++turn;
        c.data = turn % 3 ? Data::kRandom : Data::kEnds;
        c.lhs_zero_point = lhs == OCTET_U8 ? 130 : -3;
        c.rhs_zero_points = turn % 9 == 4 ? ZeroPoints::kChannel : ZeroPoints::kNone;
        c.padded = turn % 2;
        c.dst = turn % 4 == 0 ? OCTET_S32 : turn % 4 == 1 ? OCTET_F32 : OCTET_S8;
        c.activation = turn % 8 == 3 ? OCTET_ACTIVATION_RELU : OCTET_ACTIVATION_NONE;
        c.residual = turn % 8 == 6 ? OCTET_S8 : kNoResidual;
        c.concurrency = 1 + turn % 5 / 3;
        check(c);
        if (HasFatalFailure()) return;
      }
}

// The epilogue takes as many rows at a time as there is room for sums of.
TEST_P(GemmKernel, ManyRowsWithAResidual) {
  constexpr size_t kRows[] = {30, 60, 61, 66, 127, 150};
  uint32_t turn = 0;
  for (const size_t n : {8, 16, 23, 40, 264})
    for (const size_t k : {15, 16, 37, 256, 257})
      for (const octet_requant requant : {OCTET_REQUANT_FLOAT, OCTET_REQUANT_TFLITE}) {
        GemmCase c;
        c.kernel = kernel().name;
        c.m = kRows[turn % 6], c.n = n, c.k = k;
        const std::vector<Types> types = types_of(kernel());
        c.lhs = types[turn % types.size()].lhs, c.rhs = types[turn % types.size()].rhs;
        c.seed = ++turn;
        c.requant = requant;
        if (turn % 7 == 3 && requant == OCTET_REQUANT_FLOAT)
          c.lhs_quant = OCTET_LHS_PER_ROW;
        else
          c.lhs_zero_point = c.lhs == OCTET_U8 ? 130 : -3;
        c.rhs_zero_points = turn % 5 == 4 ? ZeroPoints::kChannel : ZeroPoints::kNone;
        c.dst = turn % 4 < 2 ? OCTET_U8 : OCTET_S8;
        c.residual = turn % 3 ? OCTET_S8 : OCTET_U8;
        c.product_activation = turn % 8 == 6 ? OCTET_ACTIVATION_RELU : OCTET_ACTIVATION_NONE;
        c.lut = turn % 11 == 5;
        c.padded = turn % 2;
        check(c);
        if (HasFatalFailure()) return;
      }
}

// A kernel may copy the rows of a call, part by part where they are deeper than the copy.
TEST_P(GemmKernel, DeepRows) {
  uint32_t turn = 0;
  for (const size_t n : {3, 40, 67})
    for (const size_t k : {250, 260, 1024, 1025, 1036, 2047, 3080})
      for (const Types types : types_of(kernel())) {
        GemmCase c;
        c.kernel = kernel().name;
        c.m = kernel().mr + turn % 4u, c.n = n, c.k = k;
        c.lhs = types.lhs, c.rhs = types.rhs;
        c.seed = ++turn;
        c.data = turn % 3 ? Data::kRandom : Data::kEnds;
        c.lhs_zero_point = c.lhs == OCTET_U8 ? 130 : -3;
        c.rhs_zero_points = turn % 5 == 4 ? ZeroPoints::kChannel : ZeroPoints::kNone;
        c.dst = turn % 4 == 0 ? OCTET_S32 : turn % 4 == 1 ? OCTET_F32 : OCTET_S8;
        check(c);
        if (HasFatalFailure()) return;
      }
}

// A kernel for few rows runs where there is one; weights that come with a run may stay where they
// are.
void expect_kernel_for(size_t m, const char* name, bool runtime_rhs) {
  const MicroKernel* kernel = octet::find(octet::int8_kernels(), name);
  if (!kernel) {
    EXPECT_TRUE(runtime_rhs && m <= octet::kFewRows && strstr(name, "_few_rows")) << name;
    return;
  }
  EXPECT_TRUE(kernel->m_max == 0 || m <= kernel->m_max) << kernel->name << " for " << m << " rows";
  for (const MicroKernel* small : table())
    if (small->tier_id == kernel->tier_id && small->lhs_element_type == kernel->lhs_element_type &&
        small->rhs_layout == kernel->rhs_layout && m <= small->m_max) {
      EXPECT_STREQ(kernel->name, small->name) << m << " rows";
    }
}

// Unforced, few rows may run on a kernel of their own. The workspace for all rows serves it too.
TEST(Gemm, EveryRowCountOnTheBestKernels) {
  for (const Types types : {Types{OCTET_U8, OCTET_S8},
                            {OCTET_S8, OCTET_S8},
                            {OCTET_U8, OCTET_U8},
                            {OCTET_S8, OCTET_U8},
                            {OCTET_U8, OCTET_S4},
                            {OCTET_S8, OCTET_U4}})
    for (const ZeroPoints zero_points : {ZeroPoints::kNone, ZeroPoints::kChannel})
      for (const bool runtime_rhs : {false, true}) {
        if (runtime_rhs && is_4bit(types.rhs)) continue;
        GemmCase c;
        c.m = 40, c.n = 70, c.k = 37;
        c.lhs = types.lhs, c.rhs = types.rhs, c.dst = OCTET_S8;
        c.rhs_zero_points = zero_points, c.runtime_rhs = runtime_rhs;
        c.concurrency = 3;
        Gemm gemm(c);
        ASSERT_EQ(gemm.status(), OCTET_OK) << gemm.error().message;
        for (size_t m = 1; m <= c.m; ++m) {
          expect_kernel_for(m, octet_gemm_kernel(gemm.get(), m), runtime_rhs);
          gemm.args().m = m;
          gemm.args().concurrency = 1 + m % 3;
          gemm.clear_dst();
          ASSERT_EQ(gemm.run(), OCTET_OK) << gemm.error().message;
          ASSERT_TRUE(gemm.as_expected(m)) << "m = " << m;
        }
      }
}

// Run-time weights are unknown when kernels are chosen: each may be the int8 min.
TEST(Gemm, RuntimeWeightsOfInt8Min) {
  for (const Types types : {Types{OCTET_U8, OCTET_S8}, {OCTET_S8, OCTET_S8}})
    for (const Data data : {Data::kLeastLeast, Data::kMostLeast}) {
      GemmCase c;
      c.m = 5, c.n = 9, c.k = 70;
      c.lhs = types.lhs, c.rhs = types.rhs, c.dst = OCTET_S32;
      c.data = data, c.runtime_rhs = true;
      check(c);
    }
}

// Large products, too slow for the reference: C t == A (B t) for a random vector t, in int64.
TEST_P(GemmKernel, LargeShapeAgreesWithAVector) {
  const size_t m = 203, n = 517, k = 1031;
  uint32_t state = 1;
  const auto next = [&] { return (state = state * 1664525u + 1013904223u) >> 24; };
  const Types types = types_of(kernel()).front();
  const auto value = [](uint8_t byte, octet_type type) {
    return type == OCTET_U8 ? int64_t{byte} : int64_t{(int8_t)byte};
  };
  std::vector<uint8_t> a(m * k), b(k * n);  // of 4 bits, b has more bytes than are read
  const auto weight = [&](size_t i) {
    if (!is_4bit(types.rhs)) return value(b[i], types.rhs);
    const int nibble = b[i / 2] >> i % 2 * 4 & 15;
    return int64_t{types.rhs == OCTET_S4 ? (nibble ^ 8) - 8 : nibble};
  };
  for (uint8_t& x : a) x = (uint8_t)next();
  for (uint8_t& x : b) {
    x = (uint8_t)next();
    if (kernel().is(octet::kNoInt8Min) && value(x, types.rhs) == least(types.rhs)) ++x;
  }
  if (kernel().rhs_layout.sparse())
    for (size_t i = 0; i < k * n; ++i)
      if (i / n % 4 == i % n % 4 || i / n % 4 == (i % n + 1 + i % n / 4 % 2) % 4) b[i] = 0;
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = types.rhs;
  rhs.n = n, rhs.k = k;
  rhs.data = b.data();
  if (kernel().rhs_layout.sparse()) rhs.sparsity = OCTET_SPARSE_2_4;
  octet_error error = {};
  size_t bytes = 0;
  const ScopedEnvironment forced("OCTET_KERNEL", kernel().name);
  ASSERT_EQ(octet_pack_size(&rhs, OCTET_ISA_AUTO, &bytes, &error), OCTET_OK) << error.message;
  const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
  ASSERT_EQ(octet_pack(&rhs, OCTET_ISA_AUTO, blob.data(), bytes, &error), OCTET_OK)
      << error.message;
  octet_gemm_desc d = OCTET_GEMM_DESC_INIT;
  d.m_max = m, d.n = n, d.k = k;
  d.lhs_type = types.lhs, d.rhs_type = types.rhs, d.dst_type = OCTET_S32;
  d.packed = blob.data(), d.packed_bytes = bytes;
  octet_gemm* gemm = nullptr;
  ASSERT_EQ(octet_gemm_create(&d, &gemm, &error), OCTET_OK) << error.message;
  EXPECT_STREQ(octet_gemm_kernel(gemm, m), kernel().name);
  ASSERT_EQ(octet_gemm_workspace(gemm, m, 1, &bytes, &error), OCTET_OK);
  const Guarded workspace(bytes ? bytes : 1, Side::kBack, OCTET_ALIGNMENT);
  std::vector<int32_t> c(m * n);
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  args.m = m, args.lhs = a.data(), args.dst = c.data(), args.workspace = workspace.data(),
  args.workspace_bytes = bytes;
  ASSERT_EQ(octet_gemm_run(gemm, &args, &error), OCTET_OK) << error.message;
  octet_gemm_destroy(gemm);

  std::vector<int64_t> t(n), bt(k);
  for (int64_t& x : t) x = (int64_t)next() - 100;
  for (size_t i = 0; i < k; ++i)
    for (size_t j = 0; j < n; ++j) bt[i] += weight(i * n + j) * t[j];
  for (size_t i = 0; i < m; ++i) {
    int64_t want = 0, got = 0;
    for (size_t j = 0; j < k; ++j) want += value(a[i * k + j], types.lhs) * bt[j];
    for (size_t j = 0; j < n; ++j) got += int64_t{c[i * n + j]} * t[j];
    ASSERT_EQ(got, want) << kernel().name << " row " << i;
  }
}

}  // namespace
}  // namespace octet_test
