// How an algorithm's weights lie on a tier.
#pragma once

#include "dispatch/tables/methods.h"
#include "kernels/core/isa.h"

namespace octet {

RhsLayout conv_layout(const ConvMethod& method, Isa isa, bool rhs_u8);

}  // namespace octet
