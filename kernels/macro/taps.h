// SPDX-License-Identifier: Apache-2.0
// Describes how the depth of a product is cut into taps.
//
// A tap is a run of the lhs whose bytes lie side by side; packed weights round each tap up to the
// layout's kr. A matrix has one tap of depth K. A convolution has one per kernel position, in
// groups of adjacent taps, so that tiles can omit whole groups.
#pragma once

#include "kernels/core/packed_layout.h"

namespace octet {

struct Taps {
  size_t count, depth;  // depth in bytes, before rounding
  size_t groups;
  size_t most;  // the most taps that one output uses
  // Cut a group's taps into `parts` equal parts: columns from short_from on have only zero weights
  // in the last part
  size_t short_from = SIZE_MAX, parts = 1;

  // Bytes of the packed weights of one column.
  size_t lane_bytes(const RhsLayout& layout) const { return count * layout.lane_bytes(depth); }
  // Of `of` taps, the count that columns from n on need.
  size_t needed(size_t of, size_t n) const { return n < short_from ? of : of - of / parts; }
};

struct TapRange {
  size_t first, end;
  size_t count() const { return end - first; }
};

}  // namespace octet
