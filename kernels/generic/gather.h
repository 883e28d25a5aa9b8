// SPDX-License-Identifier: Apache-2.0
// Gathers lhs rows into a panel in plain loops, compiled once per tier like epilogue.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/core/compiler.h"
#include "kernels/core/lhs_rows.h"

namespace octet {
namespace {

// panel(k, lane) = (k / kr) * lanes * kr + lane * kr + k % kr; elements are flipped, then widened
// to Element.
template <typename Element, size_t kr>
void gather_rows(const Rows& r, size_t lanes, void* panel) {
  Element* const out = (Element*)panel;
  const size_t groups = r.depth / kr, tail = r.depth % kr;
  for (size_t lane = 0; lane < lanes; ++lane) {
    Element* to = out + lane * kr;
    if (lane >= r.rows) {
      for (size_t g = 0; g < groups + (tail != 0); ++g, to += lanes * kr)
        for (size_t c = 0; c < kr; ++c) to[c] = 0;
      continue;
    }
    const uint8_t* from = r.row(lane);
    for (size_t g = 0; g < groups; ++g, from += kr, to += lanes * kr)
      for (size_t c = 0; c < kr; ++c) to[c] = (Element)(uint8_t)(from[c] ^ r.flip);
    if (tail)
      for (size_t c = 0; c < kr; ++c)
        to[c] = c < tail ? (Element)(uint8_t)(from[c] ^ r.flip) : (Element)0;
  }
}

// Of s16 values, for kernels of kGathersEvenStepsFirst: a group is steps 0 and 2, then 1 and 3,
// each pair so many times. One row; `step` bytes lie between its groups.
template <size_t times>
OCTET_INLINE inline void gather_row_of_s16(const uint8_t* from, size_t depth, size_t step,
                                           uint8_t* to) {
  for (size_t left = depth; left; from += 8, to += step) {
    uint64_t steps = 0;
    if (left >= 4)
      __builtin_memcpy(&steps, from, sizeof steps);
    else
      __builtin_memcpy(&steps, from, 2 * left);
    left = left > 4 ? left - 4 : 0;
    const uint64_t middle = steps << 16 >> 32 << 16,  // steps 1 and 2
        pairs = (steps ^ middle) | (middle << 16 & 0xffff00000000) | (middle >> 16 & 0xffff0000);
    for (size_t i = 0; i < 2 * times; ++i) {
      const uint32_t pair = (uint32_t)(pairs >> i / times * 32);
      __builtin_memcpy(to + 4 * i, &pair, sizeof pair);
    }
  }
}

}  // namespace
}  // namespace octet
