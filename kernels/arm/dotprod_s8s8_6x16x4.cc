// SPDX-License-Identifier: Apache-2.0
// s8 x s8 -> s32 or 8 bits, SDOT by lane, up to 6 rows x 16 columns.
//
//                          columns 0-3   4-7   8-11  12-15
//                         +------------+------+------+------+
//   row i, 16 bytes: four | acc[i][0]  |  [1] |  [2] |  [3] |
//   lanes of 4            +------------+------+------+------+
//
// 24 accumulators, 6 for lhs, 2 for rhs: 32 registers of 32.
//
// Per 16 along depth: 6 loads of lhs, 8 load pairs of rhs, 96 dot products, in the order of the
// source (pinned.h); then steps of 8, of 4 and of the rest, which read no byte beyond a row. The
// lhs rows are read where they lie, and by lane one load serves four groups; where N is large, they
// are copied in eights first (dotprod_eights.h). A u8 lhs is flipped to s8 as it is loaded. The
// kernel is instantiated over (rows, 2 or 4 vectors of columns).
#include <arm_neon.h>

#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/copy_bytes.h"
#include "kernels/arm/shared/dotprod_eights.h"
#include "kernels/arm/shared/dotprod_micro_panel.h"
#include "kernels/arm/shared/pinned.h"
#include "kernels/arm/shared/store_tile.h"
#include "kernels/core/compiler.h"
#include "kernels/generic/portable.h"

