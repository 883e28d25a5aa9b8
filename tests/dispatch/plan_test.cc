// SPDX-License-Identifier: Apache-2.0
// Checks which algorithm a convolution gets, and the work and time that it is predicted to take:
// plan_conv() is pure, so any machine is a unit test.
#include "operators/conv/plan.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "support/kernels.h"

namespace octet_test {
namespace {

using octet::TierId;

// The plan does not take an algorithm for which create would find no kernel.
TEST(Plan, CountsOnNoKernelThatIsMissing) {
  octet::ConvProblem problem = {};
  problem.shape = {1, 28, 28, 64, 64, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, false, 0, 0};
  for (const octet_isa tier : all_tiers()) {
    const TierId isa = (TierId)tier;
    problem.tier_id = isa;
    problem.without_kernel = 0;
    const octet_conv_algorithm best = octet::plan_conv(problem).best;
    problem.without_kernel = 1u << best;
    const octet::ConvPlans plans = octet::plan_conv(problem);
    EXPECT_NE(plans.best, best) << octet::isa_name(isa);
    EXPECT_FALSE(plans.candidates[best].possible);
    EXPECT_NE(std::string(plans.candidates[best].reason).find("no kernel"), std::string::npos);
    EXPECT_TRUE(plans.candidates[plans.best].possible);
  }
}

// A change of the shape that adds no work must not change an estimate; other changes must scale it.
TEST(Plan, DilationOfASingleTapChangesNothing) {
  for (const bool across : {false, true}) {
    octet::ConvProblem problem = {};
    problem.tier_id = TierId::kAvx2;
    problem.shape = {1, 16, 16, 32, 32, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, false, 0, 0};
    octet::ConvShape& s = problem.shape;
    (across ? s.kernel_h : s.kernel_w) = 1;
    const octet::Candidate once = octet::plan_conv(problem).candidates[OCTET_CONV_DIRECT];
    (across ? s.dilation_h : s.dilation_w) = 5;
    const octet::Candidate again = octet::plan_conv(problem).candidates[OCTET_CONV_DIRECT];
    EXPECT_EQ(again.estimate.macs, once.estimate.macs);
    EXPECT_EQ(again.microseconds, once.microseconds);
  }
}

TEST(Plan, TransposedOutputsTwiceAsWideComputeTwiceAsLongAtMost) {
  octet::ConvProblem problem = {};
  problem.tier_id = TierId::kAvx2;
  problem.shape = {1, 4, 96, 32, 32, 1, 2, 2, 2, 2, 1, 1, 0, 0, 0, 0, true, 0, 0};
  const octet::Candidate half = octet::plan_conv(problem).candidates[OCTET_CONV_DIRECT];
  problem.shape.in_w *= 2;
  const octet::Candidate wide = octet::plan_conv(problem).candidates[OCTET_CONV_DIRECT];
  EXPECT_EQ(wide.estimate.macs, 2 * half.estimate.macs);
  EXPECT_LE(wide.estimate.compute, 2 * half.estimate.compute);
}

octet::ConvShape square_3x3(size_t size, size_t in, size_t out) {
  return {1, size, size, in, out, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, false, 0, 0};
}

// Kernels that take rows at one stride copy other rows: in lines of less than 96 pixels the windows
// of one kernel line, for two lines more than there are outputs; in wider lines the rows of two
// tiles; and all rows where taps fill no whole steps, which then take fewer products.
TEST(Plan, CountsCopiesOfRows) {
  const octet::TierCosts& costs = octet::tier_of(TierId::kAmxInt8).costs;
  ASSERT_EQ(costs.step, 64u);
  ASSERT_EQ(costs.mr, 16u);
  const struct {
    size_t size, channels;
    double bytes, depth;
  } kCases[] = {{28, 64, 28 * 30 * 3 * 64, 9 * 64},
                {80, 128, 80 * 82 * 3 * 128, 9 * 128},
                {112, 64, 112 * 32 * 9 * 64, 9 * 64},
                {28, 40, 28 * 28 * 9 * 40, 6 * 64},
                {7, 512, 7 * 9 * 3 * 512, 9 * 512}};
  for (const auto& c : kCases) {
    octet::ConvProblem problem = {};
    problem.tier_id = TierId::kAmxInt8;
    problem.shape = square_3x3(c.size, c.channels, 64);
    problem.shape.pad_top = problem.shape.pad_bottom = 0;  // no kernel line is left out
    problem.shape.in_h += 2;
    octet::TierCosts none = costs;
    none.point = 0;
    problem.costs = &none;
    const octet::Estimate direct = octet::plan_conv(problem).candidates[OCTET_CONV_DIRECT].estimate;
    EXPECT_DOUBLE_EQ(direct.transform, octet::microseconds(c.bytes / costs.l2_bytes));
    const double rows = (double)octet::round_up(c.size * c.size, 16);
    EXPECT_EQ(direct.macs, rows * 64 * c.depth);
  }
}

// A tile of registers takes as long for one row, and for one step beyond whole ones, as for all.
TEST(Plan, CountsWholeRegisters) {
  const auto macs = [](size_t rows, size_t depth) {
    octet::ConvProblem problem = {};
    problem.tier_id = TierId::kAmxInt8;
    problem.shape = {1, 1, rows, depth, 64, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, false, 0, 0};
    const octet::Estimate e = octet::plan_conv(problem).candidates[OCTET_CONV_DIRECT].estimate;
    EXPECT_EQ(e.transform, 0);
    return e.macs;
  };
  EXPECT_EQ(macs(1, 128), 16 * 64 * 128);
  EXPECT_EQ(macs(17, 132), 32 * 64 * 192);
  EXPECT_EQ(macs(16, 36), 16 * 64 * 36);
}

// `octet bench plan` found these layers, for which formulas that fitted on average were far off.
TEST(Plan, KnowsWhatWasMeasured) {
  const struct {
    TierId isa;
    octet::ConvShape shape;
    octet_conv_algorithm best;
  } kCases[] = {
      // Winograd's weights come from L3 while nothing is multiplied
      {TierId::kAvx512Vnni, square_3x3(14, 256, 256), OCTET_CONV_DIRECT},
      {TierId::kAvx512Vnni, square_3x3(14, 512, 512), OCTET_CONV_DIRECT},
      {TierId::kAvx512Vnni, square_3x3(56, 64, 64), OCTET_CONV_WINOGRAD_4X4},
      {TierId::kAvx512Vnni, square_3x3(28, 512, 512), OCTET_CONV_WINOGRAD_4X4},
      // They come from memory
      {TierId::kAvxVnni, square_3x3(14, 1024, 1024), OCTET_CONV_DIRECT},
      {TierId::kAvx2, square_3x3(14, 1024, 1024), OCTET_CONV_WINOGRAD_2X2},
      // A single tile of rows streams them
      {TierId::kAvx2, square_3x3(7, 256, 256), OCTET_CONV_WINOGRAD_4X4},
      {TierId::kAvx2, square_3x3(7, 512, 512), OCTET_CONV_WINOGRAD_4X4},
      // Transforms of few channels
      {TierId::kAvx512Vnni, square_3x3(104, 16, 32), OCTET_CONV_DIRECT},
      // Epilogues of a part of a vector
      {TierId::kAvxVnni, square_3x3(32, 4, 4), OCTET_CONV_DIRECT},
      {TierId::kAvxVnni, square_3x3(32, 8, 8), OCTET_CONV_DIRECT},
  };
  for (const auto& c : kCases) {
    octet::ConvProblem problem = {};
    problem.tier_id = c.isa;
    problem.shape = c.shape;
    problem.cpu = {~0u, {48 << 10, 2 << 20, size_t{260} << 20}, {}, OCTET_DESIGN_GOLDEN_COVE};
    EXPECT_EQ(octet::plan_conv(problem).best, c.best)
        << octet::isa_name(c.isa) << " " << c.shape.in_h << " " << c.shape.in_channels;
  }
}

bool is_exact_winograd(int algorithm) {
  return algorithm >= OCTET_CONV_WINOGRAD_2X2 && algorithm <= OCTET_CONV_WINOGRAD_2X2_S2;
}

// The factor by which the fastest exact Winograd beats other algorithms; 0 if none is possible.
double lead_of_winograd(const octet::ConvPlans& plans) {
  double winograd = INFINITY, other = INFINITY;
  for (int i = 1; i < octet::kAlgorithms; ++i)
    if (plans.candidates[i].possible) {
      double& least = is_exact_winograd(i) ? winograd : other;
      least = std::min(least, plans.candidates[i].microseconds);
    }
  return other / winograd;
}

octet::ConvProblem problem_of(TierId isa, const octet::ConvShape& shape, octet::Caches caches,
                              octet_cpu_design design) {
  octet::ConvProblem problem = {};
  problem.tier_id = isa;
  problem.shape = shape;
  problem.cpu = {~0u, caches, {}, design};
  return problem;
}

// On a known machine the plan takes the fastest; where caches or design are unknown, it takes exact
// Winograd only by a lead of 1.2.
TEST(Plan, TakesWinogradOnUnknownMachinesByAClearLeadOnly) {
  constexpr octet::Caches kKnown = {32 << 10, 512 << 10, 8 << 20}, kNone = {},
                          kL3Only = {32 << 10, 0, 8 << 20};
  const struct {
    octet::Caches caches;
    octet_cpu_design design;
  } kUnknown[] = {{kKnown, OCTET_DESIGN_UNKNOWN},
                  {kNone, OCTET_DESIGN_UNKNOWN},
                  {kNone, OCTET_DESIGN_ZEN3},
                  {kL3Only, OCTET_DESIGN_CORTEX_A72}};
  size_t differ = 0, clear = 0, slower = 0;
  for (const octet_isa tier : all_tiers())
    for (const size_t size : {7, 14, 28, 56})
      for (const size_t channels : {16, 32, 64, 128, 256, 512}) {
        const TierId isa = (TierId)tier;
        const octet::ConvShape shape = square_3x3(size, channels, channels);
        for (const auto& unknown : kUnknown) {
          octet::ConvProblem problem = problem_of(isa, shape, unknown.caches, unknown.design);
          const octet::ConvPlans plans = octet::plan_conv(problem);
          const double lead = lead_of_winograd(plans);
          SCOPED_TRACE(testing::Message() << octet::isa_name(isa) << ' ' << size << 'x' << channels
                                          << ", lead " << lead);
          EXPECT_EQ(is_exact_winograd(plans.best), lead > 1.2);
          clear += lead > 1.2, slower += lead < 1;
          if (lead > 1 && lead <= 1.2) {
            ++differ;
            const char* const why = "too small a lead on an unknown machine";
            EXPECT_TRUE(std::any_of(
                std::begin(plans.candidates), std::end(plans.candidates),
                [&](const octet::Candidate& c) { return std::strstr(c.reason, why) != nullptr; }));
          }
          // With the caller's costs an unknown design counts as known, unknown caches do not
          problem.costs_given = true;
          EXPECT_EQ(is_exact_winograd(octet::plan_conv(problem).best),
                    lead > (unknown.caches.l2_bytes ? 1 : 1.2));
        }
        for (const octet_cpu_design design : {OCTET_DESIGN_ZEN3, OCTET_DESIGN_CORTEX_A72}) {
          const octet::ConvPlans plans = octet::plan_conv(problem_of(isa, shape, kKnown, design));
          EXPECT_EQ(is_exact_winograd(plans.best), lead_of_winograd(plans) > 1);
        }
      }
  EXPECT_GT(differ, 0u);
  EXPECT_GT(clear, 0u);
  EXPECT_GT(slower, 0u);
}

}  // namespace
}  // namespace octet_test
