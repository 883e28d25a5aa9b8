// Which algorithm computes a convolution. Pure: the shape, the tier and the caches are arguments,
// so that the choice for a machine that nobody owns is a unit test.
#pragma once

#include "dispatch/conv_methods.h"
#include "kernels/conv/estimate.h"

namespace octet {

struct ConvProblem {
  ConvShape shape;
  Isa isa;  // the tier that the weights are packed for
  bool rhs_u8;
  ZeroPointRange zero_points;  // of the weights
  bool approximate;            // the caller allows it
  size_t l2_bytes, l3_bytes;   // 0 = unknown
  // Algorithms whose weights no kernel may read where they will be used: bit octet_conv_algorithm
  uint32_t without_kernel;
};

struct Candidate {
  bool possible;
  Estimate estimate;
  double microseconds;
  char reason[160];
};

struct ConvPlans {
  Candidate candidates[kAlgorithms];  // indexed by octet_conv_algorithm; that of AUTO is empty
  octet_conv_algorithm best;
};

ConvPlans plan_conv(const ConvProblem& problem);

}  // namespace octet
