// SPDX-License-Identifier: Apache-2.0
// Weights of 4 bits, two in a byte: reads the caller's, and packs them into panels of 4 bits, or as
// s8 into any.
#pragma once

#include "packing/packed_rhs.h"

namespace octet {

// Steps [k, k + steps) of some columns as bytes: s4 from -8 to 7, u4 from 0 to 15. Column i begins
// at to + i * kUnpackedSteps.
constexpr size_t kUnpackedSteps = 64;
void unpack_int4(const RhsView& rhs, size_t column, size_t columns, size_t k, size_t steps,
                 uint8_t* to);

// Element i as s8: s4 as it is, u4 less 8.
inline int8_t int4_as_int8(const uint8_t* data, ElementType type, size_t i) {
  const int nibble = data[i / 2] >> i % 2 * 4 & 15;
  return (int8_t)((type == ElementType::kU4 ? nibble : nibble ^ 8) - 8);
}

// Calls f(part, lane, k) for the parts of a view of 4 bits: a part is of s8, and begins at `lane`
// and depth k. Element (0, 0) of the view is element `first` of its data. Parts of one lane follow
// each other.
template <typename F>
void for_each_int8_part(const LaneView& from, ElementType type, size_t first, const F& f) {
  uint8_t bytes[kUnpackedSteps];
  for (size_t lane = 0; lane < from.lanes; ++lane)
    for (size_t k = 0, steps; k < from.depth; k += steps) {
      steps = smaller(kUnpackedSteps, from.depth - k);
      const size_t at = first + lane * from.lane_stride + k * from.depth_stride;
      for (size_t i = 0; i < steps; ++i)
        bytes[i] = (uint8_t)int4_as_int8(from.data, type, at + i * from.depth_stride);
      f(LaneView{bytes, kUnpackedSteps, 1, 1, steps, 0}, lane, k);
    }
}

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
