// SPDX-License-Identifier: Apache-2.0
// Chooses the algorithm of a convolution by predicted time.
#include "operators/conv/plan.h"

#include <stdio.h>

#include "dispatch/select/sparsity.h"
#include "dispatch/tables/designs.h"
#include "operators/conv/kernels.h"

namespace octet {
namespace {

const char* refuse(const ConvAlgorithm* implementation, int algorithm, const ConvProblem& problem) {
  if (!implementation) return "this library was built without it";
  if (const char* refused = implementation->refuse(problem.shape, problem.zero_points))
    return refused;
  if (implementation->approximate && !problem.approximate)
    return "it is approximate, and the filter's accuracy is OCTET_ACCURACY_EXACT";
  if (problem.sparse && !implementation->takes_sparse) return "it multiplies no sparse weights";
  if (problem.without_kernel >> algorithm & 1)
    return "no kernel for it is built in and passed its self-test";
  return nullptr;
}

// The tier's costs with those of its sparse kernels. Measured dense costs scale them: sparse
// kernels are taken to differ from their built-in costs as dense ones do.
TierCosts sparse_costs(const Tier& tier, const CpuFeatures& cpu, TierCosts costs) {
  const TierCosts built_in = costs_of(tier, cpu.design);
  costs.macs *= sparse_macs(built_in, cpu) / built_in.macs;
  costs.mr = costs.sparse_mr;
  costs.nr = costs.sparse_nr;
  costs.gather = costs.sparse_gather;
  costs.step = 0;
  return costs;
}

// The time of splitting s16 values over that of reading them: a 3x3 layer of 16 to 16 channels
// takes 1.40 (Emerald Rapids, 2026-11-29).
constexpr double kSplit = 1.4;

bool is_exact_winograd(int algorithm) {
  return algorithm_of((uint8_t)algorithm)->operands == KernelKind::kInt16;
}

const char* limit_of(const Estimate& e) {
  return e.memory > e.compute      ? "memory traffic"
         : e.transform > e.compute ? "transforms and copies"
                                   : "dot products";
}

}  // namespace

// Compute and memory overlap: the longer of the two, plus `exposed` times the shorter. On in-order
// cores they add up.
double microseconds_of(const Estimate& e, bool in_order) {
  const double longer = e.compute > e.memory ? e.compute : e.memory,
               shorter = e.compute > e.memory ? e.memory : e.compute;
  return longer + (in_order ? 1 : e.exposed) * shorter + e.transform;
}

void plan_conv(const ConvProblem& problem, ConvPlans* to) {
  ConvPlans& plans = *to;
  plans = {};
  plans.least_too_large = SIZE_MAX;
  const Candidate* best = nullptr;
  double best_rank = 0;
  const bool guesses = is_guess(problem);
  const Tier& tier = tier_of(problem.tier_id);
  const TierCosts given = problem.costs ? *problem.costs : costs_of(tier, problem.cpu.design);
  const TierCosts costs = problem.sparse ? sparse_costs(tier, problem.cpu, given) : given;
  const bool reads_s16 = problem.output.s16 && reads_s16_windows(problem.tier_id, problem.shape);
  for (int i = 0; i < kAlgorithms; ++i) {
    if (i == OCTET_CONV_AUTO) continue;
    Candidate& c = plans.candidates[i];
    const ConvAlgorithm* const implementation = algorithm_of((uint8_t)i);
    if (const char* refused = refuse(implementation, i, problem)) {
      snprintf(c.reason, sizeof c.reason, "cannot be used: %s", refused);
      continue;
    }
    c.packed_bytes = problem.packed_bytes[i];
    if (problem.packed_bytes_max && c.packed_bytes > problem.packed_bytes_max) {
      snprintf(c.reason, sizeof c.reason,
               "cannot be used: its weights take %zu bytes, and filter.packed_bytes_max is %zu",
               c.packed_bytes, problem.packed_bytes_max);
      plans.least_too_large = smaller(plans.least_too_large, c.packed_bytes);
      continue;
    }
    c.possible = true;
    c.estimate = implementation->estimate(
        {problem.shape,
         problem.sparse ? format_of(tier.sparse).layout
                        : conv_layout(*implementation, problem.tier_id, problem.rhs_type,
                                      problem.zero_points.any()),
         costs, problem.cpu.l2_bytes(), problem.cpu.l3_bytes(), problem.output});
    if (reads_s16 && !implementation->wants_borders) c.estimate.compute *= kSplit;
    c.microseconds = microseconds_of(c.estimate, problem.cpu.in_order());
    const double rank = c.microseconds * (guesses && is_exact_winograd(i) ? kLeadWhereGuessed : 1);
    if (best && best_rank <= rank) continue;
    best = &c;
    best_rank = rank;
    plans.best = (octet_conv_algorithm)i;
  }
  for (Candidate& c : plans.candidates) {
    if (!c.possible) continue;
    const char* const limit = limit_of(c.estimate);
    if (&c == best)
      snprintf(c.reason, sizeof c.reason, "limited by %s", limit);
    else
      snprintf(
          c.reason, sizeof c.reason, "%.2f times the time of %s%s; limited by %s",
          c.microseconds / best->microseconds, algorithm_name(plans.best),
          c.microseconds < best->microseconds ? ", too small a lead on an unknown machine" : "",
          limit);
  }
}

}  // namespace octet
