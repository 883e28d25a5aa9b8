// SPDX-License-Identifier: Apache-2.0
// The weight formats. All are in the table, whatever is compiled in, so a machine can pack for any
// other.
#pragma once

#include "packing/format.h"

namespace octet {

const WeightFormat* nth_format(size_t index);                 // null past the last
const WeightFormat* find_format(uint16_t id);                 // null if no format has this id
const WeightFormat* find_format_of(const RhsLayout& layout);  // null if no format has this layout
const WeightFormat& format_of(FormatId id);

}  // namespace octet
