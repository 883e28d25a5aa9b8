// SPDX-License-Identifier: Apache-2.0
// Finds what neighbours of a row may sum to so that VPMADDUBSW saturates no product with given
// weights, for rows.h.
#pragma once

#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/core/micro_kernel.h"

namespace octet {
namespace {

constexpr size_t kPart = 160;  // steps of depth for which there is room at a time
constexpr size_t kGroup = 64;  // bytes of a group of weights, of a panel's 16 columns

// What pairs may sum to with a micro-panel's weights.
struct Limits {
  static constexpr int16_t kLargest = 256;  // with any weights: 256 * 127 < 2^15
  static constexpr size_t kPairs = kPart + 16;
  alignas(32) int16_t most[kPairs];  // of each pair along the depth
  int16_t least = kLargest;          // of all

  // Limits that are right for any weights.
  void begin() {
    least = kLargest;
    for (size_t i = 0; i < kPairs; i += 16)
      _mm256_store_si256((__m256i*)(most + i), _mm256_set1_epi16(kLargest));
  }
  // The limits of rows side by side.
  void repeat(size_t depth) {
    OCTET_NO_UNROLL
    for (size_t i = depth / 2; i < kPairs; ++i) most[i] = most[i - depth / 2];
  }
};

// The limits of a group of eight columns. Weights a >= b of one sign that sum to more than 128 take
// 255 times a and, within 2^15, some times b; others take any pair.
OCTET_INLINE inline __m256i limits_of(__m256i weights) {
  const __m256i sums = _mm256_maddubs_epi16(_mm256_set1_epi8(-1), weights),
                any = _mm256_set1_epi16(INT16_MAX), magnitudes = _mm256_abs_epi8(weights),
                even = _mm256_and_si256(magnitudes, _mm256_set1_epi16(0xff)),
                odd = _mm256_srli_epi16(magnitudes, 8),
                left = _mm256_sub_epi16(
                    any, _mm256_mullo_epi16(_mm256_max_epi16(even, odd), _mm256_set1_epi16(255))),
                less = _mm256_max_epi16(_mm256_min_epi16(even, odd), _mm256_set1_epi16(1));
  const auto times = [](__m256i a, __m256i b) OCTET_INLINE {
    return _mm256_cvttps_epi32(_mm256_div_ps(_mm256_cvtepi32_ps(a), _mm256_cvtepi32_ps(b)));
  };
  const __m256i low = _mm256_set1_epi32(0xffff),
                first = times(_mm256_and_si256(left, low), _mm256_and_si256(less, low)),
                second = times(_mm256_srli_epi32(left, 16), _mm256_srli_epi32(less, 16)),
                more = _mm256_or_si256(first, _mm256_slli_epi32(second, 16)),
                crowded = _mm256_or_si256(_mm256_cmpeq_epi16(sums, any),
                                          _mm256_cmpeq_epi16(sums, _mm256_set1_epi16(INT16_MIN)));
  return _mm256_blendv_epi8(any, _mm256_add_epi16(more, _mm256_set1_epi16(255)), crowded);
}

__attribute__((noinline)) void find_limits(const Tile& t, size_t groups, Limits* limits) {
  __m128i least = _mm_set1_epi16(INT16_MAX);
  for (size_t g = 0; g < groups; ++g) {
    __m256i most = _mm256_set1_epi16(INT16_MAX);
    for (size_t column = 0; column < t.cols; column += 8)
      most = _mm256_min_epi16(
          most,
          limits_of(_mm256_loadu_si256((const __m256i*)(t.rhs + column / 16 * t.rhs_panel_stride +
                                                        g * kGroup + column % 16 * 4))));
    __m128i some = _mm_min_epi16(_mm256_castsi256_si128(most), _mm256_extracti128_si256(most, 1));
    some = _mm_min_epi16(some, _mm_shuffle_epi32(some, 0x4e));
    some = _mm_min_epi16(some, _mm_shuffle_epi32(some, 0xb1));
    least = _mm_min_epi16(least, some);
    const int32_t pairs = _mm_cvtsi128_si32(some);
    __builtin_memcpy(limits->most + 2 * g, &pairs, sizeof pairs);
  }
  const int32_t both = _mm_cvtsi128_si32(least);
  const int16_t a = (int16_t)both, b = (int16_t)(both >> 16);
  limits->least = a < b ? a : b;
}

}  // namespace
}  // namespace octet
