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
// bytes for a count of rows, or 0), kRegisters, and the operations used below.
#pragma once

#include "kernels/core/compiler.h"
#include "kernels/core/sparse.h"

namespace octet {
namespace {

// acc[set][row][vector]; few rows split the depth over several sets to hide the latency.
template <typename Width, bool tight, int sets, int rows, int vectors>
OCTET_INLINE inline void add_sparse_products(const Tile& t,
                                             typename Width::Vector (&acc)[sets][rows][vectors]) {
  using Vector = typename Width::Vector;
  const uint8_t* lhs[rows];
  unroll<rows>([&](auto i) OCTET_INLINE {
    lhs[i] = t.lhs_rows ? t.lhs_rows[i] : (const uint8_t*)t.lhs + i * t.lhs_stride;
  });
  const uint8_t* rhs = t.rhs;
  constexpr int kLines = tight ? 4 : 2;  // lines of values in a group
  constexpr size_t kSteps = 8 * kLines, kGroup = (kLines + 1) * kSparseLine,
                   kPlaces = tight ? 0 : kLines * kSparseLine, kValues = tight ? kSparseLine : 0;
  constexpr int kAhead = Width::ahead(tight, rows), kPanels = Width::kApart ? 1 : vectors;
  const size_t panel = Width::kApart ? Width::kApart : t.rhs_panel_stride,
               end = t.depth / kSteps * kSteps;
  const Tile* again = &t;  // see avx512vnni_u8s8_6x64x4.cc
  spill(again);
  for (size_t tap = 1;; ++tap) {
    size_t k = 0;
    // Multiplies one group. `eight` broadcasts eight lhs bytes of a row; more: the group has more
    // than 16 steps.
    const auto step = [&](auto turn, const auto& eight, const auto more) OCTET_INLINE {
      Vector places[vectors];
      if constexpr (kAhead > 0)
        unroll<kPanels>([&](auto p) OCTET_INLINE {
          unroll<kLines + 1>([&](auto line) OCTET_INLINE {
            _mm_prefetch((const char*)rhs + kAhead + line * kSparseLine + p * panel, _MM_HINT_T0);
          });
        });
      unroll<kLines>([&](auto line) OCTET_INLINE {
        constexpr int set = (kLines * turn.value + line.value) % sets;
        if (line.value >= 2 && !more) return;
        // With few registers, places are read again rather than kept
        if constexpr (line.value == 2 && Width::kRegisters < 32) __asm__("" : "+r"(rhs));
        Vector values[vectors];
        unroll<vectors>([&](auto v) OCTET_INLINE {
          values[v] = Width::load(rhs + kValues + line * kSparseLine + v * panel);
          if constexpr (line.value % 2)
            places[v] = Width::upper_places(places[v]);
          else
            places[v] = Width::load(rhs + kPlaces + v * panel);
          if constexpr (tight && line.value % 2 == 0)
            places[v] = Width::wide_places(places[v], line.value / 2);
        });
        unroll<rows>([&](auto i) OCTET_INLINE {
          const Vector a = eight(lhs[i] + k, line);
          unroll<vectors>([&](auto v) OCTET_INLINE {
            acc[set][i][v] = Width::dot(acc[set][i][v], Width::shuffle(a, places[v]), values[v]);
            pin(acc[set][i][v]);
          });
        });
      });
      k += kSteps;
      rhs += kGroup;
    };
    const auto walk = [&](auto flip) OCTET_INLINE {
      constexpr bool flips = decltype(flip)::value;
      const auto eight = [](const uint8_t* bytes, auto line) OCTET_INLINE {
        const Vector a = Width::eight(bytes + 8 * line);
        return flips ? Width::flipped(a) : a;
      };
      if constexpr (sets > kLines) {
        OCTET_NO_UNROLL
        while (k + 2 * kSteps <= end) {
          step(Int<0>{}, eight, Int<1>{});
          step(Int<1>{}, eight, Int<1>{});
        }
      }
      OCTET_NO_UNROLL
      while (k < end) step(Int<0>{}, eight, Int<1>{});
    };
    if (again->lhs_flip)
      walk(Int<1>{});
    else
      walk(Int<0>{});
    spill(again);
    if (const size_t tail = again->depth % kSteps) {
      const bool flips = again->lhs_flip, more = tail > 16;
      // The first 16 steps, or the rest after them
      const bool follows = k > 0 || tail >= 16;
      const size_t first = smaller(tail, 16);
      step(
          Int<0>{},
          [tail, first, flips, follows](const uint8_t* bytes, auto line) OCTET_INLINE {
            constexpr int half = line.value % 2;
            return line.value < 2
                       ? Width::template eight_of<half>(bytes, first, flips, follows)
                       : Width::template eight_of<half>(bytes + 16, tail - 16, flips, true);
          },
          more);
      spill(again);
    }
    if (tap == again->taps) break;
    const uint8_t* const* rows_of_tap = again->lhs_rows ? again->lhs_rows + tap * rows : nullptr;
    const ptrdiff_t step_to_tap = rows_of_tap ? 0 : again->tap_steps[tap - 1];
    unroll<rows>(
        [&](auto i) OCTET_INLINE { lhs[i] = rows_of_tap ? rows_of_tap[i] : lhs[i] + step_to_tap; });
  }
  unroll<sets - 1>([&](auto s) OCTET_INLINE {
    unroll<rows>([&](auto i) OCTET_INLINE {
      unroll<vectors>(
          [&](auto v) OCTET_INLINE { acc[0][i][v] = Width::add(acc[0][i][v], acc[s + 1][i][v]); });
    });
  });
}

template <typename Width, int sets, int rows, int vectors>
OCTET_INLINE inline void clear_other_sets(typename Width::Vector (&acc)[sets][rows][vectors]) {
  unroll<sets - 1>([&](auto s) OCTET_INLINE {
    unroll<rows>([&](auto i) OCTET_INLINE {
      unroll<vectors>([&](auto v) OCTET_INLINE { acc[s + 1][i][v] = Width::zero(); });
    });
  });
}

constexpr int sets_of(int rows, int vectors) {
  return rows * vectors >= 8 ? 1 : rows * vectors >= 4 ? 2 : 4;
}

}  // namespace
}  // namespace octet
