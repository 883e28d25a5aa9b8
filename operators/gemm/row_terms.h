// SPDX-License-Identifier: Apache-2.0
// Rows of a block for multiplications that do not go through the macro-kernel: copies, and zero
// points.
#pragma once

#include <string.h>

#include "operators/gemm/plan.h"

namespace octet {

// Copies rows after their flip to rows `stride` bytes apart, a multiple of 8, with zeros behind the
// depth.
inline void copy_rows(const Rows& rows, size_t stride, uint8_t* to) {
  const uint64_t flips = rows.flip * UINT64_C(0x0101010101010101);
  for (size_t i = 0; i < rows.rows; ++i, to += stride) {
    memcpy(to, rows.row(i), rows.depth);
    for (size_t k = 0; flips && k < rows.depth; k += sizeof flips) {
      uint64_t bytes;
      memcpy(&bytes, to + k, sizeof bytes);
      bytes ^= flips;
      memcpy(to + k, &bytes, sizeof bytes);
    }
    memset(to + rows.depth, 0, stride - rows.depth);
  }
}

// The zero point of row i of a block that was read as `type`.
inline int32_t zero_point_of(const GemmPlan& plan, const LhsTerms& terms, ElementType type,
                             size_t i) {
  if (terms.zero_points) return terms.zero_points[i];
  return terms.in_bias ? plan.static_zero_point + type_shift(plan.lhs_type, type)
                       : terms.zero_point;
}

}  // namespace octet
