// SPDX-License-Identifier: Apache-2.0
// Checks that flush-to-zero and denormals-are-zero change no integer output: inference engines set
// them.
#include "support/gemm_case.h"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace octet_test {
namespace {

// The mode holds for the scope, in this thread.
class FlushDenormals {
 public:
#if defined(__x86_64__) || defined(__i386__)
  FlushDenormals() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | 0x8040); }
  ~FlushDenormals() { _mm_setcsr(saved_); }
  static constexpr bool kKnown = true;

 private:
  unsigned saved_;
#elif defined(__aarch64__)
  FlushDenormals() {
    __asm__ volatile("mrs %0, fpcr" : "=r"(saved_));
    __asm__ volatile("msr fpcr, %0" : : "r"(saved_ | 1ull << 24));
  }
  ~FlushDenormals() { __asm__ volatile("msr fpcr, %0" : : "r"(saved_)); }
  static constexpr bool kKnown = true;

 private:
  uint64_t saved_;
#else
  static constexpr bool kKnown = false;
#endif
};

class FloatModes : public EachKernel {};
OCTET_FOR_EACH_KERNEL(FloatModes);

TEST_P(FloatModes, IntegerOutputsStayTheSame) {
  if (!FlushDenormals::kKnown) GTEST_SKIP() << "no way to flush denormals here";
  uint32_t turn = 0;
  for (const octet_type dst : {OCTET_U8, OCTET_S8})
    for (const octet_lhs_quant quant : {OCTET_LHS_STATIC, OCTET_LHS_PER_ROW})
      for (const octet_type residual : {kNoResidual, OCTET_S8})
        for (int way = 0; way < 4; ++way) {
          const bool tflite = way > 1;
          if (tflite && quant != OCTET_LHS_STATIC) continue;
          GemmCase c;
          c.kernel = kernel().name;
          c.m = kernel().mr + 1u, c.n = kernel().nr + 1u, c.k = 30;
          c.lhs = types_of(kernel()).front().lhs, c.rhs = types_of(kernel()).front().rhs,
          c.dst = dst;
          c.lhs_quant = quant, c.residual = residual, c.seed = ++turn;
          c.data = way % 2 ? Data::kMostMost : Data::kRandom;
          c.requant = tflite ? OCTET_REQUANT_TFLITE : OCTET_REQUANT_FLOAT;
          Gemm gemm(c);
          ASSERT_EQ(gemm.status(), OCTET_OK) << gemm.error().message;
          {
            [[maybe_unused]] const FlushDenormals flush;
            gemm.run();
          }
          ASSERT_TRUE(gemm.as_expected(c.m));
        }
}

// Scales so small that they are denormal themselves, created and run in either mode.
TEST_P(FloatModes, DenormalScales) {
  if (!FlushDenormals::kKnown) GTEST_SKIP() << "no way to flush denormals here";
  const float scales[] = {1e-40f, 1e-45f, 1.1754944e-38f, 0.01f};
  const int32_t bias[] = {INT32_MAX, INT32_MIN, 1000000, 150};
  const std::vector<uint8_t> weights(4, 0);
  const ScopedEnvironment forced("OCTET_KERNEL", kernel().name);
  uint8_t bytes[2][4];
  for (int mode = 0; mode < 2; ++mode) {
    octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
    rhs.type = OCTET_S8, rhs.n = 4, rhs.k = 1, rhs.data = weights.data();
    size_t size = 0;
    ASSERT_EQ(octet_pack_size(&rhs, OCTET_ISA_AUTO, &size, nullptr), OCTET_OK);
    const Guarded blob(size, Side::kBack, OCTET_ALIGNMENT);
    ASSERT_EQ(octet_pack(&rhs, OCTET_ISA_AUTO, blob.data(), size, nullptr), OCTET_OK);
    octet_gemm_desc d = OCTET_GEMM_DESC_INIT;
    d.m_max = 1, d.n = 4, d.k = 1, d.lhs_type = OCTET_U8, d.rhs_type = OCTET_S8,
    d.dst_type = OCTET_U8, d.epilogue.dst_zero_point = 7;
    d.packed = blob.data(), d.packed_bytes = size, d.epilogue.scales = scales,
    d.epilogue.scale_count = 4, d.epilogue.bias = bias;
    octet_gemm* gemm = nullptr;
    octet_error error = {};
    const uint8_t lhs = 1;
    octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
    octet_status created, ran;
    Guarded workspace;
    {
      std::unique_ptr<FlushDenormals> flush(mode ? new FlushDenormals : nullptr);
      created = octet_gemm_create(&d, &gemm, &error);
      ASSERT_EQ(created, OCTET_OK) << error.message;
      octet_gemm_workspace(gemm, 1, 1, &size, nullptr);
      workspace = Guarded(size + 1, Side::kFront, OCTET_ALIGNMENT);
      args.m = 1, args.lhs = &lhs, args.dst = bytes[mode], args.workspace = workspace.data(),
      args.workspace_bytes = size;
      ran = octet_gemm_run(gemm, &args, &error);
    }
    ASSERT_EQ(ran, OCTET_OK) << error.message;
    octet_gemm_destroy(gemm);
  }
  EXPECT_EQ(std::memcmp(bytes[0], bytes[1], 4), 0);
  EXPECT_EQ(bytes[0][0], 7);
  EXPECT_EQ(bytes[0][3], 9);  // 1.5 + 7, half to even
}

}  // namespace
}  // namespace octet_test
