// SPDX-License-Identifier: Apache-2.0
// Gives the vectors of each width that the including file's ISA has, and one name for each
// operation on them, so that one text serves all widths.
#pragma once

#include <immintrin.h>

#include "kernels/core/compiler.h"

namespace octet {
namespace {

template <int bytes>
struct VectorOf;
#ifdef __AVX512BW__
template <>
struct VectorOf<64> {
  using Type = __m512i;
};
#endif
template <>
struct VectorOf<32> {
  using Type = __m256i;
};
template <>
struct VectorOf<16> {
  using Type = __m128i;
};

template <typename Vector, typename Lane>
OCTET_INLINE inline Vector splat(Lane value) {
  static_assert((Lane)0.5f == (Lane)0, "adding to 0 would lose the sign of -0");
  typedef Lane Lanes __attribute__((vector_size(sizeof(Vector))));
  return (Vector)(Lanes{} + value);
}

#define OCTET_YMM_DOWN(name, op)                                                       \
  OCTET_INLINE inline __m256i name(__m256i a, __m256i b) { return _mm256_##op(a, b); } \
  OCTET_INLINE inline __m128i name(__m128i a, __m128i b) { return _mm_##op(a, b); }
#ifdef __AVX512BW__
#define OCTET_WIDTHS(name, op)                                                         \
  OCTET_INLINE inline __m512i name(__m512i a, __m512i b) { return _mm512_##op(a, b); } \
  OCTET_YMM_DOWN(name, op)
#else
#define OCTET_WIDTHS(name, op) OCTET_YMM_DOWN(name, op)
#endif
OCTET_WIDTHS(pack_int16, packs_epi32)
OCTET_WIDTHS(add_int16, adds_epi16)
OCTET_WIDTHS(pack_u8, packus_epi16)
OCTET_WIDTHS(pack_s8, packs_epi16)
OCTET_WIDTHS(max_s16, max_epi16)
OCTET_WIDTHS(min_s16, min_epi16)
OCTET_WIDTHS(max_u8, max_epu8)
OCTET_WIDTHS(min_u8, min_epu8)
OCTET_WIDTHS(max_s8, max_epi8)
OCTET_WIDTHS(min_s8, min_epi8)
OCTET_WIDTHS(low_bytes, unpacklo_epi8)
OCTET_WIDTHS(high_bytes, unpackhi_epi8)
OCTET_WIDTHS(low_int16, unpacklo_epi16)
OCTET_WIDTHS(high_int16, unpackhi_epi16)
OCTET_WIDTHS(multiply_pairs, madd_epi16)
OCTET_WIDTHS(add, add_epi32)
OCTET_WIDTHS(shift_left, sllv_epi32)
OCTET_WIDTHS(shift_right, srav_epi32)
OCTET_WIDTHS(shift_right_unsigned, srlv_epi32)
OCTET_WIDTHS(multiply_even, mul_epi32)
OCTET_WIDTHS(add_long, add_epi64)
OCTET_WIDTHS(subtract, sub_epi32)
#undef OCTET_WIDTHS
#undef OCTET_YMM_DOWN

}  // namespace
}  // namespace octet
