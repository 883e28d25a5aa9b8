// SPDX-License-Identifier: Apache-2.0
// s16 x s16 -> s32 on xsimd's batches, some rows x some vectors of columns, for Winograd. Sums
// wrap.
//
// Rows are read where they lie, a pair of int16 at a time, which a shuffle repeats for all columns.
// The more vectors share a pair, the better; weights are memory operands of their products.
#pragma once

#include "kernels/xsimd/store.h"

namespace octet {
namespace {

// ahead: prefetch distance of the weights in bytes; they are read once, and too far apart for the
// hardware's prefetchers.
template <int rows, int vectors, size_t ahead>
void multiply_int16(const Tile& t) {
  constexpr size_t kInt16 = 2 * kLanes;  // int16 per vector
  Sums acc[rows][vectors];
  unroll<rows>([&](auto i) OCTET_INLINE {
    unroll<vectors>([&](auto v) OCTET_INLINE {
      acc[i][v] = load<int32_t>(t.init + i * t.init_stride + kLanes * v);
    });
  });
  const uint8_t *lhs = (const uint8_t*)t.lhs, *rhs = t.rhs;
  const size_t stride = t.lhs_stride;
  OCTET_NO_UNROLL
  for (size_t groups = (t.depth + 1) / 2; groups; --groups) {
    __builtin_prefetch(rhs + ahead);
    unroll<rows>([&](auto i) OCTET_INLINE {
      int32_t pair;
      __builtin_memcpy(&pair, lhs + i * stride, sizeof pair);
      const Int16 a = as<Int16>(Sums(pair));
      unroll<vectors>([&](auto v) OCTET_INLINE {
        add_pairs(acc[i][v], a, Int16::load_aligned((const int16_t*)rhs + kInt16 * v));
      });
    });
    lhs += 4;
    rhs += sizeof(Int16) * vectors;
  }
  store_sums(t, acc);
}

template <int rows, int vectors, size_t ahead>
OCTET_INLINE inline void multiply_int16_by_rows(const Tile& t) {
  if constexpr (rows > 1)
    if ((int)t.rows < rows) return multiply_int16_by_rows<rows - 1, vectors, ahead>(t);
  multiply_int16<rows, vectors, ahead>(t);
}

}  // namespace
}  // namespace octet
