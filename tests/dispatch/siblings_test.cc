// SPDX-License-Identifier: Apache-2.0
// Checks the kernels that stand beside each other in the table: for many rows and for few, and for
// CPUs of one tier with and without a feature beyond it.
#include "dispatch/select/select.h"

#include "dispatch/tables/kernel_names.h"
#include "support/kernels.h"

namespace octet_test {
namespace {

using octet::CpuFeatures;
using octet::ElementType;
using octet::Selected;
using octet::WeightFacts;

ElementType type_of(bool u8) { return u8 ? ElementType::kU8 : ElementType::kS8; }

octet::Selection choose(const CpuFeatures& cpu, const WeightFacts& facts, size_t m,
                        ElementType lhs_type, ElementType rhs_type) {
  return octet::select(cpu, {m, 64, 64, lhs_type, rhs_type}, facts, nullptr);
}

// The kernel for few rows reads the operands that a plan prepares for the kernel for many: on every
// machine, of every layout.
TEST(Siblings, ForManyRowsAndForFewWantOneSignOfTheLhs) {
  size_t pairs = 0;
  const octet::TierMask all = octet::compiled_tiers();
  for (octet::TierMask isas = all; isas; isas = (isas - 1) & all)  // each subset
    for (const MicroKernel* kernel : table())
      for (const bool lhs_u8 : {false, true})
        for (const bool rhs_u8 : {false, true})
          for (const bool has_int8_min : {false, true})
            for (const CpuFeatures& cpu : {CpuFeatures{isas, {}}, all_of(isas)}) {
              const WeightFacts facts = {kernel->rhs_layout, has_int8_min};
              const octet::Selection many =
                  choose(cpu, facts, 100, type_of(lhs_u8), type_of(rhs_u8));
              const octet::Selection few = choose(cpu, facts, 1, type_of(lhs_u8), type_of(rhs_u8));
              if (many.result != Selected::kOk) continue;
              ASSERT_EQ(few.result, Selected::kOk) << many.kernel->name;
              EXPECT_EQ(few.kernel->lhs_element_type, many.kernel->lhs_element_type)
                  << few.kernel->name << " beside " << many.kernel->name;
              ++pairs;
            }
  EXPECT_GT(pairs, 0u);
}

// A CPU of the tier runs another kernel, for the same weights, until it has the features.
TEST(Siblings, OfAKernelThatNeedsMoreThanItsTierRunWithoutIt) {
  for (const MicroKernel* kernel : table()) {
    if (!kernel->needs || kernel->is(octet::kTestsOnly)) continue;
    CpuFeatures cpu = all_of(octet::mask_of(kernel->tier_id));
    const WeightFacts facts = {kernel->rhs_layout, true};
    const auto chosen = [&] {
      return choose(cpu, facts, 100, kernel->lhs_element_type, kernel->rhs_layout.element_type)
          .kernel;
    };
    EXPECT_EQ(chosen(), kernel);
    cpu.features &= ~kernel->needs;
    const MicroKernel* const sibling = chosen();
    ASSERT_NE(sibling, nullptr) << "nothing beside " << kernel->name;
    EXPECT_EQ(sibling->tier_id, kernel->tier_id);
    EXPECT_EQ(sibling->needs & kernel->needs, 0u) << sibling->name;
    const octet::Problem problem = {100, 64, 64, kernel->lhs_element_type,
                                    kernel->rhs_layout.element_type};
    EXPECT_EQ(octet::select(cpu, problem, facts, kernel->name).result, Selected::kForcedUnusable);
    cpu.features |= kernel->needs;
    EXPECT_EQ(chosen(), kernel);
  }
}

}  // namespace
}  // namespace octet_test
