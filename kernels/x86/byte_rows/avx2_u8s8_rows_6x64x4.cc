// SPDX-License-Identifier: Apache-2.0
// u8 x s8 -> s32, 8 bits or f32, on ymm, up to 6 rows x 64 columns of rows that are read where they
// lie. Exact for all inputs.
//
// VPMADDUBSW multiplies u8 by s8, adds neighbours and saturates at 16 bits. That is exact where two
// neighbours of a row are not both large, as ReLU leaves nearly all of them. So the kernel looks at
// a tile's rows first (rows.h). Rows that fit are multiplied as bytes, where they lie or copied to
// the stack, a part of the depth at a time; of a few groups of four steps that do not fit, the top
// bits are multiplied in addition. Other rows are widened to int16, and VPMADDWD multiplies them:
// see avx2_s16s8_6x16x4.cc, whose order of words this is. So the time depends on the lhs, the sums
// do not. Many rows meet weights that are widened once: all of their depth, or a part of it while
// the rows' sums wait in the workspace.
//
//                      columns 0-7   8-15
//                     +------------+--------+      12 accumulators, 2 for rhs, 1 for lhs,
//   row i, 4 bytes    | acc[i][0]  |  [1]   |      1 product: 16 registers of 16; or
//   broadcast         +------------+--------+      12 rows x 8 columns
//
// Per group and vector of columns: six times VPMADDUBSW, VPMADDWD by ones and VPADDD; of words, two
// VPMADDWD and two VPADDD.
#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/x86/byte_rows/loops.h"
#include "kernels/x86/byte_rows/part.h"
#include "kernels/x86/byte_rows/rows.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/accumulate.h"
#include "kernels/x86/shared/micro_panel.h"
#include "kernels/x86/shared/quads.h"
#include "kernels/x86/shared/store_tile_ymm.h"

