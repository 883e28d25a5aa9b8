// SPDX-License-Identifier: Apache-2.0
// Checks that a tier that fails the self-test is not used by anything: packing, planning, creating
// and forcing count on the tiers that are left. demoted_isas takes the place of the library's own
// (dispatch/self_test/demoted.cc); its verdict lasts for a process, so each demotion gets one.
#include <sys/wait.h>
#include <unistd.h>

#include <cfenv>
#include <cstdio>

#include "dispatch/self_test/self_test.h"
#include "support/conv_case.h"
#include "support/gemm_case.h"
#include "support/tiers.h"

namespace {

octet::TierMask demoted = 0;  // to be
int self_tests = 0;

}  // namespace

octet::TierMask octet::demoted_tiers(const CpuFeatures& cpu) {
  ++self_tests;
  return failing_tiers(int8_kernels(), cpu) | (demoted & cpu.tiers);
}

namespace octet_test {
namespace {

using octet::TierMask;

void in_a_process_without(TierMask tiers, void (*check)()) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    demoted = tiers;
    check();
    std::fflush(nullptr);
    std::_Exit(testing::Test::HasFailure());
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0) << "without tiers " << tiers;
}

// The tiers of this machine, best first. The call does not start the process's only self-test.
std::vector<octet_isa> tiers() {
  TierMask compiled = 0;
  for (const MicroKernel* kernel : table())
    if (!kernel->is(octet::kTestsOnly)) compiled |= octet::mask_of(kernel->tier_id);
  std::vector<octet_isa> found;
  for (size_t i = 0; const octet::Tier* tier = octet::nth_tier(i); ++i)
    if (has(octet::detect_cpu().tiers & compiled, *tier)) found.push_back((octet_isa)tier->tier_id);
  return found;
}

bool is_demoted(octet_isa isa) { return demoted >> isa & 1; }

octet_isa best_left() {
  for (const octet_isa isa : tiers())
    if (!is_demoted(isa)) return isa;
  return OCTET_ISA_AUTO;
}

std::vector<GemmCase> products() {
  std::vector<GemmCase> cases;
  for (const Types types : {Types{OCTET_U8, OCTET_S8}, {OCTET_S8, OCTET_S8}, {OCTET_U8, OCTET_U8}})
    for (const octet_type dst : {OCTET_S32, OCTET_U8}) {
      GemmCase c;
      c.m = 7, c.n = 33, c.k = 50;
      c.lhs = types.lhs, c.rhs = types.rhs, c.dst = dst;
      cases.push_back(c);
    }
  return cases;
}

std::vector<ConvCase> convolutions() {
  std::vector<ConvCase> cases;
  for (const octet_conv2d_shape& shape :
       {square(9, 32, 40, 3, 1, 1), square(9, 32, 40, 3, 2, 1), square(6, 20, 30, 1),
        square(9, 48, 48, 3, 1, 1, 48), square(9, 3, 20, 5, 2, 2)}) {
    ConvCase c;
    c.shape = shape;
    c.dst = OCTET_U8;
    cases.push_back(c);
  }
  return cases;
}

void says_what_is_left() {
  octet_cpu_info info = OCTET_CPU_INFO_INIT;
  ASSERT_EQ(octet_get_cpu_info(&info, nullptr), OCTET_OK);
  EXPECT_EQ(info.demoted_isas, demoted);
  EXPECT_EQ(info.best_isa, best_left());
  octet_kernel_info kernel = OCTET_KERNEL_INFO_INIT;
  for (size_t i = 0; octet_get_kernel_info(i, &kernel, nullptr) == OCTET_OK; ++i)
    EXPECT_TRUE(!kernel.usable || !is_demoted(kernel.isa)) << kernel.name;
}

void multiplies_without_it() {
  for (const GemmCase& c : products()) {
    Gemm gemm(c);
    ASSERT_EQ(gemm.status(), OCTET_OK) << c << ": " << gemm.error().message;
    EXPECT_EQ(tier_of(octet_gemm_kernel(gemm.get(), c.m)), best_left()) << c;
    check(c);
  }
}

// Algorithms that explain calls possible can be packed and created, and are right. The automatic
// choice is first.
void convolves_without_it() {
  for (const ConvCase& c : convolutions()) {
    const ConvProblem problem(c);
    const std::vector<octet_conv_algorithm> possible = possible_algorithms(problem, OCTET_ISA_AUTO);
    EXPECT_GE(possible.size(), 3u) << c;
    for (const octet_conv_algorithm algorithm : possible) {
      ConvHow how;
      how.algorithm = algorithm;
      Conv conv(problem, how);
      ASSERT_EQ(conv.status(), OCTET_OK) << how << ": " << c << ": " << conv.error().message;
      EXPECT_FALSE(is_demoted(tier_of(octet_conv2d_kernel(conv.get())))) << how << ": " << c;
      check(problem, how);
    }
  }
}

void expect_refusal(octet_status status, const octet_error& error, const char* kernel) {
  EXPECT_EQ(status, OCTET_KERNEL_UNUSABLE) << kernel << ": " << error.message;
  const std::string message = error.message;
  EXPECT_NE(message.find(kernel), std::string::npos) << message;
  EXPECT_NE(message.find("self-test"), std::string::npos) << message;
}

