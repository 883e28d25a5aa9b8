// Depthwise with VPDPBUSD on ymm registers. One text for two encodings, as in avxvnni.h: the
// including file defines OCTET_DPBUSD.
#pragma once

#include "kernels/x86/dw_ymm.h"

namespace octet {
namespace {

struct Dots : Ymm<Dots, 128> {
  OCTET_INLINE static inline void settle(Column&) {}

  // Vector v of a column.
  template <typename Use>
  OCTET_INLINE static inline void each(const Pixel (&p)[4], const Use& use) {
    unroll<2>([&](auto high) OCTET_INLINE {
      const __m256i top =
          high ? _mm256_unpackhi_epi8(p[0], p[1]) : _mm256_unpacklo_epi8(p[0], p[1]);
      const __m256i bottom =
          high ? _mm256_unpackhi_epi8(p[2], p[3]) : _mm256_unpacklo_epi8(p[2], p[3]);
      use(Int<2 * high.value>{}, _mm256_unpacklo_epi16(top, bottom));
      use(Int<2 * high.value + 1>{}, _mm256_unpackhi_epi16(top, bottom));
    });
  }

  template <int rows>
  OCTET_INLINE static inline void dot_vector(Acc (&acc)[rows], int v, __m256i t,
                                             const uint8_t* weights, size_t set) {
    unroll<rows>([&](auto r) OCTET_INLINE {
      acc[r].a[v] = OCTET_DPBUSD(acc[r].a[v], t, aligned(weights + r * set + 32 * v));
    });
  }

  OCTET_INLINE static inline void weights(const uint8_t* taps, size_t vector, uint8_t* to) {
    __builtin_memcpy(to + 32 * vector, taps, 32);
  }
};

}  // namespace
}  // namespace octet
