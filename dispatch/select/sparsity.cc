// SPDX-License-Identifier: Apache-2.0
// Predicts whether a 2:4 sparse format is faster than the dense one.
#include "dispatch/select/sparsity.h"

#include <stdio.h>

namespace octet {
namespace {

// Predicted gains below 5 % are ignored: they may be losses
constexpr double kWorthwhile = 1.05;

double larger_of(double a, double b) { return a > b ? a : b; }

// The fixed cost of a sparse tile over a dense one, in depth steps, for runs of so many rows.
double start_of(const TierCosts& costs, size_t rows, size_t n, bool in_l1) {
  // Dense tiles of few columns are taller
  const size_t of_one_tile = n <= costs.sparse_nr ? 2 * costs.mr : costs.mr;
  if (!rows || rows > of_one_tile) return costs.sparse_start;
  const double near = in_l1 ? costs.sparse_start_near / (double)rows : 0;
  return larger_of(costs.sparse_start, larger_of(costs.sparse_start_few, near));
}

// Time of the dense rows over time of the sparse rows, in whole tiles, where the last tile of each
// has fewer rows.
double of_whole_tiles(const TierCosts& costs, size_t rows) {
  if (!costs.sparse_last || rows <= costs.sparse_mr) return 1;
  const auto time = [rows](size_t mr, size_t last) {
    return (double)(rows / mr * mr + (rows % mr ? larger(rows % mr, last) : 0));
  };
  return time(costs.mr, 2) / time(costs.sparse_mr, costs.sparse_last);
}

}  // namespace

octet_status allow_sparsity(const char*, octet_error*) { return OCTET_OK; }

const char* describe(Sparsity sparsity) {
  switch (sparsity) {
    case Sparsity::kTwoOfFour: return "weights are packed 2:4 sparse";
    case Sparsity::kPattern: return "weights are dense: they are not 2:4 sparse";
    case Sparsity::kDistances:
      return "weights are dense: some weight less its zero point leaves s8";
    case Sparsity::kNoGain: return "weights are dense: sparse ones gain too little here";
    case Sparsity::kNoRoom: return "weights are dense: sparse ones would take more bytes";
    case Sparsity::kNotAsked:
    case Sparsity::kCount: break;
  }
  return "weights are dense";
}

bool gains_by_sparsity(TierId tier_id, const CpuFeatures& cpu, size_t rows, size_t n, size_t k) {
  const Tier& tier = tier_of(tier_id);
  const TierCosts costs = costs_of(tier, cpu.design);
  const size_t dense_bytes = n * k;
  const size_t few = dense_bytes > cpu.last_level_bytes() ? costs.sparse_few_far
                     : dense_bytes > cpu.l2_bytes()       ? costs.sparse_few
                                                          : 0;
  // In-order cores cannot load while they multiply
  const bool streamed = rows && rows <= few && !cpu.in_order();
  // Short columns are filled up to whole groups, and a tile takes longer to start
  const double depth = (double)layout_of(tier_id, ElementType::kS8).steps(k),
               sparse_depth = (double)sparse_format_of(tier, rows, k).layout.steps(k);
  const double start = start_of(costs, rows, n, dense_bytes < cpu.l1d_bytes()),
               gain = sparse_macs(costs, cpu) / costs.macs * depth / (sparse_depth + start);
  return larger_of(streamed ? costs.sparse_streamed : 0, gain) * of_whole_tiles(costs, rows) >
         kWorthwhile;
}

bool SparsityFinding::look_at(const SparseRun& run, ElementType type, size_t its_column,
                              size_t its_k) {
  const auto value = [type](uint8_t byte) {
    return type == ElementType::kU8 ? (int)byte : (int)(int8_t)byte;
  };
  wide |= !distances_fit(run, type);
  const size_t at = first_crowded(run);
  if (at == run.count) return true;
  crowded = true;
  column = its_column;
  k = its_k + at;
  zero = value(run.zero);
  int used = 0;
  for (size_t i = 0; i < run.four(at); ++i)
    used += snprintf(values + used, sizeof values - (size_t)used, i ? ", %d" : "%d",
                     value(run.data[(at + i) * run.stride]));
  return false;
}

SparsityFinding look_at(const RhsView& rhs) {
  SparsityFinding finding;
  if (rhs.n_stride == 1 && rows_are_sound(rhs)) return finding;
  for (size_t n = 0; n < rhs.n; ++n)
    if (!finding.look_at(
            {rhs.data + n * rhs.n_stride, rhs.k_stride, rhs.k, (uint8_t)rhs.zero_point(n)},
            rhs.type, n, 0))
      break;
  return finding;
}

}  // namespace octet
