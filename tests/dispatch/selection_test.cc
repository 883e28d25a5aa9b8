// SPDX-License-Identifier: Apache-2.0
// Checks which kernel runs: select() is pure, so any machine is a unit test.
#include "dispatch/select/select.h"

#include <algorithm>
#include <string>
#include <vector>

#include "dispatch/tables/kernel_names.h"
#include "operators/conv/kernels.h"
#include "support/kernels.h"

namespace octet_test {
namespace {

using octet::CpuFeatures;
using octet::ElementType;
using octet::Selected;
using octet::TierId;
using octet::WeightFacts;

CpuFeatures machine(const std::vector<TierId>& isas) {
  CpuFeatures cpu = {};
  for (const TierId isa : isas) cpu.tiers |= octet::mask_of(isa);
  return cpu;
}

bool compiled(TierId isa) {
  for (const MicroKernel* kernel : table())
    if (kernel->tier_id == isa && !kernel->is(octet::kTestsOnly)) return true;
  return false;
}

octet::ElementType type_of(bool u8) {
  return u8 ? octet::ElementType::kU8 : octet::ElementType::kS8;
}

octet::Selection choose(const CpuFeatures& cpu, bool lhs_u8, bool rhs_u8,
                        const char* forced = nullptr, size_t m = 100, size_t n = 64) {
  return octet::select(cpu, {m, n, 64, type_of(lhs_u8), type_of(rhs_u8)},
                       {octet::select_layout(cpu, type_of(rhs_u8), forced), true}, forced);
}

TEST(Select, AScalarMachineRunsTheScalarKernelThatIsFast) {
  const octet::Selection s = choose(machine({TierId::kScalar}), true, false);
  ASSERT_EQ(s.result, Selected::kOk);
  EXPECT_STREQ(s.kernel->name, "scalar_u8s8_4x16x4");
}

// Both kernels read the same weights.
TEST(Select, WhereTheFastScalarKernelIsWrongItIsTheDefinition) {
  CpuFeatures cpu = machine({TierId::kScalar});
  cpu.trusts_optional = false;
  const octet::Selection s = choose(cpu, true, false);
  ASSERT_EQ(s.result, Selected::kOk);
  EXPECT_STREQ(s.kernel->name, "scalar_u8s8_4x4x4");
  EXPECT_EQ(choose(cpu, true, false, "scalar_u8s8_4x4x4").result, Selected::kOk);
  EXPECT_EQ(choose(cpu, true, false, "scalar_u8s8_4x16x4").result, Selected::kForcedUnusable);
}

// The best compiled tier runs for every sign pair, for many rows and one.
TEST(Select, EveryMachineRunsItsBestTier) {
  const struct {
    const char* name;
    std::vector<TierId> tiers;  // the best first
  } kMachines[] = {
#if defined(__x86_64__)
    {"Penryn, Goldmont", {TierId::kSse41, TierId::kScalar}},
    {"Haswell, Zen 1-3", {TierId::kAvx2, TierId::kSse41, TierId::kScalar}},
    {"Alder Lake", {TierId::kAvxVnni, TierId::kAvx2, TierId::kSse41, TierId::kScalar}},
    {"Skylake-X", {TierId::kAvx512Bw, TierId::kAvx2, TierId::kSse41, TierId::kScalar}},
    {"Cascade Lake, Zen 4",
     {TierId::kAvx512Vnni, TierId::kAvx512Bw, TierId::kAvx2, TierId::kScalar}},
    {"Sapphire Rapids, Zen 5",
     {TierId::kAvx512Vnni, TierId::kAvxVnni, TierId::kAvx512Bw, TierId::kScalar}},
#elif defined(__aarch64__) || defined(__arm__)
    {"Cortex-A53, Cortex-A72", {TierId::kNeon, TierId::kScalar}},
    {"Neoverse N1, Apple A13", {TierId::kDotprod, TierId::kNeon, TierId::kScalar}},
    {"Neoverse V1 and N2, Apple M2",
     {TierId::kI8mm, TierId::kDotprod, TierId::kNeon, TierId::kScalar}},
#endif
    {"anything", {TierId::kScalar}},
  };
  for (const auto& m : kMachines)
    for (const bool lhs_u8 : {false, true})
      for (const bool rhs_u8 : {false, true})
        for (const size_t rows : {1, 4, 100})
          for (const size_t columns : {25, 64}) {
            const octet::Selection s =
                choose(machine(m.tiers), lhs_u8, rhs_u8, nullptr, rows, columns);
            ASSERT_EQ(s.result, Selected::kOk) << m.name;
            const TierId best = *std::find_if(m.tiers.begin(), m.tiers.end(), compiled);
            EXPECT_EQ(s.kernel->tier_id, best) << m.name << " runs " << s.kernel->name;
            EXPECT_FALSE(s.kernel->is(octet::kTestsOnly));
            EXPECT_TRUE(s.kernel->m_max == 0 || rows <= s.kernel->m_max) << s.kernel->name;
            EXPECT_TRUE(s.kernel->n_max == 0 || columns <= s.kernel->n_max) << s.kernel->name;
            EXPECT_TRUE(
                serves(*s.kernel, {lhs_u8 ? OCTET_U8 : OCTET_S8, rhs_u8 ? OCTET_U8 : OCTET_S8}))
                << s.kernel->name;
          }
}

TEST(Select, FewColumnsHaveAKernelOfTheirOwnOnAvx2) {
  for (const TierId best : {TierId::kAvx2, TierId::kAvx512Bw})
    if (const CpuFeatures cpu = machine({best, TierId::kAvx2, TierId::kScalar}); compiled(best)) {
      EXPECT_STREQ(choose(cpu, true, false, nullptr, 8, 8).kernel->name, "avx2_u8s8_8x8x4");
      EXPECT_EQ(choose(cpu, true, false, nullptr, 8, 25).kernel->tier_id, best);
    }
}

#if defined(__aarch64__)
// Machines with cores of both kinds, and unknown ones, run the kernels of the big cores.
TEST(Select, KernelsForInOrderCoresRunWhereAllCoresAre) {
  const struct {
    TierId best;
    octet::Cores cores;
    const char* kernel;
  } kCases[] = {
      {TierId::kDotprod, {0, 0}, "dotprod_s8s8_6x16x4"},
      {TierId::kDotprod, {8, 0}, "dotprod_s8s8_6x16x4"},
      {TierId::kDotprod, {8, 4}, "dotprod_s8s8_6x16x4"},
      {TierId::kDotprod, {4, 4}, "dotprod_s8s8_inorder_6x16x4"},
      {TierId::kNeon, {0, 0}, "neon_s8s8_4x64x16"},
      {TierId::kNeon, {8, 4}, "neon_s8s8_4x64x16"},
      {TierId::kNeon, {4, 4}, "neon_s8s8_inorder_4x64x16"},
  };
  for (const auto& c : kCases) {
    if (!compiled(c.best)) continue;
    CpuFeatures cpu = machine({TierId::kScalar, TierId::kNeon, c.best});
    cpu.cores = c.cores;
    const WeightFacts facts = {octet::layout_of(c.best, type_of(false)), false};
    const octet::Problem problem = {100, 64, 64, type_of(false), type_of(false)};
    EXPECT_STREQ(octet::select(cpu, problem, facts, nullptr).kernel->name, c.kernel)
        << c.cores.in_order;
  }
}
#endif

#if defined(__x86_64__)
TEST(Select, OneBlobServesAllX86Tiers) {
  const WeightFacts facts = {octet::layout_of(TierId::kAvx512Vnni, type_of(false)), true};
  for (const TierId isa :
       {TierId::kSse41, TierId::kAvx2, TierId::kAvx512Bw, TierId::kAvxVnni, TierId::kAvx512Vnni}) {
    if (!compiled(isa)) continue;
    const octet::Problem problem = {8, 64, 64, type_of(true), type_of(false)};
    const octet::Selection s =
        octet::select(machine({TierId::kScalar, isa}), problem, facts, nullptr);
    ASSERT_EQ(s.result, Selected::kOk);
    EXPECT_EQ(s.kernel->tier_id, isa);
  }
}
#endif

TEST(Select, NobodyReadsALayoutOfAnotherMachine) {
  const octet::RhsLayout odd = {24, 8, 4, octet::ElementType::kS8};
  EXPECT_EQ(octet::select(machine({TierId::kScalar}), {8, 64, 64, type_of(true), type_of(false)},
                          {odd, true}, nullptr)
                .result,
            Selected::kNoKernel);
}

TEST(Select, ForcedKernels) {
  const CpuFeatures everything = all_of(~0u);
  for (const MicroKernel* kernel : table())
    for (const Types types : {Types{OCTET_U8, OCTET_S8},
                              {OCTET_S8, OCTET_S8},
                              {OCTET_U8, OCTET_U8},
                              {OCTET_S8, OCTET_U8}}) {
      const bool lhs_u8 = is_unsigned(types.lhs), rhs_u8 = is_unsigned(types.rhs);
      // Weights without -128, packed for the kernel.
      const octet::RhsLayout layout =
          kernel->rhs_layout.sparse()
              ? kernel->rhs_layout
              : octet::select_layout(everything, type_of(rhs_u8), kernel->name);
      const octet::Selection s = octet::select(
          everything, {8, 64, 64, type_of(lhs_u8), type_of(rhs_u8)}, {layout, false}, kernel->name);
      ASSERT_EQ(s.result, Selected::kOk) << kernel->name;
      if (serves(*kernel, types))
        EXPECT_EQ(s.kernel, kernel);
      else  // a forced kernel binds its own family only
        EXPECT_NE(s.kernel, kernel);
    }
}

// A forced kernel for sparse weights does not bind dense ones, nor the other way round.
TEST(Select, ForcedKernelsOfAnotherDensity) {
  const CpuFeatures everything = all_of(~0u);
  for (const MicroKernel* kernel : table())
    for (const MicroKernel* other : table()) {
      if (kernel->rhs_layout.sparse() == other->rhs_layout.sparse()) continue;
      const octet::Problem problem = {8, 64, 64, kernel->lhs_element_type,
                                      other->rhs_layout.element_type};
      const octet::Selection s = octet::select(everything, problem, {other->rhs_layout, false},
                                               kernel->name),
                             best = octet::select(everything, problem, {other->rhs_layout, false},
                                                  nullptr);
      EXPECT_EQ(s.result, best.result) << kernel->name << ' ' << other->name;
      EXPECT_EQ(s.kernel, best.kernel) << kernel->name << ' ' << other->name;
      EXPECT_FALSE(octet::select_layout(everything, type_of(false), kernel->name).sparse());
    }
}

TEST(Select, ForcedKernelsThatCannotRun) {
  const CpuFeatures everything = all_of(~0u);
  EXPECT_EQ(choose(everything, true, false, "no_such_kernel_1x1x1").result, Selected::kUnknownName);
  for (const MicroKernel* kernel : table()) {
    const octet::Problem problem = {8, 64, 64, kernel->lhs_element_type,
                                    kernel->rhs_layout.element_type};
    const CpuFeatures without = all_of(~octet::mask_of(kernel->tier_id));
    EXPECT_EQ(octet::select(without, problem, {kernel->rhs_layout, false}, kernel->name).result,
              Selected::kForcedUnusable)
        << kernel->name;
    octet::RhsLayout other = kernel->rhs_layout;
    other.width = 24;
    EXPECT_EQ(octet::select(everything, problem, {other, false}, kernel->name).result,
              Selected::kForcedUnusable)
        << kernel->name;
    EXPECT_EQ(octet::select(everything, problem, {kernel->rhs_layout, true}, kernel->name).result,
              kernel->is(octet::kNoInt8Min) ? Selected::kForcedUnusable : Selected::kOk)
        << kernel->name;
  }
}

TEST(Select, KernelsWithAnExceptionAreNotChosenForIt) {
  for (const MicroKernel* kernel : table()) {
    if (!kernel->is(octet::kNoInt8Min) || kernel->is(octet::kTestsOnly)) continue;
    const CpuFeatures cpu = {octet::mask_of(TierId::kScalar) | (octet::mask_of(kernel->tier_id)),
                             {}};
    const octet::Problem problem = {8, 64, 64, kernel->lhs_element_type,
                                    kernel->rhs_layout.element_type};
    const octet::Selection s = octet::select(cpu, problem, {kernel->rhs_layout, true}, nullptr);
    ASSERT_EQ(s.result, Selected::kOk)
        << "weights with -128 need another kernel beside " << kernel->name;
    EXPECT_FALSE(s.kernel->is(octet::kNoInt8Min));
  }
}

// The same rules hold for Winograd's and depthwise kernels, but these take all types.
template <typename Kernels, typename LayoutOf>
void check_conv_selection(const Kernels& kernels, const octet::ConvAlgorithm& implementation,
                          LayoutOf layout_of) {
  const CpuFeatures everything = all_of(~0u);
  const auto choose_conv = [&](const CpuFeatures& cpu, const octet::RhsLayout& layout,
                               const char* forced) {
    return octet::select_conv(implementation, cpu, type_of(true), type_of(false), SIZE_MAX, 1,
                              {layout, true}, forced);
  };
  for (const auto* kernel : kernels) {
    const octet::RhsLayout layout = layout_of(*kernel), other = {24, 8, 4, ElementType::kS8};
    const octet::ConvKernel forced = choose_conv(everything, layout, kernel->name);
    EXPECT_EQ(forced.result, Selected::kOk) << kernel->name;
    EXPECT_STREQ(forced.name(), kernel->name);
    EXPECT_EQ(choose_conv({~octet::mask_of(kernel->tier_id), {}}, layout, kernel->name).result,
              Selected::kForcedUnusable)
        << kernel->name;
    EXPECT_EQ(choose_conv(everything, other, kernel->name).result, Selected::kForcedUnusable)
        << kernel->name;
    EXPECT_EQ(choose_conv(everything, other, nullptr).result, Selected::kNoKernel);
    EXPECT_EQ(choose_conv({0, {}}, layout, nullptr).result, Selected::kNoKernel);
    EXPECT_EQ(choose_conv(everything, layout, "no_such_kernel_1x1x1").result,
              Selected::kUnknownName);
    // Without a name, or with an int8 kernel's, the first usable kernel of the tier is taken,
    // unless all of them are for tests.
    for (const char* name : {(const char*)nullptr, "scalar_u8s8_4x4x4"}) {
      const octet::ConvKernel best = choose_conv(machine({kernel->tier_id}), layout, name);
      const bool only_tests = std::all_of(kernels.begin(), kernels.end(), [&](const auto* k) {
        return k->tier_id != kernel->tier_id || !(layout_of(*k) == layout) ||
               k->flags & octet::kTestsOnly;
      });
      EXPECT_EQ(best.result, only_tests ? Selected::kNoKernel : Selected::kOk) << kernel->name;
      if (only_tests) continue;
      const auto first = std::find_if(kernels.begin(), kernels.end(), [&](const auto* k) {
        return k->tier_id == kernel->tier_id && layout_of(*k) == layout &&
               !(k->flags & octet::kTestsOnly);
      });
      EXPECT_STREQ(best.name(), (*first)->name);
    }
    EXPECT_TRUE(octet::has_kernel(implementation, kernel->name));
  }
  EXPECT_FALSE(octet::has_kernel(implementation, "scalar_u8s8_4x4x4"));
}

TEST(SelectConv, KernelsOfOtherKinds) {
  check_conv_selection(octet::int16_kernels(), octet::winograd_4x4_algorithm,
                       [](const MicroKernel& k) { return k.rhs_layout; });
  check_conv_selection(octet::depthwise_kernels(), octet::depthwise_algorithm,
                       [](const octet::DepthwiseKernel& k) { return k.layout; });
  for (const MicroKernel* k : table())
    EXPECT_EQ(octet::has_kernel(octet::direct_algorithm, k->name), !k->rhs_layout.is_4bit());
  EXPECT_FALSE(octet::has_kernel(octet::direct_algorithm, octet::int16_kernels().begin()[0]->name));
}

TEST(Layouts, SmallestTierThatReadsThem) {
  for (const TierId isa : {TierId::kSse41, TierId::kNeon, TierId::kDotprod, TierId::kI8mm})
    for (const bool rhs_u8 : {false, true})
      EXPECT_EQ(
          octet::smallest_tier(*octet::find_format_of(octet::layout_of(isa, type_of(rhs_u8)))), isa)
          << octet::isa_name(isa);
  const struct {
    octet::FormatId format;
    TierId isa;
  } kSmallest[] = {{octet::FormatId::kS8_16x4, TierId::kSse41},
                   {octet::FormatId::kS8_4x4, TierId::kScalar},
                   {octet::FormatId::kS8_5x2, TierId::kScalar},
                   {octet::FormatId::kS16_16x2, TierId::kSse41},
                   {octet::FormatId::kS16_8x1, TierId::kNeon},
                   {octet::FormatId::kS16_4x2, TierId::kScalar},
                   {octet::FormatId::kS8_64x4_depthwise, TierId::kScalar}};
  for (const auto& row : kSmallest)
    EXPECT_EQ(octet::smallest_tier(octet::format_of(row.format)), row.isa)
        << octet::format_of(row.format).name;
}

// I8MM reads u8 weights as they are, but approximate Winograd makes s8 of them.
TEST(Layouts, OfConvolutions) {
  for (const octet_isa tier : all_tiers())
    for (const bool rhs_u8 : {false, true}) {
      const TierId isa = (TierId)tier;
      const octet::RhsLayout bytes = octet::layout_of(isa, type_of(rhs_u8));
      EXPECT_TRUE(octet::conv_layout(octet::direct_algorithm, isa, type_of(rhs_u8), true) == bytes);
      EXPECT_TRUE(octet::conv_layout(octet::im2col_algorithm, isa, type_of(rhs_u8), true) == bytes);
      EXPECT_TRUE(octet::conv_layout(octet::winograd_2x2_int8_algorithm, isa, type_of(rhs_u8),
                                     false) == octet::layout_of(isa, type_of(false)));
      EXPECT_TRUE(octet::conv_layout(octet::depthwise_algorithm, isa, type_of(rhs_u8), false) ==
                  octet::kDepthwiseLayout);
      EXPECT_TRUE(octet::conv_layout(octet::depthwise_algorithm, isa, type_of(rhs_u8), true) ==
                  octet::kDepthwiseInt16Layout);
    }
}

}  // namespace
}  // namespace octet_test
