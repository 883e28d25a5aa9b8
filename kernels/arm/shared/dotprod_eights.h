// SPDX-License-Identifier: Apache-2.0
// Rows in eights, for products of many columns by SDOT: of each six rows the first 8 bytes, row
// after row, then the next 8. One load of three registers takes what three loads take where rows
// lie, and the registers that are left take four vectors of columns by one load.
//
//                    lanes 0 1    2 3
//                   +---------+---------+
//   8 bytes of rows |  0      |  1      |  register 0
//                   |  2      |  3      |  register 1
//                   |  4      |  5      |  register 2
//                   +---------+---------+
#pragma once

#include "kernels/arm/shared/flip_rows.h"
#include "kernels/arm/shared/pinned.h"

namespace octet {
namespace {

struct Eights {
  static constexpr int kRows = 6;
};

// Stores 8 bytes of each row, the low or the high halves, and steps to the next eight.
OCTET_INLINE inline void store_eight(const uint64x2_t (&pairs)[3], uint8_t*& to) {
  register uint64x2_t x0 __asm__("v16") = pairs[0];
  register uint64x2_t x1 __asm__("v17") = pairs[1];
  register uint64x2_t x2 __asm__("v18") = pairs[2];
  __asm__ volatile("st1 {%1.16b, %2.16b, %3.16b}, [%0], #48"
                   : "+r"(to)
                   : "w"(x0), "w"(x1), "w"(x2)
                   : "memory");
}

// Copies six rows in eights, and zeros beyond their ends up to a multiple of 8.
template <bool flip>
void copy_eights(const uint8_t* from, size_t stride, size_t depth, uint8_t* to) {
  constexpr int kRows = Eights::kRows;
  const uint8_t* row[kRows];
  unroll<kRows>([&](auto i) OCTET_INLINE { row[i] = from + i * stride; });
  uint8x16_t sign = vdupq_n_u8(0x80);
  pin(sign);
  size_t left = depth;
  OCTET_NO_UNROLL
  for (; left >= 32; left -= 32) {
    int8x16_t loaded[kRows][2];
    unroll<kRows>([&](auto i) OCTET_INLINE {
      load_rows_twice<i % 4>(loaded[i][0], loaded[i][1], row[i]);
      if (flip) {
        loaded[i][0] = veorq_s8(loaded[i][0], vreinterpretq_s8_u8(sign));
        loaded[i][1] = veorq_s8(loaded[i][1], vreinterpretq_s8_u8(sign));
      }
    });
    unroll<2>([&](auto half) OCTET_INLINE {
      uint64x2_t low[3], high[3];
      unroll<3>([&](auto p) OCTET_INLINE {
        const uint64x2_t a = vreinterpretq_u64_s8(loaded[2 * p][half]),
                         b = vreinterpretq_u64_s8(loaded[2 * p + 1][half]);
        low[p] = vzip1q_u64(a, b);
        high[p] = vzip2q_u64(a, b);
      });
      store_eight(low, to);
      store_eight(high, to);
    });
  }
  const uint64_t flips = flip ? 0x8080808080808080 : 0;
  OCTET_NO_UNROLL
  for (; left >= 8; left -= 8, to += 8 * kRows)
    unroll<kRows>([&](auto i) OCTET_INLINE {
      store8(load8(row[i]) ^ flips, to + 8 * i);
      row[i] += 8;
    });
  if (left)
    unroll<kRows>([&](auto i)
                      OCTET_INLINE { store8(load_tail(row[i], left) ^ flips, to + 8 * i); });
}

// MicroKernel::arrange_rows: sixes in eights, and the rows after them as they are.
inline void arrange_eights(const Rows& rows, size_t stride, uint8_t* to) {
  constexpr size_t kRows = Eights::kRows;
  const auto copy = rows.flip ? copy_eights<true> : copy_eights<false>;
  uint8x16_t sign = vdupq_n_u8(rows.flip);
  pin(sign);
  size_t i = 0;
  for (; i + kRows <= rows.rows; i += kRows)
    copy(rows.row(i), rows.stride, rows.depth, to + i * stride);
  for (; i < rows.rows; ++i) copy_flipped(rows.row(i), rows.depth, sign, to + i * stride);
}

// Multiplies six rows in eights by 4 * `vectors` columns; rhs_stride: bytes between groups of fewer
// than 16 columns.
template <int vectors>
OCTET_INLINE inline void multiply_eights(const uint8_t* lhs, const uint8_t* rhs,
                                         [[maybe_unused]] size_t rhs_stride, size_t depth,
                                         int32x4_t (&acc)[Eights::kRows][vectors]) {
  int8x16_t a[4];
  const auto group = [&](auto half) OCTET_INLINE {
    int8x16_t b[4];
    if constexpr (vectors == 4) {
      load_columns_list<4>(b, rhs);
    } else {
      load_two<0>(b[0], b[1], rhs);
      rhs += rhs_stride;
    }
    unroll<vectors>([&](auto v) OCTET_INLINE {
      unroll<Eights::kRows>(
          [&](auto i) OCTET_INLINE { dot<2 * (i % 2) + half>(acc[i][v], b[v], a[i / 2]); });
    });
  };
  const auto eight = [&]() OCTET_INLINE {
    load_rows_list<3>(a, lhs);
    group(Int<0>{});
    group(Int<1>{});
  };
  OCTET_NO_UNROLL
  for (size_t twice = depth / 16; twice; --twice) {
    eight();
    eight();
  }
  if (depth & 8) eight();
  if (depth % 8 == 0) return;
  load_rows_list<3>(a, lhs);
  group(Int<0>{});
  if (depth & 4 && depth & 3) group(Int<1>{});
}

}  // namespace
}  // namespace octet
