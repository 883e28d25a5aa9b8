// SPDX-License-Identifier: Apache-2.0
// Copies bytes at the edges of a matrix, where whole vectors would reach beyond it.
#pragma once

#include "kernels/arm/shared/intrinsics.h"
#include "kernels/core/compiler.h"
#include "kernels/core/micro_kernel.h"

namespace octet {
namespace {

// Loads the last 0..8 bytes of a row, followed by zeros.
inline uint64_t load_tail(const uint8_t* bytes, size_t count) {
  uint64_t word = 0;
  while (count) word = word << 8 | bytes[--count];
  return word;
}

inline uint64_t load8(const uint8_t* bytes) {
  uint64_t word;
  __builtin_memcpy(&word, bytes, sizeof word);
  return word;
}

inline void store8(uint64_t word, uint8_t* to) { __builtin_memcpy(to, &word, sizeof word); }

inline uint32_t load4_before(const uint8_t* end) {
  uint32_t quad;
  __builtin_memcpy(&quad, end - sizeof quad, sizeof quad);
  return quad;
}

// Copies the last t.depth % 16 bytes of each row of a tap, followed by zeros, without reading past
// a row. For the first tap it is called before accumulators fill the registers. base: row 0 of the
// tap, for rows at a stride.
__attribute__((noinline, unused)) void copy_tails(const Tile& t, size_t tap, const uint8_t* base,
                                                  uint8_t (*tails)[16]) {
  const size_t bytes = t.depth % 16;
  static constexpr uint8_t kCount[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  // TBL gives zero for indices beyond 15
  const uint8x16_t index = vaddq_u8(vld1q_u8(kCount), vdupq_n_u8((uint8_t)(16 - bytes)));
  for (size_t i = 0; i < t.rows; ++i) {
    const uint8_t* end =
        (t.lhs_rows ? t.lhs_rows[tap * t.rows + i] : base + i * t.lhs_stride) + t.depth;
    if (t.depth > 16) {
      vst1q_u8(tails[i], vqtbl1q_u8(vld1q_u8(end - 16), index));
    } else {
      const uint64_t low = bytes < 8 ? load_tail(end - bytes, bytes) : load8(end - bytes);
      const uint64_t high = bytes > 8 ? load_tail(end - bytes + 8, bytes - 8) : 0;
      vst1q_u8(tails[i], vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(low), vcreate_u64(high))));
    }
  }
}

// Copies the existing columns of a tile that was stored whole on the stack because it has fewer
// columns than its registers.
__attribute__((noinline, unused)) void copy_rows(const uint8_t* from, size_t from_stride,
                                                 uint8_t* to, size_t to_stride, size_t rows,
                                                 size_t bytes) {
  for (; rows; --rows, from += from_stride, to += to_stride) {
    size_t i = 0;
    OCTET_NO_UNROLL
    for (; i + 8 <= bytes; i += 8) __builtin_memcpy(to + i, from + i, 8);
    if (bytes & 4) {
      __builtin_memcpy(to + i, from + i, 4);
      i += 4;
    }
    OCTET_NO_UNROLL
    for (; i < bytes; ++i) to[i] = from[i];
  }
}

}  // namespace
}  // namespace octet