namespace octet {
namespace {

// Products of a column that are repeated rather than multiplied in tiles of fewer rows
constexpr size_t kRepeated = 300;

// Multiplies a part of a tile's rows. sums: of the parts before, and then of this one; panel: a
// copy of the tile, which becomes the one of each panel.
template <int rows>
void multiply_part(const Tile& t, const Part& part, size_t at, size_t end, int32_t (*sums)[kWideNr],
                   Tile* panel) {
  const int32_t* from[rows];
  unroll<rows>([&](auto i) OCTET_INLINE { from[i] = at ? sums[i] : t.init + i * t.init_stride; });
  if (!part.words) add_losses(t, part, from, sums);
  OCTET_NO_UNROLL
  for (size_t column = 0; column < t.cols; column += 16) {
    const size_t cols = t.cols - column < 16 ? t.cols - column : 16;
    __m256i acc[rows][2];
    unroll<rows>([&](auto i) OCTET_INLINE {
      unroll<2>([&](auto v) OCTET_INLINE {
        acc[i][v] = _mm256_loadu_si256((const __m256i*)(from[i] + column + 8 * v));
      });
    });
    if (!at) add_row_init(t, acc);
    const uint8_t *lhs[(rows + 2) / 3], *const first = t.rhs + column / 16 * t.rhs_panel_stride +
                                                       at / 4 * kGroup;
    unroll<(rows + 2) / 3>([&](auto i) OCTET_INLINE { lhs[i] = part.data + i * 3 * part.stride; });
    const auto add = [&](auto vectors) OCTET_INLINE {
      const uint8_t* rhs = first;
      part.words ? add_groups<Form::kWords, vectors>(lhs, kRowBytes, rhs, part.bytes / 4, acc)
                 : add_groups<Form::kBytes, vectors>(lhs, part.stride, rhs, part.bytes / 4, acc);
    };
    cols > 8 ? add(Int<2>{}) : add(Int<1>{});
    unroll<rows>([&](auto i) OCTET_INLINE {
      __m256i(&row)[2] = acc[i];  // as in avx2_s16s8_6x16x4.cc
      pin(row[0]);
      pin(row[1]);
    });
    if (at + part.bytes < end) {
      unroll<rows>([&](auto i) OCTET_INLINE {
        unroll<2>([&](auto v) OCTET_INLINE {
          _mm256_storeu_si256((__m256i*)&sums[i][column + 8 * v], acc[i][v]);
        });
      });
      continue;
    }
    panel->cols = cols;
    const bool one = t.scale && !t.requantization->to_floats;  // byte of a column
    panel->dst = (uint8_t*)t.dst + (one ? column : column * sizeof(int32_t));
    if (t.scale) panel->scale = t.scale + column;
    store_tile<kWideMr>(*panel, acc);
  }
}

size_t all_steps(const Tile& t) { return t.taps * round_up_pow2(t.depth, 4); }

template <int rows>
void multiply_wide(const Tile& t) {
  alignas(64) uint8_t room[kOdd + rows * kRowBytes];
  alignas(32) int32_t sums[rows][kWideNr];
  unroll<rows>([&](auto i) OCTET_INLINE {
    // See avx512vnni_u8s8_6x64x4.cc
    _mm_prefetch((const char*)t.dst + i * t.dst_stride, _MM_HINT_T0);
  });
  Part part;
  Tile panel = t;
  const size_t end = all_steps(t);
  for (size_t at = 0; at < end; at += part.bytes) {
    part.read(t, at, end, room);
    multiply_part<rows>(t, part, at, end, sums, &panel);
  }
}

void dispatch_wide(const Tile& t) {
  static constexpr MultiplyFn kWide[kWideMr] = {multiply_wide<1>, multiply_wide<2>,
                                                multiply_wide<3>, multiply_wide<4>,
                                                multiply_wide<5>, multiply_wide<6>};
  kWide[t.rows - 1](t);
}

// Multiplies all of some rows by up to 8 * vectors columns from `column` on, `rows` at a time.
template <int rows, int vectors, Form form>
__attribute__((noinline)) void multiply_panel(const Tile& t, const RowsExit& exit,
                                              const WordsExit& words, size_t column,
                                              const SomeRows& from, size_t count,
                                              const float* row_scale, uint8_t* dst) {
  const uint8_t* data = from.data;
  const int32_t* init = from.init + column;
  const size_t init_stride = form == Form::kBytes ? from.init_stride : 0;
  constexpr bool few = form == Form::kFew;
  for (;;) {
    __m256i acc[rows][vectors];
    unroll<rows>([&](auto i) OCTET_INLINE {
      unroll<vectors>([&](auto v) OCTET_INLINE {
        acc[i][v] = few ? _mm256_setzero_si256()
                        : _mm256_loadu_si256((const __m256i*)(init + i * init_stride + 8 * v));
        pin(acc[i][v]);
      });
    });
    const uint8_t *lhs[rows / 3], *rhs = t.rhs + column / 16 * t.rhs_panel_stride;
    unroll<rows / 3>([&](auto i) OCTET_INLINE { lhs[i] = data + i * 3 * from.stride; });
    for (size_t tap = 0;;) {
      if constexpr (few)
        add_few(lhs, from.stride, rhs, from.groups, acc);
      else
        add_groups<form, vectors, kAllOdd>(lhs, from.stride, rhs, from.groups, acc);
      if (++tap == from.taps) break;
      const size_t step =
          (from.tap_steps ? (size_t)from.tap_steps[tap - 1] : from.tap) - 4 * from.groups;
      unroll<rows / 3>([&](auto i) OCTET_INLINE { lhs[i] += step; });
    }
    if constexpr (few) {
      leave_few(exit, t, acc, dst);
    } else if (makes_words(t)) {
      words.leave(column, row_scale, acc, dst);
    } else {
      const size_t cols = t.cols - column < 8 * vectors ? t.cols - column : 8 * vectors;
      leave_rows(exit, t.scale + column, cols, acc, dst + column);
    }
    count -= rows;
    if (!count) return;
    data += rows * from.stride;
    init += rows * init_stride;
    if (row_scale) row_scale += rows;
    dst += rows * t.dst_stride;
  }
}

template <int rows, int vectors>
OCTET_INLINE inline void multiply(const Tile& t, const RowsExit& exit, const WordsExit& words,
                                  size_t column, const SomeRows& from, size_t count,
                                  const float* row_scale, uint8_t* dst) {
  (from.words ? multiply_panel<rows, vectors, Form::kDecoded>
              : multiply_panel<rows, vectors, Form::kBytes>)(t, exit, words, column, from, count,
                                                             row_scale, dst);
}

// A tile whose weights are decoded to its room, behind the answers.
__attribute__((noinline)) Tile decoded(const Tile& t, Answers* answers) {
  const size_t groups = t.taps * t.depth / 4;
  Tile tile = t;
  tile.rhs = t.room + kRoomHead, tile.rhs_panel_stride = groups * kS16Group;
  for (size_t panel = 0; !answers->decoded && panel < divide_up(t.cols, 16); ++panel)
    decode_s16(t.rhs + panel * t.rhs_panel_stride, kGroup, groups,
               t.room + kRoomHead + panel * tile.rhs_panel_stride);
  answers->decoded = true;
  return tile;
}

// Multiplies six rows or more in one call, twelve at a time. The last ones may repeat rows before
// them. Returns how many rows are left where they are words and there is no room for their weights.
__attribute__((noinline)) size_t multiply_rows(const Tile& t) {
  Tile words_tile = {};
  Answers own, &answers = t.room ? *(Answers*)t.room : own;
  if (!t.room) own.rhs = nullptr;
  RowReader reader(t, &answers);
  const RowsExit exit(t);
  const WordsExit words(t);
  const bool few = t.cols <= kFewColumns && makes_bytes_in_float_mode(t);
  const uint8_t* from = (const uint8_t*)t.lhs;
  const float* row_scale = t.row_scale;
  uint8_t* dst = (uint8_t*)t.dst;
  for (size_t left = t.rows;;) {
    size_t rows = left > kWideMr ? reader.most() : kWideMr;
    if (left < rows) {
      from -= (rows - left) * t.lhs_stride;
      dst -= (rows - left) * t.dst_stride;
      if (row_scale) row_scale -= rows - left;
      left = rows;
    }
    const SomeRows& all = reader.read(from, left, &rows);
    if (all.words && !words_tile.rhs) {
      if (!t.room) return left;
      words_tile = decoded(t, &answers);
    }
    const Tile& tile = all.words ? words_tile : t;
    OCTET_NO_UNROLL
    for (size_t column = 0; column < t.cols; column += 16)
      if (t.cols - column > 8)
        multiply<kWideMr, 2>(tile, exit, words, column, all, rows, row_scale, dst);
      else if (rows % (2 * kWideMr) == 0 && few && !all.words && !all.init_stride)
        multiply_panel<2 * kWideMr, 1, Form::kFew>(tile, exit, words, column, all, rows, row_scale,
                                                   dst);
      else if (rows % (2 * kWideMr) == 0)
        multiply<2 * kWideMr, 1>(tile, exit, words, column, all, rows, row_scale, dst);
      else
        multiply<kWideMr, 1>(tile, exit, words, column, all, rows, row_scale, dst);
    left -= rows;
    if (!left) return 0;
    from += rows * t.lhs_stride;
    dst += rows * t.dst_stride;
    if (row_scale) row_scale += rows;
  }
}

void multiply_all_rows(const Tile& t) {
  const size_t left = multiply_rows(t);
  if (!left) return;
  Tile rest = t;
  pass_rows(&rest, t.rows - left);
  multiply_by_tiles<dispatch_wide, kWideMr>(rest, left);
}

// ---- deep rows ----------------------------------------------------------------------------------

// Tiles whose sums wait in memory, so that a part of the weights is decoded once for all of them.
constexpr size_t kDeepTiles = 13;
struct DeepRoom {
  alignas(32) uint8_t weights[kWideNr / 16][kPart / 4 * kS16Group];
  alignas(32) int32_t sums[kDeepTiles][kWideMr][kWideNr];
};
static_assert(sizeof(DeepRoom) <= kWideNr / 16 * (2 * kPart / 4) * kS16Group);

// Adds a part's words, multiplied by decoded weights of up to 8 * vectors columns, to `sums`, which
// are copied from `from` first, whose rows are `stride` apart.
template <int vectors>
__attribute__((noinline)) void add_decoded(const int32_t* from, size_t stride, const uint8_t* words,
                                           const uint8_t* rhs, size_t groups, int32_t* sums) {
  __m256i acc[kWideMr][vectors];
  unroll<kWideMr>([&](auto i) OCTET_INLINE {
    unroll<vectors>([&](auto v) OCTET_INLINE {
      acc[i][v] = _mm256_loadu_si256((const __m256i*)(from + i * stride + 8 * v));
    });
  });
  const uint8_t* lhs[] = {words, words + 3 * kRowBytes};
  add_groups<Form::kDecoded, vectors>(lhs, kRowBytes, rhs, groups, acc);
  unroll<kWideMr>([&](auto i) OCTET_INLINE {
    unroll<vectors>([&](auto v) OCTET_INLINE {
      _mm256_store_si256((__m256i*)(sums + i * kWideNr + 8 * v), acc[i][v]);
    });
  });
}

// Multiplies a block of rows, in tiles of six, of which the last may repeat rows.
class DeepBlock {
 public:
  explicit DeepBlock(const Tile& t)
      : t_(t), deep_((DeepRoom*)(t.room + kRoomHead)), tile_(t), panel_(t), end_(all_steps(t)) {
    tile_.rows = panel_.rows = kWideMr;
  }

