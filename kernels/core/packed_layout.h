// SPDX-License-Identifier: Apache-2.0
// Describes the layout of an operand in packed panels.
//
// A panel holds some lanes (rows of the lhs, columns of the rhs) over the whole depth; kr
// consecutive depth steps of one lane lie side by side:
//
//     panel(k, lane) = (k / kr) * width * kr  +  lane * kr  +  k % kr
//
// The formula is the order of elements. A format may store them in fewer bits, reorder their depth
// or add tables (packing/format.h); RhsLayout says how many bytes groups and panels take.
//
// The rhs is cut into panels of `width` lanes; the last panel has only as many lanes as it needs, a
// multiple of `step`, so that N = 24 does not pay for 64. Depth and lanes beyond the matrix are
// zero. The layout is the contract between packed weights and kernels: it never depends on M, and
// every kernel with the same layout reads the same blob.
#pragma once

#include "kernels/core/element_type.h"

namespace octet {

// value / divisor where both are nearly always below 2^32: CPUs before Ice Lake divide 64 bits in
// 35 to 90 cycles, 32 bits in 26.
constexpr size_t quotient(size_t value, size_t divisor) {
  return (uint64_t)(value | divisor) >> 32 ? value / divisor : (uint32_t)value / (uint32_t)divisor;
}
constexpr size_t round_up(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}
// round_up without a division where the multiple is a power of two, as it nearly always is.
constexpr size_t round_up_pow2(size_t value, size_t multiple) {
  return multiple & (multiple - 1) ? round_up(value, multiple)
                                   : (value + multiple - 1) & (0 - multiple);
}
// Cannot overflow, unlike (value + divisor - 1) / divisor.
constexpr size_t divide_up(size_t value, size_t divisor) {
  return value / divisor + (value % divisor != 0);
}
constexpr size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
constexpr size_t larger(size_t a, size_t b) { return a > b ? a : b; }

// The alignment of blobs, workspaces and all sections within them: a cache line, the widest vector
constexpr size_t kAlignment = 64;

// The weights that a panel holds: all, or two of every four along depth with their places
// (kernels/core/sparse.h).
enum class Density : uint8_t { kAll, kTwoOfFour };

// A table that a lane stores besides its weights, such as an order or scales: `bytes` for every
// `steps` of its depth, the last of which may be fewer.
struct PanelTable {
  uint16_t steps = 0, bytes = 0;

  constexpr bool operator==(const PanelTable& o) const {
    return steps == o.steps && bytes == o.bytes;
  }
};

struct RhsLayout {
  uint16_t width;  // lanes of a full panel
  uint16_t step;   // the last panel's lanes are a multiple of this
  uint16_t kr;
  ElementType element_type;  // of a weight as kernels multiply it
  uint8_t bits = 8;          // stored per depth step, places included; kr * bits is a multiple of 8
  Density density = Density::kAll;
  // The format says where in a panel they lie; 0 steps: none
  PanelTable tables[2] = {};

  constexpr bool sparse() const { return density != Density::kAll; }
  constexpr bool is_4bit() const { return bits == 4 && !sparse(); }
  constexpr bool has_tables() const { return tables[0].steps != 0; }
  // Depth that kernels multiply
  constexpr size_t steps(size_t k) const { return round_up_pow2(k, kr); }
  constexpr size_t lanes(size_t n) const { return round_up_pow2(n, step); }
  constexpr size_t group_bytes() const { return kr * bits / 8u; }  // of one lane
  // Bytes that one lane takes in a panel, or in one tap of it; SIZE_MAX if they do not fit.
  constexpr size_t lane_bytes(size_t k) const {
    size_t all = 0;
    bool fits = !__builtin_mul_overflow(divide_up(k, kr), group_bytes(), &all);
    for (const PanelTable& t : tables) {
      if (!t.steps) break;
      size_t more = 0;
      fits = fits && !__builtin_mul_overflow(divide_up(k, t.steps), t.bytes, &more) &&
             !__builtin_add_overflow(all, more, &all);
    }
    return fits ? all : SIZE_MAX;
  }
  constexpr size_t bytes(size_t n, size_t k) const { return lanes(n) * lane_bytes(k); }
  constexpr size_t panel_offset(size_t lane, size_t k) const {
    return lane / width * width * lane_bytes(k);
  }
  constexpr size_t panel_width(size_t lane, size_t n) const {
    return smaller(width, lanes(n) - lane / width * width);
  }
  constexpr bool operator==(const RhsLayout& o) const {
    return width == o.width && step == o.step && kr == o.kr && element_type == o.element_type &&
           bits == o.bits && density == o.density && tables[0] == o.tables[0] &&
           tables[1] == o.tables[1];
  }
};

}  // namespace octet
