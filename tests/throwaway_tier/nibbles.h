// Packs weights of 4 bits, for a weight format that exists in a test only: -8 to 7, of other values
// the lowest 4 bits. A byte has step j of a lane's group of eight in its lower half and step 4 + j
// in the upper one.
#pragma once

#include "packing/packed_rhs.h"

namespace octet {

void pack_nibbles(const RhsLayout& layout, const RhsView& rhs, size_t first, size_t count,
                  uint8_t* packed);
void pack_nibble_lanes(const RhsLayout& layout, const LaneView& from, const uint8_t* zeros,
                       size_t width, size_t offset, uint8_t* panel);

constexpr Packing kNibblePacking = {pack_nibbles, pack_nibble_lanes};

}  // namespace octet
