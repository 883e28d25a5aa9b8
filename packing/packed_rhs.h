// Packed weights: panels of bytes, and what packing learned about each column.
#pragma once

#include "kernels/core/packed_layout.h"
#include "packing/weight_sums.h"

namespace octet {

// The weights as the caller stores them: element (k, n) at data[k * k_stride + n * n_stride].
struct RhsView {
  const uint8_t* data;
  size_t n, k;
  size_t k_stride, n_stride;
  bool is_u8;
  const int32_t* zero_points;  // null = 0
  size_t zero_point_count;     // 1 or n

  int32_t zero_point(size_t column) const {
    return zero_points ? zero_points[zero_point_count == 1 ? 0 : column] : 0;
  }
};

// Per column, over r - zero_point: the sums of its positive and of its negative values. They bound
// the accumulator for any lhs, and their total is the factor of the lhs zero point.
struct ColumnSums {
  int32_t* positive;
  int32_t* negative;

  bool store(size_t column, const WeightSums& sums) const {  // returns has_int8_min
    positive[column] = sums.positive;
    negative[column] = sums.negative;
    return sums.has_int8_min;
  }
};

// One matrix as a kernel reads it.
struct PackedRhs {
  const uint8_t* panels;
  const int32_t* positive;
  const int32_t* negative;
  const int32_t* zero_points;  // in the layout's domain, per column; null when all are 0
};

// What xor-ing the top bit adds to a value, so that it arrives in `to`.
constexpr int32_t type_shift(bool from_u8, ElementType to) {
  return from_u8 == (to == ElementType::kU8) ? 0 : from_u8 ? -128 : 128;
}

// Whether some zero point is not 0 in this domain. Without any, all are 0 as given.
bool any_zero_point(const int32_t* zero_points, size_t count, bool is_u8, ElementType element_type);

// How a matrix becomes what a kernel reads.
struct Packing {
  // Of n columns, k deep; 0 if they leave size_t
  size_t (*bytes)(const RhsLayout& layout, size_t n, size_t k);
  // Writes columns [first, first + count) of them; first is a multiple of the layout's width.
  void (*pack)(const RhsLayout& layout, const RhsView& rhs, size_t first, size_t count,
               uint8_t* packed);
};

// Panels with a byte for each weight.
size_t panel_bytes(const RhsLayout& layout, size_t n, size_t k);
void pack_columns(const RhsLayout& layout, const RhsView& rhs, size_t first, size_t count,
                  uint8_t* panels);

constexpr Packing kDensePacking = {panel_bytes, pack_columns};

// Fills the sums of columns [first, first + count). Returns true if a packed weight is -128 in s8.
bool sum_columns(const RhsLayout& layout, const RhsView& rhs, size_t first, size_t count,
                 ColumnSums sums);

}  // namespace octet
