// SPDX-License-Identifier: Apache-2.0
// Grouped convolution on ymm registers, blocks of 64 channels: stores of two vectors of a pixel's
// sums. Two pixels are stored together: packs, a swap of the middle quarters, and a shuffle of each
// lane's bytes into the order of channels.
#pragma once

#include "kernels/generic/grouped.h"
#include "kernels/x86/shared/grouped_order.h"
#include "kernels/x86/shared/layouts.h"
#include "kernels/x86/shared/store_ymm.h"
#include "kernels/x86/shared/tflite_dw.h"

namespace octet {
namespace {

template <typename M>
struct GroupedYmm {
  using Vector = __m256i;
  using Pixel = __m256i;
  struct Raw {
    __m256i half[2];
  };
  static constexpr int kChannels = 64, kStore = 2;
  static constexpr bool kPacksSwap = true;
  template <int>
  static constexpr bool kTwice = false;

  Requantizer<32> requantizer;
  explicit GroupedYmm(const DepthwiseTile& t)
      : requantizer(t.requantization ? *t.requantization : Requantization{}) {}

  OCTET_INLINE static inline Vector at(const uint8_t* vectors, int v) {
    return _mm256_load_si256((const __m256i*)(vectors + 32 * v));
  }

  static inline __m256i channel_order(size_t quads) {
    return _mm256_broadcastsi128_si256(channel_order_of<M>(quads));
  }
  OCTET_INLINE static inline __m256i to_channels(__m256i packed, __m256i order) {
    return _mm256_shuffle_epi8(_mm256_permute4x64_epi64(packed, 0xd8), order);
  }
  // Stores the given channels of one or two pixels.
  OCTET_INLINE static inline void store_pixels(__m256i bytes, uint8_t* dst, size_t dst_pixel,
                                               size_t count, size_t channels) {
    if (count > 0) store_bytes(dst, _mm256_castsi256_si128(bytes), channels);
    if (count > 1) store_bytes(dst + dst_pixel, _mm256_extracti128_si256(bytes, 1), channels);
  }

  template <int quads>
  OCTET_INLINE inline void store(const Raw (&raw)[2], const uint8_t* scale, uint8_t* dst,
                                 size_t dst_pixel, size_t count, size_t channels) const {
    const auto int16 = [&](int i) OCTET_INLINE {
      __m256i q[2];
      unroll<2>([&](auto h) OCTET_INLINE {
        q[h] = scaled(raw[i].half[h], _mm256_load_ps((const float*)scale + 8 * h));
      });
      return pack_int16(q[0], q[1]);
    };
    const __m128i order = _mm_load_si128((const __m128i*)&kChannelOrder<M, uint8_t, quads>);
    store_pixels(
        to_channels(requantizer.bytes(int16(0), int16(1)), _mm256_broadcastsi128_si256(order)), dst,
        dst_pixel, count, channels);
  }
  OCTET_INLINE static inline void store_raw(const Raw& raw, uint8_t* dst) {
    unroll<2>([&](auto h)
                  OCTET_INLINE { _mm256_storeu_si256((__m256i*)(dst + 32 * h), raw.half[h]); });
  }
  template <int quads>
  OCTET_INLINE static inline void store_s32(const Raw& raw, uint8_t* dst) {
    unroll<2>([&](auto h) OCTET_INLINE {
      // Bit 3 of an index tells from which half
      const __m256i order =
          _mm256_load_si256((const __m256i*)&kChannelOrder<M, int32_t, quads> + h);
      const auto of = [&](__m256i half) OCTET_INLINE {
        return _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(half, order));
      };
      _mm256_storeu_ps((float*)(dst + 32 * h),
                       _mm256_blendv_ps(of(raw.half[0]), of(raw.half[1]),
                                        _mm256_castsi256_ps(_mm256_slli_epi32(order, 28))));
    });
  }
};

}  // namespace
}  // namespace octet
