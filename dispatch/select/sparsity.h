// Whether weights that may be 2:4 sparse are packed so.
#pragma once

#include "dispatch/api/error.h"
#include "dispatch/cpu/features.h"
#include "dispatch/tables/designs.h"
#include "kernels/core/strict_float.h"
#include "packing/container.h"
#include "packing/sparse.h"

namespace octet {

// Refuses where the library was built without sparse weights; name: "rhs" or "filter".
octet_status allow_sparsity(const char* name, octet_error* error);

// Of the dense products that sparse weights stand for, per cycle
double sparse_macs(const TierCosts& costs, const CpuFeatures& cpu);
// Whether this tier multiplies sparse weights of n columns, k deep, faster, in runs of at most so
// many rows (0 = any).
bool gains_by_sparsity(Isa isa, const CpuFeatures& cpu, size_t rows, size_t n, size_t k);

// As a half sentence about the weights.
const char* describe(Sparsity sparsity);

// What was seen of runs of weights, one after the other.
struct SparsityFinding {
  bool crowded = false, wide = false;
  // The first four with more than two
  size_t column = 0, k = 0;
  char values[24];
  int zero = 0;

  // False where one was found. k: of the run's first weight.
  bool look_at(const SparseRun& run, bool is_u8, size_t column, size_t k);
  // What follows from it, but for what the tier thinks.
  Sparsity verdict() const {
    return crowded ? Sparsity::kPattern : wide ? Sparsity::kDistances : Sparsity::kTwoOfFour;
  }
};

SparsityFinding look_at(const RhsView& rhs);

}  // namespace octet
