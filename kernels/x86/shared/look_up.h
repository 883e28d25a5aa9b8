// Maps bytes of rows through a table of 256, in place. The tiers' own table is 16 rows of 16, each
// looked up by VPSHUFB, which gives 0 for negative indices.
//
// From row to row 16 is subtracted from the index, so that it is non-negative for its own row and
// all rows before. The rows hold xor differences, and the xor of all results is the table's value.
// Each half of the table serves bytes of one sign.
#pragma once

#include "kernels/x86/shared/epilogue_rows.h"

namespace octet {
namespace {

OCTET_INLINE inline EpilogueVector shuffled(EpilogueVector table, EpilogueVector index) {
#ifdef __AVX512BW__
  return _mm512_shuffle_epi8(table, index);
#else
  return _mm256_shuffle_epi8(table, index);
#endif
}
OCTET_INLINE inline EpilogueVector table_row(const uint8_t* row) {
  const __m128i bytes = _mm_load_si128((const __m128i*)row);
#ifdef __AVX512BW__
  return _mm512_broadcast_i32x4(bytes);
#else
  return _mm256_broadcastsi128_si256(bytes);
#endif
}

// The table as 16 rows in memory.
struct TableRows {
  const uint8_t* rows;
  OCTET_INLINE inline EpilogueVector look_up(EpilogueVector bytes) const {
    const EpilogueVector sixteen = splat<EpilogueVector>((uint8_t)16);
    EpilogueVector low = bytes, high = bytes ^ splat<EpilogueVector>((uint8_t)0x80);
    EpilogueVector out = shuffled(table_row(rows), low) ^ shuffled(table_row(rows + 128), high);
    unroll<7>([&](auto i) OCTET_INLINE {
      low = subtract_s8(low, sixteen);
      high = subtract_s8(high, sixteen);
      out = out ^ shuffled(table_row(rows + 16 * (i + 1)), low) ^
            shuffled(table_row(rows + 128 + 16 * (i + 1)), high);
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

template <int width, typename Table>
void look_up_rows(const Table& table, uint8_t* dst, size_t stride, size_t rows, size_t cols) {
  constexpr size_t together = kEpilogueBytes / width;
  for (;;) {
    const EpilogueVector bytes = table.look_up(load_rows<width>(dst, stride, rows, cols));
    store_rows<width>(dst, stride, bytes, rows, cols);
    if (rows <= together) return;
    rows -= together;
    dst += together * stride;
  }
}

// Any number of columns. Narrow rows share a vector, and are loaded as the step before has stored
// them: a wider load would wait for that.
template <typename Table>
void look_up_tile(const Table& table, uint8_t* dst, size_t stride, size_t rows, size_t cols) {
  if (stride == cols) cols *= rows, rows = 1;  // rows without gaps
  for (; cols > kEpilogueBytes; cols -= kEpilogueBytes, dst += kEpilogueBytes)
    look_up_rows<kEpilogueBytes>(table, dst, stride, rows, kEpilogueBytes);
  if (cols <= 16)
    look_up_rows<16>(table, dst, stride, rows, cols);
  else if (cols <= 32)
    look_up_rows<32>(table, dst, stride, rows, cols);
  else
    look_up_rows<kEpilogueBytes>(table, dst, stride, rows, cols);
}

}  // namespace
}  // namespace octet
