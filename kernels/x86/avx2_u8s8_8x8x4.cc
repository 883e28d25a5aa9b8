// SPDX-License-Identifier: Apache-2.0
// u8 x s8 -> s32, 8 bits or f32, VPMADDWD on ymm, for rows that are read where they lie. Exact for
// all inputs.
//
// Few rows of at most 8 columns are widened in registers, in tiles of up to 8 rows:
//
//                      columns 0-7
//                     +------------+      8 accumulators, 2 for rhs, 1 for lhs, 1 for its half,
//   row i, 4 bytes    |   acc[i]   |      1 product, 1 mask, 1 flip: 15 registers of 16
//   broadcast         +------------+
//
// Per group of 4 along depth and row: a broadcast, its even and its odd bytes widened to int16, two
// multiply-adds and two adds.
//
// Many rows are widened first, on the stack, a part of the depth at a time, and are multiplied by
// up to three panels in tiles of 6 rows x 16 columns, or 12 rows x 8: see avx2_s16s8_6x16x4.cc,
// whose order of words and whose decoded weights they have. One call takes all rows.
#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/accumulate.h"
#include "kernels/x86/shared/micro_panel.h"
#include "kernels/x86/shared/quads.h"
#include "kernels/x86/shared/store_tile_ymm.h"

namespace octet {
namespace {

constexpr int kMr = 8, kNr = 8;

template <int rows>
OCTET_INLINE inline void add_products(const Tile& t, __m256i (&acc)[rows]) {
  const uint8_t *rhs = t.rhs, *first = (const uint8_t*)t.lhs;  // of the tap's rows
  const __m256i even = _mm256_set1_epi16(0xff), flips = _mm256_set1_epi32((int32_t)t.lhs_flip);
  for (size_t tap = 1;; ++tap) {
    const uint8_t* const* const rows_of_tap = t.lhs_rows ? t.lhs_rows + (tap - 1) * rows : nullptr;
    const auto row = [&](size_t i) OCTET_INLINE {
      return rows_of_tap ? rows_of_tap[i] : first + i * t.lhs_stride;
    };
    const uint8_t* lhs[rows];
    unroll<rows>([&](auto i) OCTET_INLINE { lhs[i] = row(i); });
    int32_t last[rows];
    // The last 1..3 steps are a group, too, in a copy
    for (size_t groups = t.depth / 4, tail = t.depth % 4;; groups = 1, tail = 0) {
      size_t k = 0;
      OCTET_NO_UNROLL
      for (; groups; --groups) {
        const __m256i b0 = s16_of_quads<0>(rhs), b1 = s16_of_quads<1>(rhs);
        unroll<rows>([&](auto i) OCTET_INLINE {
          const __m256i bytes = _mm256_xor_si256(_mm256_set1_epi32(load_quad(lhs[i] + k)), flips);
          accumulate(acc[i], _mm256_madd_epi16(_mm256_and_si256(bytes, even), b0));
          accumulate(acc[i], _mm256_madd_epi16(_mm256_srli_epi16(bytes, 8), b1));
        });
        k += 4;
        __asm__("" : "+r"(k));  // else compilers advance eight addresses
        rhs += t.rhs_stride;
      }
      if (!tail) break;
      OCTET_NO_UNROLL
      for (size_t i = 0; i < rows; ++i) last[i] = tail_quad(row(i) + t.depth - tail, tail);
      unroll<rows>([&](auto i) OCTET_INLINE { lhs[i] = (const uint8_t*)&last[i]; });
    }
    if (tap == t.taps) return;
    if (!rows_of_tap) first += t.tap_steps[tap - 1];
  }
}

// Requantizes two rows per vector of bytes. Rows of less than eight columns pass through the stack,
// so that one loop stores them.
template <int rows>
OCTET_INLINE inline void store_requantized8(const Tile& t, const __m256i (&acc)[rows]) {
  constexpr int kPairs = (rows + 1) / 2;
  const Requantizer<16> requantizer(*t.requantization);
  const __m256 scale = _mm256_loadu_ps(t.scale);
  const bool whole = t.cols == kNr;
  uint8_t some[2 * kPairs][kNr], *const to = whole ? (uint8_t*)t.dst : some[0];
  const size_t stride = whole ? t.dst_stride : kNr;
  unroll<kPairs>([&](auto pair) OCTET_INLINE {
    constexpr int i = 2 * pair, next = i + 1 < rows ? i + 1 : i;
    const __m128i bytes =
        requantizer.bytes(scaled_int16(acc[i], scale), scaled_int16(acc[next], scale));
    _mm_storel_epi64((__m128i*)(to + i * stride), bytes);
    if (next > i) _mm_storeh_pd((double*)(to + next * stride), _mm_castsi128_pd(bytes));
  });
  if (whole) return;
  uint8_t* dst = (uint8_t*)t.dst;
  OCTET_NO_UNROLL
  for (int i = 0; i < rows; ++i, dst += t.dst_stride)
    if (t.cols >= 4) {  // twice four bytes, which may overlap
      __builtin_memcpy(dst, some[i], 4);
      __builtin_memcpy(dst + t.cols - 4, some[i] + t.cols - 4, 4);
    } else {
      store_bytes(dst, _mm_loadl_epi64((const __m128i*)some[i]), t.cols);
    }
}

// One text for all heights, which few columns hardly wait for.
__attribute__((noinline)) void store_all_floats(const Tile& t, const __m256i (&acc)[kMr][1]) {
  store_floats(t, t.rows, acc);
}

template <int rows>
void multiply(const Tile& t) {
  __m256i acc[rows];
  unroll<rows>([&](auto i) OCTET_INLINE {
    acc[i] = _mm256_loadu_si256((const __m256i*)(t.init + i * t.init_stride));
    if (t.row_init) acc[i] = _mm256_add_epi32(acc[i], _mm256_set1_epi32(t.row_init[i]));
  });
  add_products(t, acc);
  if (t.scale && t.requantization->to_floats) {
    __m256i sums[kMr][1];
    unroll<rows>([&](auto i) OCTET_INLINE { sums[i][0] = acc[i]; });
    return store_all_floats(t, sums);
  }
  if (t.scale && !t.requantization->tflite_apart) return store_requantized8(t, acc);

  alignas(32) int32_t sums[rows][kNr];
  uint8_t* const to = t.scale ? (uint8_t*)sums : (uint8_t*)t.dst;
  const size_t stride = t.scale ? sizeof sums[0] : t.dst_stride, cols = t.scale ? kNr : t.cols;
  if (cols == kNr)
    unroll<rows>([&](auto i) OCTET_INLINE { store_s32(to + i * stride, acc[i], kNr); });
  else
    unroll<rows>([&](auto i) OCTET_INLINE { store_s32(to + i * stride, acc[i], cols % kNr); });
  if (t.scale) avx2_requantize(t, sums[0], kNr);
}

constexpr MultiplyFn kByRows[kMr] = {multiply<1>, multiply<2>, multiply<3>, multiply<4>,
                                     multiply<5>, multiply<6>, multiply<7>, multiply<8>};

void dispatch(const Tile& t) { kByRows[t.rows - 1](t); }

// ---- many rows, which are widened first ---------------------------------------------------------

constexpr int kWideMr = 6, kWideNr = 48;
// Products of a column that are repeated rather than multiplied in tiles of fewer rows
constexpr size_t kRepeated = 300;

// A part of a tile's rows as words, all taps side by side: of each four bytes the even ones, and
// kOdd bytes further the odd ones.
constexpr size_t kPart = 160, kRowBytes = kPart + 32, kOdd = 2 * kWideMr * kRowBytes;

// Widens groups of `depth` bytes, and writes up to 28 bytes beyond them.
class Widener {
 public:
  Widener(size_t depth, uint32_t flip)
      : whole_(depth / 32 * 32),
        has_rest_(depth % 32 >= 4),
        rest_(_mm256_cmpgt_epi32(_mm256_set1_epi32((int)(depth % 32 / 4)),
                                 _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))),
        flips_(_mm256_set1_epi32((int)flip)) {}

