// SPDX-License-Identifier: Apache-2.0
// Adds the products of rows by one tap's weights to sums in memory (MicroKernel::add_tap):
//
//                      one vector   the next
//                     +------------+--------+
//   row i, 4 bytes    | sums[i][0] |  [1]   |   of any rows, each with the place of its sums
//   broadcast         +------------+--------+
//
// A dot product takes five cycles, and two begin in each: tiles of few rows, or of the first vector
// alone for few columns, spread the depth over two to four sets of accumulators.
//
// `Width` has the vectors of an ISA: Vector, kLanes (int32 of one), kApart (bytes from the first
// vector of columns to the second in a line, or 0 if that is in the next panel), kTwoSets (rows, up
// to which there are two sets), and the operations used below.
#pragma once

#include "kernels/core/compiler.h"
#include "kernels/core/micro_kernel.h"
#include "kernels/x86/shared/quads.h"

namespace octet {
namespace {

constexpr int sets_of(int rows, int vectors, int two_sets) {
  if (vectors == 1) return rows <= 3 ? 4 : rows == 4 ? 3 : 2;
  return rows <= 2 ? 5 - rows : rows <= two_sets ? 2 : 1;
}

template <typename Width, int rows, int vectors>
class TapTile {
  using Vector = typename Width::Vector;
  using Sums = Vector[rows][vectors];
  static constexpr size_t kGroup = 64, kAhead = 2048;  // bytes; the next taps' weights follow
  static constexpr int kSets = sets_of(rows, vectors, Width::kTwoSets);

  template <typename F>
  OCTET_INLINE static inline void each(const F& f) {
    unroll<rows>([&](auto i)
                     OCTET_INLINE { unroll<vectors>([&](auto v) OCTET_INLINE { f(i, v); }); });
  }
  OCTET_INLINE static inline void clear(Sums& sums) {
    each([&](auto i, auto v) OCTET_INLINE { sums[i][v] = Width::zero(); });
  }
  OCTET_INLINE static inline void add(Sums& sums, const Sums& others) {
    each([&](auto i, auto v) OCTET_INLINE { sums[i][v] = Width::add(sums[i][v], others[i][v]); });
  }

  // Multiplies group `at` from step k on.
  template <bool flip>
  OCTET_INLINE inline void multiply(size_t k, size_t at, Sums& sums) const {
    const uint8_t* const rhs = rhs_ + at * kGroup;
    Vector b[vectors];
    unroll<vectors>([&](auto v) OCTET_INLINE {
      b[v] = Width::load(rhs + v * apart_);
      pin(b[v]);
      if (v == 0 || !Width::kApart)
        _mm_prefetch((const char*)rhs + v * apart_ + kAhead, _MM_HINT_T0);
    });
    unroll<rows>([&](auto i) OCTET_INLINE {
      Vector a = Width::repeat(load_quad(lhs_[i] + k + 4 * at));
      if constexpr (flip) a = Width::flip(a, flips_);
      unroll<vectors>([&](auto v) OCTET_INLINE {
        sums[i][v] = Width::add_products(sums[i][v], a, b[v]);
        pin(sums[i][v]);
      });
    });
  }

 public:
  // Adds the products of rows from `first` on. Sets are arrays of their own: GCC 12 keeps an array
  // of them in memory.
  template <bool flip>
  static void add_rows(const TapRows& t, size_t first) {
    TapTile tile;
    Sums sums, second, third, fourth;
    int32_t* to[rows];
    unroll<rows>([&](auto i) OCTET_INLINE {
      tile.lhs_[i] = t.rows[first + i];
      to[i] = t.sums + t.places[first + i] * 2 * Width::kLanes;
      unroll<vectors>([&](auto v) OCTET_INLINE {
        sums[i][v] = Width::load(to[i] + v * Width::kLanes);
        pin(sums[i][v]);
      });
    });
    spill(to);
    clear(second);
    clear(third);
    clear(fourth);
    tile.flips_ = Width::repeat((int32_t)t.lhs_flip);
    tile.rhs_ = t.rhs;
    tile.apart_ = Width::kApart ? Width::kApart : t.panel_stride;
    size_t k = 0;
    if constexpr (kSets > 1) {
      OCTET_NO_UNROLL
      for (; k + 4 * kSets <= t.depth; k += 4 * kSets, tile.rhs_ += kSets * kGroup) {
        tile.template multiply<flip>(k, 0, sums);
        tile.template multiply<flip>(k, 1, second);
        if constexpr (kSets > 2) tile.template multiply<flip>(k, 2, third);
        if constexpr (kSets > 3) tile.template multiply<flip>(k, 3, fourth);
      }
    }
    OCTET_NO_UNROLL
    for (; k < t.depth; k += 4, tile.rhs_ += kGroup) tile.template multiply<flip>(k, 0, sums);
    if constexpr (kSets > 1) add(sums, second);
    if constexpr (kSets > 3) add(third, fourth);
    if constexpr (kSets > 2) add(sums, third);
    each([&](auto i, auto v) OCTET_INLINE { Width::store(to[i] + v * Width::kLanes, sums[i][v]); });
  }

 private:
  const uint8_t* lhs_[rows];
  const uint8_t* rhs_;
  size_t apart_;
  Vector flips_;
};

// A function for tiles of so many rows. Any count of rows is some tiles, the tallest first.
struct TapHeight {
  size_t rows;
  void (*add)(const TapRows& t, size_t first);
};
template <size_t count>
void add_by_heights(const TapRows& t, const TapHeight (&heights)[count]) {
  size_t first = 0;
  for (const TapHeight& height : heights)
    for (; t.count - first >= height.rows; first += height.rows) height.add(t, first);
}

}  // namespace
}  // namespace octet
