// SPDX-License-Identifier: Apache-2.0
// Simulates a system without CPU detection: this program has its own build of
// dispatch/cpu/features.cc in place of the library's. There the library believes the compiler's
// flags, on aarch64 NEON at least.
#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include <cstdio>
#include <cstdlib>

#include "support/gemm_case.h"

namespace octet_test {
namespace {

[[maybe_unused]] constexpr octet::Features kTold =  // x86 does not look at it
#if defined(__aarch64__) || defined(__ARM_NEON)
    octet::kHasNeon | OCTET_TOLD;
#else
    0;
#endif

// If the flags allow instructions that this CPU lacks, the library uses them and dies.
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
#if !defined(__x86_64__)  // CPUID works on any system
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
