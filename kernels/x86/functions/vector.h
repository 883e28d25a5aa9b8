// A vector of SSE4.1 or AVX2, as the including file is compiled.
#pragma once

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/core/compiler.h"

namespace octet {
namespace {

#ifdef __AVX2__
#define OCTET_MM(name) _mm256_##name
using Vector = __m256i;
using VectorF = __m256;
#else
#define OCTET_MM(name) _mm_##name
using Vector = __m128i;
using VectorF = __m128;
#endif
constexpr size_t kVector = sizeof(Vector);

OCTET_INLINE inline Vector load(const uint8_t* from) {
  Vector v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

}  // namespace
}  // namespace octet
