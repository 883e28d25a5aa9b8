// SPDX-License-Identifier: Apache-2.0
// Multiplies 2:4 sparse weights (kernels/core/sparse.h) by VPDPBUSD: a register repeats eight lhs
// bytes of a row, a shuffle picks the byte that each weight meets, and one dot product does the
// work of two dense ones.
//
//     row i, steps 0-7, broadcast      x0 x1 x2 x3 x4 x5 x6 x7 | x0 x1 ...
//     places of a lane                  1  3  4  4
//     shuffled                         x1 x3 x4 x4 | ...
//     values of the lane                a  b  c  0 | ...          acc += x1 a + x3 b + x4 c
//
// Per group of 16 steps: a load of places and a shift, two loads of values for each vector of
// columns; for each row two broadcasts, and two shuffles and two dot products for each vector.
//
// `wide_places` first turns places of the tight format into those of two groups of 16 steps, by at
// most a shift, a mask and an or.
//
// `Width` has the vectors of an ISA: Vector, kApart (bytes from one vector of columns to the next
// in a line, or 0 if each is in a panel of its own), ahead (prefetch distance of the weights in
// bytes for a count of rows, or 0), sets (of accumulators, for a count of rows), kRegisters, and
// the operations used below.
#pragma once

#include "kernels/core/compiler.h"
#include "kernels/core/micro_kernel.h"
#include "kernels/core/sparse.h"
#include "kernels/x86/shared/by_rows.h"

namespace octet {
namespace {

// Multiplies tiles of at most `most` rows.
template <typename Width, bool tight, int most, int vectors>
class SparseProduct {
  using Vector = typename Width::Vector;
  static constexpr int kLines = tight ? 4 : 2;  // lines of values in a group
  static constexpr size_t kSteps = 8 * kLines, kGroup = (kLines + 1) * kSparseLine,
                          kPlaces = tight ? 0 : kLines * kSparseLine,
                          kValues = tight ? kSparseLine : 0;

 public:
  OCTET_INLINE explicit SparseProduct(const Tile& t)
      : rhs_(t.rhs),
        panel_(Width::kApart ? Width::kApart : t.rhs_panel_stride),
        end_(t.depth / kSteps * kSteps) {
    for_rows<most>(t.rows, [&](auto i) OCTET_INLINE {
      lhs_[i] = t.lhs_rows ? t.lhs_rows[i] : (const uint8_t*)t.lhs + i * t.lhs_stride;
    });
  }

  OCTET_INLINE void add(const Tile& t, Vector (&acc)[most][vectors]) {
    const Tile* again = &t;  // see avx512vnni_u8s8_6x64x4.cc
    spill(again);
    for (size_t tap = 1;; ++tap) {
      k_ = 0;
      by_rows<1, most>(again->rows, [&](auto rows) OCTET_INLINE {
        if (again->lhs_flip)
          add_groups<true, rows>(acc);
        else
          add_groups<false, rows>(acc);
      });
      spill(again);
      if (const size_t tail = again->depth % kSteps) {
        add_tail(again->rows, tail, again->lhs_flip, acc);
        spill(again);
      }
      if (tap == again->taps) return;
      const uint8_t* const* rows_of_tap =
          again->lhs_rows ? again->lhs_rows + tap * again->rows : nullptr;
      const ptrdiff_t step_to_tap = rows_of_tap ? 0 : again->tap_steps[tap - 1];
      for_rows<most>(again->rows, [&](auto i) OCTET_INLINE {
        lhs_[i] = rows_of_tap ? rows_of_tap[i] : lhs_[i] + step_to_tap;
      });
    }
  }

