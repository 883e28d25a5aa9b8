// SPDX-License-Identifier: Apache-2.0
// Helpers of kernels that multiply all rows of a micro-panel in one call, and the forms in which
// zmm registers hold columns.
#pragma once

#include "kernels/core/compiler.h"
#include "kernels/x86/shared/epilogue_rows.h"
#include "kernels/x86/shared/quads.h"
#include "kernels/x86/shared/requantize.h"
#include "kernels/x86/shared/tail.h"
#include "kernels/x86/shared/tflite.h"

namespace octet {
namespace {

// Whether a tile's outputs are of four bytes: floats or s32.
inline bool makes_words(const Tile& t) { return !t.scale || t.requantization->to_floats; }

// Whether loops over all rows make a tile's bytes in TFLite mode.
inline bool makes_tflite_in_rows([[maybe_unused]] const Tile& t) {
#ifdef __AVX512F__
  return false;
#else
  return makes_tflite_by_floats(t);
#endif
}

// Whether a tile's outputs are bytes in float mode or, on ymm, in TFLite mode by floats, or of four
// bytes, and its depth is whole groups of four: most are so. Loops over all rows take no other
// tiles.
inline bool leaves_at_once(const Tile& t) {
  return (makes_words(t) || makes_bytes_in_float_mode(t) || makes_tflite_in_rows(t)) &&
         t.depth % 4 == 0;
}

// Multiplies rows tile by tile, of nearly equal heights.
template <MultiplyFn multiply, size_t most>
__attribute__((noinline)) void multiply_by_tiles(Tile tile, size_t rows) {
  const size_t count = (rows + most - 1) / most, height = rows / count, taller = rows % count;
  for (size_t i = 0; i < count; ++i) {
    tile.rows = height + (i < taller);
    multiply(tile);
    pass_rows(&tile, tile.rows);
  }
}

// Multiplies tiles of exactly `rows` rows by `whole`, whose last tile repeats rows of the one
// before where these are at most `most` products of a column; other rows tile by tile.
template <MultiplyFn multiply, size_t mr, size_t rows, size_t most>
OCTET_INLINE inline void multiply_whole_tiles(const Tile& t, MultiplyFn whole) {
  const TowardsZero rounding(makes_tflite_in_rows(t));
  if (!leaves_at_once(t) || t.rows < rows) return multiply_by_tiles<multiply, mr>(t, t.rows);
  static constexpr Requantization kNone = {};
  Tile tile = t;
  if (!t.scale) tile.requantization = &kNone;  // s32 needs none, but exits are made of one
  const size_t over = t.rows % rows;
  if (over && (rows - over) * t.depth * t.taps > most) {
    const size_t rest = t.rows < 2 * rows ? t.rows : over + rows;
    tile.rows -= rest;
    Tile last = t;
    pass_rows(&last, tile.rows);
    multiply_by_tiles<multiply, mr>(last, rest);
    if (!tile.rows) return;
  }
  whole(tile);
}

// How a micro-panel's floats or s32 leave, a vector of columns of all rows after the other. Each
// step that is needed takes all rows, so that a branch serves all of them.
struct WordsExit {
  const float* scales;  // null: s32
  ptrdiff_t bias_apart;
  float lo, hi;
  bool raises, lowers;
  size_t cols, stride;
  explicit WordsExit(const Tile& t)
      : scales(t.scale),
        bias_apart(t.requantization->bias_apart),
        lo(t.requantization->lo_f32),
        hi(t.requantization->hi_f32),
        raises(t.requantization->clamps && lo > -__builtin_inff()),
        lowers(t.requantization->clamps && hi < __builtin_inff()),
        cols(t.cols),
        stride(t.dst_stride) {}

