// SPDX-License-Identifier: Apache-2.0
// Replaces sums of any arithmetic by sums in fixed point, where these give the same bytes.
#pragma once

#include "kernels/generic/functions/elementwise.h"

namespace octet {

// Sets the numbers of an add_fixed so that it gives the bytes of another plan for all pairs of
// bytes: the bodies of both run on all pairs. *plan has its body, types, zero points and bounds.
// ratio: of a and b, about, in units of the output. False: no such numbers were found.
struct SumToFit {
  double ratio[2];
  const BinaryPlan& exact_plan;
};
bool fit_sum(const SumToFit& sum, BinaryPlan* plan);

}  // namespace octet
