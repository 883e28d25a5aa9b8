// What the depthwise kernels of Arm have in common: pixels, accumulators of 16 channels in order, and their exits.
#pragma once

#include <arm_neon.h>

#include "kernels/arm/narrow.h"
#include "kernels/simd/depthwise.h"

namespace octet {
namespace {

struct Sixteen {
  static constexpr int kChannels = 16, kPasses = 1, kPrepared = 128;
  using Pixel = int8x16_t;
  struct Acc {
    int32x4_t a[4];
  };

  template <bool flip>
  OCTET_INLINE static inline Pixel load(const uint8_t* p) {
    const uint8x16_t bytes = vld1q_u8(p);
    return vreinterpretq_s8_u8(flip ? veorq_u8(bytes, vdupq_n_u8(0x80)) : bytes);
  }

  OCTET_INLINE static inline Acc init(const uint8_t* prepared) {
    Acc acc;
    unroll<4>([&](auto v) OCTET_INLINE { acc.a[v] = vld1q_s32((const int32_t*)prepared + 4 * v); });
    return acc;
  }

  struct Narrowing {
    octet::Narrowing n;
    size_t channels;
    explicit Narrowing(const DepthwiseTile& t) : n(narrowing(*t.narrow)), channels(t.channels) {}

    OCTET_INLINE inline void store(const Acc& acc, uint8_t* dst, int, const uint8_t* prepared) const {
      int32x4_t q[4];
      unroll<4>([&](auto v) OCTET_INLINE { q[v] = scaled(acc.a[v], vld1q_f32((const float*)(prepared + 64) + 4 * v), n); });
      const uint8x16_t bytes = pack(q[0], q[1], q[2], q[3], n);
      if (__builtin_expect(channels == kChannels, 1))
        vst1q_u8(dst, bytes);
      else
        store_some(dst, bytes);
    }

    OCTET_INLINE inline void store_some(uint8_t* dst, uint8x16_t bytes) const {
      uint64_t word = vgetq_lane_u64(vreinterpretq_u64_u8(bytes), 0);
      size_t left = channels;
      if (left >= 8) {
        __builtin_memcpy(dst, &word, 8);
        word = vgetq_lane_u64(vreinterpretq_u64_u8(bytes), 1);
        dst += 8;
        left -= 8;
      }
      OCTET_NO_UNROLL
      for (; left; --left, word >>= 8) *dst++ = (uint8_t)word;
    }
  };

  OCTET_INLINE static inline void store_s32(const Acc& acc, uint8_t* dst, int) {
    unroll<4>([&](auto v) OCTET_INLINE { vst1q_s32((int32_t*)dst + 4 * v, acc.a[v]); });
  }
};

}  // namespace
}  // namespace octet
