// How an algorithm's weights lie on a tier.
#pragma once

#include "dispatch/tables/methods.h"
#include "kernels/core/isa.h"

namespace octet {

// weight_zero_points: some weight's zero point is not 0 in s8.
RhsLayout conv_layout(const ConvMethod& method, Isa isa, bool rhs_u8, bool weight_zero_points);

}  // namespace octet
