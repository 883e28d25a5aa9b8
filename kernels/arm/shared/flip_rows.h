// SPDX-License-Identifier: Apache-2.0
// Copies rows of u8 as s8 on AArch64, for kernels that would flip them again for every few columns.
#pragma once

#include <arm_neon.h>

#include "kernels/arm/shared/copy_bytes.h"
#include "kernels/core/compiler.h"
#include "kernels/core/lhs_rows.h"

namespace octet {
namespace {

// Copies `bytes` bytes of a row, flipped, in whole vectors; weights are zero beyond a row's end.
OCTET_INLINE inline void copy_flipped(const uint8_t* from, size_t bytes, uint8x16_t sign,
                                      uint8_t* to) {
#define OCTET_FLIP_64                                             \
  "ld1 {v16.16b-v19.16b}, [%0], #64\n"                            \
  "eor v16.16b, v16.16b, %2.16b\n eor v17.16b, v17.16b, %2.16b\n" \
  "eor v18.16b, v18.16b, %2.16b\n eor v19.16b, v19.16b, %2.16b\n" \
  "st1 {v16.16b-v19.16b}, [%1], #64\n"
  OCTET_NO_UNROLL
  for (size_t twice = bytes / 128; twice; --twice)
    __asm__ volatile(OCTET_FLIP_64 OCTET_FLIP_64
                     : "+r"(from), "+r"(to)
                     : "w"(sign)
                     : "memory", "v16", "v17", "v18", "v19");
#undef OCTET_FLIP_64
  bytes %= 128;
  OCTET_NO_UNROLL
  for (; bytes >= 16; bytes -= 16, from += 16, to += 16)
    vst1q_u8(to, veorq_u8(vld1q_u8(from), sign));
  if (!bytes) return;
  const uint64_t low = bytes < 8 ? load_tail(from, bytes) : load8(from),
                 high = bytes > 8 ? load_tail(from + 8, bytes - 8) : 0;
  const uint64x2_t rest = vcombine_u64(vcreate_u64(low), vcreate_u64(high));
  vst1q_u8(to, veorq_u8(vreinterpretq_u8_u64(rest), sign));
}

// MicroKernel::flip_rows. Rows without gaps are one.
inline void flip_rows(const Rows& rows, size_t stride, uint8_t* to) {
  uint8x16_t sign = vdupq_n_u8(0x80);
  pin(sign);
  if (rows.stride == rows.depth && stride == rows.depth)
    return copy_flipped(rows.data, rows.rows * rows.depth, sign, to);
  for (size_t i = 0; i < rows.rows; ++i)
    copy_flipped(rows.row(i), rows.depth, sign, to + i * stride);
}

}  // namespace
}  // namespace octet
