// SPDX-License-Identifier: Apache-2.0
// Looks bytes up in a table of 256, which is 16 rows of 16, each looked up by PSHUFB, which gives 0
// for negative indices. One text for all widths.
//
// A half of the table is looked up by the lower seven bits of each byte. From row to row 16 is
// subtracted from them, so that they are non-negative for their own row and all rows before. The
// rows hold xor differences (write_table_rows), and the xor of all results is the half's value.
// The top bits then choose a half, so that both share the subtractions.
#pragma once

#include "kernels/x86/shared/vector.h"

namespace octet {
namespace {

OCTET_INLINE inline Vector table_row(const uint8_t* row) {
  const __m128i bytes = _mm_loadu_si128((const __m128i*)row);
#if defined(__AVX512BW__)
  return _mm512_broadcast_i32x4(bytes);
#elif defined(__AVX2__)
  return _mm256_broadcastsi128_si256(bytes);
#else
  return bytes;
#endif
}

// The table as 16 rows in memory.
struct TableRows {
  const uint8_t* rows;
  OCTET_INLINE inline Vector look_up(Vector bytes) const {
    const Vector sixteen = OCTET_MM(set1_epi8)(16);
    Vector index = bytes & OCTET_MM(set1_epi8)(0x7f), low = row(0, index), high = row(8, index);
    unroll<7>([&](auto i) OCTET_INLINE {
      index = OCTET_MM(sub_epi8)(index, sixteen);
      pin(index);  // else GCC 12 adds seven constants, which it makes anew for each vector
      low = low ^ row(i + 1, index);
      high = high ^ row(i + 9, index);
    });
#if defined(__AVX512BW__)
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), low, high);
#else
    return OCTET_MM(blendv_epi8)(low, high, bytes);
#endif
  }

 private:
  OCTET_INLINE inline Vector row(size_t i, Vector index) const {
    return OCTET_MM(shuffle_epi8)(table_row(rows + 16 * i), index);
  }
};

#ifdef __AVX512VBMI__
// The table in four registers, of which an instruction reads two. CPUs of AVX512VNNI's tier since
// Ice Lake and Zen 4 have it.
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
#endif

}  // namespace
}  // namespace octet
