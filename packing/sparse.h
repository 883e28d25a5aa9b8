// Weights of which at most two of every four along depth are not zero, and how they are packed.
// Zero means equal to the column's zero point; what is packed is w - zero_point, so kernels see
// weights without zero points.
#pragma once

#include "kernels/core/sparse.h"
#include "packing/packed_rhs.h"

namespace octet {

// A run of one column's weights along depth, cut into fours from its beginning on; the last one may
// be short.
struct SparseRun {
  const uint8_t* data;
  size_t stride, count;
  uint8_t zero;  // the byte that stands for 0

  size_t four(size_t k) const { return count - k < 4 ? count - k : 4; }
};

// The first four of a run with more than two that are not zero, or count where there is none.
size_t first_crowded(const SparseRun& run);
// Whether all w - zero fit s8.
bool distances_fit(const SparseRun& run, bool is_u8);

// Of weights whose columns are neighbours in memory, row by row: whether none of either is to be
// found in any column.
bool rows_are_sound(const RhsView& rhs);

// Writes the first `lanes` runs, `lane_stride` bytes apart and with their own zeros, as those steps
// of a panel from `offset` on, a multiple of 4. Of what it does not write, all must be 0.
void pack_runs(const RhsLayout& layout, SparseRun run, size_t lane_stride, const uint8_t* zeros,
               size_t lanes, size_t offset, uint8_t* panel);

// Whether a value in so many bytes of whole groups is -128.
bool holds_int8_min(const RhsLayout& layout, const uint8_t* groups, size_t bytes);

void pack_sparse(const RhsLayout& layout, const RhsView& rhs, size_t first, size_t count,
                 uint8_t* packed);

constexpr Packing kSparsePacking = {panel_bytes, pack_sparse};

}  // namespace octet