void refuses_its_kernels_by_name() {
  for (const MicroKernel* kernel : table()) {
    // Weights that only this kernel reads unflipped are packed for the remaining kernels.
    const bool raw_u8 = kernel->rhs_layout.element_type == octet::ElementType::kU8;
    // Of a kernel whose needs this CPU lacks, the message says so.
    const bool can_run = !(kernel->needs & ~octet::this_machine().cpu.features);
    if (!is_demoted((octet_isa)kernel->tier_id) || raw_u8 || !can_run) continue;
    GemmCase c;
    c.kernel = kernel->name;
    c.lhs = types_of(*kernel).front().lhs, c.rhs = types_of(*kernel).front().rhs;
    Gemm gemm(c);
    expect_refusal(gemm.status(), gemm.error(), kernel->name);
  }
  const auto refuses = [](const char* kernel, octet_conv_algorithm algorithm, const ConvCase& c) {
    ConvHow how;
    how.kernel = kernel, how.algorithm = algorithm;
    const ConvProblem problem(c);
    Conv conv(problem, how);
    expect_refusal(conv.status(), conv.error(), kernel);
  };
  for (const MicroKernel* kernel : int16_table())
    if (is_demoted((octet_isa)kernel->tier_id))
      refuses(kernel->name, OCTET_CONV_WINOGRAD_4X4, convolutions()[0]);
  ConvCase grouped;
  grouped.shape = square(5, 16, 16, 3, 1, 1, 4);
  for (const octet::DepthwiseKernel* kernel : octet::depthwise_kernels())
    if (is_demoted((octet_isa)kernel->tier_id))
      kernel->layout == octet::kGroupedLayout
          ? refuses(kernel->name, OCTET_CONV_GROUPED, grouped)
          : refuses(kernel->name, OCTET_CONV_DEPTHWISE, convolutions()[3]);
}

// A limit allows several tiers: the best of them that is left runs.
void limits_skip_it() {
  for (const octet_isa isa : tiers()) {
    const ScopedEnvironment limit("OCTET_MAX_ISA", octet_isa_name(isa));
    octet_isa expected = OCTET_ISA_AUTO;
    for (const octet_isa lower : tiers())
      if (is_allowed(lower, isa) && !is_demoted(lower) && expected == OCTET_ISA_AUTO)
        expected = lower;
    Gemm gemm(products().front());
    if (expected == OCTET_ISA_AUTO) {
      EXPECT_EQ(gemm.status(), OCTET_UNSUPPORTED);
      EXPECT_NE(std::string(gemm.error().message).find("self-test"), std::string::npos);
      continue;
    }
    ASSERT_EQ(gemm.status(), OCTET_OK) << gemm.error().message;
    EXPECT_EQ(tier_of(octet_gemm_kernel(gemm.get(), 7)), expected);
  }
}

void is_not_used() {
  says_what_is_left();
  multiplies_without_it();
  convolves_without_it();
  refuses_its_kernels_by_name();
  limits_skip_it();
}

TEST(Demotion, OneTierIsNotUsed) {
  for (const octet_isa isa : tiers()) {
    if (tiers().size() == 1) GTEST_SKIP() << "there is but one tier";
    in_a_process_without(1u << isa, is_not_used);
    if (HasFatalFailure()) return;
  }
}

TEST(Demotion, NorAreSeveral) {
  TierMask mask = 0;
  for (const octet_isa isa : tiers()) {
    mask |= 1u << isa;
    if (isa != kPortableTier) in_a_process_without(mask, is_not_used);
    if (HasFatalFailure()) return;
  }
}

// Without any tier left create refuses, with the reason.
void refuses_everything() {
  for (const GemmCase& c : products()) {
    Gemm gemm(c);
    EXPECT_EQ(gemm.status(), OCTET_UNSUPPORTED) << c;
    EXPECT_NE(std::string(gemm.error().message).find("self-test"), std::string::npos);
  }
  for (const ConvCase& c : convolutions()) {
    const ConvProblem problem(c);
    Conv conv(problem);
    EXPECT_EQ(conv.status(), OCTET_UNSUPPORTED) << c;
    EXPECT_NE(std::string(conv.error().message).find("self-test"), std::string::npos);
  }
}

TEST(Demotion, OfAllTiersRefusesEverything) { in_a_process_without(~0u, refuses_everything); }

TEST(Demotion, IsTraced) {
  in_a_process_without(1u << tiers().front(), [] {
    const ScopedEnvironment verbose("OCTET_VERBOSE", "1");
    testing::internal::CaptureStderr();
    { Gemm gemm(products().front()); }
    const std::string trace = testing::internal::GetCapturedStderr();
    const std::string line = std::string("octet,demoted,") + octet_isa_name(tiers().front()) + '\n';
    EXPECT_EQ(trace.compare(0, line.size(), line), 0) << trace;
  });
}

// If rounding could not be tested at first use, a later call tests it.
TEST(Demotion, AwaitsAThreadThatRoundsToNearest) {
  in_a_process_without(0, [] {
    octet_cpu_info info = OCTET_CPU_INFO_INIT;
    for (const int mode : {FE_UPWARD, FE_TONEAREST, FE_UPWARD}) {
      ASSERT_EQ(std::fesetround(mode), 0);
      EXPECT_EQ(octet_get_cpu_info(&info, nullptr), OCTET_OK);
      EXPECT_EQ(info.demoted_isas, 0u);
    }
    EXPECT_EQ(self_tests, 2) << "at the first two calls";
  });
}

}  // namespace
}  // namespace octet_test
