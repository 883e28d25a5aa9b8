// Runs on a system that nobody wrote detection for: this program has a dispatch/cpu/features.cc of
// its own in place of the library's, compiled as if for one. There, what the compiler was told of
// all CPUs is believed, and on aarch64 that is NEON at least.
#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include <cstdio>
#include <cstdlib>

#include "support/gemm_case.h"

namespace octet_test {
namespace {

constexpr octet::Features kTold =
#if defined(__aarch64__) || defined(__ARM_NEON)
    octet::kHasNeon | OCTET_TOLD;
#else
    0;
#endif

// Where the compiler was told of what this CPU lacks, the library believes it and dies.
class Elsewhere : public testing::Environment {
 public:
  void SetUp() override {
#if defined(__aarch64__)
    const bool dotprod = getauxval(AT_HWCAP) >> 20 & 1, i8mm = getauxval(AT_HWCAP2) >> 13 & 1;
    if ((kTold & octet::kHasDotprod && !dotprod) || (kTold & octet::kHasI8mm && !i8mm)) {
      std::printf("Skipped: this CPU lacks what cpu_features.cc was compiled for\n");
      std::_Exit(EXIT_SUCCESS);
    }
#endif
  }
};
const testing::Environment* const elsewhere = testing::AddGlobalTestEnvironment(new Elsewhere);

TEST(Elsewhere, WhatTheCompilerWasToldIsBelieved) {
  octet_cpu_info info = OCTET_CPU_INFO_INIT;
  octet_error error = {};
  ASSERT_EQ(octet_get_cpu_info(&info, &error), OCTET_OK) << error.message;
#if !defined(__x86_64__)  // which tells by itself, on any system
  EXPECT_EQ(info.detected_isas, octet::tiers_of(kTold) & info.compiled_isas);
  EXPECT_EQ(info.l2_bytes, 0u) << "nobody was asked";
  EXPECT_EQ(info.known_cores, 0u);
#else
  EXPECT_GT(info.l2_bytes, 0u);
#endif
  EXPECT_EQ(info.demoted_isas, 0u);
}

TEST(Elsewhere, ProductsAreRight) {
  GemmCase c;
  c.m = 37, c.n = 53, c.k = 71;
  c.dst = OCTET_U8;
  Gemm gemm(c);
  ASSERT_EQ(gemm.status(), OCTET_OK) << gemm.error().message;
  check(c);
}

}  // namespace
}  // namespace octet_test
