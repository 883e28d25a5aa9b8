// Which algorithm computes a convolution. Pure: the shape, the tier and the caches are arguments,
// so that the choice for a machine that nobody owns is a unit test.
#pragma once

#include "dispatch/cpu/features.h"
#include "operators/conv/algorithms/estimate.h"
#include "operators/conv/layouts.h"

namespace octet {

struct ConvProblem {
  ConvShape shape;
  Isa isa;  // the tier that the weights are packed for
  bool rhs_u8;
  ZeroPointRange zero_points;  // of the weights
  bool approximate;            // the caller allows it
  CpuFeatures cpu;             // its caches and cores
  // Algorithms whose weights no kernel may read where they will be used: bit octet_conv_algorithm
  uint32_t without_kernel;
  size_t packed_bytes[kAlgorithms];  // of the blob; SIZE_MAX: leaves size_t
  size_t packed_bytes_max;           // 0 = any
  bool sparse;                       // the weights are packed 2:4 sparse
  const TierCosts* costs = nullptr;  // in place of the tier's
  bool costs_given = false;          // by a tuning, of the machine itself
};

// Whether predictions for the machine rest on a guess: no L2 was found, or its design is none that
// is known and nobody gave its costs.
inline bool is_guess(const ConvProblem& p) {
  return !p.cpu.caches.l2_bytes || (p.cpu.design == OCTET_DESIGN_UNKNOWN && !p.costs_given);
}

// By what factor exact Winograd has to beat all else where predictions rest on a guess: its weights
// take 3.6 to 8 times the bytes of the filter whether the guess was right or not.
constexpr double kLeadWhereGuessed = 1.2;

// Of a run by one core.
double microseconds_of(const Estimate& estimate, bool in_order);

struct Candidate {
  bool possible;
  size_t packed_bytes;
  Estimate estimate;
  double microseconds;
  char reason[160];
};

struct ConvPlans {
  Candidate candidates[kAlgorithms];  // indexed by octet_conv_algorithm; that of AUTO is empty
  octet_conv_algorithm best;          // AUTO if none is possible
  // The least that is too much, of those that are ruled out by their size; SIZE_MAX if none is
  size_t least_too_large;
};

void plan_conv(const ConvProblem& problem, ConvPlans* plans);
inline ConvPlans plan_conv(const ConvProblem& problem) {
  ConvPlans plans;
  plan_conv(problem, &plans);
  return plans;
}

}  // namespace octet
