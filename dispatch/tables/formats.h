// In which forms weights can be packed: all, whatever is compiled in, so that a machine packs for
// any other.
#pragma once

#include "packing/format.h"

namespace octet {

const WeightFormat* nth_format(size_t index);                 // null past the last
const WeightFormat* find_format(uint16_t id);                 // null if there is none
const WeightFormat* find_format_of(const RhsLayout& layout);  // likewise
const WeightFormat& format_of(FormatId id);

}  // namespace octet
