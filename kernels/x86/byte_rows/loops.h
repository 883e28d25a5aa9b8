// SPDX-License-Identifier: Apache-2.0
// The loops of avx2_u8s8_rows_6x64x4.cc over groups of the depth: of bytes, of words, and of bytes
// by few columns.
#pragma once

#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/x86/byte_rows/rows.h"
#include "kernels/x86/shared/accumulate.h"
#include "kernels/x86/shared/layouts.h"
#include "kernels/x86/shared/micro_panel.h"
#include "kernels/x86/shared/quads.h"

namespace octet {
namespace {

// Of words, the weights are widened in the loop, or decoded before it. kFew: bytes by up to four
// columns.
enum class Form { kBytes, kWords, kDecoded, kFew };

// Assembly, because GCC 12 would keep the ones in a register that the tile needs.
OCTET_INLINE inline void add_pairs(__m256i& acc, __m256i int16) {
  __asm__("vpmaddwd %1, %0, %0" : "+x"(int16) : "m"(*(const __m256i*)kOnes));
  accumulate(acc, int16);
}

// Adds a group of bytes.
template <int vectors, int rows, int most>
OCTET_INLINE inline void add_bytes(const uint8_t* const (&lhs)[(rows + 2) / 3], size_t stride,
                                   const uint8_t* rhs, __m256i (&acc)[rows][most]) {
  __m256i b[vectors];
  unroll<vectors>([&](auto v)
                      OCTET_INLINE { b[v] = _mm256_loadu_si256((const __m256i*)(rhs + 32 * v)); });
  unroll<rows>([&](auto i) OCTET_INLINE {
    const __m256i a = _mm256_set1_epi32(load_quad(lhs[i / 3] + i % 3 * stride));
    unroll<vectors>([&](auto v)
                        OCTET_INLINE { add_pairs(acc[i][v], _mm256_maddubs_epi16(a, b[v])); });
  });
}

template <int rows>
OCTET_INLINE inline void pass_group(const uint8_t* (&lhs)[rows]) {
  unroll<rows>([&](auto i) OCTET_INLINE {
    lhs[i] += 4;
    __asm__("" : "+r"(lhs[i]));
  });
}

// As add_groups, two groups at a time.
template <int rows>
OCTET_INLINE inline void add_few(const uint8_t* (&lhs)[(rows + 2) / 3], size_t stride,
                                 const uint8_t*& rhs, size_t groups, __m256i (&acc)[rows][1]) {
  const auto add = [&](__m128i second, const auto& broadcast) OCTET_INLINE {
    const __m256i b = turned_quads(_mm_loadu_si128((const __m128i*)rhs), second);
    unroll<rows>([&](auto i) OCTET_INLINE {
      add_pairs(acc[i][0], _mm256_maddubs_epi16(broadcast(lhs[i / 3] + i % 3 * stride), b));
    });
    pass_group(lhs);
    rhs += kGroup;
  };
  OCTET_NO_UNROLL
  for (; groups >= 2; groups -= 2, rhs += kGroup) {
    add(_mm_loadu_si128((const __m128i*)(rhs + kGroup)), [](const uint8_t* at) OCTET_INLINE {
      int64_t quads;
      __builtin_memcpy(&quads, at, sizeof quads);
      return _mm256_set1_epi64x(quads);
    });
    pass_group(lhs);
  }
  if (groups)
    add(_mm_setzero_si128(),
        [](const uint8_t* at) OCTET_INLINE { return _mm256_set1_epi32(load_quad(at)); });
}

// lhs: of each three rows, the first; odd: bytes from even words to odd ones.
template <Form form, int vectors, size_t odd = kOdd, int rows, int most>
OCTET_INLINE inline void add_groups(const uint8_t* (&lhs)[(rows + 2) / 3], size_t stride,
                                    const uint8_t*& rhs, size_t groups,
                                    __m256i (&acc)[rows][most]) {
  constexpr bool decoded = form == Form::kDecoded;
  OCTET_NO_UNROLL
  for (; groups; --groups, rhs += decoded ? kS16Group : kGroup) {
    if constexpr (form == Form::kBytes) {
      _mm_prefetch((const char*)rhs + kWeightsAhead, _MM_HINT_T0);
      add_bytes<vectors>(lhs, stride, rhs, acc);
      pass_group(lhs);
      continue;
    }
    unroll<2>([&](auto p) OCTET_INLINE {
      // See avx2_s16s8_6x16x4.cc
      if (p && !decoded) __asm__("" : "+r"(rhs) : "x"(acc[rows - 1][vectors - 1]));
      if (!p && !decoded) _mm_prefetch((const char*)rhs + kWeightsAhead, _MM_HINT_T0);
      __m256i b[vectors];
      unroll<vectors>([&](auto v) OCTET_INLINE {
        b[v] = decoded ? _mm256_load_si256((const __m256i*)(rhs + 64 * p + 32 * v))
                       : s16_of_quads<p>(rhs + 32 * v);
      });
      unroll<rows>([&](auto i) OCTET_INLINE {
        const __m256i a = _mm256_set1_epi32(load_quad(lhs[i / 3] + i % 3 * stride + (p ? odd : 0)));
        unroll<vectors>([&](auto v)
                            OCTET_INLINE { accumulate(acc[i][v], _mm256_madd_epi16(a, b[v])); });
      });
    });
    pass_group(lhs);
  }
}

}  // namespace
}  // namespace octet
