// Depthwise, u8 x s8 -> s32 or 8 bits, VPDPBUSD on ymm, and words, VPDPWSSD, blocks of 32 channels.
#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/x86/kernels.h"

namespace octet {
namespace {

OCTET_INLINE inline void dot_add_int16(__m256i& acc, __m256i a, __m256i b) {
  acc = _mm256_dpwssd_avx_epi32(acc, a, b);
}

}  // namespace
}  // namespace octet

#include "kernels/x86/shared/dw_ymm.h"

namespace octet {
namespace {

struct Dots : Ymm<Dots, 128> {
  OCTET_INLINE static inline void settle(Column&) {}

  // Visits vector v of a column.
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
      __m256i sum = _mm256_dpbusd_avx_epi32(acc[r].a[v], t, aligned(weights + r * set + 32 * v));
      pin(sum);  // else GCC 12 copies all sums twice
      acc[r].a[v] = sum;
    });
  }

  OCTET_INLINE static inline void weights(const uint32_t* taps, size_t vector, uint8_t* to) {
    __builtin_memcpy(to + 32 * vector, taps, 32);
  }
};

}  // namespace

const DepthwiseKernel avxvnni_s16s8_words_dw32 =
    ymm_words_kernel("avxvnni_s16s8_words_dw32", Isa::kAvxVnni);
const DepthwiseKernel avxvnni_u8s8_dw32 =
    ymm_kernel<Dots>("avxvnni_u8s8_dw32", Isa::kAvxVnni, &avxvnni_s16s8_words_dw32);
}  // namespace octet