  // Stores rows of columns from `column` on, to rows that begin at dst, and fetches as many rows
  // behind them. row_scale: null or one per row.
  template <int rows, int vectors>
  OCTET_INLINE inline void leave(size_t column, const float* row_scale,
                                 const EpilogueVector (&acc)[rows][vectors], uint8_t* dst) const {
    const size_t ahead = rows * stride;
    unroll<vectors>([&](auto v) OCTET_INLINE {
      const size_t n = column + v * kEpilogueLanes;
      if (v > 0 && n >= cols) return;
      EpilogueFloats x[rows];
      const auto each = [&](const auto& step) OCTET_INLINE {
        unroll<rows>([&](auto i) OCTET_INLINE {
          x[i] = step(x[i], i);
          pin(x[i]);  // else Clang makes one multiplication of two steps', by factors in memory
        });
      };
      if (scales) {
        const EpilogueFloats scale = as_floats(epilogue_vector(scales + n));
        unroll<rows>([&](auto i) OCTET_INLINE { x[i] = to_floats(acc[i][v]); });
        if (row_scale)
          each([&](EpilogueFloats x, int i)
                   OCTET_INLINE { return x * (all(row_scale[i]) * scale); });
        else
          each([&](EpilogueFloats x, int) OCTET_INLINE { return x * scale; });
        if (bias_apart) {
          const EpilogueFloats bias = as_floats(epilogue_vector(scales + n + bias_apart));
          each([&](EpilogueFloats x, int) OCTET_INLINE { return x + bias; });
        }
        if (raises) each([&](EpilogueFloats x, int) OCTET_INLINE { return most_of(all(lo), x); });
        if (lowers) each([&](EpilogueFloats x, int) OCTET_INLINE { return least_of(all(hi), x); });
      } else {
        unroll<rows>([&](auto i) OCTET_INLINE { x[i] = as_floats(acc[i][v]); });
      }
      uint8_t* to = dst + n * sizeof(float);
      const auto store = [&](size_t count) OCTET_INLINE {
        unroll<rows>([&](auto i) OCTET_INLINE {
          if (v * kEpilogueBytes % 64 == 0) _mm_prefetch((const char*)to + ahead, _MM_HINT_T0);
          if (count == kEpilogueLanes)
            __builtin_memcpy(to, &x[i], sizeof x[i]);
          else
            store_some((float*)to, x[i], count);
          to += stride;
          __asm__("" : "+r"(to));  // else GCC 12 keeps the addresses of all rows
        });
      };
      cols - n >= kEpilogueLanes ? store(kEpilogueLanes) : store((cols - n) % kEpilogueLanes);
    });
  }
};

// How a micro-panel's bytes leave; plain: u8 without a clamp.
struct RowsExit {
  Requantizer<32> requantizer;
  bool plain;
  size_t stride;
  size_t tflite_apart;  // 0: float mode
  TfliteForm form;
  explicit RowsExit(const Tile& t)
      : requantizer(*t.requantization),
        plain(requantizer.u8 && !requantizer.raises && !requantizer.lowers),
        stride(t.dst_stride),
        tflite_apart(t.requantization->tflite_apart),
        form(t.requantization->tflite_form) {}

