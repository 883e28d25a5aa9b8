// SPDX-License-Identifier: Apache-2.0
// Decides whether weights that fit the 2:4 pattern are packed in a sparse format.
#pragma once

#include "dispatch/api/error.h"
#include "dispatch/cpu/features.h"
#include "dispatch/tables/designs.h"
#include "kernels/core/strict_float.h"
#include "packing/container.h"
#include "packing/sparse.h"

namespace octet {

// Fails if the library was built without sparse weights. name: "rhs" or "filter".
octet_status allow_sparsity(const char* name, octet_error* error);

// Returns the dense multiply-adds per cycle that the sparse kernels replace.
inline double sparse_macs(const TierCosts& costs, const CpuFeatures& cpu) {
  return cpu.wide_shuffles && costs.sparse_macs_beside ? costs.sparse_macs_beside
                                                       : costs.sparse_macs;
}
// True if this tier multiplies sparse weights of n columns and depth k faster than dense ones, in
// runs of at most `rows` rows (0 = any).
bool gains_by_sparsity(TierId tier_id, const CpuFeatures& cpu, size_t rows, size_t n, size_t k);

// Returns the verdict as a clause about the weights, for messages.
const char* describe(Sparsity sparsity);

// Collects what runs of weights look like, one run after the other.
struct SparsityFinding {
  bool crowded = false, wide = false;
  // The first group of four with more than two nonzero weights
  size_t column = 0, k = 0;
  char values[24];
  int zero = 0;

  // Adds a run of column `column` whose first weight has depth k. Returns false if a group of four
  // has more than two nonzero weights: the verdict is final.
  bool look_at(const SparseRun& run, ElementType type, size_t column, size_t k);
  // Says whether the weights fit a sparse format; whether it pays is gains_by_sparsity's question.
  Sparsity verdict() const {
    return crowded ? Sparsity::kPattern : wide ? Sparsity::kDistances : Sparsity::kTwoOfFour;
  }
};

SparsityFinding look_at(const RhsView& rhs);

}  // namespace octet
