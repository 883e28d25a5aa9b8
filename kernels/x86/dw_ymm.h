// Depthwise on ymm registers with VPDPBUSD: blocks of 32 channels in two passes, since sixteen registers hold two columns of 16 channels, not of 32.
//
//        kept columns        new column       accumulators
//      t[0] t[1]  t[0] t[1]  t[0] t[1]   a[0] a[1] of two rows          12 of 16, the rest for pixels and constants
//
// The including file defines OCTET_DPBUSD, as for avxvnni.h.
#pragma once

#include <immintrin.h>

#include "kernels/simd/depthwise.h"
#include "kernels/x86/dw_exit_ymm.h"
#include "kernels/x86/kernels.h"

namespace octet {
namespace {

struct Ymm : PassesYmm {
  static constexpr int kColumn = 64, kWalkRows = 2, kWalkSets = 2;
  struct Column {
    __m256i t[2];
  };

  // The low eight channels of each sixteen.
  OCTET_INLINE static inline Column column(const Pixel (&p)[4]) {
    const __m256i top = _mm256_unpacklo_epi8(p[0], p[1]), bottom = _mm256_unpacklo_epi8(p[2], p[3]);
    return {{_mm256_unpacklo_epi16(top, bottom), _mm256_unpackhi_epi16(top, bottom)}};
  }

  template <int, int>
  OCTET_INLINE static inline void dot(Acc& acc, const Column& c, const uint8_t* weights) {
    unroll<2>([&](auto v) OCTET_INLINE { acc.a[v] = OCTET_DPBUSD(acc.a[v], c.t[v], _mm256_load_si256((const __m256i*)(weights + 32 * v))); });
  }

  OCTET_INLINE static inline void weights(const uint8_t* taps, size_t vector, uint8_t* to) { __builtin_memcpy(to + 32 * vector, taps, 32); }
};

}  // namespace
}  // namespace octet
