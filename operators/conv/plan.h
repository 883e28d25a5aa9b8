// SPDX-License-Identifier: Apache-2.0
// Chooses the algorithm of a convolution. Pure: shape, tier and caches are arguments, so unit tests
// cover machines that nobody owns.
#pragma once

#include "dispatch/cpu/features.h"
#include "operators/conv/algorithms/estimate.h"
#include "operators/conv/layouts.h"

namespace octet {

struct ConvProblem {
  ConvShape shape;
  TierId tier_id;  // the tier that the weights are packed for
  ElementType rhs_type;
  ZeroPointRange zero_points;  // of the weights
  bool approximate;            // the caller allows approximate results
  CpuFeatures cpu;             // the target's caches and cores
  // Bit octet_conv_algorithm is set if no kernel of the target reads the algorithm's weights
  uint32_t without_kernel;
  // bytes of each algorithm's blob; SIZE_MAX if they exceed size_t
  size_t packed_bytes[kAlgorithms];
  size_t packed_bytes_max;           // 0 = no limit
  bool sparse;                       // the weights are packed 2:4 sparse
  const TierCosts* costs = nullptr;  // replace the tier's costs
  bool costs_given = false;          // the costs are the machine's own, from a tuning
  OutputFacts output = {};
};

// True if predictions for the machine are a guess: its L2 is unknown, or its design is unknown and
// no costs were given.
inline bool is_guess(const ConvProblem& p) {
  return !p.cpu.caches.l2_bytes || (p.cpu.design == OCTET_DESIGN_UNKNOWN && !p.costs_given);
}

// Where predictions are a guess, exact Winograd must be predicted this much faster than all other
// algorithms: its weights take 3.6 to 18 times the filter's bytes, right guess or not.
constexpr double kLeadWhereGuessed = 1.2;

// Time of a run on one core.
double microseconds_of(const Estimate& estimate, bool in_order);

struct Candidate {
  bool possible;
  size_t packed_bytes;
  Estimate estimate;
  double microseconds;
  char reason[160];
};

struct ConvPlans {
  Candidate candidates[kAlgorithms];  // indexed by octet_conv_algorithm; AUTO's is empty
  octet_conv_algorithm best;          // AUTO if none is possible
  // The smallest blob that exceeds the limit; SIZE_MAX if none does
  size_t least_too_large;
};

void plan_conv(const ConvProblem& problem, ConvPlans* plans);
inline ConvPlans plan_conv(const ConvProblem& problem) {
  ConvPlans plans;
  plan_conv(problem, &plans);
  return plans;
}

}  // namespace octet
