// SPDX-License-Identifier: Apache-2.0
// Turns dense panels into paired ones (kernels/core/paired_weights.h), in place. It uses integers
// only, so the bytes are the same on every machine.
#pragma once

#include "kernels/core/paired_weights.h"
#include "packing/packed_rhs.h"

namespace octet {

// Pairs panels of kPairColumns, `lanes` columns in all, `taps` times `depth` deep. Each tap has
// layout.lane_bytes(depth) bytes per column, and its dense weights lie at the beginning of it. As
// soon as it is certain that pairs do not pay, all further parts stay plain.
void pair_panels(const RhsLayout& layout, size_t lanes, size_t taps, size_t depth, uint8_t* panels);

// Whether all pairs fit, all orders are permutations and all extras belong to existing groups.
// Always true of pair_panels' output; a blob from elsewhere may differ.
bool are_sound(const RhsLayout& layout, const PackedPanels& weights);

// Vector instructions per row for the same products, dense and paired.
struct PairCost {
  uint64_t dense, paired;

  void operator+=(const PairCost& more) { dense += more.dense, paired += more.paired; }

  // True only for a gain of more than 1/16; else the weights stay dense.
  bool pays() const { return paired + dense / 16 < dense; }
};
PairCost cost_of(const RhsLayout& layout, const PackedPanels& weights);

void pack_pairs(const RhsLayout& layout, const RhsView& rhs, size_t first, size_t count,
                uint8_t* panels);
inline const char* problem_of_pairs(const RhsLayout& layout, const PackedPanels& weights) {
  return are_sound(layout, weights) ? nullptr : "holds pairs of weights that do not fit 16 bits";
}
inline bool pairs_pay(const RhsLayout& layout, const PackedPanels& weights) {
  return cost_of(layout, weights).pays();
}

// The gain depends on the weights: up to a quarter of the instructions.
constexpr Trial kPairTrial = {1. / 8, "pairs of weights fit 16 bits", pairs_pay};
constexpr Packing kPairedPacking = {pack_pairs, pack_dense_lanes, pair_panels,
                                    nullptr,    problem_of_pairs, &kPairTrial};

}  // namespace octet
