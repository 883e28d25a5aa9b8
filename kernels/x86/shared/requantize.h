// SPDX-License-Identifier: Apache-2.0
// Requantizes on x86 in float mode: scales and rounds accumulators, packs int16 to bytes. Only for
// certified tiles (see Requantization): saturation is part of the clamp.
//
// Most layers need few of the steps, and a predictable branch costs less than the instruction that
// it saves: these instructions hardly overlap with the next tile's dot products, which matters with
// little depth.
#pragma once

#include "kernels/core/micro_kernel.h"
#include "kernels/x86/shared/widths.h"

namespace octet {
namespace {

template <int kInt8>
struct Requantizer {
  using Vector = typename VectorOf<kInt8>::Type;
  Vector zero_point, lo, hi;
  bool u8, moves, raises, lowers;  // the steps that are needed
  explicit Requantizer(const Requantization& n)
      : zero_point(splat<Vector>((int16_t)n.zero_point)),
        lo(splat<Vector>((uint8_t)n.lo)),
        hi(splat<Vector>((uint8_t)n.hi)),
        u8(n.dst_type == ElementType::kU8),
        moves(n.zero_point != 0),
        raises(n.lo != (u8 ? 0 : -128)),
        lowers(n.hi != (u8 ? 255 : 127)) {}

  OCTET_INLINE inline Vector bytes(Vector low, Vector high) const {
    if (moves) {
      low = add_int16(low, zero_point);
      high = add_int16(high, zero_point);
    }
    Vector out;
    if (u8) {
      out = pack_u8(low, high);
      if (raises) out = max_u8(out, lo);
      if (lowers) out = min_u8(out, hi);
    } else {
      out = pack_s8(low, high);
      if (raises) out = max_s8(out, lo);
      if (lowers) out = min_s8(out, hi);
    }
    return out;
  }
};

// Accumulators times their scales, rounded to nearest even; ymm registers round by MXCSR, which the
// caller has set.
OCTET_INLINE inline __m256i scaled(__m256i acc, __m256 scale) {
  return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_cvtepi32_ps(acc), scale));
}
// (acc * multiplier + 2^31) >> 32, of int16 in TFLite mode.
OCTET_INLINE inline __m256i high_halves(__m256i acc, __m256i multiplier) {
  const __m256i half = _mm256_set1_epi64x((int64_t)1 << 31);
  const __m256i even = _mm256_add_epi64(_mm256_mul_epi32(acc, multiplier), half),
                odd = _mm256_add_epi64(
                    _mm256_mul_epi32(_mm256_srli_epi64(acc, 32), _mm256_srli_epi64(multiplier, 32)),
                    half);
  return _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
}
// Restores the order of four vectors' values, because packs work within 128 bits.
OCTET_INLINE inline __m256i in_order(__m256i bytes) {
  return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}
#ifdef __AVX512BW__
OCTET_INLINE inline __m512i scaled(__m512i acc, __m512 scale) {
  return _mm512_cvt_roundps_epi32(_mm512_mul_ps(_mm512_cvtepi32_ps(acc), scale),
                                  _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
OCTET_INLINE inline __m512i high_halves(__m512i acc, __m512i multiplier) {
  const __m512i half = _mm512_set1_epi64((int64_t)1 << 31);
  const __m512i even = _mm512_add_epi64(_mm512_mul_epi32(acc, multiplier), half),
                odd = _mm512_add_epi64(
                    _mm512_mul_epi32(_mm512_srli_epi64(acc, 32), _mm512_srli_epi64(multiplier, 32)),
                    half);
  return _mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even, 32), odd);
}
OCTET_INLINE inline __m512i in_order(__m512i bytes) {
  return _mm512_permutexvar_epi32(
      _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), bytes);
}
#endif

}  // namespace
}  // namespace octet
