// SPDX-License-Identifier: Apache-2.0
// Decodes weights of 4 bits to int8 on Arm.
#pragma once

#include <arm_neon.h>

#include "kernels/arm/shared/layouts.h"
#include "kernels/arm/shared/store_floats.h"
#include "kernels/core/compiler.h"

namespace octet {
namespace {

constexpr size_t kInt4Group = 64;  // bytes of a group of a full panel, of every Arm format

#if defined(__aarch64__)
// Decodes a group of a full panel. Compilers copy registers for LD1 and ST1 of four.
OCTET_INLINE inline void decode_group(const uint8_t*& rhs, uint8_t*& to) {
  __asm__ volatile(
      "ld1 {v16.16b-v19.16b}, [%0], #64\n"
      "shl v20.16b, v16.16b, #4\n shl v21.16b, v17.16b, #4\n"
      "shl v22.16b, v18.16b, #4\n shl v23.16b, v19.16b, #4\n"
      "sshr v20.16b, v20.16b, #4\n sshr v21.16b, v21.16b, #4\n"
      "sshr v22.16b, v22.16b, #4\n sshr v23.16b, v23.16b, #4\n"
      "sshr v16.16b, v16.16b, #4\n sshr v17.16b, v17.16b, #4\n"
      "sshr v18.16b, v18.16b, #4\n sshr v19.16b, v19.16b, #4\n"
      "st1 {v20.16b-v23.16b}, [%1], #64\n st1 {v16.16b-v19.16b}, [%1], #64"
      : "+r"(rhs), "+r"(to)
      :
      : "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "memory");
}
#endif

// Groups of half a panel have half the bytes.
inline void decode_int4_neon(const uint8_t* rhs, size_t rhs_stride, size_t groups, uint8_t* to) {
#if defined(__aarch64__)
  if (rhs_stride == kInt4Group) {
    OCTET_NO_UNROLL
    for (; groups >= 8; groups -= 8) unroll<8>([&](auto) OCTET_INLINE { decode_group(rhs, to); });
    OCTET_NO_UNROLL
    for (; groups; --groups) decode_group(rhs, to);
    return;
  }
#endif
  OCTET_NO_UNROLL
  for (; groups; --groups, rhs += rhs_stride, to += 2 * kInt4Group) {
    const auto decode = [&](auto vectors) OCTET_INLINE {
      unroll<vectors>([&](auto v) OCTET_INLINE {
        const int8x16_t two = vld1q_s8((const int8_t*)rhs + 16 * v);
        vst1q_s8((int8_t*)to + 16 * v, vshrq_n_s8(vshlq_n_s8(two, 4), 4));
        vst1q_s8((int8_t*)to + kInt4Group + 16 * v, vshrq_n_s8(two, 4));
      });
    };
    if (rhs_stride < kInt4Group)
      decode(Int<2>{});
    else
      decode(Int<4>{});
  }
}

// Kernels of few rows decode weights in registers, as 16 times what they are: that takes two
// instructions per vector, where decoding takes three and a store. They multiply all but the last 1
// to 16 steps along depth so; the int8 kernel multiplies the rest, on top of these sums.
// add(steps, sums) writes t.init plus the products of `steps` groups of `group` steps.
constexpr size_t kMostSixteenfold = 65793;  // 16 * 8 * 255 times as many fit int32
template <size_t group, typename Add>
void multiply_few_rows(const MicroKernel& kernel, const MicroKernel& operands, const Tile& t,
                       const Add& add) {
  const size_t steps = (t.depth - 1) / group;
  int32_t* const sums = (int32_t*)t.room;
  add(steps, sums);
  Tile rest = t;
  rest.init = sums;
  rest.init_stride = kernel.nr;
  rest.depth -= steps * group;
  rest.lhs = (const uint8_t*)t.lhs + steps * group;
  rest.rhs += steps * group / kernel.rhs_layout.kr * t.rhs_stride;
  multiply_int4(kernel, operands, rest);
}

// The first and the second group of a vector's halves of bytes, 16 times.
template <int second>
OCTET_INLINE inline int8x16_t sixteenfold(int8x16_t two) {
  return second ? vandq_s8(two, vdupq_n_s8(-16)) : vshlq_n_s8(two, 4);
}

}  // namespace
}  // namespace octet
