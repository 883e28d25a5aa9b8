// Weights that their tier likes best in pairs that fit 16 bits: whether that is so, only their
// values tell, when they are packed.
#pragma once

#include "dispatch/cpu/features.h"
#include "packing/format.h"

namespace octet {

// The form to try for weights of so many lanes, `depth` deep in one piece, or null: if the best of
// `isas` has one, and a kernel for it is built in. By sizes alone.
const WeightFormat* paired_format(IsaMask isas, size_t lanes, size_t depth);

}  // namespace octet
