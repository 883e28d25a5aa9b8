// SPDX-License-Identifier: Apache-2.0
// Computes the accumulators' init in plain loops, compiled once per tier like epilogue.h.
#pragma once

#include "kernels/core/accumulator_init.h"
#include "kernels/core/compiler.h"

namespace octet {
namespace {

// Calls make(i, j, &columns) for all rows and columns, sixteen columns at a time and then one by
// one, so that a row does not pay for the start and end of a vectorized loop.
template <typename Columns, typename Make>
OCTET_INLINE inline size_t init_columns(const Init& t, size_t j, const Make& make) {
  constexpr size_t kColumns = sizeof(Columns) / sizeof(uint32_t);
  for (; j + kColumns <= t.cols; j += kColumns)
    for (size_t i = 0; i < t.rows; ++i) {
      Columns columns = {};
      make(i, j, &columns);
      __builtin_memcpy(t.out + i * t.out_stride + j, &columns, sizeof columns);
    }
  return j;
}

template <typename Make>
OCTET_INLINE inline void init_rows(const Init& t, const Make& make) {
  typedef uint32_t Sixteen __attribute__((vector_size(64)));
  typedef uint32_t One __attribute__((vector_size(4)));
  init_columns<One>(t, init_columns<Sixteen>(t, 0, make), make);
}

template <typename Columns>
OCTET_INLINE inline void load(const int32_t* from, Columns* to) {
  __builtin_memcpy(to, from, sizeof *to);
}

void init_tile(const Init& t) {
  // Subtracts terms[column] * of_row[row]
  const auto less = [&](const int32_t* terms, const int32_t* of_row, size_t step) OCTET_INLINE {
    init_rows(t, [&](size_t i, size_t j, auto* to) OCTET_INLINE {
      auto term = *to;
      load(t.base + j, to);
      load(terms + j, &term);
      *to -= term * (uint32_t)of_row[i * step];
    });
  };
  if (t.lhs_zero_points && t.row_sums)
    init_rows(t, [&](size_t i, size_t j, auto* to) OCTET_INLINE {
      auto sum = *to, zero_point = *to;
      load(t.base + j, to);
      load(t.weight_sums + j, &sum);
      load(t.rhs_zero_points + j, &zero_point);
      *to -= sum * (uint32_t)t.lhs_zero_points[i * t.lhs_zero_point_step];
      *to -= zero_point * (uint32_t)t.row_sums[i];
    });
  else if (t.row_sums)
    less(t.rhs_zero_points, t.row_sums, 1);
  else if (t.lhs_zero_points)
    less(t.weight_sums, t.lhs_zero_points, t.lhs_zero_point_step);
  else
    init_rows(t, [&](size_t, size_t j, auto* to) OCTET_INLINE { load(t.base + j, to); });
}

}  // namespace
}  // namespace octet
