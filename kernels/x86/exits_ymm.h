// The two exits on ymm registers, for the kernels without AVX-512. The narrow one is float mode's last steps: scale, round, saturate to 8 bits,
// clamp, store; only for certified tiles (see Narrow), so saturation is the clamp.
#pragma once

#include <immintrin.h>

#include "kernels/core/micro_kernel.h"
#include "kernels/core/unroll.h"

namespace octet {
namespace {

struct NarrowYmm {
  __m128i zero_point, lo, hi;
  bool dst_u8;
  explicit NarrowYmm(const Narrow& n)
      : zero_point(_mm_set1_epi16((short)n.zero_point)), lo(_mm_set1_epi8((char)n.lo)), hi(_mm_set1_epi8((char)n.hi)), dst_u8(n.dst_u8) {}

  // 8 accumulators to 8 words with the zero point added. Rounds to nearest even by MXCSR, which is the caller's duty.
  OCTET_INLINE inline __m128i words(__m256i acc, __m256 scale) const {
    const __m256i q = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_cvtepi32_ps(acc), scale));
    return _mm_adds_epi16(_mm_packs_epi32(_mm256_castsi256_si128(q), _mm256_extracti128_si256(q, 1)), zero_point);
  }

  OCTET_INLINE inline __m128i bytes(__m128i low, __m128i high) const {
    if (dst_u8) return _mm_min_epu8(_mm_max_epu8(_mm_packus_epi16(low, high), lo), hi);
    return _mm_min_epi8(_mm_max_epi8(_mm_packs_epi16(low, high), lo), hi);
  }
};

// The first `count` >= 1 of 8 words, and no more. Masked stores are microcoded on AMD, so whole vectors do not use them.
OCTET_INLINE inline void store_s32(uint8_t* dst, __m256i value, size_t count) {
  if (count >= 8)
    _mm256_storeu_si256((__m256i*)dst, value);
  else
    _mm256_maskstore_epi32((int*)dst, _mm256_cmpgt_epi32(_mm256_set1_epi32((int)count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)), value);
}

// The first `count` <= 16 bytes, and no byte more.
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
  for (size_t i = 0; i < (count & 7); ++i, rest >>= 8) dst[i] = (uint8_t)rest;
}

}  // namespace
}  // namespace octet
