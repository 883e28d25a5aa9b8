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
  static constexpr int kVectors = 2;  // looked up together, to load a row once for both
  const uint8_t* rows;
  template <int vectors>
  OCTET_INLINE inline void look_up(Vector (&bytes)[vectors]) const {
    const Vector sixteen = OCTET_MM(set1_epi8)(16);
    Vector index[vectors], low[vectors], high[vectors];
    unroll<8>([&](auto i) OCTET_INLINE {
      const Vector row = table_row(rows + 16 * i), row_high = table_row(rows + 16 * i + 128);
      unroll<vectors>([&](auto v) OCTET_INLINE {
        if constexpr (i.value == 0) {
          index[v] = bytes[v] & OCTET_MM(set1_epi8)(0x7f);
          low[v] = OCTET_MM(shuffle_epi8)(row, index[v]);
          high[v] = OCTET_MM(shuffle_epi8)(row_high, index[v]);
        } else {
          index[v] = OCTET_MM(sub_epi8)(index[v], sixteen);
          pin(index[v]);  // else GCC 12 adds seven constants, which it makes anew for each vector
          low[v] = low[v] ^ OCTET_MM(shuffle_epi8)(row, index[v]);
          high[v] = high[v] ^ OCTET_MM(shuffle_epi8)(row_high, index[v]);
          pin(low[v]);  // else it shuffles all before it adds any, by way of the stack
          pin(high[v]);
        }
      });
    });
    unroll<vectors>([&](auto v) OCTET_INLINE {
#if defined(__AVX512BW__)
      bytes[v] = _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes[v]), low[v], high[v]);
#else
      bytes[v] = OCTET_MM(blendv_epi8)(low[v], high[v], bytes[v]);
#endif
    });
  }
};

#ifdef __AVX512VBMI__
// The table in four registers, of which an instruction reads two. CPUs of AVX512VNNI's tier since
// Ice Lake and Zen 4 have it.
struct TableRegisters {
  static constexpr int kVectors = 1;
  __m512i a, b, c, d;
  explicit TableRegisters(const uint8_t* table)
      : a(_mm512_loadu_si512(table)),
        b(_mm512_loadu_si512(table + 64)),
        c(_mm512_loadu_si512(table + 128)),
        d(_mm512_loadu_si512(table + 192)) {}
  OCTET_INLINE inline void look_up(__m512i (&bytes)[1]) const { bytes[0] = look_up(bytes[0]); }
  OCTET_INLINE inline __m512i look_up(__m512i bytes) const {
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), _mm512_permutex2var_epi8(a, bytes, b),
                                  _mm512_permutex2var_epi8(c, bytes, d));
  }
};
#endif

}  // namespace
}  // namespace octet
