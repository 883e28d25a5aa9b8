// SPDX-License-Identifier: Apache-2.0
// s16 x s8 -> s32 or 8 bits on xsimd's batches, up to 6 rows x 2 vectors of columns. Exact for all
// inputs, because int8 values are multiplied as int16.
//
//                          columns 0..    next vector
//                         +-------------+-------------+    12 accumulators, 2 for rhs, 1 for lhs,
//   row i, a pair of      | acc[i][0]   |  acc[i][1]  |    1 product: 16 registers of 16
//   int16, repeated       +-------------+-------------+
//
// A pair of int16 is two depth steps of a group of four that lie two apart, so that shifts widen a
// column's four bytes: 0 and 2 are the lower halves of int16, 1 and 3 the upper ones. gather widens
// the lhs once, in the same order, and writes each pair twice: ISAs without a load that repeats 32
// bits have one that repeats 64, which saves a shuffle per row.
//
// Per group and row: 2 loads, 4 multiplications of pairs, 4 additions; and 4 loads of weights that
// all rows share. Where few tiles read the weights, shifts widen them; else `decode` did so once.
#pragma once

#include "kernels/xsimd/store.h"

namespace octet {
namespace {

constexpr int kMr = 6, kNr = 2 * kLanes;
constexpr size_t kGroupElements = 8;  // of a row's group in a panel: two pairs, each twice

// Stores a vector of bytes as int16: each group's even bytes twice, then its odd bytes twice.
OCTET_INLINE inline void store_groups(Batch<uint8_t> bytes, size_t groups, size_t apart,
                                      int16_t* to) {
  using Unsigned = Batch<uint16_t>;
  const Unsigned int16 = as<Unsigned>(bytes);
  const Sums even = as<Sums>(int16 & Unsigned((uint16_t)0xff)), odd = as<Sums>(int16 >> 8);
  const Sums both[2] = {xsimd::zip_lo(even, odd), xsimd::zip_hi(even, odd)};
  unroll<2>([&](auto half) OCTET_INLINE {
    const auto store = [&](const Sums& twice, size_t first) OCTET_INLINE {
      constexpr size_t kGroups = kLanes / 4;
      if (first < groups) twice.store_unaligned((int32_t*)(to + apart * first));
      static_assert(kGroups == 1, "one group in a vector");
    };
    store(xsimd::zip_lo(both[half], both[half]), 2 * half);
    store(xsimd::zip_hi(both[half], both[half]), 2 * half + 1);
  });
}

// lanes = rows, because the kernel takes any number.
void gather(const Rows& r, size_t lanes, void* panel) {
  constexpr size_t kInt8 = 4 * kLanes;
  const Batch<uint8_t> flip(r.flip);
  const size_t whole = r.depth / kInt8 * kInt8, rest = r.depth % kInt8,
               apart = kGroupElements * lanes;
  for (size_t lane = 0; lane < lanes; ++lane) {
    const uint8_t* const row = r.row(lane);
    int16_t* to = (int16_t*)panel + kGroupElements * lane;
    for (size_t k = 0; k < whole; k += kInt8, to += apart * kInt8 / 4)
      store_groups(load<uint8_t>(row + k) ^ flip, kInt8 / 4, apart, to);
    if (!rest) continue;
    // The last bytes end the first half; zeros follow.
    uint8_t last[2 * kInt8];
    Batch<uint8_t>((uint8_t)0).store_unaligned(last + kInt8);
    if (whole) {
      (load<uint8_t>(row + r.depth - kInt8) ^ flip).store_unaligned(last);
    } else {
      OCTET_NO_UNROLL
      for (size_t i = 0; i < rest; ++i) last[kInt8 - rest + i] = row[i] ^ r.flip;
    }
    store_groups(load<uint8_t>(last + kInt8 - rest), (rest + 3) / 4, apart, to);
  }
}

// Widens the even or the odd bytes with their signs.
template <int odd>
OCTET_INLINE inline Int16 widened(const uint8_t* rhs) {
  const Int16 bytes = load<int16_t>(rhs);
  return (odd ? bytes : bytes << 8) >> 8;
}

constexpr size_t kDecodedGroup = 4 * kNr * sizeof(int16_t);

// Widens groups to int16.
inline void decode(const uint8_t* rhs, size_t rhs_stride, size_t groups, uint8_t* to) {
  for (; groups; --groups, rhs += rhs_stride, to += kDecodedGroup) {
    int16_t* const int16 = (int16_t*)to;
    unroll<2>([&](auto p) OCTET_INLINE {
      unroll<2>([&](auto v) OCTET_INLINE {
        widened<p>(rhs + 4 * kLanes * v).store_aligned(int16 + 2 * kNr * p + 2 * kLanes * v);
      });
    });
  }
}

// wide: the weights are int16 already; vectors: vectors of columns.
template <bool wide, int vectors, int rows>
OCTET_INLINE inline void add_products(const Tile& t, Sums (&acc)[rows][2]) {
  const int16_t* lhs = (const int16_t*)t.lhs;
  const uint8_t* rhs = t.rhs;
  const size_t step = wide ? kDecodedGroup : t.rhs_stride;
  OCTET_NO_UNROLL
  for (size_t groups = (t.depth + 3) / 4; groups; --groups) {
    unroll<2>([&](auto p) OCTET_INLINE {
      Int16 b[vectors];
      unroll<vectors>([&](auto v) OCTET_INLINE {
        b[v] = wide ? Int16::load_aligned((const int16_t*)rhs + 2 * kNr * p + 2 * kLanes * v)
                    : widened<p>(rhs + 4 * kLanes * v);
      });
      unroll<rows>([&](auto i) OCTET_INLINE {
        const Int16 a = repeat_four(lhs + kGroupElements * i + 4 * p);
        unroll<vectors>([&](auto v) OCTET_INLINE { add_pairs(acc[i][v], a, b[v]); });
      });
    });
    lhs += kGroupElements * rows;
    rhs += step;
  }
}

template <int rows>
void multiply(const Tile& t) {
  Sums acc[rows][2];
  unroll<rows>([&](auto i) OCTET_INLINE {
    const Sums more(t.row_init ? t.row_init[i] : 0);
    unroll<2>([&](auto v) OCTET_INLINE {
      acc[i][v] = load<int32_t>(t.init + i * t.init_stride + kLanes * v) + more;
    });
    __builtin_prefetch((const char*)t.dst + i * t.dst_stride);
  });
  if (t.rhs_decoded)
    t.cols > kLanes ? add_products<true, 2>(t, acc) : add_products<true, 1>(t, acc);
  else
    t.cols > kLanes ? add_products<false, 2>(t, acc) : add_products<false, 1>(t, acc);
  t.scale ? store_requantized8(t, acc) : store_sums(t, acc);
}

void dispatch(const Tile& t) {
  static constexpr MultiplyFn kByRows[kMr] = {multiply<1>, multiply<2>, multiply<3>,
                                              multiply<4>, multiply<5>, multiply<6>};
  kByRows[t.rows - 1](t);
}

}  // namespace
}  // namespace octet
