// SPDX-License-Identifier: Apache-2.0
// Checks and packs 2:4 sparse weights: at most two of every four along depth are not zero. Zero
// means equal to the column's zero point. The packed values are w - zero_point, so kernels see no
// zero points.
#pragma once

#include "kernels/core/sparse.h"
#include "packing/packed_rhs.h"

namespace octet {

// A run of one column's weights along depth, cut into fours from its beginning; the last four may
// be short.
struct SparseRun {
  const uint8_t* data;
  size_t stride, count;
  uint8_t zero;  // the byte that stands for 0

  size_t four(size_t k) const { return count - k < 4 ? count - k : 4; }
};

// The start of a run's first crowded four (more than two weights not zero), or count if none is.
size_t first_crowded(const SparseRun& run);
// Whether all w - zero fit s8.
bool distances_fit(const SparseRun& run, ElementType type);

// For weights whose columns are contiguous in memory, checked row by row: whether no column has a
// crowded four or a w - zero that does not fit s8.
bool rows_are_sound(const RhsView& rhs);

// The functions of the formats' packing. `offset` is a multiple of 4, and the view's flip counts
// for nothing: w - zero is the same in s8 and in u8. The panel's other bytes must be 0.
void pack_sparse(const RhsLayout& layout, const RhsView& rhs, size_t first, size_t count,
                 uint8_t* packed);
void pack_sparse_lanes(const RhsLayout& layout, const LaneView& from, const uint8_t* zeros,
                       size_t width, size_t offset, uint8_t* panel);
bool holds_int8_min(const RhsLayout& layout, const uint8_t* groups, size_t bytes);

constexpr Packing kSparsePacking = {pack_sparse, pack_sparse_lanes, nullptr, holds_int8_min};

}  // namespace octet
