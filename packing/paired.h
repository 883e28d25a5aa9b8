// Dense panels into kernels/core/paired_weights.h's, in place: an order for each window, what pairs have too
// much into extras. Integers only, so the bytes are the same on every machine.
#pragma once

#include "kernels/core/packed_layout.h"

namespace octet {

// Of `lanes` columns, panels of kPairColumns, `taps` times `depth` deep: each tap's weights lie at
// the beginning of its room, layout.depth(depth) deep, as in dense panels. As soon as it is certain
// that all of them do not pay, the rest stays plain.
void pair_panels(const RhsLayout& layout, size_t lanes, size_t taps, size_t depth, uint8_t* panels);

// All that pair_panels wrote for a blob: `count` times such panels, `stride` bytes apart.
struct PairedWeights {
  size_t lanes, taps, depth;
  size_t count, stride;
  const uint8_t* panels;
};

// Whether all pairs fit, orders are orders and extras belong to groups that there are. pair_panels
// writes nothing else; others may.
bool are_sound(const RhsLayout& layout, const PairedWeights& weights);

// Of the same products in a dense form and in pairs: instructions on vectors for each row.
struct PairCost {
  uint64_t dense, paired;

  void operator+=(const PairCost& more) { dense += more.dense, paired += more.paired; }

  // By a sixteenth; what is in doubt stays dense.
  bool pays() const { return paired + dense / 16 < dense; }
};
PairCost cost_of(const RhsLayout& layout, const PairedWeights& weights);

}  // namespace octet