  void multiply(size_t first, size_t rows) {
    bool done[kDeepTiles] = {};
    for (size_t at = 0; at < end_; at += kPart) {
      decoded_ = false;
      for (size_t i = 0; i * kWideMr < rows; ++i) {
        if (!done[i])
          done[i] = multiply(first + smaller(i * kWideMr, rows - kWideMr), at, deep_->sums[i]);
      }
    }
  }

 private:
  // Multiplies a part of a tile. Returns whether that was the last one: of bytes, a part may be all
  // that follows.
  bool multiply(size_t row, size_t at, int32_t (*sums)[kWideNr]) {
    tile_.lhs = (const uint8_t*)t_.lhs + row * t_.lhs_stride;
    tile_.dst = (uint8_t*)t_.dst + row * t_.dst_stride;
    if (t_.row_scale) panel_.row_scale = t_.row_scale + row;
    part_.asks = !unasked_;
    part_.read(tile_, at, end_, room_);
    if (!part_.asks)
      --unasked_;
    else if (part_.words)
      unasked_ = pause_ = smaller(2 * pause_ + 1, kMostUnasked);
    const bool last = at + part_.bytes == end_;
    if (part_.words) {
      add_words(at, sums[0]);
      at = end_, part_.bytes = 0;
    }
    if (!part_.words || last) multiply_part<kWideMr>(tile_, part_, at, end_, sums, &panel_);
    return last;
  }

