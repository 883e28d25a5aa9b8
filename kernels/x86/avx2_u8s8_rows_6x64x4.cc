// SPDX-License-Identifier: Apache-2.0
// u8 x s8 -> s32, 8 bits or f32, on ymm, up to 6 rows x 64 columns of rows that are read where they
// lie. Exact for all inputs.
//
// VPMADDUBSW multiplies u8 by s8, adds neighbours and saturates at 16 bits. That is exact where two
// neighbours of a row are not both large, as ReLU leaves nearly all of them. So the kernel looks at
// a tile's rows first (avx2_rows.h). Rows that fit are multiplied as bytes, where they lie or
// copied to the stack, a part of the depth at a time; of a few groups of four steps that do not
// fit, the top bits are multiplied in addition. Other rows are widened to int16, and VPMADDWD
// multiplies them: see avx2_s16s8_6x16x4.cc, whose order of words this is. So the time depends on
// the lhs, the sums do not.
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
#include "kernels/x86/avx2_rows.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/accumulate.h"
#include "kernels/x86/shared/micro_panel.h"
#include "kernels/x86/shared/quads.h"
#include "kernels/x86/shared/store_tile_ymm.h"

namespace octet {
namespace {

constexpr int kWideNr = 64;
// Products of a column that are repeated rather than multiplied in tiles of fewer rows
constexpr size_t kRepeated = 300;

// Of words, the weights are widened in the loop, or decoded before it.
enum class Form { kBytes, kWords, kDecoded };

// Assembly, because GCC 12 would keep the ones in a register that the tile needs.
OCTET_INLINE inline void add_pairs(__m256i& acc, __m256i int16) {
  __asm__("vpmaddwd %1, %0, %0" : "+x"(int16) : "m"(*(const __m256i*)kOnes));
  accumulate(acc, int16);
}

// Adds a group of bytes.
template <int vectors, int rows, int most>
OCTET_INLINE inline void add_bytes(const uint8_t* const (&lhs)[(rows + 2) / 3], size_t stride,
                                   const uint8_t* rhs, __m256i (&acc)[rows][most]) {
  __m256i b[vectors];
  unroll<vectors>([&](auto v)
                      OCTET_INLINE { b[v] = _mm256_loadu_si256((const __m256i*)(rhs + 32 * v)); });
  unroll<rows>([&](auto i) OCTET_INLINE {
    const __m256i a = _mm256_set1_epi32(load_quad(lhs[i / 3] + i % 3 * stride));
    unroll<vectors>([&](auto v)
                        OCTET_INLINE { add_pairs(acc[i][v], _mm256_maddubs_epi16(a, b[v])); });
  });
}

template <int rows>
OCTET_INLINE inline void pass_group(const uint8_t* (&lhs)[rows]) {
  unroll<rows>([&](auto i) OCTET_INLINE {
    lhs[i] += 4;
    __asm__("" : "+r"(lhs[i]));
  });
}

// lhs: of each three rows, the first.
template <Form form, int vectors, int rows, int most>
OCTET_INLINE inline void add_groups(const uint8_t* (&lhs)[(rows + 2) / 3], size_t stride,
                                    const uint8_t*& rhs, size_t groups,
                                    __m256i (&acc)[rows][most]) {
  constexpr bool decoded = form == Form::kDecoded;
  constexpr size_t odd = decoded ? kAllOdd : kOdd;
  OCTET_NO_UNROLL
  for (; groups; --groups, rhs += decoded ? kS16Group : kGroup) {
    if constexpr (form == Form::kBytes) {
      _mm_prefetch((const char*)rhs + kWeightsAhead, _MM_HINT_T0);
      add_bytes<vectors>(lhs, stride, rhs, acc);
      pass_group(lhs);
      continue;
    }
    unroll<2>([&](auto p) OCTET_INLINE {
      // See avx2_s16s8_6x16x4.cc
      if (p && !decoded) __asm__("" : "+r"(rhs) : "x"(acc[rows - 1][vectors - 1]));
      if (!p && !decoded) _mm_prefetch((const char*)rhs + kWeightsAhead, _MM_HINT_T0);
      __m256i b[vectors];
      unroll<vectors>([&](auto v) OCTET_INLINE {
        b[v] = decoded ? _mm256_load_si256((const __m256i*)(rhs + 64 * p + 32 * v))
                       : s16_of_quads<p>(rhs + 32 * v);
      });
      unroll<rows>([&](auto i) OCTET_INLINE {
        const __m256i a = _mm256_set1_epi32(load_quad(lhs[i / 3] + i % 3 * stride + (p ? odd : 0)));
        unroll<vectors>([&](auto v)
                            OCTET_INLINE { accumulate(acc[i][v], _mm256_madd_epi16(a, b[v])); });
      });
    });
    pass_group(lhs);
  }
}

// Calls f(row_at, bytes, done) for each tap that has bytes of [at, at + part) of all taps: bytes of
// row_at(i) are `done` bytes after the part's first one.
template <typename F>
OCTET_INLINE inline void for_each_tap(const Tile& t, size_t at, size_t part, const F& f) {
  const size_t steps = round_up_pow2(t.depth, 4);
  const uint8_t* first = (const uint8_t*)t.lhs;  // of the tap's rows
  size_t tap = 0;
  const auto next_tap = [&] {
    if (++tap < t.taps && !t.lhs_rows) first += t.tap_steps[tap - 1];
  };
  for (; at >= steps; at -= steps) next_tap();
  for (size_t done = 0, count; done < part; done += count, at = 0, next_tap()) {
    count = smaller(steps - at, part - done);
    f(
        [&](size_t i) OCTET_INLINE {
          return (t.lhs_rows ? t.lhs_rows[tap * t.rows + i] : first + i * t.lhs_stride) + at;
        },
        smaller(t.depth - at, count), done);
  }
}

// Copies or widens bytes [at, at + part) of all taps of each row. Returns whether copies have
// crowded pairs.
template <bool words>
__attribute__((noinline)) bool bring_part(const Tile& t, size_t at, size_t part, uint8_t* to) {
  __m256i largest = _mm256_setzero_si256();
  for_each_tap(t, at, part, [&](const auto& row_at, size_t bytes, size_t done) {
    bring_rows<words>(row_at, t.rows, bytes, t.lhs_flip, to + done, &largest);
  });
  largest = _mm256_cmpgt_epi16(largest, _mm256_set1_epi16(Limits::kLargest));
  return !_mm256_testz_si256(largest, largest);
}

// A part of a tile's rows, of all its taps: where they lie, copied, or as words.
struct Part {
  static constexpr size_t kMostCrowded = 24;
  const uint8_t* data;
  size_t stride, bytes;
  bool words;
  size_t crowded;  // groups of bytes
  CrowdedGroup groups[kMostCrowded];

