// SPDX-License-Identifier: Apache-2.0
// Operations that ISAs have as one instruction but xsimd does not name, for SSE4.1.
#pragma once

#include "kernels/core/compiler.h"
#include "kernels/xsimd/batch.h"

namespace octet {
namespace {

// acc += a[2i] * b[2i] + a[2i + 1] * b[2i + 1]. The addition is assembly because GCC 12 would add
// products to each other first and spill half of the accumulators.
OCTET_INLINE inline void add_pairs(Sums& acc, Int16 a, Int16 b) {
  const __m128i product = _mm_madd_epi16(a, b);
#if XSIMD_WITH_AVX
  __asm__("vpaddd %1, %0, %0" : "+x"(acc.data) : "x"(product));
#else
  __asm__("paddd %1, %0" : "+x"(acc.data) : "x"(product));
#endif
}

// Repeats 8 bytes at any address, by a load that needs no shuffle.
OCTET_INLINE inline __m128i repeat_64(const void* bytes) {
  int64_t eight;
  __builtin_memcpy(&eight, bytes, sizeof eight);
  return _mm_set1_epi64x(eight);
}
OCTET_INLINE inline Int16 repeat_four(const int16_t* int16) { return repeat_64(int16); }
OCTET_INLINE inline Batch<uint8_t> repeat_eight(const uint8_t* bytes) { return repeat_64(bytes); }

// (a * b + 2^14) >> 15
OCTET_INLINE inline Int16 multiply_rounded(Int16 a, Int16 b) { return _mm_mulhrs_epi16(a, b); }

// (a * b + (1 << (shift - 1))) >> shift in 64 bits; the result must fit 32.
template <int shift>
OCTET_INLINE inline Sums multiply_high(Sums a, Sums b) {
  const __m128i half = _mm_set1_epi64x((int64_t)1 << (shift - 1)),
                even = _mm_add_epi64(_mm_mul_epi32(a, b), half),
                odd = _mm_add_epi64(_mm_mul_epi32(_mm_srli_epi64(a, 32), _mm_srli_epi64(b, 32)),
                                    half);
  return _mm_blend_epi16(_mm_srli_epi64(even, shift), _mm_slli_epi64(odd, 32 - shift), 0xcc);
}

// Saturates to the narrower type; the first vector's elements come first.
OCTET_INLINE inline Int16 to_int16(Sums a, Sums b) { return _mm_packs_epi32(a, b); }
OCTET_INLINE inline Batch<uint8_t> to_u8(Int16 a, Int16 b) { return _mm_packus_epi16(a, b); }
OCTET_INLINE inline Batch<int8_t> to_s8(Int16 a, Int16 b) { return _mm_packs_epi16(a, b); }

}  // namespace
}  // namespace octet
