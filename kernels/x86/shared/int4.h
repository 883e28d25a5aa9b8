// Weights of 4 bits on x86: their layout and their decoder to int8.
#pragma once

#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/generic/int4.h"
#include "kernels/x86/shared/layouts.h"

namespace octet {
namespace {

constexpr size_t kInt4Group = 64;  // 16 columns, 8 depth steps: two groups of kX86Layout

// Decodes to int8. A VPSHUFB extends the signs of nibbles: it looks them up.
inline void decode_int4_ymm(const uint8_t* rhs, size_t rhs_stride, size_t groups, uint8_t* to) {
  const __m256i low = _mm256_set1_epi8(15),
                values = _mm256_broadcastsi128_si256(
                    _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1));
  OCTET_NO_UNROLL
  for (; groups; --groups, rhs += rhs_stride, to += 2 * kInt4Group)
    unroll<2>([&](auto v) OCTET_INLINE {
      const __m256i two = _mm256_loadu_si256((const __m256i*)(rhs + 32 * v));
      const auto store = [&](__m256i nibbles, size_t at) OCTET_INLINE {
        _mm256_store_si256((__m256i*)(to + at + 32 * v),
                           _mm256_shuffle_epi8(values, _mm256_and_si256(nibbles, low)));
      };
      store(two, 0);
      store(_mm256_srli_epi16(two, 4), kInt4Group);
    });
}

}  // namespace
}  // namespace octet
