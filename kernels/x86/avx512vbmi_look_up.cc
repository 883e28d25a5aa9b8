// Maps bytes through a table of 256, in place, by AVX-512 VBMI: the table stays in four registers,
// of which an instruction reads two. CPUs of AVX512VNNI's tier since Ice Lake and Zen 4 have it.
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/look_up.h"

namespace octet {
namespace {

struct TableRegisters {
  __m512i a, b, c, d;
  explicit TableRegisters(const uint8_t* table)
      : a(_mm512_loadu_si512(table)),
        b(_mm512_loadu_si512(table + 64)),
        c(_mm512_loadu_si512(table + 128)),
        d(_mm512_loadu_si512(table + 192)) {}
  OCTET_INLINE inline __m512i look_up(__m512i bytes) const {
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), _mm512_permutex2var_epi8(a, bytes, b),
                                  _mm512_permutex2var_epi8(c, bytes, d));
  }
};

}  // namespace

void avx512vbmi_look_up(const uint8_t* lut, uint8_t* dst, size_t stride, size_t rows, size_t cols) {
  look_up_tile(TableRegisters(lut), dst, stride, rows, cols);
}

}  // namespace octet
