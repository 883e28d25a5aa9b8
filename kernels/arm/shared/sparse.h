// SPDX-License-Identifier: Apache-2.0
// Multiplies 2:4 sparse weights (kernels/core/sparse.h) by table look-up: TBL picks, from eight
// bytes of a row, the bytes that a vector's values meet.
#pragma once

#include <arm_neon.h>

#include "kernels/core/compiler.h"
#include "kernels/core/lhs_rows.h"
#include "kernels/core/sparse.h"

namespace octet {

// Gathers steps 0-7 of every row, then steps 8-15 of every row, then the next 16 steps, so that one
// load brings several tables. lanes = rows, because kernels take any number.
void gather_tables(const Rows& rows, size_t lanes, void* panel);

namespace {

// to[i] = table[places[i]]: the lhs bytes that a vector's values meet. Pinned, as in pinned.h.
OCTET_INLINE inline void look_up(int8x16_t& to, int8x16_t table, uint8x16_t places) {
  __asm__ volatile("tbl %0.16b, {%1.16b}, %2.16b" : "=w"(to) : "w"(table), "w"(places));
}

// The places, within eight steps, of the values of a group's first or second line.
template <int half>
OCTET_INLINE inline uint8x16_t places_of(int8x16_t both, uint8x16_t seven) {
  uint8x16_t places;
  if constexpr (half)
    __asm__ volatile("ushr %0.16b, %1.16b, #4" : "=w"(places) : "w"(both));
  else
    __asm__ volatile("and %0.16b, %1.16b, %2.16b" : "=w"(places) : "w"(both), "w"(seven));
  return places;
}

}  // namespace
}  // namespace octet
