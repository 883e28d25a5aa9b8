// SPDX-License-Identifier: Apache-2.0
// Checks products of s16 values through the API: the bytes of every tier and kernel beside 64-bit
// integers, the largest sums, and what is refused.
#include <functional>

#include "gemm/s16_case.h"
#include "operators/gemm/object.h"
#include "support/kernels.h"
#include "support/refused.h"

namespace octet_test {
namespace {

S16Case draw_case(Draw& draw, uint32_t seed) {
  S16Case c;
  c.seed = seed;
  c.m = draw.any<size_t>({1, 1, 2, 3, 4, 5, 6, 7, 11, 13, 50});
  c.n = draw.any<size_t>({1, 7, 15, 16, 17, 33, 64, 70, 130});
  c.k = draw.any<size_t>({1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 64, 65, 130, 257, 1100});
  if (draw.one_in(4)) c.batch = 3, c.matrices = draw.any<size_t>({1, 3});
  c.dst = draw.any({OCTET_S16, OCTET_S16, OCTET_F32});
  c.requant = c.dst == OCTET_F32 ? OCTET_REQUANT_FLOAT
                                 : draw.any({OCTET_REQUANT_TFLITE, OCTET_REQUANT_TFLITE,
                                             OCTET_REQUANT_FLOAT, OCTET_REQUANT_DOUBLE});
  c.order = draw.any({OCTET_NK, OCTET_KN});
  if (c.order == OCTET_NK && draw.one_in(5)) c.sparsity = OCTET_SPARSE_2_4;
  c.activation =
      draw.any({OCTET_ACTIVATION_NONE, OCTET_ACTIVATION_NONE, OCTET_ACTIVATION_RELU,
                OCTET_ACTIVATION_RELU6, OCTET_ACTIVATION_CLAMP, OCTET_ACTIVATION_RELU_N1_TO_1});
  c.bias = (Bias)draw.below(4);
  c.extreme = draw.one_in(3), c.padded = draw.one_in(3);
  if (draw.one_in(3)) c.concurrency = 4;
  return c;
}

TEST(S16, HaveTheBytesOfTheContract) {
  Draw draw(1);
  for (uint32_t seed = 1; seed <= 500 && !testing::Test::HasFailure(); ++seed) {
    const S16Case c = draw_case(draw, seed);
    SCOPED_TRACE(c);
    const S16Product product(c);
    for (const octet_isa isa : tiers_to_test()) product.check_on(isa);
  }
}

// Rows and columns that take several blocks, passes and tasks.
TEST(S16, TakeManyRowsAndColumns) {
  for (const auto& [m, n, k] : {std::tuple<size_t, size_t, size_t>{300, 70, 20},
                                {1, 9000, 9},
                                {130, 200, 40},
                                {3, 3000, 5},
                                {257, 17, 600},
                                {131, 700, 1030},
                                {9, 333, 2050}})
    for (const size_t concurrency : {1, 3}) {
      S16Case c;
      c.m = m, c.n = n, c.k = k, c.concurrency = concurrency;
      SCOPED_TRACE(c);
      const S16Product product(c);
      for (const octet_isa isa : tiers_to_test()) product.check_on(isa);
    }
}

class S16ByKernel : public EachKernel {};

TEST_P(S16ByKernel, AllMultiplyS16) {
  if (!serves(kernel(), {OCTET_S8, OCTET_S8})) return;  // s16 values are chosen for as s8
  if (kernel().is(octet::kNoInt8Min)) return;           // the drawn weights have -128
  for (const size_t m : {1, 2, 9})
    for (const size_t k : depths(kernel())) {
      S16Case c;
      c.m = m, c.n = kernel().nr + 1, c.k = k, c.bias = Bias::kS64;
      if (kernel().rhs_layout.sparse()) c.sparsity = OCTET_SPARSE_2_4;
      SCOPED_TRACE(c);
      EXPECT_EQ(S16Product(c).check_on((octet_isa)kernel().tier_id, kernel().name), kernel().name);
    }
}
OCTET_FOR_EACH_KERNEL(S16ByKernel);

// The deepest products: 255 * 128 * 65,793 just fits int32, for weights of either sign. A kernel
// that can takes s16 values as they are to a depth of 511: 32,768 * 128 * 511; beyond it in parts
// of at most 512, of whose sums the largest wraps: 32,768 * 128 * 512.
TEST(S16, HoldTheLargestSums) {
  constexpr size_t kDepths[][2] = {{511, 0},       {512, 0},       {65793, 0},    {65794, 0},
                                   {0, 511},       {0, 512},       {0, 65793},    {0, 65794},
                                   {65536, 65536}, {66000, 65600}, {66311, 65793}};
  for (const auto& [positive, negative] : kDepths) {
    const size_t k = positive + negative;
    std::vector<int8_t> weights(k, 127);
    std::fill(weights.begin() + (ptrdiff_t)positive, weights.end(), (int8_t)-128);
    octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
    rhs.type = OCTET_S8, rhs.n = 1, rhs.k = k, rhs.data = weights.data();
    for (const octet_isa isa : tiers_to_test()) {
      SCOPED_TRACE(testing::Message() << octet_isa_name(isa) << ' ' << positive << ' ' << negative);
      size_t bytes = 0;
      ASSERT_EQ(octet_pack_size(&rhs, isa, &bytes, nullptr), OCTET_OK);
      const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
      ASSERT_EQ(octet_pack(&rhs, isa, blob.data(), bytes, nullptr), OCTET_OK);
      const float one = 1;
      octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
      desc.m_max = 2, desc.n = 1, desc.k = k, desc.max_isa = isa;
      desc.lhs_type = OCTET_S16, desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_F32;
      desc.packed = blob.data(), desc.packed_bytes = bytes;
      desc.epilogue.scales = &one, desc.epilogue.scale_count = 1;
      octet_gemm* gemm = nullptr;
      if (negative == 65794) {
        expect_refused(OCTET_ACCUMULATOR_OVERFLOW, "k = 65794 is too deep",
                       [&](octet_error* e) { return octet_gemm_create(&desc, &gemm, e); });
        continue;
      }
      ASSERT_EQ(octet_gemm_create(&desc, &gemm, nullptr), OCTET_OK);
      const int64_t most = 32768 * (int64_t)(127 * positive + 128 * negative);
      const bool fits = most <= INT32_MAX;
      const octet::MicroKernel& kernel = *gemm->plan.kernel;
      const bool in_parts = !fits && kernel.gather_s16 && kernel.nr <= kernel.rhs_layout.width;
      EXPECT_EQ(gemm->plan.cuts_s16, in_parts);
      EXPECT_EQ(gemm->plan.splits_s16, !in_parts && !(kernel.gather_s16 && fits));
      ASSERT_EQ(octet_gemm_workspace(gemm, 2, 1, &bytes, nullptr), OCTET_OK);
      const Guarded workspace(bytes, Side::kBack, OCTET_ALIGNMENT);
      std::vector<int16_t> lhs(2 * k, 32767);  // of the weights' signs, then of the others
      std::fill(lhs.begin() + (ptrdiff_t)positive, lhs.begin() + (ptrdiff_t)(k + positive),
                (int16_t)-32768);
      float dst[2];
      octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
      args.m = 2, args.lhs = lhs.data(), args.dst = dst;
      args.workspace = workspace.data(), args.workspace_bytes = bytes;
      EXPECT_EQ(octet_gemm_run(gemm, &args, nullptr), OCTET_OK);
      octet_gemm_destroy(gemm);
      const int64_t p = 127 * (int64_t)positive, n = 128 * (int64_t)negative;
      EXPECT_EQ(dst[0], (float)(32767 * p + 32768 * n));
      EXPECT_EQ(dst[1], (float)(-32768 * p - 32767 * n));
    }
  }
}

// ---- refusals -----------------------------------------------------------------------------------

struct Refused {
  int32_t zero_point = 0;
  const int8_t weights[6] = {1, -2, 3, 4, 5, -128};
  int32_t multiplier = 1 << 30, shift = 0;
  const float scale = 1;
  int32_t bias[2] = {};
  int64_t bias_s64[2] = {};
  const uint8_t lut[256] = {};
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  alignas(OCTET_ALIGNMENT) uint8_t blob[4096];