  // Reads what follows byte `at` of all taps' `end`; room: for kPart bytes of each row, as words.
  // Rows of one tap are asked about where they lie, all that follows if nothing has to be flipped.
  __attribute__((noinline)) void read(const Tile& t, size_t at, size_t end, uint8_t* room) {
    const size_t some = smaller(end - at, kPart);
    const bool lie = t.taps == 1 && !t.lhs_rows && t.depth % 4 == 0;
    bytes = some;
    if (lie) {
      data = (const uint8_t*)t.lhs + at, stride = t.lhs_stride;
      if (!t.lhs_flip) bytes = end - at;
      words = !ask(t, at, t.lhs_flip);
      if (words && bytes > some) bytes = some, words = !ask(t, at, 0);
      if (!words && !t.lhs_flip) return;
    }
    data = room, stride = kRowBytes;
    if (!lie) crowded = 0, words = bring_part<false>(t, at, bytes, room) && !ask(t, at, 0);
    if (lie && !words) bring_part<false>(t, at, bytes, room);
    if (words) bring_part<true>(t, at, bytes, room);
  }

 private:
  // Whether few groups are crowded.
  bool ask(const Tile& t, size_t at, uint32_t flip) {
    crowded = 0;
    return find_crowded(data, stride, t.rows, bytes, flip, nullptr, at / 4,
                        smaller(t.rows * bytes / 64, kMostCrowded), groups, &crowded);
  }
};

// Adds what crowded groups lose to the row sums in `from`; rows that still are the tile's init are
// copied to `sums` before.
__attribute__((noinline)) void add_losses(const Tile& t, const Part& part, const int32_t** from,
                                          int32_t (*sums)[kWideNr]) {
  for (size_t e = 0; e < part.crowded; ++e) {
    const size_t row = part.groups[e].row;
    if (from[row] != sums[row]) {
      OCTET_NO_UNROLL
      for (size_t column = 0; column < round_up_pow2(t.cols, 16); column += 8)
        _mm256_store_si256((__m256i*)(sums[row] + column),
                           _mm256_loadu_si256((const __m256i*)(from[row] + column)));
      from[row] = sums[row];
    }
    add_loss(t, part.groups[e], sums[row]);
  }
}

template <int rows>
void multiply_wide(const Tile& t) {
  alignas(64) uint8_t room[kOdd + rows * kRowBytes];
  alignas(32) int32_t sums[rows][kWideNr];
  unroll<rows>([&](auto i) OCTET_INLINE {
    // See avx512vnni_u8s8_6x64x4.cc
    _mm_prefetch((const char*)t.dst + i * t.dst_stride, _MM_HINT_T0);
  });
  Tile panel = t;  // the tile of one panel: its columns and dst
  Part part;
  const size_t end = t.taps * round_up_pow2(t.depth, 4);
  for (size_t at = 0; at < end; at += part.bytes) {
    part.read(t, at, end, room);
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
      unroll<(rows + 2) / 3>([&](auto i)
                                 OCTET_INLINE { lhs[i] = part.data + i * 3 * part.stride; });
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
      panel.cols = cols;
      const bool one = t.scale && !t.requantization->to_floats;  // byte of a column
      panel.dst = (uint8_t*)t.dst + (one ? column : column * sizeof(int32_t));
      if (t.scale) panel.scale = t.scale + column;
      store_tile<kWideMr>(panel, acc);
    }
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
  for (;;) {
    __m256i acc[rows][vectors];
    unroll<rows>([&](auto i) OCTET_INLINE {
      unroll<vectors>([&](auto v) OCTET_INLINE {
        acc[i][v] = _mm256_loadu_si256((const __m256i*)(init + i * init_stride + 8 * v));
        pin(acc[i][v]);
      });
    });
    const uint8_t *lhs[rows / 3], *rhs = t.rhs + column / 16 * t.rhs_panel_stride;
    unroll<rows / 3>([&](auto i) OCTET_INLINE { lhs[i] = data + i * 3 * from.stride; });
    for (size_t tap = 0;;) {
      add_groups<form, vectors>(lhs, from.stride, rhs, from.groups, acc);
      if (++tap == from.taps) break;
      const size_t step =
          (from.tap_steps ? (size_t)from.tap_steps[tap - 1] : from.tap) - 4 * from.groups;
      unroll<rows / 3>([&](auto i) OCTET_INLINE { lhs[i] += step; });
    }
    if (makes_words(t)) {
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

void multiply_micro_panel(const Tile& t) {
  if (t.taps * t.depth > 2 * kPart || t.rows < 2 * kWideMr)
    return multiply_by_tiles<dispatch_wide, kWideMr>(t, t.rows);
  multiply_whole_tiles<dispatch_wide, kWideMr, kWideMr, kRepeated, multiply_all_rows>(t);
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
    .micro_panel = {4, 2 * kPart, 1, kWideNr, true, 0, kS16Group},
};

}  // namespace octet