namespace octet {
namespace {

constexpr int kMr = 6, kVectors = 4;
// Of the halves that an in-order core loads beside products, one or two rows have too few products.
constexpr int kLeastInOrder = 3;

// Loads two vectors of a group's columns. In a panel of 16 columns the first load advances the
// address by all `lanes` groups.
template <int vectors, int lanes, int lane, int half>
OCTET_INLINE inline void load_rhs(int8x16_t (&b)[2], const uint8_t*& rhs, size_t stride) {
  constexpr int kGroup = 64;
  if constexpr (vectors == 2) {
    load_two<0>(b[0], b[1], rhs);
    rhs += stride;
  } else if constexpr (lane == 0 && half == 0) {
    load_two_step<kGroup * lanes>(b[0], b[1], rhs);
  } else {
    load_two<kGroup*(lane - lanes) + 32 * half>(b[0], b[1], rhs);
  }
}

// Loads the last t.depth % 4 bytes of a row, followed by zeros.
OCTET_INLINE inline int8x16_t load_end(const Tile& t, const uint8_t* bytes) {
  const size_t count = t.depth % 4;
  const uint64_t word =
      t.depth < 4 ? load_tail(bytes, count) : load4_before(bytes + count) >> 8 * (4 - count);
  return vreinterpretq_s8_u64(vdupq_n_u64(word));
}

// Multiplies 16 steps along depth. In-order cores issue a load of 64 bits beside a product, but one
// of 128 bits instead of two products. So all loads are halves, between earlier products.
template <int rows>
OCTET_INLINE inline void step_in_order(int32x4_t (&acc)[rows][kVectors],
                                       const uint8_t* (&lhs)[rows], const uint8_t*& rhs,
                                       bool flip) {
  constexpr int kBefore = rows < 3 ? rows : 3, kLast = 4 * kVectors - 1;
  int8x16_t a[rows], b[2];
  uint64_t high;
  const auto load = [&](auto i) OCTET_INLINE {
    load8_step(a[i], lhs[i]);
    if (flip) a[i] = veorq_s8(a[i], vdupq_n_s8(-128));
  };
  load_s16<8>(high, rhs);
  load_low<0>(b[0], rhs);
  unroll<kBefore>(load);
  insert_high(b[0], high);
  unroll<kLast + 1>([&](auto at) OCTET_INLINE {
    constexpr int lane = at / kVectors, v = at % kVectors, next = 16 * (at + 1);
    int8x16_t& after = b[(at + 1) % 2];
    unroll<rows>([&](auto i) OCTET_INLINE {
      dot<lane % 2>(acc[i][v], b[at % 2], a[i]);
      if constexpr (at == 0 && i + kBefore < rows) load(Int<i + kBefore>{});
      if constexpr (lane == 1 && v == kVectors - 1) load(i);
      if constexpr (at < kLast) {
        if constexpr (i == 0) load_s16<next + 8>(high, rhs);
        if constexpr (i == rows / 4) load_low<next>(after, rhs);
        if constexpr (i == (rows > 4 ? rows - 2 : rows - 1)) insert_high(after, high);
      }
    });
  });
  rhs += 16 * 16;
}

template <int rows, int vectors>
void multiply(const Tile& t, [[maybe_unused]] bool in_order) {
  const uint8_t* base = (const uint8_t*)t.lhs;
  int32x4_t acc[rows][vectors];
  const int32_t* init = t.init;
  OCTET_UNROLL(6)
  for (int i = 0; i < rows; ++i, init += t.init_stride) {
    OCTET_UNROLL(4)
    for (int v = 0; v < vectors; ++v) acc[i][v] = vld1q_s32(init + 4 * v);
  }
  if (t.row_factors) subtract_factors(t.row_factors, t.column_factors, acc);

  const uint8_t* rhs = t.rhs;
  for (size_t tap = 0;;) {
    const uint8_t* lhs[rows];
    OCTET_UNROLL(6)
    for (int i = 0; i < rows; ++i)
      lhs[i] = t.lhs_rows ? t.lhs_rows[tap * rows + i] : base + i * t.lhs_stride;
    const auto walk = [&](auto flip) OCTET_INLINE {
      // Multiplies `lanes` groups of four along depth; `load` loads a row's bytes for them.
      const auto step = [&](auto lanes, const auto& load) OCTET_INLINE {
        int8x16_t a[rows];
        unroll<rows>([&](auto i) OCTET_INLINE {
          load(a[i], lhs[i]);
          if (flip) a[i] = veorq_s8(a[i], vdupq_n_s8(-128));
        });
        unroll<lanes>([&](auto lane) OCTET_INLINE {
          if constexpr (rows < kMr && vectors == kVectors) {
            // Six rows leave no registers for this load
            int8x16_t b[4];
            load_columns_list<4>(b, rhs);
            unroll<4>([&](auto v) OCTET_INLINE {
              unroll<rows>([&](auto i) OCTET_INLINE { dot<lane>(acc[i][v], b[v], a[i]); });
            });
            return;
          }
          unroll<vectors / 2>([&](auto half) OCTET_INLINE {
            int8x16_t b[2];
            load_rhs<vectors, lanes, lane, half>(b, rhs, t.rhs_stride);
            unroll<2>([&](auto v) OCTET_INLINE {
              unroll<rows>([&](auto i)
                               OCTET_INLINE { dot<lane>(acc[i][2 * half + v], b[v], a[i]); });
            });
          });
        });
      };
      size_t chunks = t.depth / 16;
      if constexpr (vectors == kVectors && rows >= kLeastInOrder) {
        if (__builtin_expect(in_order, 0)) {
          OCTET_NO_UNROLL
          for (; chunks != 0; --chunks) step_in_order(acc, lhs, rhs, flip);
        }
      }
      OCTET_NO_UNROLL
      for (; chunks != 0; --chunks) step(Int<4>{}, load16_step);
      if (t.depth & 8) step(Int<2>{}, load8_step);
      if (t.depth & 4) step(Int<1>{}, load4_step);
      if (t.depth & 3)
        step(Int<1>{},
             [&](int8x16_t& to, const uint8_t* from) OCTET_INLINE { to = load_end(t, from); });
    };
    if (t.lhs_flip)
      walk(Int<1>{});
    else
      walk(Int<0>{});
    if (++tap == t.taps) break;
    if (t.tap_steps) base += t.tap_steps[tap - 1];
  }
  store_tile<kMr>(t, acc);
}

template <int vectors>
constexpr void (*kByRows[kMr])(const Tile&, bool) = {multiply<1, vectors>, multiply<2, vectors>,
                                                     multiply<3, vectors>, multiply<4, vectors>,
                                                     multiply<5, vectors>, multiply<6, vectors>};

template <bool in_order>
void dispatch(const Tile& t) {
  (t.cols > 8 ? kByRows<4> : kByRows<2>)[t.rows - 1](t, in_order);
}

// Multiplies six rows in eights, eight columns at a time: the last columns of a product, and f32
// with a clamp.
__attribute__((noinline)) void multiply_arranged(const Tile& t) {
  constexpr size_t kColumns = 8;
  Tile tile = t;
  for (size_t left = t.cols;; left -= kColumns) {
    tile.cols = left < kColumns ? left : kColumns;
    int32x4_t acc[kMr][2];
    const int32x4_t first = vld1q_s32(tile.init), second = vld1q_s32(tile.init + 4);
    unroll<kMr>([&](auto i) OCTET_INLINE { acc[i][0] = first, acc[i][1] = second; });
    multiply_eights<2>((const uint8_t*)t.lhs, tile.rhs, t.rhs_stride, t.depth, acc);
    store_tile<0>(tile, acc);
    if (left <= kColumns) return;
    tile.init += kColumns;
    if (tile.scale) tile.scale += kColumns;
    tile.rhs += 4 * kColumns;
    tile.dst = (uint8_t*)tile.dst + kColumns * element_bytes(t);
  }
}

// Multiplies all rows by a micro-panel; clamped f32 outputs and the rows beyond sixes go tile by
// tile.
void multiply_micro_panel(const Tile& t) {
  size_t row = 0;
  if (t.cols == 4 * kVectors && (store_of(t) != Store::kFloats || floats_leave_registers(t))) {
    row = t.rows / kMr * kMr;
    multiply_tiles_of_six(t, t.rows / kMr);
    if (row == t.rows) return;
  }
  Tile rest = t;
  pass_rows(&rest, row);
  for (; row < t.rows; row += rest.rows) {
    rest.rows = t.rows - row < kMr ? t.rows - row : kMr;
    t.lhs_arranged&& rest.rows == kMr ? multiply_arranged(rest) : dispatch<false>(rest);
    pass_rows(&rest, rest.rows);
  }
}

template <bool in_order>
constexpr MicroKernel kernel(const char* name) {
  MicroKernel k = {
      .name = name,
      .tier_id = TierId::kDotprod,
      .lhs_element_type = ElementType::kS8,
      .mr = kMr,
      .nr = 4 * kVectors,
      .flags = kAnyLhs | kStores | kRowFactors | (in_order ? kInOrder : 0),
      .rhs_layout = kDotprodLayout,
      .lhs_kr = 4,
      .flip_rows = flip_rows,
      .flip_columns = in_order ? 16 : 40,
      .arrange_rows = in_order ? nullptr : arrange_eights,
      .multiply = dispatch<in_order>,
  };
  k.multiply_micro_panel = multiply_micro_panel;
  // Deeper, an in-order core gains more from loads of halves than from fewer calls
  k.micro_panel = {DotMicroPanel::kLeast, in_order ? 48 : DotMicroPanel::kMost, 16, 16, false};
  return k;
}

}  // namespace

void dotprod_multiply_s8s8(const Tile& tile) { dispatch<false>(tile); }

const MicroKernel dotprod_s8s8_6x16x4 = kernel<false>("dotprod_s8s8_6x16x4");
// For in-order cores, for example Cortex-A55.
const MicroKernel dotprod_s8s8_inorder_6x16x4 = kernel<true>("dotprod_s8s8_inorder_6x16x4");

}  // namespace octet