  // Four vectors of int16 as bytes
  OCTET_INLINE inline __m256i bytes_of(__m256i low, __m256i high) const {
    low = add_int16(low, requantizer.zero_point);
    high = add_int16(high, requantizer.zero_point);
    __m256i bytes;
    if (plain)
      bytes = pack_u8(low, high);
    else if (requantizer.u8)
      bytes = min_u8(max_u8(pack_u8(low, high), requantizer.lo), requantizer.hi);
    else
      bytes = min_s8(max_s8(pack_s8(low, high), requantizer.lo), requantizer.hi);
    return in_order(bytes);
  }
};

// Stores rows of 8 * vectors bytes.
template <int rows, int vectors, typename Scale>
OCTET_INLINE inline void store_bytes_of(const RowsExit& exit, const Scale& scale,
                                        const __m256i (&acc)[rows][vectors], uint8_t* to,
                                        size_t stride) {
  unroll<(rows * vectors + 3) / 4>([&](auto part) OCTET_INLINE {
    // The last rows may be stored twice
    constexpr int step = 4 / vectors, end = step * (part + 1), again = end > rows ? end - rows : 0,
                  a = step * part - again, last = vectors - 1;
    if (again) to -= again * stride;
    const __m256i low = pack_int16(scale(acc[a][0], 0), scale(acc[a + 1 - last][last], last)),
                  high = pack_int16(scale(acc[a + step / 2][0], 0),
                                    scale(acc[a + step - 1][last], last));
    const __m256i bytes = exit.bytes_of(low, high);
    const __m128i first = _mm256_castsi256_si128(bytes),
                  second = _mm256_extracti128_si256(bytes, 1);
    if constexpr (vectors == 2) {
      _mm_storeu_si128((__m128i*)to, first);
      _mm_storeu_si128((__m128i*)(to + stride), second);
    } else {
      _mm_storel_epi64((__m128i*)to, first);
      _mm_storeh_pd((double*)(to + stride), _mm_castsi128_pd(first));
      _mm_storel_epi64((__m128i*)(to + 2 * stride), second);
      _mm_storeh_pd((double*)(to + 3 * stride), _mm_castsi128_pd(second));
    }
    to += step * stride;
  });
}

#ifdef __FMA__
// Stores rows of 8 * vectors bytes of form kFloats from sums in memory, at least four vectors: a
// function for all loops. scales: TfliteColumns of the first column.
template <int vectors>
__attribute__((noinline)) void store_tflite(const RowsExit& exit, const int32_t* scales,
                                            const int32_t* sums, size_t rows, uint8_t* to,
                                            size_t stride) {
  TfliteFloatScaler<true> scaler[vectors];
  unroll<vectors>([&](auto v) OCTET_INLINE { scaler[v].load(scales + 8 * v, exit.tflite_apart); });
  const auto scaled_at = [&](auto at)
                             OCTET_INLINE { return scaler[at % vectors].scale_at(sums + 8 * at); };
  for (;;) {
    const __m256i low = pack_int16(scaled_at(Int<0>{}), scaled_at(Int<1>{})),
                  high = pack_int16(scaled_at(Int<2>{}), scaled_at(Int<3>{}));
    store_rows<8 * vectors>(to, stride, exit.bytes_of(low, high), rows, 8 * vectors);
    constexpr size_t together = 4 / vectors;
    if (rows <= together) return;
    // The last rows may be stored twice
    const size_t next = rows < 2 * together ? rows - together : together;
    rows -= next;
    sums += next * 8 * vectors;
    to += next * stride;
  }
}
#endif

// Stores rows of `cols` columns; those of fewer than the vectors' pass through the stack.
template <int rows, int vectors>
OCTET_INLINE inline void leave_rows(const RowsExit& exit, const float* scales, size_t cols,
                                    const __m256i (&acc)[rows][vectors], uint8_t* dst) {
  const bool whole = cols == 8 * vectors;
  uint8_t some[rows][8 * vectors];
  uint8_t* const to = whole ? dst : some[0];
  const size_t stride = whole ? exit.stride : sizeof some[0];
#ifdef __FMA__
  if (exit.form == TfliteForm::kFloats) {
    constexpr int parts = rows * vectors / 6, some_rows = rows / parts;  // for less stack
    alignas(32) int32_t sums[some_rows][8 * vectors];
    unroll<parts>([&](auto part) OCTET_INLINE {
      unroll<some_rows>([&](auto i) OCTET_INLINE {
        unroll<vectors>([&](auto v) OCTET_INLINE {
          _mm256_store_si256((__m256i*)&sums[i][8 * v], acc[some_rows * part + i][v]);
        });
      });
      store_tflite<vectors>(exit, (const int32_t*)scales, sums[0], some_rows,
                            to + some_rows * part * stride, stride);
    });
  } else if (exit.form == TfliteForm::kFloatsUp) {
    TfliteFloatScaler<false> by[vectors];
    unroll<vectors>([&](auto v) OCTET_INLINE {
      by[v].load((const int32_t*)scales + 8 * v, exit.tflite_apart);
    });
    const auto scale = [&](__m256i acc, int v) OCTET_INLINE { return by[v].scale(acc); };
    store_bytes_of(exit, scale, acc, to, stride);
  } else
#endif
  {
    __m256 scale[vectors];
    unroll<vectors>([&](auto v) OCTET_INLINE { scale[v] = _mm256_loadu_ps(scales + 8 * v); });
    store_bytes_of(
        exit, [&](__m256i acc, int v) OCTET_INLINE { return scaled(acc, scale[v]); }, acc, to,
        stride);
  }
  if (whole) return;
  OCTET_NO_UNROLL
  for (int i = 0; i < rows; ++i, dst += exit.stride) copy_bytes(dst, some[i], cols);
}

// Adds both quads' sums of each row, and stores the rows; init: those of the columns.
template <int rows>
OCTET_INLINE inline void leave_few(const RowsExit& exit, const Tile& t,
                                   const __m256i (&acc)[rows][1], uint8_t* dst) {
  const __m256i init = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i*)t.init));
  const __m256 scale[1] = {_mm256_broadcast_ps((const __m128*)t.scale)};
  __m256i sums[rows / 2][1];
  unroll<rows / 2>([&](auto i) OCTET_INLINE {
    sums[i][0] = _mm256_add_epi32(
        _mm256_permute4x64_epi64(_mm256_hadd_epi32(acc[2 * i][0], acc[2 * i + 1][0]), 0xd8), init);
  });
  uint8_t some[rows][kFewColumns];
  store_bytes_of(
      exit, [&](__m256i acc, int) OCTET_INLINE { return scaled(acc, scale[0]); }, sums, some[0],
      2 * kFewColumns);
  const size_t cols = t.cols, four = 4 * cols;
  if (rows == 12 && exit.stride == cols && cols > 1) {  // without gaps, four rows at a time
    const __m128i joined = cols == 4   ? _mm_set_epi64x(0x0f0e0d0c0b0a0908, 0x0706050403020100)
                           : cols == 3 ? _mm_set_epi64x(0x0e0d0c0a, 0x0908060504020100)
                                       : _mm_set_epi64x(0, 0x0d0c090805040100);
    const auto rows_at = [&](int row) OCTET_INLINE {
      return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i*)some[row]), joined);
    };
    _mm_storeu_si128((__m128i*)dst, rows_at(0));
    _mm_storeu_si128((__m128i*)(dst + four), rows_at(4));
    _mm_storeu_si128((__m128i*)some[0], rows_at(8));
    return copy_bytes(dst + 2 * four, some[0], four);
  }
  OCTET_NO_UNROLL
  for (int i = 0; i < rows; ++i, dst += exit.stride) copy_bytes(dst, some[i], cols);
}

