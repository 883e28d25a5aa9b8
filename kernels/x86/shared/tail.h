// SPDX-License-Identifier: Apache-2.0
// Loads the end of a row as a vector without reading past it, copies rows flipped, and few bytes.
#pragma once

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/core/compiler.h"
#include "kernels/core/lhs_rows.h"

namespace octet {
namespace {

template <typename T>
OCTET_INLINE inline uint64_t load(const uint8_t* bytes) {
  T value;
  __builtin_memcpy(&value, bytes, sizeof value);
  return value;
}

// Loads 1..15 bytes, flipped and followed by zeros. It reads no other bytes; overlapping reads give
// the same bytes.
inline __m128i tail(const uint8_t* bytes, size_t count, uint64_t flip) {
  uint64_t low, high = 0;
  const size_t end = 8 * (count % 8);
  if (count >= 8) {
    low = load<uint64_t>(bytes) ^ flip;
    if (end) high = (load<uint64_t>(bytes + count - 8) ^ flip) >> (64 - end);
  } else if (count >= 4) {
    const uint64_t last = load<uint32_t>(bytes + count - 4) ^ (uint32_t)flip;
    low = (load<uint32_t>(bytes) ^ (uint32_t)flip) | last << (end - 32);
  } else {
    low = bytes[0] | (uint64_t)bytes[count / 2] << 8 * (count / 2) |
          (uint64_t)bytes[count - 1] << (end - 8);
    low ^= flip >> (64 - end);
  }
  return _mm_set_epi64x((int64_t)high, (int64_t)low);
}

#if defined(__AVX2__)
// MicroKernel::flip_rows. Rows without gaps are one.
inline void flip_rows(const Rows& rows, size_t stride, uint8_t* to) {
  const bool dense = rows.stride == rows.depth && stride == rows.depth;
  const size_t count = dense ? 1 : rows.rows, bytes = dense ? rows.rows * rows.depth : rows.depth;
#if defined(__AVX512BW__)
  const __m512i flips = _mm512_set1_epi8((char)0x80);
#else
  const __m256i flips = _mm256_set1_epi8((char)0x80);
#endif
  for (size_t i = 0; i < count; ++i, to += stride) {
    const uint8_t* const from = rows.row(i);
    size_t k = 0;
#if defined(__AVX512BW__)
    OCTET_NO_UNROLL
    for (; k < bytes; k += 64) {
      const __mmask64 mask = ~(__mmask64)0 >> (bytes - k < 64 ? 64 - (bytes - k) : 0);
      _mm512_mask_storeu_epi8(to + k, mask,
                              _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, from + k), flips));
    }
#else
    OCTET_NO_UNROLL
    for (; k + 32 <= bytes; k += 32)
      _mm256_storeu_si256((__m256i*)(to + k),
                          _mm256_xor_si256(_mm256_loadu_si256((const __m256i*)(from + k)), flips));
    for (; k < bytes; k += 16) {
      const __m128i rest = bytes - k < 16
                               ? tail(from + k, bytes - k, UINT64_C(0x8080808080808080))
                               : _mm_xor_si128(_mm_loadu_si128((const __m128i*)(from + k)),
                                               _mm256_castsi256_si128(flips));
      _mm_storeu_si128((__m128i*)(to + k), rest);
    }
#endif
  }
}
#endif

// Copies 1..16 bytes; copies of a half each may overlap.
inline void copy_bytes(uint8_t* to, const uint8_t* from, size_t count) {
  if (count >= 8) {
    __builtin_memcpy(to, from, 8);
    __builtin_memcpy(to + count - 8, from + count - 8, 8);
  } else if (count >= 4) {
    __builtin_memcpy(to, from, 4);
    __builtin_memcpy(to + count - 4, from + count - 4, 4);
  } else {
    to[0] = from[0];
    to[count / 2] = from[count / 2];
    to[count - 1] = from[count - 1];
  }
}

}  // namespace
}  // namespace octet
