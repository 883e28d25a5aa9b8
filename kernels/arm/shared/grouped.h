// SPDX-License-Identifier: Apache-2.0
// Grouped convolution on Arm: a block's 16 channels are four accumulators in order. An
// accumulator's weights are multiplied by the lanes of the pixel that its channels read.
#pragma once

#include "kernels/arm/shared/intrinsics.h"
#include "kernels/arm/shared/layouts.h"
#include "kernels/arm/shared/requantize.h"
#include "kernels/arm/shared/store_floats.h"
#include "kernels/generic/grouped.h"

namespace octet {
namespace {

#if defined(__aarch64__)
constexpr int kSideBySide = 4;
#else
constexpr int kSideBySide = 2;  // half the registers
#endif

struct GroupedSixteen {
  using Vector = int32x4_t;
  struct Raw {
    int32x4_t a[4];
  };
  static constexpr int kChannels = 64, kInputBytes = 1, kStore = 1;
  static constexpr bool kFloats = kStoresFloatsHere != 0;
  template <int>
  static constexpr int kAccs = 4;
  template <int>
  static constexpr int kWide = kSideBySide;
  template <int>
  static constexpr int kTail = kSideBySide;
  template <int>
  static constexpr bool kEven = false;
  template <int>
  static constexpr bool kTwice = false;

  static constexpr size_t raw_position(size_t, size_t channel) { return channel; }
  static constexpr size_t init_position(size_t, size_t channel) { return channel; }
  // The channel of the block that accumulator `acc` reads as input `index` of its group.
  static constexpr int input(int quads, int acc, int index) {
    return acc / quads * 4 * quads + index;
  }

  Requantizing requantization;
  explicit GroupedSixteen(const DepthwiseTile& t)
      : requantization(requantizing(t.requantization ? *t.requantization : Requantization{})) {}

  OCTET_INLINE static inline Vector at(const uint8_t* vectors, int v) {
    return vld1q_s32((const int32_t*)vectors + 4 * v);
  }
  template <int quads>
  OCTET_INLINE static inline Raw sum(const Vector (&acc)[4]) {
    return {{acc[0], acc[1], acc[2], acc[3]}};
  }

  template <int quads>
  OCTET_INLINE inline void store(const Raw (&raw)[1], const uint8_t* scale, uint8_t* dst, size_t,
                                 size_t count, size_t channels) const {
    if (!count) return;
    int32x4_t q[4];
    unroll<4>([&](auto v) OCTET_INLINE {
      q[v] = scaled(raw[0].a[v], vld1q_f32((const float*)scale + 4 * v), requantization);
    });
    const uint8x16_t bytes = pack(q[0], q[1], q[2], q[3], requantization);
    if (__builtin_expect(channels >= 16, 1)) {
      vst1q_u8(dst, bytes);
      return;
    }
    uint8_t some[16];
    vst1q_u8(some, bytes);
    __builtin_memcpy(dst, some, channels);
  }
  OCTET_INLINE static inline Raw floats(const Raw& raw, const float* scale,
                                        const Requantization& r) {
    Raw to;
    unroll<4>([&](auto v) OCTET_INLINE {
      float32x4_t x = FloatColumns::at(scale + 4 * v, kChannels).of(raw.a[v]);
      if (r.clamps) x = clamped(x, vdupq_n_f32(r.lo_f32), vdupq_n_f32(r.hi_f32));
      to.a[v] = vreinterpretq_s32_f32(x);
    });
    return to;
  }
  OCTET_INLINE static inline void store_raw(const Raw& raw, uint8_t* dst) {
    unroll<4>([&](auto v) OCTET_INLINE { vst1q_s32((int32_t*)dst + 4 * v, raw.a[v]); });
  }
  template <int>
  OCTET_INLINE static inline void store_s32(const Raw& raw, uint8_t* dst) {
    store_raw(raw, dst);
  }
};

}  // namespace
}  // namespace octet