#if defined(__AVX512F__)
// ---- zmm: how columns lie in registers ----------------------------------------------------------

// Columns in `vectors` registers of 16, a group of four deep.
template <int vectors>
struct Wide {
  static constexpr int kVectors = vectors, kQuads = 1;
  static constexpr bool kAllRows = false;

  OCTET_INLINE static inline __m512i weights(const uint8_t* rhs, int) {
    return _mm512_loadu_si512(rhs);
  }
  OCTET_INLINE static inline __m512i repeat(const uint8_t* bytes) {
    int32_t quad;
    __builtin_memcpy(&quad, bytes, sizeof quad);
    return _mm512_set1_epi32(quad);
  }
  OCTET_INLINE static inline __m512i repeat(__m128i bytes) {
    return _mm512_broadcastd_epi32(bytes);
  }
  template <int first, int, typename Row>
  OCTET_INLINE static inline __m512i sums_of(const Row& row) {
    return row(first);
  }
  OCTET_INLINE static inline __m512i for_rows_of(const void* values) {
    return _mm512_loadu_si512(values);
  }
};

// At most 4 or 8 columns, all in one register:
//
//     | column 0, 4 quads | column 1 | column 2 | column 3 |    or    | column 0, 2 quads | ... |
//
// It meets 16 or 8 bytes of a row, repeated, in one dot product, of which Wide needs four or two
// with half-empty registers. The sums of a column are its lanes' sum.
template <int columns>
struct Few {
  static constexpr int kVectors = 1, kQuads = 16 / columns;
  static constexpr bool kAllRows = true;  // with loops for each count of rows: 20 KB more

