// Maps bytes through a table of 256, in place, by AVX-512 VBMI: the table stays in four registers,
// of which an instruction reads two. CPUs of AVX512VNNI's tier since Ice Lake and Zen 4 have it.
#include <immintrin.h>

#include "kernels/x86/kernels.h"

namespace octet {

void avx512vbmi_look_up(const uint8_t* table, uint8_t* dst, size_t stride, size_t rows,
                        size_t cols) {
  const __m512i a = _mm512_loadu_si512(table), b = _mm512_loadu_si512(table + 64),
                c = _mm512_loadu_si512(table + 128), d = _mm512_loadu_si512(table + 192);
  for (size_t i = 0; i < rows; ++i, dst += stride)
    for (size_t j = 0; j < cols; j += 64) {
      const __mmask64 mask = cols - j < 64 ? ((__mmask64)1 << (cols - j)) - 1 : ~(__mmask64)0;
      const __m512i index = _mm512_maskz_loadu_epi8(mask, dst + j);
      const __m512i low = _mm512_permutex2var_epi8(a, index, b),
                    high = _mm512_permutex2var_epi8(c, index, d);
      _mm512_mask_storeu_epi8(dst + j, mask,
                              _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), low, high));
    }
}

}  // namespace octet
