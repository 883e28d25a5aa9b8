// SPDX-License-Identifier: Apache-2.0
// Describes packed weights (panels and per-column sums) and how a format packs them; packs dense
// panels.
#pragma once

#include "kernels/core/packed_layout.h"
#include "packing/interleave.h"
#include "packing/weight_sums.h"

namespace octet {

// The weights as the caller stores them: element (k, n) at data[k * k_stride + n * n_stride]. Of 4
// bits, element i of data is the low half of byte i / 2 if i is even, else the high half.
struct RhsView {
  const uint8_t* data;
  size_t n, k;
  size_t k_stride, n_stride;
  ElementType type;            // not kS16
  const int32_t* zero_points;  // null = 0
  size_t zero_point_count;     // 1 or n
  size_t first = 0;            // of 4 bits: the element that is (0, 0)

  // Moves to weights that many elements behind these.
  void skip(size_t elements) {
    if (is_4bit(type))
      first += elements;
    else
      data += elements;
  }

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

// The number that flipping the top bit adds to a value of type `from`, to make it one of type `to`;
// u4 become s4, which kernels multiply as s8.
constexpr int32_t type_shift(ElementType from, ElementType to) {
  if (is_4bit(from)) return from == ElementType::kU4 ? -8 : 0;
  const bool from_u8 = from == ElementType::kU8;
  return from_u8 == (to == ElementType::kU8) ? 0 : from_u8 ? -128 : 128;
}

// Whether some zero point of type `type` is not 0 in the element type of the layout. Null
// zero_points are 0 in `type`.
bool any_zero_point(const int32_t* zero_points, size_t count, ElementType type,
                    ElementType element_type);

// Packed weights of a blob: `count` matrices or groups of channels, `stride` bytes apart, each with
// `lanes` columns that are `taps` times `depth` deep.
struct PackedPanels {
  size_t lanes, taps, depth;
  size_t count, stride;
  const uint8_t* panels;
};

// A format that suits some weights only. Packing tries it before the tier's other format, and keeps
// it if it pays.
struct Trial {
  double saves;           // the share of the compute time that it mostly saves
  const char* condition;  // completes "in form <name>, if "
  bool (*pays)(const RhsLayout& layout, const PackedPanels& weights);
};

// Packs weights into a format.
struct Packing {
  // Matrices: writes columns [first, first + count); first is a multiple of the layout's width.
  void (*pack)(const RhsLayout& layout, const RhsView& rhs, size_t first, size_t count,
               uint8_t* packed);
  // Filters: writes the view to the first lanes of a panel `width` lanes wide, or of one tap of it,
  // from step `offset` on. zeros: per lane, the byte of the view that stands for 0. All other bits
  // stay as they are.
  void (*pack_lanes)(const RhsLayout& layout, const LaneView& from, const uint8_t* zeros,
                     size_t width, size_t offset, uint8_t* panel);
  // Filters: null, or completes panels of `lanes` lanes, `taps` times `depth` deep, after
  // pack_lanes.
  void (*complete)(const RhsLayout& layout, size_t lanes, size_t taps, size_t depth,
                   uint8_t* panels) = nullptr;
  // Whether a weight in `bytes` bytes of panels is -128. Null: the caller's weights say so
  bool (*holds_int8_min)(const RhsLayout& layout, const uint8_t* panels, size_t bytes) = nullptr;
  // Null where kernels can trust any bytes. Else null for sound weights, or the fault, in words
  // that complete "blob "
  const char* (*problem)(const RhsLayout& layout, const PackedPanels& weights) = nullptr;
  const Trial* trial = nullptr;  // null: the format suits all weights
};

// Bytes of a matrix of n columns, k deep; 0 if they do not fit size_t.
size_t panel_bytes(const RhsLayout& layout, size_t n, size_t k);

// Packing of dense panels, with one byte per weight.
void pack_columns(const RhsLayout& layout, const RhsView& rhs, size_t first, size_t count,
                  uint8_t* panels);
void pack_dense_lanes(const RhsLayout& layout, const LaneView& from, const uint8_t* zeros,
                      size_t width, size_t offset, uint8_t* panel);

constexpr Packing kDensePacking = {pack_columns, pack_dense_lanes};

// Fills the sums of columns [first, first + count). Returns true if a packed weight is -128 in s8.
bool sum_columns(const RhsLayout& layout, const RhsView& rhs, size_t first, size_t count,
                 ColumnSums sums);

// sums[n] = the sum of w - zero_point, modulo 2^32, of each column n of rhs. Run-time weights need
// no more than this.
void total_columns(const RhsView& rhs, int32_t* sums);

}  // namespace octet
