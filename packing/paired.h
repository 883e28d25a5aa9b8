// Turns dense panels into paired ones (kernels/core/paired_weights.h), in place. It uses integers
// only, so the bytes are the same on every machine.
#pragma once

#include "kernels/core/paired_weights.h"

namespace octet {

// Pairs panels of kPairColumns, `lanes` columns in all, `taps` times `depth` deep. Each tap has
// layout.lane_bytes(depth) bytes per column, and its dense weights lie at the beginning of it. As
// soon as it is certain that pairs do not pay, all further parts stay plain.
void pair_panels(const RhsLayout& layout, size_t lanes, size_t taps, size_t depth, uint8_t* panels);

// The paired weights of a blob: `count` results of pair_panels, `stride` bytes apart.
struct PairedWeights {
  size_t lanes, taps, depth;
  size_t count, stride;
  const uint8_t* panels;
};

// Whether all pairs fit, all orders are permutations and all extras belong to existing groups.
// Always true of pair_panels' output; a blob from elsewhere may differ.
bool are_sound(const RhsLayout& layout, const PairedWeights& weights);

// Vector instructions per row for the same products, dense and paired.
struct PairCost {
  uint64_t dense, paired;

  void operator+=(const PairCost& more) { dense += more.dense, paired += more.paired; }

  // True only for a gain of more than 1/16; else the weights stay dense.
  bool pays() const { return paired + dense / 16 < dense; }
};
PairCost cost_of(const RhsLayout& layout, const PairedWeights& weights);

}  // namespace octet