 private:
  // Multiplies one group. each(f) calls f for the rows; eight(bytes, line) broadcasts eight lhs
  // bytes of a row; more: the group has more than 16 steps; sum(line, i, v): the address of an
  // accumulator, since GCC 9 refuses an attribute before a lambda's return type, a reference.
  template <int rows, typename Each, typename Eight, typename More, typename Sum>
  OCTET_INLINE void step(const Each& each, const Eight& eight, More more, const Sum& sum) {
    constexpr int kAhead = Width::ahead(tight, rows), kPanels = Width::kApart ? 1 : vectors;
    Vector places[vectors];
    if constexpr (kAhead > 0)
      unroll<kPanels>([&](auto p) OCTET_INLINE {
        unroll<kLines + 1>([&](auto line) OCTET_INLINE {
          _mm_prefetch((const char*)rhs_ + kAhead + line * kSparseLine + p * panel_, _MM_HINT_T0);
        });
      });
    unroll<kLines>([&](auto line) OCTET_INLINE {
      if (line.value >= 2 && !more) return;
      // With few registers, places are read again rather than kept
      if constexpr (line.value == 2 && Width::kRegisters < 32) __asm__("" : "+r"(rhs_));
      Vector values[vectors];
      unroll<vectors>([&](auto v) OCTET_INLINE {
        values[v] = Width::load(rhs_ + kValues + line * kSparseLine + v * panel_);
        if constexpr (line.value % 2)
          places[v] = Width::upper_places(places[v]);
        else
          places[v] = Width::load(rhs_ + kPlaces + v * panel_);
        if constexpr (tight && line.value % 2 == 0)
          places[v] = Width::wide_places(places[v], line.value / 2);
        // Else GCC reads both again for each row: a zmm load takes Zen 4 as long as a product.
        if constexpr (rows > 1 && Width::kRegisters >= 32) {
          pin(values[v]);
          if constexpr (!tight) pin(places[v]);
        }
      });
      each([&](auto i) OCTET_INLINE {
        const Vector a = eight(lhs_[i] + k_, line);
        unroll<vectors>([&](auto v) OCTET_INLINE {
          Vector& to = *sum(line, i, v);
          to = Width::dot(to, Width::shuffle(a, places[v]), values[v]);
          pin(to);
        });
      });
    });
    k_ += kSteps;
    rhs_ += kGroup;
  }

  // Multiplies the whole groups of a tap. Few rows split the depth over several sets of
  // accumulators to hide the latency.
  template <bool flip, int rows>
  OCTET_INLINE void add_groups(Vector (&acc)[most][vectors]) {
    constexpr int sets = Width::sets(tight, rows, vectors);
    Vector more[sets][rows][vectors];  // but for the first, which is acc
    unroll<sets - 1>([&](auto s) OCTET_INLINE {
      unroll<rows>([&](auto i) OCTET_INLINE {
        unroll<vectors>([&](auto v) OCTET_INLINE { more[s + 1][i][v] = Width::zero(); });
      });
    });
    const auto eight = [](const uint8_t* bytes, auto line) OCTET_INLINE {
      const Vector a = Width::eight(bytes + 8 * line);
      return flip ? Width::flipped(a) : a;
    };
    const auto group = [&](auto turn) OCTET_INLINE {
      step<rows>([](const auto& f) OCTET_INLINE { unroll<rows>(f); }, eight, Int<1>{},
                 [&](auto line, int i, int v) OCTET_INLINE {
                   constexpr int set = (kLines * turn.value + line.value) % sets;
                   if constexpr (set == 0)
                     return &acc[i][v];
                   else
                     return &more[set][i][v];
                 });
    };
    if constexpr (sets > kLines) {
      OCTET_NO_UNROLL
      while (k_ + 2 * kSteps <= end_) {
        group(Int<0>{});
        group(Int<1>{});
      }
    }
    OCTET_NO_UNROLL
    while (k_ < end_) group(Int<0>{});
    unroll<sets - 1>([&](auto s) OCTET_INLINE {
      unroll<rows>([&](auto i) OCTET_INLINE {
        unroll<vectors>([&](auto v)
                            OCTET_INLINE { acc[i][v] = Width::add(acc[i][v], more[s + 1][i][v]); });
      });
    });
  }

  // Multiplies the last steps of a tap, less than a group has.
  OCTET_INLINE void add_tail(size_t rows, size_t tail, bool flips, Vector (&acc)[most][vectors]) {
    // The first 16 steps, or the rest after them
    const bool follows = k_ > 0 || tail >= 16;
    const size_t first = smaller(tail, 16);
    step<most>([rows](const auto& f) OCTET_INLINE { for_rows<most>(rows, f); },
               [tail, first, flips, follows](const uint8_t* bytes, auto line) OCTET_INLINE {
                 constexpr int half = line.value % 2;
                 return line.value < 2
                            ? Width::template eight_of<half>(bytes, first, flips, follows)
                            : Width::template eight_of<half>(bytes + 16, tail - 16, flips, true);
               },
               tail > 16, [&](auto, int i, int v) OCTET_INLINE { return &acc[i][v]; });
  }

  const uint8_t* lhs_[most];
  const uint8_t* rhs_;
  const size_t panel_, end_;
  size_t k_;
};

}  // namespace
}  // namespace octet
