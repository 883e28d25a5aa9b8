// Looks bytes up in a table of 256, which is 16 rows of 16, by PSHUFB, which gives 0 for negative
// indices. From row to row 16 is subtracted from the index: it stays at 0 or above for its own row
// and all rows before, which hold TablePlan::rows, so that the xor of all is the entry.
// Bytes below 128 and from there on have eight rows each.
#pragma once

#include "kernels/generic/functions/look_up.h"
#include "kernels/x86/functions/vector.h"

namespace octet {
namespace {

constexpr int kTableRows = 8;
constexpr size_t kVectors = 2;  // for one load of a row

OCTET_INLINE inline Vector row_of(const uint8_t* row) {
  const __m128i bytes = _mm_loadu_si128((const __m128i*)row);
#ifdef __AVX2__
  return _mm256_broadcastsi128_si256(bytes);
#else
  return bytes;
#endif
}

inline void look_up_vectors(const uint8_t* rows, const uint8_t* from, uint8_t* to, size_t bytes) {
  const Vector sixteen = OCTET_MM(set1_epi8)(16), flip = OCTET_MM(set1_epi8)((char)0x80);
  for (size_t first = 0; first < bytes; first += kVectors * kVector) {
    Vector low[kVectors], high[kVectors], made[kVectors] = {};
    for (size_t i = 0; i < kVectors; ++i) {
      low[i] = load(from + first + i * kVector);
      high[i] = low[i] ^ flip;
    }
    for (int row = 0; row < kTableRows; ++row) {
      const Vector of_low = row_of(rows + 16 * row), of_high = row_of(rows + 128 + 16 * row);
      for (size_t i = 0; i < kVectors; ++i) {
        made[i] ^=
            OCTET_MM(shuffle_epi8)(of_low, low[i]) ^ OCTET_MM(shuffle_epi8)(of_high, high[i]);
        low[i] = OCTET_MM(subs_epi8)(low[i], sixteen);
        high[i] = OCTET_MM(subs_epi8)(high[i], sixteen);
      }
    }
    __builtin_memcpy(to + first, made, sizeof made);
  }
}

inline void look_up_x86(void* plan, const octet_network_call* call) {
  const TablePlan& p = *(const TablePlan*)plan;
  for_each_run(*call, [&](const uint8_t* from, uint8_t* to, size_t bytes) {
    const size_t whole = bytes / (kVectors * kVector) * (kVectors * kVector);
    look_up_vectors(p.rows, from, to, whole);
    for (size_t i = whole; i < bytes; ++i) to[i] = p.table[from[i]];
  });
}

}  // namespace
}  // namespace octet
