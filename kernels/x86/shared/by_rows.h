// SPDX-License-Identifier: Apache-2.0
// Calls one text for tiles of any count of rows, as a constant where it is known.
#pragma once

#include <stddef.h>

#include "kernels/core/compiler.h"

namespace octet {
namespace {

// Calls f(i) for the rows of a tile: 1 <= rows <= most; Int<most> if known.
template <int most, typename Rows, typename F>
OCTET_INLINE inline void for_rows(Rows rows, const F& f) {
  unroll<most>([&](auto i) OCTET_INLINE {
    if (i == 0 || (size_t)i < (size_t)rows) f(i);
  });
}

// Sets of accumulators among which few rows split the depth, to hide the latency of dot products.
constexpr int sets_of(int rows, int vectors) {
  return rows * vectors >= 8 ? 1 : rows * vectors >= 4 ? 2 : 4;
}

// Calls f(Int<rows>), for least <= rows <= most.
template <int least, int most, typename F>
OCTET_INLINE inline void by_rows(size_t rows, const F& f) {
  if constexpr (least == most)
    f(Int<most>{});
  else if (rows == most)
    f(Int<most>{});
  else
    by_rows<least, most - 1>(rows, f);
}

}  // namespace
}  // namespace octet
