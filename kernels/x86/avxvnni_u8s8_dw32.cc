// SPDX-License-Identifier: Apache-2.0
// Depthwise, u8 x s8 -> s32 or 8 bits, VPDPBUSD on ymm; u8 x s16 and s16 values, VPDPWSSD; blocks
// of 32 channels.
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
  static constexpr bool kWalks5x5 = true;
  OCTET_INLINE static inline void settle(Column&) {}

  struct Pair {
    __m256i low, high;
  };
  OCTET_INLINE static inline Pair pair(Pixel a, Pixel b) {
    return {_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b)};
  }
  // Visits vector v of a column.
  template <typename Use>
  OCTET_INLINE static inline void each(const Pair& top, const Pair& bottom, const Use& use) {
    use(Int<0>{}, _mm256_unpacklo_epi16(top.low, bottom.low));
    use(Int<1>{}, _mm256_unpackhi_epi16(top.low, bottom.low));
    use(Int<2>{}, _mm256_unpacklo_epi16(top.high, bottom.high));
    use(Int<3>{}, _mm256_unpackhi_epi16(top.high, bottom.high));
  }

  OCTET_INLINE static inline void dot_vector(Acc& acc, int v, __m256i t, const uint8_t* weights) {
    __m256i sum = _mm256_dpbusd_avx_epi32(acc.a[v], t, aligned(weights + 32 * v));
    pin(sum);  // else GCC 12 copies all sums twice
    acc.a[v] = sum;
  }

  OCTET_INLINE static inline void weights(const uint32_t* taps, size_t vector, uint8_t* to) {
    __builtin_memcpy(to + 32 * vector, taps, 32);
  }
};

}  // namespace

const DepthwiseKernel avxvnni_s16s8_full_dw32 =
    ymm_s16_kernel("avxvnni_s16s8_full_dw32", TierId::kAvxVnni);
const DepthwiseKernel avxvnni_u8s8_dw32 =
    ymm_kernel<Dots>("avxvnni_u8s8_dw32", TierId::kAvxVnni, &avxvnni_s16s8_full_dw32);
const DepthwiseKernel avxvnni_u8s16_dw32 =
    ymm_kernel<Int16, uint64_t>("avxvnni_u8s16_dw32", TierId::kAvxVnni);
}  // namespace octet
