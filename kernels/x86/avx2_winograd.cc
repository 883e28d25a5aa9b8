// SPDX-License-Identifier: Apache-2.0
// Winograd's transforms on ymm, for the tiers without AVX-512.
#include <immintrin.h>

#include "kernels/generic/winograd.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/store_ymm.h"

namespace octet {
namespace {

struct Lanes : WinogradLanes<32> {
  static constexpr int kAhead = 16;
  OCTET_INLINE static inline Int16 widen_u8(const uint8_t* bytes) {
    return (Int16)_mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i*)bytes));
  }
  OCTET_INLINE static inline Int16 widen_s8(const uint8_t* bytes) {
    return (Int16)_mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i*)bytes));
  }
  OCTET_INLINE static inline void store_int8(uint8_t* bytes, Int16 int16, int16_t factor,
                                             uint8_t flip) {
    const __m256i rounded = _mm256_mulhrs_epi16((__m256i)int16, _mm256_set1_epi16(factor));
    const __m128i packed =
        _mm_packs_epi16(_mm256_castsi256_si128(rounded), _mm256_extracti128_si256(rounded, 1));
    _mm_storeu_si128((__m128i*)bytes, _mm_xor_si128(packed, _mm_set1_epi8((char)flip)));
  }
  OCTET_INLINE static inline Sums round(Floats x) { return (Sums)_mm256_cvtps_epi32((__m256)x); }

  template <typename Variant>
  static void output(const WinogradOutput& o);
};

template <typename Variant>
void Lanes::output(const WinogradOutput& o) {
  if (!o.scale) return output_s32<Variant, Lanes>(o);
  constexpr int m = Variant::kOut;
  const Requantizer<16> requantizer(*o.requantization);
  __m128i int16[2][m][m];
  scale_tile<Variant, Lanes>(o, int16, [](Sums sums, Floats scale) OCTET_INLINE {
    return scaled_int16((__m256i)sums, (__m256)scale);
  });
  const size_t high = o.cols > 8;
  for (size_t y = 0; y < o.height; ++y)
    for (size_t x = 0; x < o.width; ++x)
      store_bytes((uint8_t*)o.dst + y * o.dst_line + x * o.dst_pixel,
                  requantizer.bytes(int16[0][y][x], int16[high][y][x]), o.cols);
}

}  // namespace

const WinogradOps avx2_winograd = winograd_ops<Lanes>(16);

}  // namespace octet