  OCTET_INLINE inline void widen(const uint8_t* from, uint8_t* to) const {
    OCTET_NO_UNROLL
    for (size_t k = 0; k < whole_; k += 32)
      put(_mm256_loadu_si256((const __m256i*)(from + k)), to + k);
    if (has_rest_) put(_mm256_maskload_epi32((const int*)(from + whole_), rest_), to + whole_);
  }

 private:
  OCTET_INLINE inline void put(__m256i bytes, uint8_t* to) const {
    bytes = _mm256_xor_si256(bytes, flips_);
    _mm256_storeu_si256((__m256i*)to, _mm256_and_si256(bytes, _mm256_set1_epi16(0xff)));
    _mm256_storeu_si256((__m256i*)(to + kOdd), _mm256_srli_epi16(bytes, 8));
  }

  const size_t whole_;
  const bool has_rest_;
  const __m256i rest_, flips_;
};

// Widens bytes [at, at + part) of all taps of each row.
__attribute__((noinline)) void widen_part(const Tile& t, size_t at, size_t part, uint8_t* to) {
  const size_t steps = round_up_pow2(t.depth, 4);
  const uint8_t* first = (const uint8_t*)t.lhs;  // of the tap's rows
  size_t tap = 0;
  const auto next_tap = [&] {
    if (++tap < t.taps && !t.lhs_rows) first += t.tap_steps[tap - 1];
  };
  for (; at >= steps; at -= steps) next_tap();
  for (size_t done = 0, count; done < part; done += count, to += count) {
    count = steps - at < part - done ? steps - at : part - done;
    const size_t bytes = t.depth - at < count ? t.depth - at : count, tail = bytes % 4;
    const Widener widener(bytes, t.lhs_flip);
    for (size_t i = 0; i < t.rows; ++i) {
      const uint8_t* const from =
          (t.lhs_rows ? t.lhs_rows[tap * t.rows + i] : first + i * t.lhs_stride) + at;
      uint8_t* const row = to + i * kRowBytes;
      widener.widen(from, row);
      if (!tail) continue;
      const uint32_t quad = (uint32_t)tail_quad(from + bytes - tail, tail) ^ t.lhs_flip,
                     even = quad & 0xff00ff, uneven = quad >> 8 & 0xff00ff;
      __builtin_memcpy(row + bytes - tail, &even, 4);
      __builtin_memcpy(row + bytes - tail + kOdd, &uneven, 4);
    }
    at = 0;
    next_tap();
  }
}

// lhs: of each three rows, the first; wide: the weights are int16 already.
template <bool wide, int vectors, int rows, int most>
OCTET_INLINE inline void add_groups(const uint8_t* (&lhs)[(rows + 2) / 3], size_t stride,
                                    const uint8_t*& rhs, size_t groups,
                                    __m256i (&acc)[rows][most]) {
  OCTET_NO_UNROLL
  for (; groups; --groups) {
    unroll<2>([&](auto p) OCTET_INLINE {
      // See avx2_s16s8_6x16x4.cc
      if (p && !wide) __asm__("" : "+r"(rhs) : "x"(acc[rows - 1][vectors - 1]));
      if (!p || wide) _mm_prefetch((const char*)rhs + 64 * p + kWeightsAhead, _MM_HINT_T0);
      __m256i b[vectors];
      unroll<vectors>([&](auto v) OCTET_INLINE {
        b[v] = wide ? _mm256_load_si256((const __m256i*)(rhs + 64 * p + 32 * v))
                    : s16_of_quads<p>(rhs + 32 * v);
      });
      unroll<rows>([&](auto i) OCTET_INLINE {
        const __m256i a =
            _mm256_set1_epi32(load_quad(lhs[i / 3] + i % 3 * stride + (p ? kOdd : 0)));
        unroll<vectors>([&](auto v)
                            OCTET_INLINE { accumulate(acc[i][v], _mm256_madd_epi16(a, b[v])); });
      });
    });
    unroll<(rows + 2) / 3>([&](auto i) OCTET_INLINE {
      lhs[i] += 4;
      __asm__("" : "+r"(lhs[i]));
    });
    rhs += wide ? kS16Group : 64;
  }
}

template <int rows>
void multiply_wide(const Tile& t) {
  alignas(64) uint8_t words[kOdd + rows * kRowBytes];
  alignas(32) int32_t sums[rows][kWideNr];
  unroll<rows>([&](auto i) OCTET_INLINE {
    // See avx512vnni_u8s8_6x64x4.cc
    _mm_prefetch((const char*)t.dst + i * t.dst_stride, _MM_HINT_T0);
  });
  Tile panel = t;  // the tile of one panel: its columns and dst
  const size_t end = t.taps * round_up_pow2(t.depth, 4), group = t.rhs_decoded ? kS16Group : 64;
  for (size_t at = 0, part; at < end; at += part) {
    part = end - at < kPart ? end - at : kPart;
    widen_part(t, at, part, words);
    OCTET_NO_UNROLL
    for (size_t column = 0; column < t.cols; column += 16) {
      const size_t cols = t.cols - column < 16 ? t.cols - column : 16;
      __m256i acc[rows][2];
      unroll<rows>([&](auto i) OCTET_INLINE {
        unroll<2>([&](auto v) OCTET_INLINE {
          const int32_t* const from = (at ? sums[i] : t.init + i * t.init_stride) + column;
          acc[i][v] = _mm256_loadu_si256((const __m256i*)(from + 8 * v));
        });
      });
      if (!at) add_row_init(t, acc);
      const uint8_t *lhs[(rows + 2) / 3],
          *rhs = t.rhs + column / 16 * t.rhs_panel_stride + at / 4 * group;
      unroll<(rows + 2) / 3>([&](auto i) OCTET_INLINE { lhs[i] = words + i * 3 * kRowBytes; });
      if (t.rhs_decoded)
        cols > 8 ? add_groups<true, 2>(lhs, kRowBytes, rhs, part / 4, acc)
                 : add_groups<true, 1>(lhs, kRowBytes, rhs, part / 4, acc);
      else
        cols > 8 ? add_groups<false, 2>(lhs, kRowBytes, rhs, part / 4, acc)
                 : add_groups<false, 1>(lhs, kRowBytes, rhs, part / 4, acc);
      unroll<rows>([&](auto i) OCTET_INLINE {
        __m256i(&row)[2] = acc[i];  // as in avx2_s16s8_6x16x4.cc
        pin(row[0]);
        pin(row[1]);
      });
      if (at + part < end) {
        unroll<rows>([&](auto i) OCTET_INLINE {
          unroll<2>([&](auto v) OCTET_INLINE {
            _mm256_storeu_si256((__m256i*)&sums[i][column + 8 * v], acc[i][v]);
          });
        });
        continue;
      }
      panel.cols = cols;
      const bool bytes = t.scale && !t.requantization->to_floats;
      panel.dst = (uint8_t*)t.dst + (bytes ? column : column * sizeof(int32_t));
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

// A micro-panel's words: row after row, or, where rows overlap, all rows of a tap as one.
struct WideRows {
  const uint8_t* words;
  size_t stride, tap, taps, groups;  // bytes between rows and between taps; groups of a tap
};

// Multiplies some rows by up to 8 * vectors columns from `column` on.
template <int rows, int vectors>
OCTET_INLINE inline void multiply_panel(const Tile& t, const RowsExit& exit,
                                        const WordsExit& words_exit, size_t column,
                                        const WideRows& from, const float* row_scale,
                                        uint8_t* dst) {
  __m256i acc[rows][vectors];
  unroll<rows>([&](auto i) OCTET_INLINE {
    unroll<vectors>([&](auto v) OCTET_INLINE {
      acc[i][v] = _mm256_loadu_si256((const __m256i*)(t.init + column + 8 * v));
      pin(acc[i][v]);
    });
  });
  const uint8_t *lhs[rows / 3], *rhs = t.rhs + column / 16 * t.rhs_panel_stride;
  unroll<rows / 3>([&](auto i) OCTET_INLINE { lhs[i] = from.words + i * 3 * from.stride; });
  for (size_t taps = from.taps;;) {
    add_groups<true, vectors>(lhs, from.stride, rhs, from.groups, acc);
    if (!--taps) break;
    unroll<rows / 3>([&](auto i) OCTET_INLINE { lhs[i] += from.tap - 4 * from.groups; });
  }
  if (makes_words(t)) return words_exit.leave(column, row_scale, acc, dst);
  const size_t cols = t.cols - column < 8 * vectors ? t.cols - column : 8 * vectors;
  leave_rows(exit, t.scale + column, cols, acc, dst + column);
}

// Multiplies six rows or more in one call: twelve at a time are widened, or six that are deeper
// than a part. The last ones may repeat rows before them.
void multiply_all_rows(const Tile& t) {
  alignas(64) uint8_t words[2 * kOdd];
  const size_t stride = t.lhs_stride;
  const bool deep = t.taps * t.depth > kPart;
  const size_t most = deep ? kWideMr : 2 * kWideMr, row_bytes = deep ? 2 * kRowBytes : kRowBytes;
  const bool overlap = stride < t.depth && stride % 4 == 0;
  const size_t span = overlap ? (most - 1) * stride + t.depth : t.depth;
  const WideRows wide = {words, overlap ? stride : row_bytes, span, overlap ? t.taps : 1,
                         t.depth / 4 * (overlap ? 1 : t.taps)};
  const RowsExit exit(t);
  const WordsExit words_exit(t);
  const uint8_t* from = (const uint8_t*)t.lhs;
  const float* row_scale = t.row_scale;
  uint8_t* dst = (uint8_t*)t.dst;
  for (size_t left = t.rows;;) {
    const size_t rows = left > kWideMr ? most : kWideMr;
    if (left < rows) {
      from -= (rows - left) * stride;
      dst -= (rows - left) * t.dst_stride;
      if (row_scale) row_scale -= rows - left;
      left = rows;
    }
    const uint8_t* tap = from;
    uint8_t* to = words;
    const Widener widener(span - (overlap ? (most - rows) * stride : 0), t.lhs_flip);
    for (size_t i = 0;; to += span) {
      for (size_t row = 0; row < (overlap ? 1 : rows); ++row)
        widener.widen(tap + row * stride, to + row * row_bytes);
      if (++i == t.taps) break;
      tap += t.tap_steps[i - 1];
    }
    OCTET_NO_UNROLL
    for (size_t column = 0; column < t.cols; column += 16) {
      if (t.cols - column <= 8) {
        rows > kWideMr
            ? multiply_panel<2 * kWideMr, 1>(t, exit, words_exit, column, wide, row_scale, dst)
            : multiply_panel<kWideMr, 1>(t, exit, words_exit, column, wide, row_scale, dst);
        break;
      }
      WideRows some = wide;
      const float* some_scales = row_scale;
      uint8_t* to_some = dst;
      OCTET_NO_UNROLL
      for (size_t row = 0; row < rows; row += kWideMr) {
        multiply_panel<kWideMr, 2>(t, exit, words_exit, column, some, some_scales, to_some);
        some.words += kWideMr * some.stride;
        if (row_scale) some_scales += kWideMr;
        to_some += kWideMr * t.dst_stride;
      }
    }
    left -= rows;
    if (!left) return;
    from += rows * stride;
    dst += rows * t.dst_stride;
    if (row_scale) row_scale += rows;
  }
}

void multiply_micro_panel(const Tile& t) {
  if (!t.rhs_decoded || t.taps * t.depth > 2 * kPart || t.rows < 2 * kWideMr)
    return multiply_by_tiles<dispatch_wide, kWideMr>(t, t.rows);
  multiply_whole_tiles<dispatch_wide, kWideMr, kWideMr, kRepeated, multiply_all_rows>(t);
}

}  // namespace

const MicroKernel avx2_u8s8_8x8x4 = {
    .name = "avx2_u8s8_8x8x4",
    .tier_id = TierId::kAvx2,
    .lhs_element_type = ElementType::kU8,
    .mr = kMr,
    .nr = kNr,
    .m_max = 4 * kMr,
    .n_max = kNr,
    .flags = kAnyLhs | kRequantizes | kRequantizesTflite | kStoresFloats | kRowInit,
    .rhs_layout = kX86Layout,
    .lhs_kr = 4,
    .multiply = dispatch,
};

const MicroKernel avx2_u8s8_6x48x4 = {
    .name = "avx2_u8s8_6x48x4",
    .tier_id = TierId::kAvx2,
    .lhs_element_type = ElementType::kU8,
    .mr = kWideMr,
    .nr = kWideNr,
    .flags = kAnyLhs | kRequantizes | kRequantizesTflite | kStoresFloats | kRowInit,
    .rhs_layout = kX86Layout,
    .lhs_kr = 4,
    .multiply = dispatch_wide,
    .multiply_micro_panel = multiply_micro_panel,
    .micro_panel = {4, 2 * kPart, 1, kWideNr, true},
    .decoder = {decode_s16, kS16Group},
};

}  // namespace octet
