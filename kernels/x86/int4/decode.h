// SPDX-License-Identifier: Apache-2.0
// Weights of 4 bits on x86: their layout and their decoder to int8.
#pragma once

#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/generic/int4.h"
#include "kernels/x86/shared/layouts.h"

namespace octet {
namespace {

constexpr size_t kInt4Group = 64;  // 16 columns, 8 depth steps: two groups of kX86Layout

// Reads halves of bytes as int8: a VPSHUFB looks up the values of nibbles.
struct NibblesYmm {
  const __m256i low = _mm256_set1_epi8(15),
                values = _mm256_broadcastsi128_si256(
                    _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1));

  // Of half of a group's columns, the first or the second depth steps.
  template <int second>
  OCTET_INLINE inline __m256i load(const uint8_t* rhs) const {
    const __m256i two = _mm256_loadu_si256((const __m256i*)rhs);
    return _mm256_shuffle_epi8(values,
                               _mm256_and_si256(second ? _mm256_srli_epi16(two, 4) : two, low));
  }
};

// Some rows of a tile.
inline Tile rows_of(const Tile& t, size_t first, size_t count) {
  Tile part = t;
  part.rows = count;
  part.lhs = (const uint8_t*)t.lhs + first * t.lhs_stride;
  part.init += first * t.init_stride;
  if (t.row_init) part.row_init += first;
  if (t.row_scale) part.row_scale += first;
  part.dst = (uint8_t*)t.dst + first * t.dst_stride;
  return part;
}

// Stores a tile whose sums are in memory, rows of `stride` elements: the kernel of int8 adds no
// products to them. Its ways out are not instantiated once more.
inline void store_sums_by(const MicroKernel& kernel, const Tile& t, const int32_t* sums,
                          size_t stride) {
  Tile out = t;
  out.depth = 0;
  out.init = sums;
  out.init_stride = stride;
  out.row_init = nullptr;
  kernel.multiply(out);
}

inline void decode_int4_ymm(const uint8_t* rhs, size_t rhs_stride, size_t groups, uint8_t* to) {
  const NibblesYmm nibbles;
  OCTET_NO_UNROLL
  for (; groups; --groups, rhs += rhs_stride, to += 2 * kInt4Group)
    unroll<2>([&](auto half) OCTET_INLINE {
      unroll<2>([&](auto v) OCTET_INLINE {
        _mm256_store_si256((__m256i*)(to + kInt4Group * half + 32 * v),
                           nibbles.load<half>(rhs + 32 * v));
      });
    });
}

}  // namespace
}  // namespace octet
