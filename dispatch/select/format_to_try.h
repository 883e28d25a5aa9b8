// SPDX-License-Identifier: Apache-2.0
// The format that packing tries first. Whether the weights suit it depends on their values, so
// packing finds out.
#pragma once

#include "dispatch/cpu/features.h"
#include "packing/format.h"

namespace octet {

// The format to try for weights of so many columns in so many lanes, `depth` deep in one piece.
// Null if the best of `tiers` has none, no kernel for it is built in, or the weights are too small.
const WeightFormat* format_to_try(TierMask tiers, size_t lanes, size_t columns, size_t depth);

}  // namespace octet
