// SPDX-License-Identifier: Apache-2.0
// The layout of an algorithm's weights on a tier.
#pragma once

#include "kernels/core/tier_id.h"
#include "operators/conv/algorithms/table.h"

namespace octet {

// weight_zero_points: some weight's zero point is not 0 in s8.
RhsLayout conv_layout(const ConvAlgorithm& implementation, TierId tier_id, ElementType rhs_type,
                      bool weight_zero_points);

}  // namespace octet
