// Winograd's transforms on zmm.
#include <immintrin.h>

#include "kernels/generic/winograd.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/requantize.h"

namespace octet {
namespace {

struct Lanes {
  static constexpr int kAhead = 32;
  typedef uint16_t Int16 __attribute__((vector_size(64)));
  typedef uint32_t Sums __attribute__((vector_size(64)));
  typedef float Floats __attribute__((vector_size(64)));
  OCTET_INLINE static inline Int16 widen_u8(const uint8_t* bytes) {
    return (Int16)_mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i*)bytes));
  }
  OCTET_INLINE static inline Int16 widen_s8(const uint8_t* bytes) {
    return (Int16)_mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i*)bytes));
  }
  OCTET_INLINE static inline void store_int8(uint8_t* bytes, Int16 words, int16_t factor,
                                             uint8_t flip) {
    const __m256i rounded =
        _mm512_cvtsepi16_epi8(_mm512_mulhrs_epi16((__m512i)words, _mm512_set1_epi16(factor)));
    _mm256_storeu_si256((__m256i*)bytes, _mm256_xor_si256(rounded, _mm256_set1_epi8((char)flip)));
  }
  OCTET_INLINE static inline Sums round(Floats x) {
    return (Sums)_mm512_cvt_roundps_epi32((__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
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

template <typename WeightFormat>
void output_tile(const WinogradOutput& o) {
  if (!o.scale) return output_s32<WeightFormat, Lanes>(o);
  constexpr int m = WeightFormat::kOut;
  __m512i q[2][m][m];
  for (size_t v = 0; 16 * v < o.cols; ++v) {
    Lanes::Sums out[m][m];
    output_lanes<WeightFormat, Lanes>(o, 16 * v, out);
    const __m512 scale = _mm512_loadu_ps(o.scale + 16 * v);
    unroll<m>([&](auto y) OCTET_INLINE {
      unroll<m>([&](auto x) OCTET_INLINE {
        const __m512 scaled = _mm512_mul_ps(_mm512_cvtepi32_ps((__m512i)out[y][x]), scale);
        q[v][y][x] =
            _mm512_cvt_roundps_epi32(scaled, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
      });
    });
  }
  store_requantized<m>(o, q);
}

}  // namespace

const WinogradOps avx512vnni_winograd = {
    {input_tile<Winograd2x2, Lanes>, input_tile<Winograd4x4, Lanes>,
     input_tile<Winograd2x2Stride2, Lanes>, input_tile<Winograd2x2Int8, Lanes>},
    {output_tile<Winograd2x2>, output_tile<Winograd4x4>, output_tile<Winograd2x2Stride2>,
     output_tile<Winograd2x2Int8>},
    32};

}  // namespace octet
