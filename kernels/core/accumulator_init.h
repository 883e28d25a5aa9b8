// SPDX-License-Identifier: Apache-2.0
// Describes the values that accumulators start from: the bias and all terms of zero points. This is
// the one place of that algebra (DESIGN.md, "One normal form").
//
//     out[i,j] = base[j] - lhs_zero_point[i] * weight_sum[j] - row_sum[i] * rhs_zero_point[j]
//
// Sums wrap; only the final accumulator must fit int32.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace octet {

struct Init {
  size_t rows = 1, cols;
  const int32_t* base;                       // one per column; may alias out if rows is 1
  const int32_t* lhs_zero_points = nullptr;  // null = 0
  size_t lhs_zero_point_step = 0;            // 1 = one per row, 0 = one for all rows
  const int32_t* weight_sums = nullptr;      // per column: sum of rhs - zero_point
  const int32_t* row_sums = nullptr;         // one per row; null = 0
  const int32_t* rhs_zero_points = nullptr;  // one per column
  int32_t* out;
  size_t out_stride = 0;  // elements
};

using InitFn = void (*)(const Init&);

}  // namespace octet
