// SPDX-License-Identifier: Apache-2.0
// Loads the init of accumulators into ymm registers, and stores these as s32 or, in float mode, as
// bytes: scale, round, then kernels/x86/shared/requantize.h.
#pragma once

#include <immintrin.h>

#include "kernels/x86/shared/by_rows.h"
#include "kernels/x86/shared/requantize.h"

namespace octet {
namespace {

// Scales 8 accumulators to 8 int16.
OCTET_INLINE inline __m128i scaled_int16(__m256i acc, __m256 scale) {
  const __m256i q = scaled(acc, scale);
  return pack_int16(_mm256_castsi256_si128(q), _mm256_extracti128_si256(q, 1));
}

// Stores the first `count` >= 1 of 8 int32 and no others. Masked stores are microcoded on AMD, so
// whole vectors do not use them.
OCTET_INLINE inline void store_s32(uint8_t* dst, __m256i value, size_t count) {
  if (count >= 8)
    _mm256_storeu_si256((__m256i*)dst, value);
  else
    _mm256_maskstore_epi32((int*)dst,
                           _mm256_cmpgt_epi32(_mm256_set1_epi32((int)count),
                                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)),
                           value);
}

// Stores the first `count` <= 16 bytes and no others.
OCTET_INLINE inline void store_bytes(uint8_t* dst, __m128i value, size_t count) {
  if (count >= 16) {
    _mm_storeu_si128((__m128i*)dst, value);
    return;
  }
  if (count & 8) {
    _mm_storel_epi64((__m128i*)dst, value);
    value = _mm_srli_si128(value, 8);
    dst += 8;
  }
  uint64_t rest = (uint64_t)_mm_cvtsi128_si64(value);
  if (count & 4) {
    __builtin_memcpy(dst, &rest, 4);
    rest >>= 32;
    dst += 4;
  }
  if (count & 2) {
    __builtin_memcpy(dst, &rest, 2);
    rest >>= 16;
    dst += 2;
  }
  if (count & 1) *dst = (uint8_t)rest;
}
// Stores the first `count` <= 32 bytes and no others.
OCTET_INLINE inline void store_bytes(uint8_t* dst, __m256i value, size_t count) {
  store_bytes(dst, _mm256_castsi256_si128(value), count);
  if (count > 16) store_bytes(dst + 16, _mm256_extracti128_si256(value, 1), count - 16);
}

// Stores scaled rows of 16 columns as bytes, two at a time: the steps after the scale cost as much
// for two rows as for one. rows: how many are stored.
template <int most, typename Rows>
OCTET_INLINE inline void store_rows_of_16(const Tile& t, Rows rows, const __m256i (&acc)[most][2]) {
  const Requantizer<32> requantizer(*t.requantization);
  unroll<most / 2>([&](auto pair) OCTET_INLINE {
    constexpr size_t a = 2 * pair, b = a + 1;
    if (a && a >= (size_t)rows) return;
    const __m256i bytes = in_order(
        requantizer.bytes(pack_int16(acc[a][0], acc[a][1]), pack_int16(acc[b][0], acc[b][1])));
    uint8_t* const dst = (uint8_t*)t.dst + a * t.dst_stride;
    store_bytes(dst, _mm256_castsi256_si128(bytes), t.cols);
    if (b < (size_t)rows)
      store_bytes(dst + t.dst_stride, _mm256_extracti128_si256(bytes, 1), t.cols);
  });
}

// The init of columns 8 v to 8 v + 7 of a row.
OCTET_INLINE inline __m256i init_of(const Tile& t, int row, int v) {
  return _mm256_loadu_si256((const __m256i*)(t.init + row * t.init_stride + 8 * v));
}

template <int rows>
OCTET_INLINE inline void add_row_init(const Tile& t, __m256i (&acc)[rows][2]) {
  if (t.row_init)
    unroll<rows>([&](auto i) OCTET_INLINE {
      const __m256i more = _mm256_set1_epi32(t.row_init[i]);
      unroll<2>([&](auto v) OCTET_INLINE { acc[i][v] = _mm256_add_epi32(acc[i][v], more); });
    });
}

template <int most, typename Rows>
OCTET_INLINE inline void store_sums(const __m256i (&acc)[most][2], Rows rows, uint8_t* dst,
                                    size_t stride, size_t cols) {
  for_rows<most>(rows, [&](auto i) OCTET_INLINE {
    store_s32(dst + i * stride, acc[i][0], cols);
    if (cols > 8) store_s32(dst + i * stride + 32, acc[i][1], cols - 8);
  });
}

}  // namespace
}  // namespace octet
