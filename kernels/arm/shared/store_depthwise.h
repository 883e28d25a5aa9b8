// Code that the Arm depthwise kernels share: pixels, accumulators of 16 channels in order, and
// their stores.
#pragma once

#include "kernels/arm/shared/intrinsics.h"
#include "kernels/arm/shared/requantize.h"
#include "kernels/generic/depthwise.h"

namespace octet {
namespace {

struct Sixteen {
  static constexpr int kChannels = 16, kPrepared = 3 * 64;
  static constexpr bool kTogether = false, kCopyPerSign = true, kShuffles = false;
  using Pixel = int8x16_t;
  struct Acc {
    int32x4_t a[4];
  };

  OCTET_INLINE static inline Pixel load(const uint8_t* p) {
    return vreinterpretq_s8_u8(vld1q_u8(p));
  }
  OCTET_INLINE static inline Pixel flipped(Pixel bytes, Pixel sign) {
    return veorq_s8(bytes, sign);
  }
  OCTET_INLINE static inline Pixel sign(bool flip) { return vdupq_n_s8(flip ? -128 : 0); }

  struct Ends {
    int32x4_t init[4];
    float32x4_t scales[4];
    OCTET_INLINE inline explicit Ends(const uint8_t* prepared) {
      unroll<4>([&](auto v) OCTET_INLINE {
        init[v] = vld1q_s32((const int32_t*)prepared + 4 * v);
        scales[v] = vld1q_f32((const float*)(prepared + 64) + 4 * v);
      });
    }
    OCTET_INLINE inline Acc start() const { return {{init[0], init[1], init[2], init[3]}}; }
    OCTET_INLINE inline float32x4_t scale(int v) const { return scales[v]; }
  };

  struct Requantizing {
    octet::Requantizing n;
    explicit Requantizing(const DepthwiseTile& t) : n(requantizing(*t.requantization)) {}

    template <typename E>
    OCTET_INLINE inline void store(const Acc& acc, const E& ends, uint8_t* dst) const {
      int32x4_t q[4];
      unroll<4>([&](auto v) OCTET_INLINE { q[v] = scaled(acc.a[v], ends.scale(v), n); });
      vst1q_u8(dst, pack(q[0], q[1], q[2], q[3], n));
    }
  };

  // Multipliers and shifts stay in memory, because the next output's sums need the registers.
  struct Tflite {
    Requantizing16 n;
    const int32_t* multipliers;
    explicit Tflite(const DepthwiseTile& t)
        : n(requantizing16(*t.requantization)),
          multipliers((const int32_t*)t.prepared + kChannels) {}

    OCTET_INLINE inline void store(const Acc& acc, uint8_t* dst) const {
      TfliteRight by[4];
      unroll<4>([&](auto v) OCTET_INLINE {
        by[v] = {vld1q_s32(multipliers + 4 * v), vld1q_s32(multipliers + kChannels + 4 * v)};
      });
      vst1q_u8(dst, requantized<Store::kTflite>(acc.a, by, n));
    }
  };
  static inline void write_right(const int32_t* scales, size_t apart, uint8_t* to) {
    unroll<4>([&](auto v) OCTET_INLINE {
      vst1q_s32((int32_t*)to + 4 * v, TfliteRight::at((const float*)scales + 4 * v, apart).right);
    });
  }

  OCTET_INLINE static inline void store_s32(const Acc& acc, uint8_t* dst) {
    unroll<4>([&](auto v) OCTET_INLINE { vst1q_s32((int32_t*)dst + 4 * v, acc.a[v]); });
  }
};

template <typename M, typename Taps = uint32_t>
constexpr DepthwiseKernel sixteen_kernel(const char* name, Isa isa,
                                         const DepthwiseKernel* words = nullptr) {
  return depthwise_kernel<M, Taps>(
      name, isa, ElementType::kS8,
      kAnyLhs | kRequantizes | kRequantizesTflite | kTfliteRightShiftOnly, words);
}

}  // namespace
}  // namespace octet
