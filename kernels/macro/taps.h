// How the depth of a product is cut.
//
// A tap is a run of the lhs whose bytes lie side by side; in the packed weights each is rounded up
// to the layout's kr. A matrix has one, of depth K. A convolution has one for each kernel position,
// and groups of them that stand next to each other, so that tiles can leave out whole groups.
#pragma once

#include "kernels/core/packed_layout.h"

namespace octet {

struct Taps {
  size_t count, depth;  // depth in bytes, before rounding
  size_t groups;
  size_t most;  // that one output uses
  // Columns from this one on have weights of 0 in the last of so many equal parts of a group's taps
  size_t short_from = SIZE_MAX, parts = 1;

  // Of the packed weights of one column.
  size_t padded(const RhsLayout& layout) const { return count * layout.depth(depth); }
  // Of `of` taps, those that columns from n on need.
  size_t needed(size_t of, size_t n) const { return n < short_from ? of : of - of / parts; }
};

struct TapRange {
  size_t first, end;
  size_t count() const { return end - first; }
};

}  // namespace octet
