// SPDX-License-Identifier: Apache-2.0
// u8 x s8 -> s32 or 8 bits on paired weights, VPMADDUBSW on ymm: see shared/paired_tile.h.
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/micro_panel.h"
#include "kernels/x86/shared/store_tile_ymm.h"

namespace octet {
namespace {

constexpr bool kStoresTogether = false;

template <int rows>
OCTET_INLINE inline void leave(const Tile& t, __m256i (&acc)[rows][2]) {
  // As in avx2_s16s8_6x16x4.cc
  unroll<rows>([&](auto i) OCTET_INLINE {
    __m256i(&row)[2] = acc[i];
    pin(row[0]);
    pin(row[1]);
  });
  store_tile<6>(t, acc);
}

}  // namespace
}  // namespace octet

#include "kernels/x86/shared/paired_tile.h"

namespace octet {
namespace {

// Products of a column that are repeated rather than multiplied in tiles of fewer rows
constexpr size_t kRepeated = 300;

// Multiplies some rows by the columns of a panel from `column` on. Not inlined: each form would add
// its copied rows to the stack.
template <int rows, Form form>
__attribute__((noinline)) void multiply_rows(const Tile& t, const RowsExit& exit,
                                             const WordsExit& words_exit, const uint8_t* rhs,
                                             size_t column) {
  constexpr int vectors = form == Form::kAll ? 2 : 1;
  __m256i acc[rows][vectors];
  multiply_panel<form, form == Form::kAll>(t, rhs, false, acc, [&]() OCTET_INLINE {
    unroll<rows>([&](auto i) OCTET_INLINE {
      unroll<vectors>([&](auto v) OCTET_INLINE {
        acc[i][v] =
            form == Form::kFew ? _mm256_setzero_si256() : load(t.init + column + kLanes * v);
        pin(acc[i][v]);
      });
    });
  });
  uint8_t* const dst = (uint8_t*)t.dst;
  if constexpr (form == Form::kFew)
    leave_few(exit, t, acc, dst + column);
  else if (makes_words(t))
    words_exit.leave(column, t.row_scale, acc, dst);
  else
    leave_rows(exit, t.scale + column, smaller(t.cols - column, 8 * vectors), acc, dst + column);
}

// Multiplies six rows or more in one call; up to 8 columns, 12 at a time. The last ones may repeat
// rows before them.
void multiply_all_rows(const Tile& t) {
  const RowsExit exit(t);
  const WordsExit words_exit(t);
  const bool narrow = t.cols <= kPairHalf && t.rows >= 2 * kMr,
             few = t.cols <= kFewColumns && makes_bytes_in_float_mode(t);
  Tile tile = t;
  for (size_t left = t.rows;;) {
    const size_t rows = narrow && left > kMr ? 2 * kMr : kMr;
    if (left < rows) {
      const size_t again = rows - left;
      tile.lhs = (const uint8_t*)tile.lhs - again * t.lhs_stride;
      tile.dst = (uint8_t*)tile.dst - again * t.dst_stride;
      if (tile.row_scale) tile.row_scale -= again;
      left = rows;
    }
    const uint8_t* rhs = t.rhs;
    OCTET_NO_UNROLL
    for (size_t column = 0; column < t.cols; column += kPairColumns, rhs += t.rhs_panel_stride)
      if (t.cols - column > kPairHalf)
        multiply_rows<kMr, Form::kAll>(tile, exit, words_exit, rhs, column);
      else if (rows == kMr)
        multiply_rows<kMr, Form::kHalf>(tile, exit, words_exit, rhs, column);
      else if (!few)
        multiply_rows<2 * kMr, Form::kHalf>(tile, exit, words_exit, rhs, column);
      else
        multiply_rows<2 * kMr, Form::kFew>(tile, exit, words_exit, rhs, column);
    left -= rows;
    if (!left) return;
    pass_rows(&tile, rows);
  }
}

void multiply_micro_panel(const Tile& t) {
  multiply_whole_tiles<dispatch, kMr, kMr, kRepeated>(t, multiply_all_rows);
}

// Adds the products of rows by one tap's panel to their sums. Not inlined, as above.
template <int rows, Form form>
__attribute__((noinline)) void add_rows(const TapRows& t, const Tile& tile, size_t first) {
  constexpr int vectors = form == Form::kAll ? 2 : 1;
  const auto sums_of = [&](int i, int v) OCTET_INLINE {
    return t.sums + t.places[first + i] * kPairColumns + v * kLanes;
  };
  __m256i acc[rows][vectors];
  // Rows are put in order meanwhile for Clang, which keeps sums in memory else
  multiply_panel<form, form == Form::kAll && rows >= 4>(
      tile, t.rhs, false, acc, [&]() OCTET_INLINE {
        unroll<rows>([&](auto i) OCTET_INLINE {
          unroll<vectors>([&](auto v) OCTET_INLINE {
            acc[i][v] = load(sums_of(i, v));
            pin(acc[i][v]);
          });
        });
      });
  unroll<rows>([&](auto i) OCTET_INLINE {
    unroll<vectors>([&](auto v) OCTET_INLINE { store(sums_of(i, v), acc[i][v]); });
  });
}

template <Form form>
void add_tap(const TapRows& t) {
  constexpr struct {
    size_t rows;
    void (*add)(const TapRows&, const Tile&, size_t);
  } kHeights[] = {{6, add_rows<6, form>},
                  {4, add_rows<4, form>},
                  {2, add_rows<2, form>},
                  {1, add_rows<1, form>}};
  Tile tile = {};
  tile.depth = t.depth;
  tile.lhs_flip = t.lhs_flip;
  size_t first = 0;
  for (const auto& height : kHeights)
    for (; t.count - first >= height.rows; first += height.rows) {
      tile.lhs_rows = t.rows + first;
      height.add(t, tile, first);
    }
}

void add_tap(const TapRows& t) {
  t.columns <= kPairHalf ? add_tap<Form::kHalf>(t) : add_tap<Form::kAll>(t);
}

}  // namespace

const MicroKernel avx2_u8s8_6x64x4 =
    paired_kernel("avx2_u8s8_6x64x4", TierId::kAvx2, multiply_micro_panel, add_tap);
}  // namespace octet
