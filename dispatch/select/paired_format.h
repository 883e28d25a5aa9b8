// The paired weight format of a tier. Whether weights fit it (sums of two products in 16 bits)
// depends on their values, so packing finds out.
#pragma once

#include "dispatch/cpu/features.h"
#include "packing/format.h"

namespace octet {

// The paired format to try for weights of so many lanes, `depth` deep in one piece. Null if the
// best of `isas` has no such format, no kernel for it is built in, or the weights are too small.
const WeightFormat* paired_format(IsaMask isas, size_t lanes, size_t depth);

}  // namespace octet
