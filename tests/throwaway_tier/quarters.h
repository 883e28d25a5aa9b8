// SPDX-License-Identifier: Apache-2.0
// Packs weights of 2 bits, for a weight format that exists in a test only: -2 to 1, of other values
// the lowest 2 bits. Of a lane's group of sixteen, byte j has the steps j, 4 + j, 8 + j and 12 + j,
// from the lowest bits on.
#pragma once

#include "packing/packed_rhs.h"

namespace octet {

void pack_quarters(const RhsLayout& layout, const RhsView& rhs, size_t first, size_t count,
                   uint8_t* packed);
void pack_quarter_lanes(const RhsLayout& layout, const LaneView& from, const uint8_t* zeros,
                        size_t width, size_t offset, uint8_t* panel);

constexpr Packing kQuarterPacking = {pack_quarters, pack_quarter_lanes};

}  // namespace octet
