// How an operand lies in a panel.
//
// A panel holds some lanes (rows of lhs, columns of rhs) over the whole depth, kr consecutive depth
// steps of one lane side by side:
//
//     panel(k, lane) = (k / kr) * width * kr  +  lane * kr  +  k % kr
//
// The rhs is cut into panels of `width` lanes; the last one is as narrow as `step` allows, so that
// N = 24 does not pay for 64. Depth and lanes beyond the matrix are zero. The layout is the
// contract between packed weights and kernels: it never depends on M, and every kernel with the
// same layout reads the same blob.
#pragma once

#include "kernels/core/paired_weights.h"

namespace octet {

constexpr size_t round_up(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}
// The same for what is nearly always a power of two, but no constant: no division then.
constexpr size_t round_up_pow2(size_t value, size_t multiple) {
  return multiple & (multiple - 1) ? round_up(value, multiple)
                                   : (value + multiple - 1) & (0 - multiple);
}
// Of any value: a sum with the divisor could leave size_t.
constexpr size_t divide_up(size_t value, size_t divisor) {
  return value / divisor + (value % divisor != 0);
}
constexpr size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
constexpr size_t larger(size_t a, size_t b) { return a > b ? a : b; }

// Of blobs, workspaces and every section within them: a cache line and the widest vector
constexpr size_t kAlignment = 64;

// Which integers an operand is made of. Flipping the top bit of a byte turns s8 into u8 and back,
// and moves the zero point by 128. s16 is for operands that Octet makes itself (Winograd).
enum class ElementType : uint8_t { kS8, kU8, kS16 };
constexpr size_t element_size(ElementType element_type) {
  return element_type == ElementType::kS16 ? 2 : 1;
}

// Which of the weights a panel holds: all, or two of every four along depth, with their places in
// half a byte each or a quarter (kernels/core/sparse.h).
enum class Density : uint8_t { kAll, kTwoOfFour, kTwoOfFourTight };

struct RhsLayout {
  uint16_t width;  // lanes of a full panel
  uint16_t step;   // the last panel's lanes are a multiple of this
  uint16_t kr;
  ElementType element_type;
  Density density = Density::kAll;
  bool paired = false;  // depth in the order of pairs.h, with its tables behind

  constexpr bool sparse() const { return density != Density::kAll; }
  constexpr bool tight() const { return density == Density::kTwoOfFourTight; }
  // That kernels multiply
  constexpr size_t steps(size_t k) const { return round_up(k, kr); }
  // That a lane takes
  constexpr size_t depth(size_t k) const { return paired ? paired_depth(k) : steps(k); }
  constexpr size_t lanes(size_t n) const { return round_up(n, step); }
  // Of bytes: what one lane takes for so many steps, a whole number of groups. Sparse: two values
  // of four, and half a byte or a quarter for the place of each.
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
