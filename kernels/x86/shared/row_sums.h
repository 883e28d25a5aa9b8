// SPDX-License-Identifier: Apache-2.0
// Sums the bytes of rows by VPSADBW, four rows at a time: for short rows most of the work is to add
// up one register and to find the rows.
#pragma once

#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/generic/lhs_rows.h"

namespace octet {
namespace {

// Sums groups of 8 bytes of rows with whole windows of 32 bytes and maybe a part of one or, if not
// `windows`, of rows of 16 to 31 bytes.
template <bool windows>
class RowSums {
 public:
  RowSums(size_t depth, uint8_t flip)
      : whole_(depth / 32 * 32), depth_(depth), flip_(_mm256_set1_epi8((char)flip)) {
    // Masks the bytes of the last 32 (16 for rows below 32) that are not summed yet.
    alignas(32) uint8_t counts[32];
    const size_t rest = depth - (!windows ? 16 : whole_);
    for (size_t i = 0; i < 32; ++i) counts[i] = i < 32 - rest ? 0 : 0xff;
    last_ = _mm256_load_si256((const __m256i*)counts);
    if (!windows) last_ = _mm256_blend_epi32(last_, _mm256_set1_epi8(-1), 0x0f);
  }

  OCTET_INLINE inline __m256i of(const uint8_t* row) const {
    if (!windows)
      return sum(_mm256_and_si256(
          flipped(_mm256_set_m128i(_mm_loadu_si128((const __m128i*)(row + depth_ - 16)),
                                   _mm_loadu_si128((const __m128i*)row))),
          last_));
    __m256i all = sum(flipped(load(row)));
    for (size_t k = 32; k < whole_; k += 32)
      all = _mm256_add_epi64(all, sum(flipped(load(row + k))));
    if (depth_ == whole_) return all;
    return _mm256_add_epi64(all, sum(_mm256_and_si256(flipped(load(row + depth_ - 32)), last_)));
  }

 private:
  static __m256i load(const uint8_t* p) { return _mm256_loadu_si256((const __m256i*)p); }
  static __m256i sum(__m256i x) { return _mm256_sad_epu8(x, _mm256_setzero_si256()); }
  __m256i flipped(__m256i x) const { return _mm256_xor_si256(x, flip_); }

  size_t whole_, depth_;
  __m256i flip_, last_;
};

// The totals of four rows' sums, modulo 2^32.
OCTET_INLINE inline __m128i totals(const __m256i (&sums)[4]) {
  const __m256i low = _mm256_blend_epi32(sums[0], _mm256_slli_epi64(sums[1], 32), 0xaa),
                high = _mm256_blend_epi32(sums[2], _mm256_slli_epi64(sums[3], 32), 0xaa);
  const __m256i pairs = _mm256_add_epi32(_mm256_permute2x128_si256(low, high, 0x20),
                                         _mm256_permute2x128_si256(low, high, 0x31));
  const __m256i all = _mm256_add_epi32(pairs, _mm256_shuffle_epi32(pairs, 0x4e));
  return _mm256_castsi256_si128(_mm256_permute4x64_epi64(all, 0x08));
}

template <bool windows>
void sum_rows_of(const Rows& r, bool is_signed, int32_t* sums) {
  // As in sum_rows of kernels/generic/lhs_rows.h
  const uint8_t flip = (uint8_t)(r.flip ^ (is_signed ? 0x80 : 0));
  const __m128i bias = _mm_set1_epi32((int32_t)((is_signed ? 128u : 0u) * (uint32_t)r.depth));
  const RowSums<windows> bytes(r.depth, flip);
  const auto four = [&](const uint8_t* const(&rows)[4]) OCTET_INLINE {
    __m256i parts[4];
    unroll<4>([&](auto i) OCTET_INLINE { parts[i] = bytes.of(rows[i]); });
    return _mm_sub_epi32(totals(parts), bias);
  };
  size_t row = 0;
  const uint8_t* data = r.data;  // a copy, because stores may alias `r`
  const size_t stride = r.stride, whole = r.pointers ? 0 : r.rows / 4 * 4;
  for (; row < whole; row += 4, data += 4 * stride)
    _mm_storeu_si128((__m128i*)(sums + row),
                     four({data, data + stride, data + 2 * stride, data + 3 * stride}));
  for (; row < r.rows; row += 4) {
    const size_t count = r.rows - row < 4 ? r.rows - row : 4;
    const uint8_t* rows[4];
    for (size_t i = 0; i < 4; ++i) rows[i] = r.row(row + (i < count ? i : 0));
    int32_t last[4];
    _mm_storeu_si128((__m128i*)last, four(rows));
    __builtin_memcpy(sums + row, last, count * sizeof(int32_t));
  }
}

void sum_rows_x86(const Rows& r, bool is_signed, int32_t* sums) {
  if (r.depth < 16) return sum_rows(r, is_signed, sums);
  (r.depth < 32 ? sum_rows_of<false> : sum_rows_of<true>)(r, is_signed, sums);
}

}  // namespace
}  // namespace octet
