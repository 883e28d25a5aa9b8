// A tier's row work and epilogue; the baseline's where the tier is not compiled in.
#pragma once

#include "kernels/core/isa.h"
#include "kernels/core/tier_ops.h"

namespace octet {

const TierOps& ops_of(Isa isa);

}  // namespace octet
