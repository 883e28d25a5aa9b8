// SPDX-License-Identifier: Apache-2.0
// The vector of the including file's tier for weights that come with a run: parts of a vector,
// products of bytes, transposes.
#pragma once

#include "kernels/core/runtime_weights.h"
#include "kernels/x86/shared/vector.h"

namespace octet {
namespace {

// A vector's bytes, elements of 32 bits, and parts of 16 bytes
constexpr int kBytes = sizeof(Vector), kElements = kBytes / 4, kParts = kBytes / 16;

// Rows of weights are read in blocks: some depth, and all columns of it before the next depth, so
// that few pages are in use at a time. Where the rows span more than a private cache, blocks are
// smaller, and each prefetches the next one: a CPU that reads lines a page apart prefetches none.
struct DepthBlocks {
  static constexpr size_t kFarStep = 16, kFarSpan = (size_t)8 << 20;  // rows, bytes
  const RuntimeWeights& weights;
  bool far;
  size_t step;  // depth of a block

  explicit DepthBlocks(const RuntimeWeights& w)
      : weights(w), far(w.k * w.k_stride > kFarSpan), step(far ? kFarStep : kBytes) {}
  const uint8_t* at(size_t k, size_t n) const { return weights.data + k * weights.k_stride + n; }
  // The block after the one at depth k, in as many columns as a vector has bytes.
  OCTET_INLINE inline void prefetch_next(size_t k, size_t n) const {
    if (!far || weights.k - k < 2 * kFarStep) return;
    const uint8_t* from = at(k + kFarStep, n);
    for (size_t i = 0; i < kFarStep; ++i, from += weights.k_stride) __builtin_prefetch(from, 0, 1);
  }
};

OCTET_INLINE inline Vector zero() { return Vector{}; }
OCTET_INLINE inline Vector bytes_of(uint8_t value) { return OCTET_MM(set1_epi8)((char)value); }

// 16 bytes from each of as many places as a vector has parts.
OCTET_INLINE inline Vector load_parts(const uint8_t* from, size_t step) {
  const auto part = [&](int i)
                        OCTET_INLINE { return _mm_loadu_si128((const __m128i*)(from + i * step)); };
#if defined(__AVX512BW__)
  const __m512i two = _mm512_inserti32x4(_mm512_castsi128_si512(part(0)), part(1), 1);
  return _mm512_inserti32x4(_mm512_inserti32x4(two, part(2), 2), part(3), 3);
#elif defined(__AVX2__)
  return _mm256_inserti128_si256(_mm256_castsi128_si256(part(0)), part(1), 1);
#else
  return part(0);
#endif
}

// The first `count` bytes of a vector. Without masks fewer than all are copied.
struct Part {
#if defined(__AVX512BW__)
  static constexpr bool kMasks = true;
  __mmask64 mask;
  explicit Part(size_t count)
      : mask(count < kBytes ? ((__mmask64)1 << count) - 1 : ~(__mmask64)0) {}
  OCTET_INLINE inline Vector load(const uint8_t* from) const {
    return _mm512_maskz_loadu_epi8(mask, from);
  }
#else
  static constexpr bool kMasks = false;
  size_t count;
  explicit Part(size_t bytes) : count(bytes < kBytes ? bytes : kBytes) {}
  OCTET_INLINE inline Vector load(const uint8_t* from) const {
    if (count == kBytes) return octet::load(from);
    uint8_t some[kBytes] = {};
    __builtin_memcpy(some, from, count);
    return octet::load(some);
  }
#endif
};

// acc += the products of four neighbours, u8 times s8, exact.
OCTET_INLINE inline Vector dot(Vector acc, Vector lhs, Vector weights) {
#if defined(__AVX512VNNI__)
  return _mm512_dpbusd_epi32(acc, lhs, weights);
#elif defined(__AVXVNNI__)
  return _mm256_dpbusd_avx_epi32(acc, lhs, weights);
#else
  // Products of 7 bits of the lhs fit 16 bits in pairs, and so do those of its highest bit.
  const Vector low = lhs & bytes_of(0x7f), high = lhs & bytes_of(0x80),
               ones = OCTET_MM(set1_epi16)(1);
  acc = OCTET_MM(add_epi32)(acc, OCTET_MM(madd_epi16)(OCTET_MM(maddubs_epi16)(low, weights), ones));
  return OCTET_MM(add_epi32)(acc,
                             OCTET_MM(madd_epi16)(OCTET_MM(maddubs_epi16)(high, weights), ones));
#endif
}
// acc += the sums of four neighbours.
OCTET_INLINE inline Vector sum_neighbours(Vector acc, Vector weights) {
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
  return dot(acc, bytes_of(1), weights);
#else
  return OCTET_MM(add_epi32)(
      acc,
      OCTET_MM(madd_epi16)(OCTET_MM(maddubs_epi16)(bytes_of(1), weights), OCTET_MM(set1_epi16)(1)));
#endif
}
OCTET_INLINE inline Vector add(Vector a, Vector b) { return OCTET_MM(add_epi32)(a, b); }

// Transposes blocks of 4 x 4 elements, one in each 128 bits.
OCTET_INLINE inline void transpose_elements(Vector (&v)[4]) {
  const Vector a = OCTET_MM(unpacklo_epi32)(v[0], v[1]), b = OCTET_MM(unpackhi_epi32)(v[0], v[1]),
               c = OCTET_MM(unpacklo_epi32)(v[2], v[3]), d = OCTET_MM(unpackhi_epi32)(v[2], v[3]);
  v[0] = OCTET_MM(unpacklo_epi64)(a, c);
  v[1] = OCTET_MM(unpackhi_epi64)(a, c);
  v[2] = OCTET_MM(unpacklo_epi64)(b, d);
  v[3] = OCTET_MM(unpackhi_epi64)(b, d);
}

// Transposes the parts of 128 bits of as many vectors as a vector has parts.
OCTET_INLINE inline void transpose_parts([[maybe_unused]] Vector (&v)[kParts]) {
#if defined(__AVX512BW__)
  const Vector a = _mm512_shuffle_i32x4(v[0], v[1], 0x44),
               b = _mm512_shuffle_i32x4(v[0], v[1], 0xee),
               c = _mm512_shuffle_i32x4(v[2], v[3], 0x44),
               d = _mm512_shuffle_i32x4(v[2], v[3], 0xee);
  v[0] = _mm512_shuffle_i32x4(a, c, 0x88);
  v[1] = _mm512_shuffle_i32x4(a, c, 0xdd);
  v[2] = _mm512_shuffle_i32x4(b, d, 0x88);
  v[3] = _mm512_shuffle_i32x4(b, d, 0xdd);
#elif defined(__AVX2__)
  const Vector a = v[0];
  v[0] = _mm256_permute2x128_si256(a, v[1], 0x20);
  v[1] = _mm256_permute2x128_si256(a, v[1], 0x31);
#endif
}

// Interleaves the bytes of four rows: four bytes of a column become an element. Within 128 bits,
// vector i of the result has the four columns from 4 * i on.
OCTET_INLINE inline void interleave_rows(Vector (&v)[4]) {
  const Vector a = OCTET_MM(unpacklo_epi8)(v[0], v[1]), b = OCTET_MM(unpackhi_epi8)(v[0], v[1]),
               c = OCTET_MM(unpacklo_epi8)(v[2], v[3]), d = OCTET_MM(unpackhi_epi8)(v[2], v[3]);
  v[0] = OCTET_MM(unpacklo_epi16)(a, c);
  v[1] = OCTET_MM(unpackhi_epi16)(a, c);
  v[2] = OCTET_MM(unpacklo_epi16)(b, d);
  v[3] = OCTET_MM(unpackhi_epi16)(b, d);
}
// Puts elements, one of each column, as interleave_rows leaves them into the order of columns.
OCTET_INLINE inline void order_columns([[maybe_unused]] Vector (&v)[4]) {
#if defined(__AVX512BW__)
  transpose_parts(v);
#elif defined(__AVX2__)
  Vector even[2] = {v[0], v[1]}, odd[2] = {v[2], v[3]};
  transpose_parts(even);
  transpose_parts(odd);
  v[0] = even[0], v[1] = odd[0], v[2] = even[1], v[3] = odd[1];
#endif
}

// The sum of each vector's elements, in the order of the vectors.
OCTET_INLINE inline Vector sums_of(Vector (&v)[kElements]) {
  Vector four[kParts];
  unroll<kParts>([&](auto i) OCTET_INLINE {
    constexpr int at = 4 * i.value;
    Vector pairs[2];
    unroll<2>([&](auto p) OCTET_INLINE {
      constexpr int first = at + 2 * p.value;
      pairs[p] = add(OCTET_MM(unpacklo_epi32)(v[first], v[first + 1]),
                     OCTET_MM(unpackhi_epi32)(v[first], v[first + 1]));
    });
    four[i] = add(OCTET_MM(unpacklo_epi64)(pairs[0], pairs[1]),
                  OCTET_MM(unpackhi_epi64)(pairs[0], pairs[1]));
  });
  transpose_parts(four);
  Vector all = four[0];
  unroll<kParts - 1>([&](auto i) OCTET_INLINE { all = add(all, four[i + 1]); });
  return all;
}

}  // namespace
}  // namespace octet
