// SPDX-License-Identifier: Apache-2.0
// Vectors of output bytes that the x86 epilogues share: a vector has the bytes of four vectors of
// accumulators, from one row or from several narrower rows.
#pragma once

#include "kernels/core/double_scale.h"
#include "kernels/x86/shared/store_ymm.h"

namespace octet {
namespace {

OCTET_INLINE inline __m256 as_floats(__m256i x) { return _mm256_castsi256_ps(x); }
OCTET_INLINE inline __m256 to_floats(__m256i x) { return _mm256_cvtepi32_ps(x); }
OCTET_INLINE inline __m256 least_of(__m256 a, __m256 b) { return _mm256_min_ps(a, b); }
OCTET_INLINE inline __m256 most_of(__m256 a, __m256 b) { return _mm256_max_ps(a, b); }
// Rounds by MXCSR, which the caller has set
OCTET_INLINE inline __m256i rounded(__m256 x) { return _mm256_cvtps_epi32(x); }
#ifdef __AVX512BW__
constexpr int kEpilogueBytes = 64;
using EpilogueFloats = __m512;
OCTET_INLINE inline __m512 as_floats(__m512i x) { return _mm512_castsi512_ps(x); }
OCTET_INLINE inline __m512i as_bits(__m512 x) { return _mm512_castps_si512(x); }
OCTET_INLINE inline __m512 all(float value) { return _mm512_set1_ps(value); }
OCTET_INLINE inline __m512 to_floats(__m512i x) { return _mm512_cvtepi32_ps(x); }
OCTET_INLINE inline __m512 least_of(__m512 a, __m512 b) { return _mm512_min_ps(a, b); }
OCTET_INLINE inline __m512 most_of(__m512 a, __m512 b) { return _mm512_max_ps(a, b); }
OCTET_INLINE inline __m512i rounded(__m512 x) {
  return _mm512_cvt_roundps_epi32(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
using EpilogueDoubles = __m512d;
OCTET_INLINE inline __m512d all_doubles_at(const double* x) { return _mm512_loadu_pd(x); }
OCTET_INLINE inline __m512d doubles_of(const int32_t* x) {
  return _mm512_cvtepi32_pd(_mm256_loadu_si256((const __m256i*)x));
}
// Rounds halves away from zero, and values beyond int16 to its ends
OCTET_INLINE inline __m256i rounded_away(__m512d x) {
  x = _mm512_max_pd(_mm512_min_pd(x, _mm512_set1_pd(32767)), _mm512_set1_pd(-32768));
  const __m512d sign = _mm512_and_pd(x, _mm512_set1_pd(-0.0));
  return _mm512_cvttpd_epi32(x + _mm512_or_pd(sign, _mm512_set1_pd(kBelowHalf)));
}
OCTET_INLINE inline __m512i joined(__m256i low, __m256i high) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}
// Stores the first `count` floats, at most all
OCTET_INLINE inline void store_some(float* dst, __m512 x, size_t count) {
  _mm512_mask_storeu_ps(dst, (__mmask16)(count < 16 ? 0xffffu >> (16 - count) : 0xffffu), x);
}
#else
constexpr int kEpilogueBytes = 32;
using EpilogueFloats = __m256;
OCTET_INLINE inline __m256i as_bits(__m256 x) { return _mm256_castps_si256(x); }
OCTET_INLINE inline __m256 all(float value) { return _mm256_set1_ps(value); }
using EpilogueDoubles = __m256d;
OCTET_INLINE inline __m256d all_doubles_at(const double* x) { return _mm256_loadu_pd(x); }
OCTET_INLINE inline __m256d doubles_of(const int32_t* x) {
  return _mm256_cvtepi32_pd(_mm_loadu_si128((const __m128i*)x));
}
OCTET_INLINE inline __m128i rounded_away(__m256d x) {
  x = _mm256_max_pd(_mm256_min_pd(x, _mm256_set1_pd(32767)), _mm256_set1_pd(-32768));
  const __m256d sign = _mm256_and_pd(x, _mm256_set1_pd(-0.0));
  return _mm256_cvttpd_epi32(x + _mm256_or_pd(sign, _mm256_set1_pd(kBelowHalf)));
}
OCTET_INLINE inline __m256i joined(__m128i low, __m128i high) {
  return _mm256_set_m128i(high, low);
}
OCTET_INLINE inline void store_some(float* dst, __m256 x, size_t count) {
  store_s32((uint8_t*)dst, _mm256_castps_si256(x), count);
}
#endif
constexpr size_t kEpilogueLanes = kEpilogueBytes / 4;
using EpilogueVector = VectorOf<kEpilogueBytes>::Type;

// width: bytes per row in the vector; count: how many of them are loaded or stored. The other bytes
// and rows of load_rows are undefined.
#ifdef __AVX512BW__
template <int width, int part>
OCTET_INLINE inline void store_row(uint8_t* dst, EpilogueVector bytes, size_t count) {
  const __mmask64 mask = ~(__mmask64)0 >> (64 - count);
  if constexpr (width == 16)
    _mm_mask_storeu_epi8(dst, (__mmask16)mask, _mm512_extracti32x4_epi32(bytes, part));
  else if constexpr (width == 32)
    _mm256_mask_storeu_epi8(dst, (__mmask32)mask, _mm512_extracti64x4_epi64(bytes, part));
  else
    _mm512_mask_storeu_epi8(dst, mask, bytes);
}
template <int width>
OCTET_INLINE inline EpilogueVector load_rows(const uint8_t* from, size_t stride, size_t rows,
                                             size_t count) {
  const __mmask64 mask = ~(__mmask64)0 >> (64 - count);
  const auto row = [&](size_t i) OCTET_INLINE { return from + (i < rows ? i * stride : 0); };
  if constexpr (width == 64) {
    return _mm512_maskz_loadu_epi8(mask, from);
  } else if constexpr (width == 32) {
    return _mm512_inserti64x4(
        _mm512_castsi256_si512(_mm256_maskz_loadu_epi8((__mmask32)mask, from)),
        _mm256_maskz_loadu_epi8((__mmask32)mask, row(1)), 1);
  } else {
    const auto load = [&](size_t i)
                          OCTET_INLINE { return _mm_maskz_loadu_epi8((__mmask16)mask, row(i)); };
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_inserti128_si256(
                                  _mm256_castsi128_si256(load(0)), load(1), 1)),
                              _mm256_inserti128_si256(_mm256_castsi128_si256(load(2)), load(3), 1),
                              1);
  }
}
// The inverse of in_order, which is its own inverse.
OCTET_INLINE inline __m512i as_packed(__m512i bytes) { return in_order(bytes); }
#else
OCTET_INLINE inline __m256i as_packed(__m256i bytes) {
  return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
}
template <int width, int part>
OCTET_INLINE inline void store_row(uint8_t* dst, EpilogueVector bytes, size_t count) {
  if constexpr (width == 32) {
    store_bytes(dst, bytes, count);
  } else {
    const __m128i half = _mm256_extracti128_si256(bytes, width * part / 16);
    store_bytes(dst, width * part % 16 ? _mm_srli_si128(half, 8) : half, count);
  }
}
template <int width>
OCTET_INLINE inline __m128i load_bytes(const uint8_t* from, size_t count) {
  if (count >= width)
    return width == 16 ? _mm_loadu_si128((const __m128i*)from)
                       : _mm_loadl_epi64((const __m128i*)from);
  alignas(16) uint8_t bytes[16] = {};
  OCTET_NO_UNROLL
  for (size_t i = 0; i < count; ++i) bytes[i] = from[i];
  return _mm_load_si128((const __m128i*)bytes);
}
template <int width>
OCTET_INLINE inline EpilogueVector load_rows(const uint8_t* from, size_t stride, size_t rows,
                                             size_t count) {
  const auto row = [&](size_t i) OCTET_INLINE { return from + (i < rows ? i * stride : 0); };
  if constexpr (width == 32) {
    return _mm256_set_m128i(load_bytes<16>(from + 16, count > 16 ? count - 16 : 0),
                            load_bytes<16>(from, count));
  } else if constexpr (width == 16) {
    return _mm256_set_m128i(load_bytes<16>(row(1), count), load_bytes<16>(from, count));
  } else {
    return _mm256_set_m128i(
        _mm_unpacklo_epi64(load_bytes<8>(row(2), count), load_bytes<8>(row(3), count)),
        _mm_unpacklo_epi64(load_bytes<8>(from, count), load_bytes<8>(row(1), count)));
  }
}
#endif

// The rows that a vector takes, at most as many as are left.
template <int width>
OCTET_INLINE inline void store_rows(uint8_t* dst, size_t stride, EpilogueVector bytes, size_t rows,
                                    size_t count) {
  unroll<kEpilogueBytes / width>([&](auto part) OCTET_INLINE {
    if ((size_t)part.value < rows) store_row<width, part.value>(dst + part * stride, bytes, count);
  });
}

OCTET_INLINE inline EpilogueVector epilogue_vector(const void* from) {
  EpilogueVector v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

template <int width, typename Table>
void look_up_rows(const Table& table, uint8_t* dst, size_t stride, size_t rows, size_t cols) {
  constexpr size_t one = kEpilogueBytes / width, all = Table::kVectors * one;
  for (;;) {
    EpilogueVector bytes[Table::kVectors];
    unroll<Table::kVectors>([&](auto v) OCTET_INLINE {
      const size_t skipped = rows > v * one ? v * one : 0;
      bytes[v] = load_rows<width>(dst + skipped * stride, stride, rows - skipped, cols);
    });
    table.look_up(bytes);
    unroll<Table::kVectors>([&](auto v) OCTET_INLINE {
      if (rows > v * one)
        store_rows<width>(dst + v * one * stride, stride, bytes[v], rows - v * one, cols);
    });
    if (rows <= all) return;
    rows -= all;
    dst += all * stride;
  }
}

// Maps bytes of rows through a table, in place; any number of columns. Narrow rows share a vector,
// and are loaded as the step before has stored them: a wider load would wait for that.
template <typename Table>
void look_up_tile(const Table& table, uint8_t* dst, size_t stride, size_t rows, size_t cols) {
  if (stride == cols || rows == 1) {  // without gaps
    constexpr size_t step = Table::kVectors * kEpilogueBytes;
    for (cols *= rows, rows = 1; cols >= step; cols -= step, dst += step) {
      EpilogueVector bytes[Table::kVectors];
      unroll<Table::kVectors>(
          [&](auto v) OCTET_INLINE { bytes[v] = epilogue_vector(dst + v * kEpilogueBytes); });
      table.look_up(bytes);
      unroll<Table::kVectors>([&](auto v) OCTET_INLINE {
        __builtin_memcpy(dst + v * kEpilogueBytes, &bytes[v], kEpilogueBytes);
      });
    }
    if (!cols) return;
  }
  for (; cols > kEpilogueBytes; cols -= kEpilogueBytes, dst += kEpilogueBytes)
    look_up_rows<kEpilogueBytes>(table, dst, stride, rows, kEpilogueBytes);
  if (cols <= 16)
    look_up_rows<16>(table, dst, stride, rows, cols);
  else if (cols <= 32)
    look_up_rows<32>(table, dst, stride, rows, cols);
  else
    look_up_rows<kEpilogueBytes>(table, dst, stride, rows, cols);
}

}  // namespace
}  // namespace octet
