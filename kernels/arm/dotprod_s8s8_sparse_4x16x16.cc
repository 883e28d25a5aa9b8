// SPDX-License-Identifier: Apache-2.0
// s8 x 2:4 sparse s8 -> s32 or 8 bits, TBL and SDOT, up to 4 rows x 16 columns.
//
//                           columns 0-3   4-7   8-11  12-15
//                          +------------+------+------+------+    16 accumulators, 4 for values,
//   row i, a table of 8    | acc[i][0]  |  [1] |  [2] |  [3] |    4 for places, 4 for tables, 1
//   bytes                  +------------+------+------+------+    mask, 1 of one half's places, 2
//                                                                 looked up: 32 of 32
//
// Per group of 16 along depth: 3 loads of weights, 8 instructions for the places of the two halves,
// and for each row at most one load of tables, 8 look-ups and 8 dot products. These are as many
// instructions as dense weights take, but 3/4 of the bytes: the kernel gains with few rows, where
// loading weights takes longest.
//
// A load fills four consecutive registers, so registers are named.
#include <arm_neon.h>

#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/sparse.h"
#include "kernels/arm/shared/store_tile.h"
#include "kernels/core/compiler.h"

namespace octet {
namespace {

constexpr int kMr = 4, kVectors = 4;

// Loads a line of values or of places, then advances by `step` bytes.
#define OCTET_LOAD_LINE(r0, r1, r2, r3)                                          \
  register int8x16_t a __asm__("v" #r0), b __asm__("v" #r1), c __asm__("v" #r2), \
      d __asm__("v" #r3);                                                        \
  __asm__ volatile("ld1 {v" #r0 ".16b-v" #r3 ".16b}, [%4], %5"                   \
                   : "=w"(a), "=w"(b), "=w"(c), "=w"(d), "+r"(from)              \
                   : "r"(step));                                                 \
  to[0] = a, to[1] = b, to[2] = c, to[3] = d
OCTET_INLINE inline void load_values(int8x16_t (&to)[kVectors], const uint8_t*& from, size_t step) {
  OCTET_LOAD_LINE(0, 1, 2, 3);
}
OCTET_INLINE inline void load_places(int8x16_t (&to)[kVectors], const uint8_t*& from, size_t step) {
  OCTET_LOAD_LINE(4, 5, 6, 7);
}

// Loads so many tables of eight bytes.
OCTET_INLINE inline void load_tables(Int<2>, int8x16_t (&to)[4], const uint8_t*& from) {
  register int8x16_t a __asm__("v16"), b __asm__("v17");
  __asm__ volatile("ld1 {v16.8b-v17.8b}, [%2], #16" : "=w"(a), "=w"(b), "+r"(from));
  to[0] = a, to[1] = b;
}
OCTET_INLINE inline void load_tables(Int<3>, int8x16_t (&to)[4], const uint8_t*& from) {
  register int8x16_t a __asm__("v16"), b __asm__("v17"), c __asm__("v18");
  __asm__ volatile("ld1 {v16.8b-v18.8b}, [%3], #24" : "=w"(a), "=w"(b), "=w"(c), "+r"(from));
  to[0] = a, to[1] = b, to[2] = c;
}
OCTET_INLINE inline void load_tables(Int<4>, int8x16_t (&to)[4], const uint8_t*& from) {
  register int8x16_t a __asm__("v16"), b __asm__("v17"), c __asm__("v18"), d __asm__("v19");
  __asm__ volatile("ld1 {v16.8b-v19.8b}, [%4], #32"
                   : "=w"(a), "=w"(b), "=w"(c), "=w"(d), "+r"(from));
  to[0] = a, to[1] = b, to[2] = c, to[3] = d;
}

OCTET_INLINE inline void dot(int32x4_t& acc, int8x16_t values, int8x16_t looked_up) {
  __asm__ volatile("sdot %0.4s, %1.16b, %2.16b" : "+w"(acc) : "w"(values), "w"(looked_up));
}

// Multiplies `groups` groups along depth.
template <int groups, int rows>
OCTET_INLINE inline void add_groups(int32x4_t (&acc)[rows][kVectors], const uint8_t*& tables,
                                    const uint8_t*& values, const uint8_t*& places,
                                    uint8x16_t seven) {
  // Halves whose tables come with one load.
  constexpr int kHalves = rows > 2 ? 1 : smaller(4 / rows, 2 * groups);
  // Look-ups ahead of their dot products, which wait for them on in-order cores
  constexpr int kAhead = rows == kMr ? 2 : 4;
  int8x16_t table[4], value[kVectors], place[kVectors];
  unroll<2 * groups>([&](auto at) OCTET_INLINE {
    constexpr int half = at % 2;
    if constexpr (half == 0) load_places(place, places, kSparseGroup);
    load_values(value, values, half ? kSparseGroup - kSparseLine : kSparseLine);
    if constexpr (at % kHalves == 0) load_tables(Int<rows * kHalves>{}, table, tables);
    uint8x16_t here[kVectors];
    unroll<rows * kVectors / kAhead>([&](auto turn) OCTET_INLINE {
      int8x16_t lhs[kAhead];
      unroll<kAhead>([&](auto j) OCTET_INLINE {
        constexpr int v = (turn * kAhead + j) / rows, i = (turn * kAhead + j) % rows;
        if constexpr (i == 0) here[v] = places_of<half>(place[v], seven);
        look_up(lhs[j], table[at % kHalves * rows + i], here[v]);
      });
      unroll<kAhead>([&](auto j) OCTET_INLINE {
        constexpr int v = (turn * kAhead + j) / rows, i = (turn * kAhead + j) % rows;
        dot(acc[i][v], value[v], lhs[j]);
      });
    });
  });
}

template <int rows>
void multiply(const Tile& t) {
  int32x4_t acc[rows][kVectors];
  const int32_t* init = t.init;
  OCTET_UNROLL(4)
  for (int i = 0; i < rows; ++i, init += t.init_stride) {
    OCTET_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) acc[i][v] = vld1q_s32(init + 4 * v);
  }
  const uint8_t *tables = (const uint8_t*)t.lhs, *values = t.rhs, *places = t.rhs + 2 * kSparseLine;
  uint8x16_t seven = vdupq_n_u8(7);
  pin(seven);  // else Clang makes it again in the loop
  const size_t groups = divide_up(t.depth, kSparseSteps);
  OCTET_NO_UNROLL
  for (size_t pairs = groups / 2; pairs; --pairs) add_groups<2>(acc, tables, values, places, seven);
  if (groups % 2) add_groups<1>(acc, tables, values, places, seven);
  store_tile<0>(t, acc);
}

constexpr MultiplyFn kByRows[kMr] = {multiply<1>, multiply<2>, multiply<3>, multiply<4>};

void dispatch(const Tile& t) { kByRows[t.rows - 1](t); }

}  // namespace

const MicroKernel dotprod_s8s8_sparse_4x16x16 = {
    .name = "dotprod_s8s8_sparse_4x16x16",
    .tier_id = TierId::kDotprod,
    .lhs_element_type = ElementType::kS8,
    .mr = kMr,
    .nr = 4 * kVectors,
    .flags = kAnyLhs | kStores,
    .rhs_layout = kSparseLayout,
    .gather = gather_tables,
    .lhs_kr = 16,
    .multiply = dispatch,
};

}  // namespace octet