  // Turns `quads` groups of four, of 16 columns each; none beyond them are read.
  OCTET_INLINE static inline __m512i weights(const uint8_t* rhs, int quads) {
    __m512i groups;
    if constexpr (columns == 4) {
      const auto group = [&](int g) OCTET_INLINE {
        return g < quads ? _mm_loadu_si128((const __m128i*)(rhs + 64 * g)) : _mm_setzero_si128();
      };
      groups = _mm512_inserti32x4(_mm512_castsi128_si512(group(0)), group(1), 1);
      groups = _mm512_inserti32x4(groups, group(2), 2);
      groups = _mm512_inserti32x4(groups, group(3), 3);
    } else {
      const auto group = [&](int g) OCTET_INLINE {
        return g < quads ? _mm256_loadu_si256((const __m256i*)(rhs + 64 * g))
                         : _mm256_setzero_si256();
      };
      groups = _mm512_inserti64x4(_mm512_castsi256_si512(group(0)), group(1), 1);
    }
    return turned(groups);
  }
  OCTET_INLINE static inline __m512i repeat(const uint8_t* bytes) {
    if constexpr (columns == 4) return repeat(_mm_loadu_si128((const __m128i*)bytes));
    return repeat(_mm_loadl_epi64((const __m128i*)bytes));
  }
  OCTET_INLINE static inline __m512i repeat(__m128i bytes) {
    return columns == 4 ? _mm512_broadcast_i32x4(bytes) : _mm512_broadcastq_epi64(bytes);
  }

  // Adds the lanes of each column of kQuads rows from `first` on; the sums of a row come to lie
  // side by side, row after row. Rows beyond the last are others again.
  template <int first, int most, typename Row>
  OCTET_INLINE static inline __m512i sums_of(const Row& row_at) {
    const auto row = [&](int i)
                         OCTET_INLINE { return row_at(first + i < most ? first + i : first); };
    if constexpr (columns == 4) {
      const __m512i one = add_halves(row(0), row(1)), two = add_halves(row(2), row(3));
      return turned(
          _mm512_add_epi32(_mm512_unpacklo_epi64(one, two), _mm512_unpackhi_epi64(one, two)));
    } else {
      return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7),
                                      add_neighbours(row(0), row(1)));
    }
  }
  template <int most>
  OCTET_INLINE static inline void side_by_side(const __m512i (&lanes)[most][1],
                                               __m512i (&to)[most]) {
    unroll<(most + kQuads - 1) / kQuads>([&](auto part) OCTET_INLINE {
      constexpr int first = part.value * kQuads;
      const __m512i sums = sums_of<first, most>([&](int i) OCTET_INLINE { return lanes[i][0]; });
      unroll<kQuads>([&](auto i) OCTET_INLINE {
        if constexpr (first + i.value < most) {
          if constexpr (columns == 4)
            to[first + i.value] = _mm512_castsi128_si512(_mm512_extracti32x4_epi32(sums, i.value));
          else
            to[first + i.value] = _mm512_castsi256_si512(_mm512_extracti64x4_epi64(sums, i.value));
        }
      });
    });
  }
  // The values of the columns, for each row of a vector of sums.
  OCTET_INLINE static inline __m512i for_rows_of(const void* values) {
    return columns == 4 ? _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i*)values))
                        : _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i*)values));
  }

 private:
  // From 4 lanes of each of 4 places to 4 lanes of each of 4 others, or from 8 of each of 2.
  OCTET_INLINE static inline __m512i turned(__m512i v) {
    return _mm512_permutexvar_epi32(
        columns == 4 ? _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15)
                     : _mm512_setr_epi32(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15),
        v);
  }
  OCTET_INLINE static inline __m512i add_halves(__m512i a, __m512i b) {
    return _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
  }
  OCTET_INLINE static inline __m512i add_neighbours(__m512i a, __m512i b) {
    const __m512 x = _mm512_castsi512_ps(a), y = _mm512_castsi512_ps(b);
    return _mm512_add_epi32(_mm512_castps_si512(_mm512_shuffle_ps(x, y, 0x88)),
                            _mm512_castps_si512(_mm512_shuffle_ps(x, y, 0xdd)));
  }
};

// Repeats the bytes of a row for a group. The same instruction flips an s8 lhs to u8.
template <typename Form, bool flip>
inline __m512i broadcast(const uint8_t* bytes) {
  const __m512i lanes = Form::repeat(bytes);
  return flip ? _mm512_xor_si512(lanes, _mm512_set1_epi32((int)0x80808080)) : lanes;
}
#endif

}  // namespace
}  // namespace octet
