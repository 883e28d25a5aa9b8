// SPDX-License-Identifier: Apache-2.0
// Looks bytes up in a table of 256, which is 16 rows of 16, each looked up by PSHUFB, which gives 0
// for negative indices. One text for all widths.
//
// From row to row 16 is subtracted from the index, so that it is non-negative for its own row and
// all rows before. The rows hold xor differences (write_table_rows), and the xor of all results is
// the table's value. Each half of the table serves bytes of one sign.
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
    Vector low = bytes, high = bytes ^ OCTET_MM(set1_epi8)((char)0x80);
    Vector out = OCTET_MM(shuffle_epi8)(table_row(rows), low) ^
                 OCTET_MM(shuffle_epi8)(table_row(rows + 128), high);
    unroll<7>([&](auto i) OCTET_INLINE {
      low = OCTET_MM(subs_epi8)(low, sixteen);
      high = OCTET_MM(subs_epi8)(high, sixteen);
      out = out ^ OCTET_MM(shuffle_epi8)(table_row(rows + 16 * (i + 1)), low) ^
            OCTET_MM(shuffle_epi8)(table_row(rows + 128 + 16 * (i + 1)), high);
    });
    return out;
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
