// Weights of 4 bits, two in a byte: reads the caller's, and packs them into panels.
#pragma once

#include "packing/packed_rhs.h"

namespace octet {

// Steps [k, k + steps) of some columns as bytes: s4 from -8 to 7, u4 from 0 to 15. Column i begins
// at to + i * kUnpackedSteps.
constexpr size_t kUnpackedSteps = 64;
void unpack_int4(const RhsView& rhs, size_t column, size_t columns, size_t k, size_t steps,
                 uint8_t* to);

// Packs `from`, whose elements are bytes, into whole groups of a panel `width` lanes wide.
void pack_int4_groups(const RhsLayout& layout, const LaneView& from, size_t width, uint8_t* panel);

// Packs s4 and u4, and bytes from -8 to 7. u4 become s4 less 8, and so do their zero points.
void pack_int4(const RhsLayout& layout, const RhsView& rhs, size_t first, size_t count,
               uint8_t* panels);
// Of matrices only.
constexpr Packing kInt4Packing = {pack_int4, nullptr};

// As sum_columns, of s4 and u4.
void sum_int4_columns(const RhsView& rhs, size_t first, size_t count, ColumnSums sums);

}  // namespace octet
