// The functions of a tier, compiled for the baseline, for tiers that need no build of their own.
#pragma once

#include "kernels/generic/functions/elementwise.h"

namespace octet {
extern const ElementwiseOps portable_elementwise;
}  // namespace octet
