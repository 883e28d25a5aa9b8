// Gathers lhs rows into a panel in plain loops, compiled once per tier like epilogue.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

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

}  // namespace
}  // namespace octet
