// SPDX-License-Identifier: Apache-2.0
// Lists candidate choices for a product.
#include "analysis/tune/gemm_choices.h"

#include "analysis/tune/near.h"
#include "analysis/tune/worth.h"
#include "dispatch/tables/kernels.h"
#include "dispatch/tables/tiers.h"

namespace octet {
namespace {

void add_if_legal(const GemmSpace& s, const Choice& choice, Choices* choices) {
  const char* why;
  if (may_use(choice, s.cpu, s.problem, {choice.layout, s.facts.has_int8_min}, &why))
    choices->add(choice);
}

void add_kernels(const GemmSpace& s, const RhsLayout& layout, Choices* choices) {
  const WeightFacts facts = {layout, s.facts.has_int8_min};
  Choice plan;
  if (choose_gemm(s.cpu, s.problem, facts, nullptr, &plan).result != Selected::kOk) return;
  const bool few = int8_kernel(plan.small_kernel)->m_max >= s.problem.m;
  for (const MicroKernel* kernel : int8_kernels()) {
    if (!worth_a_try(s.cpu, kernel->tier_id) || kernel->is(kTestsOnly)) continue;
    Choice choice;
    if (choose_gemm(s.cpu, s.problem, facts, kernel->name, &choice).result != Selected::kOk)
      continue;
    if (choice.kernel != find_kernel_name(kernel->name)) continue;
    // The small kernel is measured only if all runs have few rows; otherwise it is kept where it is
    // legal.
    if (!few) {
      Choice both = choice;
      both.small_kernel = plan.small_kernel;
      add_if_legal(s, both, choices);
    }
    add_if_legal(s, choice, choices);
  }
}

}  // namespace

void add_gemm_choices(const GemmSpace& s, Choices* choices) {
  if (s.packed) return add_kernels(s, s.facts.layout, choices);
  for (size_t i = 0; const Tier* tier = nth_tier(i); ++i)
    if (has(s.cpu.tiers, *tier) && worth_a_try(s.cpu, tier->tier_id))
      add_kernels(s, layout_of(tier->tier_id, s.problem.rhs_type), choices);
}

void add_gemm_choices_near(const GemmSpace& s, const Choice& near, Choices* choices) {
  const MicroKernel &many = *int8_kernel(near.kernel), &few = *int8_kernel(near.small_kernel);
  const size_t rows = many.mr % few.mr == 0 ? many.mr : many.mr * few.mr;
  const auto add = [&](const Choice& choice) { add_if_legal(s, choice, choices); };
  blocks_near(near.block, rows, s.problem.m, adds_with(&Choice::block, near, add));
  const size_t columns = larger(near.layout.width, larger(many.nr, few.nr));
  if (s.passes) passes_near(s.problem.n, columns, adds_with(&Choice::pass, near, add));
  cuts_near(s.concurrency, adds_with(&Choice::tasks, near, add));
}

}  // namespace octet
