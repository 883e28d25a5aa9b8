// SPDX-License-Identifier: Apache-2.0
// Loads four bytes along depth: of an lhs row in place, and of each column of kX86Layout.
#pragma once

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/core/compiler.h"

namespace octet {
namespace {

inline int32_t load_quad(const uint8_t* bytes) {
  int32_t quad;
  __builtin_memcpy(&quad, bytes, sizeof quad);
  return quad;
}

// Loads the last 1..3 bytes of a row without reading past it.
inline int32_t tail_quad(const uint8_t* bytes, size_t count) {
  uint32_t quad = bytes[0];
  if (count > 1) quad |= (uint32_t)bytes[1] << 8;
  if (count > 2) quad |= (uint32_t)bytes[2] << 16;
  return (int32_t)quad;
}

// The last 1..7 bytes of a row, as two quads that end with zeros.
inline void load_rest(const uint8_t* bytes, size_t count, int32_t (&quads)[2]) {
  quads[0] = count < 4 ? tail_quad(bytes, count) : load_quad(bytes);
  quads[1] = count > 4 ? tail_quad(bytes + 4, count - 4) : 0;
}

#ifdef __AVX2__  // GCC 11 warns of a function that returns __m256i without

// At most four columns: a vector has two quads of each, and meets eight bytes of a row at once.
constexpr size_t kFewColumns = 4;
// Turns two groups of four columns each.
OCTET_INLINE inline __m256i turned_quads(__m128i one, __m128i two) {
  return _mm256_set_m128i(_mm_unpackhi_epi32(one, two), _mm_unpacklo_epi32(one, two));
}

// The first quads of a vector of the widest registers, of so many bytes; other quads load as 0.
#ifdef __AVX512BW__
using Quads = __mmask16;
OCTET_INLINE inline Quads quads_of(size_t bytes) {
  return (Quads)(bytes < 64 ? (1u << bytes / 4) - 1 : 0xffff);
}
OCTET_INLINE inline __m512i load_quads(const uint8_t* from, Quads quads) {
  return _mm512_maskz_loadu_epi32(quads, from);
}
#else
using Quads = __m256i;
OCTET_INLINE inline Quads quads_of(size_t bytes) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(bytes / 4)),
                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
OCTET_INLINE inline __m256i load_quads(const uint8_t* from, Quads quads) {
  return _mm256_maskload_epi32((const int*)from, quads);
}
#endif

// Widens the even or the odd bytes of eight columns to int16 with their signs.
template <int odd>
OCTET_INLINE inline __m256i s16_of_quads(const uint8_t* rhs) {
  const __m256i bytes = _mm256_loadu_si256((const __m256i*)rhs);
  return _mm256_srai_epi16(odd ? bytes : _mm256_slli_epi16(bytes, 8), 8);
}

constexpr size_t kS16Group = 16 * 4 * sizeof(int16_t);  // bytes of a group of 16 columns as int16

// MicroKernel::decoder: widens groups of 16 columns to int16.
inline void decode_s16(const uint8_t* rhs, size_t rhs_stride, size_t groups, uint8_t* to) {
  for (; groups; --groups, rhs += rhs_stride, to += kS16Group)
    unroll<2>([&](auto v) OCTET_INLINE {
      unroll<2>([&](auto p) OCTET_INLINE {
        _mm256_store_si256((__m256i*)(to + 64 * p + 32 * v), s16_of_quads<p>(rhs + 32 * v));
      });
    });
}

#endif

}  // namespace
}  // namespace octet
