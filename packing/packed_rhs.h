// Describes packed weights (panels and per-column sums), and packs dense panels.
#pragma once

#include "kernels/core/packed_layout.h"
#include "packing/weight_sums.h"

namespace octet {

// The weights as the caller stores them: element (k, n) at data[k * k_stride + n * n_stride].
struct RhsView {
  const uint8_t* data;
  size_t n, k;
  size_t k_stride, n_stride;
  ElementType type;            // kS8 or kU8
  const int32_t* zero_points;  // null = 0
  size_t zero_point_count;     // 1 or n

  int32_t zero_point(size_t column) const {
    return zero_points ? zero_points[zero_point_count == 1 ? 0 : column] : 0;
  }
};

// Per column, the sum of the positive and the sum of the negative r - zero_point. They bound the
// accumulator for any lhs, and their total is the factor of the lhs zero point.
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
  const int32_t* zero_points;  // in the layout's element type, per column; null when all are 0
};

// The number that flipping the top bit adds to a value of type `from`, to make it one of type `to`.
constexpr int32_t type_shift(ElementType from, ElementType to) {
  const bool from_u8 = from == ElementType::kU8;
  return from_u8 == (to == ElementType::kU8) ? 0 : from_u8 ? -128 : 128;
}

// Whether some zero point of type `type` is not 0 in the element type of the layout. Null
// zero_points are 0 in `type`.
bool any_zero_point(const int32_t* zero_points, size_t count, ElementType type,
                    ElementType element_type);

// Packs matrices into a weight format.
struct Packing {
  // Bytes of n columns, k deep; 0 if they do not fit size_t
  size_t (*bytes)(const RhsLayout& layout, size_t n, size_t k);
  // Writes columns [first, first + count); first is a multiple of the layout's width.
  void (*pack)(const RhsLayout& layout, const RhsView& rhs, size_t first, size_t count,
               uint8_t* packed);
};

// Packing of dense panels, with one byte per weight.
size_t panel_bytes(const RhsLayout& layout, size_t n, size_t k);
void pack_columns(const RhsLayout& layout, const RhsView& rhs, size_t first, size_t count,
                  uint8_t* panels);

constexpr Packing kDensePacking = {panel_bytes, pack_columns};

// Fills the sums of columns [first, first + count). Returns true if a packed weight is -128 in s8.
bool sum_columns(const RhsLayout& layout, const RhsView& rhs, size_t first, size_t count,
                 ColumnSums sums);

}  // namespace octet
