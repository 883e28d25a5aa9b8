// SPDX-License-Identifier: Apache-2.0
// Code that the Arm depthwise kernels share: pixels, accumulators of 16 channels in order, and
// their stores.
#pragma once

#include "kernels/arm/shared/intrinsics.h"
#include "kernels/arm/shared/pinned.h"
#include "kernels/arm/shared/residual.h"
#include "kernels/arm/shared/store_floats.h"
#include "kernels/generic/depthwise.h"

namespace octet {
namespace {

// Weights of so many taps or vectors: one LD1, for which AArch32 and GCC 9 have no intrinsic.
template <int count>
struct DepthwiseWeights {
  int8x16_t val[count];

  OCTET_INLINE inline explicit DepthwiseWeights(const uint8_t* p) {
    const int8_t* const from = (const int8_t*)p;
#if defined(__aarch64__) && (defined(__clang__) || __GNUC__ >= 10)
    if constexpr (count == 4) {
      const int8x16x4_t w = vld1q_s8_x4(from);
      unroll<4>([&](auto i) OCTET_INLINE { val[i] = w.val[i]; });
    } else {
      const int8x16x3_t w = vld1q_s8_x3(from);
      unroll<3>([&](auto i) OCTET_INLINE { val[i] = w.val[i]; });
    }
#else
    unroll<count>([&](auto i) OCTET_INLINE { val[i] = vld1q_s8(from + 16 * i); });
#endif
  }
};

struct Sixteen {
  static constexpr int kChannels = 16, kPrepared = 3 * 64 + 16;
  static constexpr bool kTogether = false, kCopyPerSign = true, kWholeGroups = false,
                        kAcross = false, kLoadsAndSteps = true, kShuffles = false,
                        kWalks5x5 = false, kAdds = false;
  using Pixel = int8x16_t;
  struct Acc {
    int32x4_t a[4];
  };

  OCTET_INLINE static inline Pixel load(const uint8_t* p) {
    return vreinterpretq_s8_u8(vld1q_u8(p));
  }
  OCTET_INLINE static inline Pixel load_and_step(const uint8_t*& p, size_t step) {
    Pixel pixel;
    load16_by(pixel, p, step);
    return pixel;
  }
  template <typename Column>
  OCTET_INLINE static inline void settle(Column&) {}
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
    OCTET_INLINE inline void load_scales(FloatScale (&by)[4]) const {
      unroll<4>([&](auto v) OCTET_INLINE { by[v] = {scales[v]}; });
    }
    OCTET_INLINE inline float32x4_t scale(int v) const { return scales[v]; }
  };

  struct Requantizing {
    Requantizing16 n;
    explicit Requantizing(const DepthwiseTile& t) : n(requantizing16(*t.requantization)) {}

    template <typename E>
    OCTET_INLINE inline void store(const Acc& acc, const E& ends, uint8_t* dst) const {
      FloatScale by[4];
      ends.load_scales(by);
      vst1q_u8(dst, requantized<Store::kClamped>(acc.a, by, n));
    }
  };

  struct Adds {
    ClampedBytes to;
    Residuals residuals;
    FloatSum sum;
    ptrdiff_t residual;
    explicit Adds(const DepthwiseTile& t)
        : to(*t.requantization), residuals(*t.adds), sum(*t.adds), residual(t.residual) {}

    template <typename E>
    OCTET_INLINE inline void operator()(const Acc& acc, const E& ends, uint8_t* dst) const {
      FloatScale by[4];
      ends.load_scales(by);
      vst1q_u8(dst, added(acc.a, by, vld1q_u8(dst + residual), residuals, sum, to));
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

  // As store_floats.h of x86: the scales include the lhs's, and a bias is always added.
  struct Floats {
    const float* scales;
    float32x4_t lo, hi;
    bool clamps;
    explicit Floats(const DepthwiseTile& t)
        : scales((const float*)t.prepared + kChannels), clamps(false) {
      if (!t.requantization) return;
      clamps = t.requantization->clamps;
      lo = vdupq_n_f32(t.requantization->lo_f32), hi = vdupq_n_f32(t.requantization->hi_f32);
    }

    OCTET_INLINE inline void store(const Acc& acc, uint8_t* dst) const {
      float32x4_t x[4], scale[4], bias[4];
      load_four(scales, scale);
      load_four(scales + kChannels, bias);
      unroll<4>([&](auto v) OCTET_INLINE { x[v] = FloatColumns{scale[v], bias[v]}.of(acc.a[v]); });
      if (__builtin_expect(clamps, 0))
        unroll<4>([&](auto v) OCTET_INLINE { x[v] = clamped(x[v], lo, hi); });
      unroll<4>([&](auto v) OCTET_INLINE { vst1q_f32((float*)dst + 4 * v, x[v]); });
    }
  };
  // to: behind the scales.
  static inline void write_floats(const DepthwiseBlock& b, uint8_t* to) {
    unroll<4>([&](auto v) OCTET_INLINE {
      float* const scale = (float*)to - kChannels + 4 * v;
      vst1q_f32(scale, vmulq_f32(vdupq_n_f32(b.lhs_scale), vld1q_f32(scale)));
      vst1q_f32((float*)to + 4 * v, b.bias_f32 ? vld1q_f32(b.bias_f32 + 4 * v)
                                               : vdupq_n_f32(-0.0f));  // changes no float
    });
  }

  OCTET_INLINE static inline void store_s32(const Acc& acc, uint8_t* dst) {
    unroll<4>([&](auto v) OCTET_INLINE { vst1q_s32((int32_t*)dst + 4 * v, acc.a[v]); });
  }
};

template <typename M, typename Taps = uint32_t>
constexpr DepthwiseKernel sixteen_kernel(const char* name, TierId tier_id,
                                         const DepthwiseKernel* s16 = nullptr) {
  return depthwise_kernel<M, Taps>(name, tier_id, ElementType::kS8, kAnyLhs | kStores, s16);
}

}  // namespace
}  // namespace octet
