// SPDX-License-Identifier: Apache-2.0
// Winograd's transforms on zmm.
#include <immintrin.h>

#include "kernels/generic/winograd.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/requantize.h"

namespace octet {
namespace {

struct Lanes : WinogradLanes<64> {
  static constexpr int kAhead = 32;
  OCTET_INLINE static inline Int16 widen_u8(const uint8_t* bytes) {
    return (Int16)_mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i*)bytes));
  }
  OCTET_INLINE static inline Int16 widen_s8(const uint8_t* bytes) {
    return (Int16)_mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i*)bytes));
  }
  OCTET_INLINE static inline void store_int8(uint8_t* bytes, Int16 int16, int16_t factor,
                                             uint8_t flip) {
    const __m256i rounded =
        _mm512_cvtsepi16_epi8(_mm512_mulhrs_epi16((__m512i)int16, _mm512_set1_epi16(factor)));
    _mm256_storeu_si256((__m256i*)bytes, _mm256_xor_si256(rounded, _mm256_set1_epi8((char)flip)));
  }
  OCTET_INLINE static inline Sums round(Floats x) {
    return (Sums)_mm512_cvt_roundps_epi32((__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }

  template <typename Variant>
  static void output(const WinogradOutput& o);
};

// Two adjacent outputs fill one register of bytes: 2 x 32 columns.
template <int m>
OCTET_INLINE inline void store_requantized(const WinogradOutput& o, const __m512i (&q)[2][m][m]) {
  const Requantizer<64> requantizer(*o.requantization);
  const __mmask32 mask = 0xffffffffu >> (32 - o.cols);
  const size_t high = o.cols > 16;
  for (size_t y = 0; y < o.height; ++y)
    for (size_t x = 0; x < o.width; x += 2) {
      const __m512i even = pack_int16(q[0][y][x], q[high][y][x]),
                    odd = pack_int16(q[0][y][x + 1], q[high][y][x + 1]);
      const __m512i bytes = in_order(requantizer.bytes(even, odd));
      uint8_t* const dst = (uint8_t*)o.dst + y * o.dst_line + x * o.dst_pixel;
      _mm256_mask_storeu_epi8(dst, mask, _mm512_castsi512_si256(bytes));
      if (x + 1 < o.width)
        _mm256_mask_storeu_epi8(dst + o.dst_pixel, mask, _mm512_extracti64x4_epi64(bytes, 1));
    }
}

template <typename Variant>
void Lanes::output(const WinogradOutput& o) {
  if (!o.scale) return output_s32<Variant, Lanes>(o);
  constexpr int m = Variant::kOut;
  __m512i q[2][m][m];
  scale_tile<Variant, Lanes>(o, q, [](Sums sums, Floats scale) OCTET_INLINE {
    return (__m512i)round((Floats)_mm512_mul_ps(_mm512_cvtepi32_ps((__m512i)sums), (__m512)scale));
  });
  store_requantized<m>(o, q);
}

}  // namespace

const WinogradOps avx512bw_winograd = winograd_ops<Lanes>(32);

}  // namespace octet
