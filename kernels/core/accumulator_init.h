// Where accumulators start: with all that zero points add to the products of the bytes that kernels
// multiply. The one place of that algebra (DESIGN.md, "One normal form").
//
//     out[i,j] = base[j] - lhs_zero_point[i] * weight_sum[j] - row_sum[i] * rhs_zero_point[j]
//
// Sums wrap: only the final accumulator must fit.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace octet {

struct Init {
  size_t rows = 1, cols;
  const int32_t* base;                       // may be out, for one row
  const int32_t* lhs_zero_points = nullptr;  // null = 0; one per row, or one for all:
  size_t lhs_zero_point_step = 0;
  const int32_t* weight_sums = nullptr;  // of the rhs less its zero points
  const int32_t* row_sums = nullptr;     // one per row; null = 0
  const int32_t* rhs_zero_points = nullptr;
  int32_t* out;
  size_t out_stride = 0;  // elements
};

using InitFn = void (*)(const Init&);

}  // namespace octet
