// Describes the layout of an operand in packed panels.
//
// A panel holds some lanes (rows of the lhs, columns of the rhs) over the whole depth; kr
// consecutive depth steps of one lane lie side by side:
//
//     panel(k, lane) = (k / kr) * width * kr  +  lane * kr  +  k % kr
//
// The rhs is cut into panels of `width` lanes; the last panel has only as many lanes as it needs, a
// multiple of `step`, so that N = 24 does not pay for 64. Depth and lanes beyond the matrix are
// zero. The layout is the contract between packed weights and kernels: it never depends on M, and
// every kernel with the same layout reads the same blob.
#pragma once

#include "kernels/core/element_type.h"
#include "kernels/core/paired_weights.h"

namespace octet {

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

// Which of the weights a panel holds: all, or two of every four along depth, with their places in
// half a byte each or a quarter (kernels/core/sparse.h).
enum class Density : uint8_t { kAll, kTwoOfFour, kTwoOfFourTight };

struct RhsLayout {
  uint16_t width;  // lanes of a full panel
  uint16_t step;   // the last panel's lanes are a multiple of this
  uint16_t kr;
  ElementType element_type;
  Density density = Density::kAll;
  bool paired = false;  // depth is in the order of paired_weights.h, followed by its tables

  constexpr bool sparse() const { return density != Density::kAll; }
  constexpr bool tight() const { return density == Density::kTwoOfFourTight; }
  // Depth that kernels multiply
  constexpr size_t steps(size_t k) const { return round_up(k, kr); }
  // Depth that a lane takes in a panel, with the tables of pairs
  constexpr size_t depth(size_t k) const { return paired ? paired_depth(k) : steps(k); }
  constexpr size_t lanes(size_t n) const { return round_up(n, step); }
  // Elements that one lane takes for `steps`, a whole number of groups. A sparse lane stores two
  // values of four, and half a byte or a quarter for the place of each.
  constexpr size_t stored(size_t steps) const {
    return tight() ? steps / 8 * 5 : sparse() ? steps / 4 * 3 : steps;
  }
  constexpr size_t group_bytes() const { return stored(kr); }
  constexpr size_t lane_bytes(size_t k) const { return stored(depth(k)); }
  constexpr size_t bytes(size_t n, size_t k) const {
    return lanes(n) * lane_bytes(k) * element_size(element_type);
  }
  constexpr size_t panel_offset(size_t lane, size_t k) const {
    return lane / width * width * lane_bytes(k);
  }
  constexpr size_t panel_width(size_t lane, size_t n) const {
    return smaller(width, lanes(n) - lane / width * width);
  }
  constexpr bool operator==(const RhsLayout& o) const {
    return width == o.width && step == o.step && kr == o.kr && element_type == o.element_type &&
           density == o.density && paired == o.paired;
  }
};

}  // namespace octet
