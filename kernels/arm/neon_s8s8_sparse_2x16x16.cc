// SPDX-License-Identifier: Apache-2.0
// s8 x 2:4 sparse s8 -> s32 or 8 bits for ARMv8.0: TBL, SMULL, SMLAL and SADALP, up to 2 rows x 16
// columns.
//
//                            columns 0 1    2 3     4 5      ...    14 15
//                           +------------+--------+--------+-----+--------+
//   row i, a table of 8     | acc[i][0]  | [0][1] | [1][0] | ... | [3][1] |
//   bytes                   +------------+--------+--------+-----+--------+
//
// A vector of values has four values of each of four columns. SMULL and SMULL2 multiply the values
// of steps 0 to 7, SMLAL and SMLAL2 add the products of steps 8 to 15 in 16 bits, and SADALP adds
// neighbours to two 32-bit sums per column, which pairwise adds join at the end: 8 instructions
// with the two look-ups, where dense weights take 12. 16 accumulators, 4 for tables, 2 for values,
// 2 for places, 1 mask, 2 looked up, 4 for products: 31 registers of 32.
//
// (-128)^2 + (-128)^2 does not fit 16 bits. If a weight is -128, the second kernel adds each half
// on its own: 10 instructions, exact for all inputs.
#include <arm_neon.h>

#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/pinned.h"
#include "kernels/arm/shared/sparse.h"
#include "kernels/arm/shared/store_tile.h"
#include "kernels/core/compiler.h"

namespace octet {
namespace {

constexpr int kMr = 2, kVectors = 4;

OCTET_INLINE inline void load_table(int8x16_t& to, const uint8_t*& from) { load8_step(to, from); }

// Multiplies one group along depth.
template <bool int8_min, int rows>
OCTET_INLINE inline void add_group(int32x4_t (&acc)[rows][kVectors][2], const uint8_t*& tables,
                                   const uint8_t*& rhs, uint8x16_t seven) {
  // Several products are in flight, else an in-order core would wait for each
  constexpr int together = kMr / rows;  // vectors in flight
  int8x16_t table[2][rows];
  unroll<2>([&](auto half) OCTET_INLINE {
    unroll<rows>([&](auto i) OCTET_INLINE { load_table(table[half][i], tables); });
  });
  unroll<kVectors / together>([&](auto turn) OCTET_INLINE {
    int16x8_t low[rows][together], high[rows][together];
    const auto each = [&](const auto& f) OCTET_INLINE {
      unroll<together>([&](auto v) OCTET_INLINE {
        unroll<rows>([&](auto i) OCTET_INLINE { f(i, v, low[i][v], high[i][v]); });
      });
    };
    int8x16_t values[2][together], places[together];
    unroll<together>([&](auto v) OCTET_INLINE {
      constexpr int at = 16 * (turn * together + v);
      load16<at + 2 * kSparseLine>(places[v], rhs);
      load16<at>(values[0][v], rhs);
      load16<at + kSparseLine>(values[1][v], rhs);
    });
    unroll<2>([&](auto half) OCTET_INLINE {
      int8x16_t lhs[rows][together];
      uint8x16_t here[together];
      unroll<together>([&](auto v) OCTET_INLINE { here[v] = places_of<half>(places[v], seven); });
      each([&](auto i, auto v, auto&, auto&)
               OCTET_INLINE { look_up(lhs[i][v], table[half][i], here[v]); });
      each([&](auto i, auto v, int16x8_t& p, int16x8_t& q) OCTET_INLINE {
        if constexpr (half == 0 || int8_min) {
          p = multiply_low(lhs[i][v], values[half][v]);
          q = multiply_high(lhs[i][v], values[half][v]);
        } else {
          multiply_add_low(p, lhs[i][v], values[half][v]);
          multiply_add_high(q, lhs[i][v], values[half][v]);
        }
      });
      if constexpr (half == 1 || int8_min)
        each([&](auto i, auto v, int16x8_t& p, int16x8_t& q) OCTET_INLINE {
          add_pairs(acc[i][turn * together + v][0], p);
          add_pairs(acc[i][turn * together + v][1], q);
        });
    });
  });
  rhs += kSparseGroup;
}

template <int rows, bool int8_min>
void multiply(const Tile& t) {
  int32x4_t acc[rows][kVectors][2];
  unroll<rows>([&](auto i) OCTET_INLINE {
    unroll<kVectors>([&](auto v) OCTET_INLINE { acc[i][v][0] = acc[i][v][1] = vdupq_n_s32(0); });
  });
  const uint8_t *tables = (const uint8_t*)t.lhs, *rhs = t.rhs;
  const uint8x16_t seven = vdupq_n_u8(7);
  OCTET_NO_UNROLL
  for (size_t groups = divide_up(t.depth, kSparseSteps); groups; --groups)
    add_group<int8_min>(acc, tables, rhs, seven);
  int32x4_t sums[rows][kVectors];
  unroll<rows>([&](auto i) OCTET_INLINE {
    unroll<kVectors>([&](auto v) OCTET_INLINE {
      sums[i][v] = vaddq_s32(vpaddq_s32(acc[i][v][0], acc[i][v][1]),
                             vld1q_s32(t.init + i * t.init_stride + 4 * v));
    });
  });
  store_tile<0>(t, sums);
}

template <bool int8_min>
void dispatch(const Tile& t) {
  t.rows == 1 ? multiply<1, int8_min>(t) : multiply<2, int8_min>(t);
}

template <bool int8_min>
constexpr MicroKernel kernel(const char* name) {
  return {
      .name = name,
      .tier_id = TierId::kNeon,
      .lhs_element_type = ElementType::kS8,
      .mr = kMr,
      .nr = 4 * kVectors,
      .flags = kAnyLhs | kStores | (int8_min ? 0 : kNoInt8Min),
      .rhs_layout = kSparseLayout,
      .gather = gather_tables,
      .lhs_kr = 16,
      .multiply = dispatch<int8_min>,
  };
}

}  // namespace

const MicroKernel neon_s8s8_sparse_2x16x16 = kernel<false>("neon_s8s8_sparse_2x16x16");
const MicroKernel neon_s8s8_sparse_int8min_2x16x16 =
    kernel<true>("neon_s8s8_sparse_int8min_2x16x16");

}  // namespace octet
