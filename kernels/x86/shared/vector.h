// SPDX-License-Identifier: Apache-2.0
// The widest vector of integers that the including file's tier has, and the prefix of its
// intrinsics, so that one text serves all widths.
#pragma once

#include <immintrin.h>

#include "kernels/core/compiler.h"

namespace octet {
namespace {

#if defined(__AVX512BW__)
#define OCTET_MM(name) _mm512_##name
using Vector = __m512i;
#elif defined(__AVX2__)
#define OCTET_MM(name) _mm256_##name
using Vector = __m256i;
#else
#define OCTET_MM(name) _mm_##name
using Vector = __m128i;
#endif

OCTET_INLINE inline Vector load(const void* from) {
  Vector v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
OCTET_INLINE inline void store(void* to, Vector v) { __builtin_memcpy(to, &v, sizeof v); }

}  // namespace
}  // namespace octet
