// SPDX-License-Identifier: Apache-2.0
// s16 x s16 -> s32, SMLAL by lane, up to 8 rows x 8 columns, for Winograd on every Arm tier: none
// multiplies int16 faster. Sums wrap.
//
//                         columns 0-3   4-7
//                        +-----------+-------+
//   row i, 8 int16       | acc[i][0] |  [1]  |      16 accumulators, 8 for lhs, 1 for rhs: 25 of 32
//   along depth          +-----------+-------+
//
// ARMv7 has half the registers, so its tiles have 4 rows. AArch64 multiplies rows so only where
// chunks of depth are no multiple of eight, as in blobs of earlier versions: step by step.
#pragma once

#include "kernels/arm/shared/copy_bytes.h"
#include "kernels/arm/shared/layouts.h"
#include "kernels/arm/shared/store_floats.h"
#include "kernels/core/compiler.h"
#include "kernels/generic/portable.h"

namespace octet {
namespace {

#if defined(__aarch64__)
constexpr int kMr = 8;
#else
constexpr int kMr = 4;
#endif
constexpr int kNr = 8;
static_assert(kArmInt16Layout.width == kNr && kArmInt16Layout.kr == 1, "a group is one register");

template <int rows>
void multiply(const Tile& t) {
  int32x4_t acc[rows][2];
  const int16_t* lhs[rows];
  unroll<rows>([&](auto i) OCTET_INLINE {
    unroll<2>([&](auto v)
                  OCTET_INLINE { acc[i][v] = vld1q_s32(t.init + i * t.init_stride + 4 * v); });
    lhs[i] = (const int16_t*)((const uint8_t*)t.lhs + i * t.lhs_stride);
  });
  const int16_t* rhs = (const int16_t*)t.rhs;
  size_t tail = t.depth;
#if !defined(__aarch64__)
  tail %= 8;
  OCTET_NO_UNROLL
  for (size_t groups = t.depth / 8; groups; --groups) {
    int16x8_t a[rows];
    unroll<rows>([&](auto i) OCTET_INLINE {
      a[i] = vld1q_s16(lhs[i]);
      lhs[i] += 8;
    });
    unroll<8>([&](auto k) OCTET_INLINE {
      const int16x8_t b = vld1q_s16(rhs);
      rhs += kNr;
      unroll<rows>([&](auto i) OCTET_INLINE {
        acc[i][0] = vmlal_laneq_s16(acc[i][0], vget_low_s16(b), a[i], k.value);
        acc[i][1] = vmlal_high_laneq_s16(acc[i][1], b, a[i], k.value);
      });
    });
  }
#endif
  OCTET_NO_UNROLL
  for (; tail; --tail) {
    const int16x8_t b = vld1q_s16(rhs);
    unroll<rows>([&](auto i) OCTET_INLINE {
      const int16_t a = *lhs[i]++;
      acc[i][0] = vmlal_n_s16(acc[i][0], vget_low_s16(b), a);
      acc[i][1] = vmlal_high_n_s16(acc[i][1], b, a);
    });
    rhs += 8;
  }
  alignas(16) uint8_t whole[kMr * kNr * 4];
  const bool partial = t.cols < kNr;
  uint8_t* dst = partial ? whole : (uint8_t*)t.dst;
  const size_t stride = partial ? kNr * 4 : t.dst_stride;
  unroll<rows>([&](auto i) OCTET_INLINE {
    unroll<2>([&](auto v)
                  OCTET_INLINE { vst1q_s32((int32_t*)(dst + i * stride) + 4 * v, acc[i][v]); });
  });
  if (partial) copy_rows(whole, stride, (uint8_t*)t.dst, t.dst_stride, t.rows, t.cols * 4);
}

void dispatch(const Tile& t) {
  static constexpr MultiplyFn kByRows[kMr] = {
    multiply<1>,
    multiply<2>,
    multiply<3>,
    multiply<4>,
#if defined(__aarch64__)
    multiply<5>,
    multiply<6>,
    multiply<7>,
    multiply<8>
#endif
  };
  kByRows[t.rows - 1](t);
}

constexpr MicroKernel int16_kernel_of(const char* name) {
  return {
      .name = name,
      .tier_id = TierId::kNeon,
      .lhs_element_type = ElementType::kS16,
      .mr = kMr,
      .nr = kNr,
      .flags = kRequantizes | kRequantizes16 | kStoresFloatsHere,
      .rhs_layout = kArmInt16Layout,
      .lhs_kr = 1,
      .lhs_element_bytes = 2,
      .multiply = dispatch,
  };
}

}  // namespace
}  // namespace octet