  void add_words(size_t at, int32_t* sums) {
    const size_t groups = part_.bytes / 4;
    for (size_t column = 0; column < t_.cols; column += 16) {
      uint8_t* const weights = deep_->weights[column / 16];
      if (!decoded_)
        decode_s16(t_.rhs + column / 16 * t_.rhs_panel_stride + at / 4 * kGroup, kGroup, groups,
                   weights);
      (t_.cols - column > 8 ? add_decoded<2> : add_decoded<1>)((at ? sums : t_.init) + column,
                                                               at ? kWideNr : 0, room_, weights,
                                                               groups, sums + column);
    }
    decoded_ = true;
  }

  const Tile& t_;
  DeepRoom* const deep_;
  Tile tile_, panel_;
  const size_t end_;
  size_t unasked_ = 0, pause_ = 0;  // as in Answers, of tiles
  bool decoded_;
  Part part_;
  alignas(64) uint8_t room_[kOdd + kWideMr * kRowBytes];
};

__attribute__((noinline)) void multiply_deep(const Tile& t) {
  constexpr size_t kLeastRest = 4;  // rows of a tile that repeats others
  const size_t over = t.rows % kWideMr, rest = over < kLeastRest ? over : 0, rows = t.rows - rest;
  *(const void**)t.room = nullptr;  // shallow tiles' weights, if any, are written over
  DeepBlock block(t);
  for (size_t row = 0; row < rows; row += kDeepTiles * kWideMr) {
    const size_t first = smaller(row, rows - kWideMr);
    block.multiply(first, smaller(rows - first, kDeepTiles * kWideMr));
  }
  if (!rest) return;
  Tile last = t;
  pass_rows(&last, rows);
  last.rows = rest;
  dispatch_wide(last);
}

void multiply_micro_panel(const Tile& t) {
  const bool deep = t.taps * t.depth > 2 * kPart;
  if (t.rows < 2 * kWideMr || (deep && !t.room))
    return multiply_by_tiles<dispatch_wide, kWideMr>(t, t.rows);
  if (deep) return multiply_deep(t);
  multiply_whole_tiles<dispatch_wide, kWideMr, kWideMr, kRepeated>(t, multiply_all_rows);
}

}  // namespace

const MicroKernel avx2_u8s8_rows_6x64x4 = {
    .name = "avx2_u8s8_rows_6x64x4",
    .tier_id = TierId::kAvx2,
    .lhs_element_type = ElementType::kU8,
    .mr = kWideMr,
    .nr = kWideNr,
    .flags = kAnyLhs | kRequantizes | kRequantizesTflite | kStoresFloats | kRowInit,
    .rhs_layout = kX86Layout,
    .lhs_kr = 4,
    .multiply = dispatch_wide,
    .multiply_micro_panel = multiply_micro_panel,
    .micro_panel = {4, 2 * kPart, 1, kWideNr, true, 0, kS16Group, true},
};

}  // namespace octet
