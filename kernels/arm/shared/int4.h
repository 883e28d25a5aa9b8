// Decodes weights of 4 bits to int8 on Arm.
#pragma once

#include <arm_neon.h>

#include "kernels/arm/shared/layouts.h"
#include "kernels/arm/shared/store_floats.h"
#include "kernels/core/compiler.h"

namespace octet {
namespace {

constexpr size_t kInt4Group = 64;  // bytes of a group of a full panel, of every Arm format

// Groups of half a panel have half the bytes.
inline void decode_int4_neon(const uint8_t* rhs, size_t rhs_stride, size_t groups, uint8_t* to) {
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

}  // namespace
}  // namespace octet