  Refused() {
    rhs.type = OCTET_S8, rhs.n = 2, rhs.k = 3, rhs.data = weights;
    desc.m_max = 3, desc.n = 2, desc.k = 3;
    desc.lhs_type = desc.dst_type = OCTET_S16, desc.rhs_type = OCTET_S8;
    desc.epilogue.requant = OCTET_REQUANT_TFLITE;
    desc.epilogue.multipliers = &multiplier, desc.epilogue.shifts = &shift;
    desc.epilogue.multiplier_count = 1;
    desc.packed = blob, desc.packed_bytes = sizeof blob;
  }
  Refused(const Refused&) = delete;
  Refused& operator=(const Refused&) = delete;
  octet_status create(octet_error* error) {
    if (zero_point) rhs.zero_points = &zero_point, rhs.zero_point_count = 1;
    const octet_status packed = octet_pack(&rhs, OCTET_ISA_AUTO, blob, sizeof blob, error);
    if (packed) return packed;
    octet_gemm* gemm = nullptr;
    const octet_status status = octet_gemm_create(&desc, &gemm, error);
    octet_gemm_destroy(gemm);
    return status;
  }
  void in_float_mode() {
    octet_epilogue& e = desc.epilogue;
    e.requant = OCTET_REQUANT_FLOAT;
    e.multipliers = nullptr, e.shifts = nullptr, e.multiplier_count = 0;
    e.scales = &scale, e.scale_count = 1;
  }
};

void refuses(octet_status status, const char* sentence, const std::function<void(Refused&)>& edit) {
  Refused r;
  octet_error error = {};
  EXPECT_EQ(r.create(&error), OCTET_OK) << error.message;
  edit(r);
  expect_refused(status, sentence, [&](octet_error* e) { return r.create(e); });
}

TEST(S16, RefuseOtherTypes) {
  for (const octet_type dst : {OCTET_S8, OCTET_U8, OCTET_S32})
    refuses(OCTET_UNSUPPORTED, "desc.dst_type must be one of them", [&](Refused& r) {
      r.desc.dst_type = dst;
      if (dst == OCTET_S32)
        r.in_float_mode(), r.desc.epilogue.scales = nullptr, r.desc.epilogue.scale_count = 0;
    });
  refuses(OCTET_UNSUPPORTED, "desc.rhs_type must be OCTET_S8",
          [](Refused& r) { r.rhs.type = r.desc.rhs_type = OCTET_U8; });
  for (const octet_type lhs : {OCTET_S8, OCTET_U8})
    refuses(OCTET_UNSUPPORTED, "desc.lhs_type must be OCTET_S16",
            [&](Refused& r) { r.desc.lhs_type = lhs; });
  refuses(OCTET_UNSUPPORTED, "its weights come packed",
          [](Refused& r) { r.desc.packed = nullptr, r.desc.packed_bytes = 0; });
  for (const octet_lhs_quant quant : {OCTET_LHS_PER_TENSOR, OCTET_LHS_PER_ROW})
    refuses(OCTET_UNSUPPORTED, "desc.lhs_quant must be OCTET_LHS_STATIC",
            [&](Refused& r) { r.desc.lhs_quant = quant; });
}

TEST(S16, RefuseZeroPoints) {
  refuses(OCTET_BAD_ZERO_POINT, "desc.lhs_zero_point is 1",
          [](Refused& r) { r.desc.lhs_zero_point = 1; });
  refuses(OCTET_BAD_ZERO_POINT, "the zero point of column 0 is -3",
          [](Refused& r) { r.zero_point = -3; });
  refuses(OCTET_UNSUPPORTED, "desc.epilogue.dst_zero_point",
          [](Refused& r) { r.desc.epilogue.dst_zero_point = 1; });
}

TEST(S16, RefuseEpilogues) {
  refuses(OCTET_UNSUPPORTED, "desc.epilogue.residual",
          [](Refused& r) { r.desc.epilogue.residual = {OCTET_S8, 0, 1, 0, 0, 0, 0, 0, 0, 0}; });
  refuses(OCTET_UNSUPPORTED, "desc.epilogue.lut", [](Refused& r) { r.desc.epilogue.lut = r.lut; });
  refuses(OCTET_BAD_SCALE, "desc.epilogue.shifts: column 0 shifts left by 8",
          [](Refused& r) { r.shift = 8; });
  refuses(OCTET_BAD_CLAMP, "-32768..32767", [](Refused& r) {
    octet_epilogue& e = r.desc.epilogue;
    e.activation = OCTET_ACTIVATION_CLAMP, e.clamp_min = 0, e.clamp_max = 32768;
  });
}

TEST(S16, RefuseBiases) {
  refuses(OCTET_UNSUPPORTED, "are both set",
          [](Refused& r) { r.desc.epilogue.bias = r.bias, r.desc.epilogue.bias_s64 = r.bias_s64; });
  refuses(OCTET_UNSUPPORTED, "desc.epilogue.bias_s64 is for an s16 lhs", [](Refused& r) {
    r.desc.lhs_type = r.desc.dst_type = OCTET_S8, r.desc.epilogue.bias_s64 = r.bias_s64;
  });
  // Column 1 is -2, 4, -128 and so reaches from and to 134 * 32768
  const int64_t sums = 134 * 32768, most = int64_t{1} << 47;
  for (const int64_t bias : {most - sums, sums - most - 1, INT64_MAX, INT64_MIN})
    refuses(OCTET_ACCUMULATOR_OVERFLOW, "desc.epilogue.bias_s64[1]",
            [&](Refused& r) { r.bias_s64[1] = bias, r.desc.epilogue.bias_s64 = r.bias_s64; });
  for (const int64_t bias : {most - sums - 1, sums - most}) {
    Refused r;
    octet_error error = {};
    r.bias_s64[1] = bias, r.desc.epilogue.bias_s64 = r.bias_s64;
    EXPECT_EQ(r.create(&error), OCTET_OK) << error.message;
  }
}

// A program of before there were s16 values has no bias_s64.
TEST(S16, AShorterStructHasNoLongBias) {
  Refused r;
  octet_error error = {};
  r.desc.epilogue.bias_s64 = (const int64_t*)1;
  r.desc.struct_size = offsetof(octet_gemm_desc, epilogue) + offsetof(octet_epilogue, bias_s64);
  EXPECT_EQ(r.create(&error), OCTET_OK) << error.message;
}

TEST(S16, RunsRefuseOddAddresses) {
  Refused r;
  octet_error error = {};
  ASSERT_EQ(octet_pack(&r.rhs, OCTET_ISA_AUTO, r.blob, sizeof r.blob, &error), OCTET_OK);
  octet_gemm* gemm = nullptr;
  ASSERT_EQ(octet_gemm_create(&r.desc, &gemm, &error), OCTET_OK) << error.message;
  size_t bytes = 0;
  ASSERT_EQ(octet_gemm_workspace(gemm, 3, 1, &bytes, &error), OCTET_OK);
  const Guarded workspace(bytes, Side::kBack, OCTET_ALIGNMENT);
  int16_t lhs[10] = {}, dst[7] = {};
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  args.m = 3, args.lhs = lhs, args.dst = dst;
  args.workspace = workspace.data(), args.workspace_bytes = bytes;
  EXPECT_EQ(octet_gemm_run(gemm, &args, &error), OCTET_OK) << error.message;
  const auto run = [&](octet_error* e) { return octet_gemm_run(gemm, &args, e); };
  args.lhs = (const uint8_t*)lhs + 1;
  expect_refused(OCTET_MISALIGNED, "args.lhs", run);
  args.lhs = lhs, args.dst = (uint8_t*)dst + 1;
  expect_refused(OCTET_MISALIGNED, "args.dst", run);
  args.dst = lhs + 3;
  expect_refused(OCTET_OVERLAP, "args.dst", run);
  args.dst = dst, args.workspace_bytes = bytes - 1;
  expect_refused(OCTET_WORKSPACE_TOO_SMALL, "args.workspace_bytes", run);
  octet_gemm_destroy(gemm);
}

}  // namespace
}  // namespace octet_test
