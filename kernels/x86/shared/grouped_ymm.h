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

// The shuffle of the first half of M's sums to channels 0, 1, 4, 5, 8, 9, 12, 13, and of the second
// to 2, 3, 6, ...
template <typename M, int quads>
struct HalfOrder {
  int32_t lane[8];
  static constexpr bool kInOrder = M::raw_position(quads, 1) == 1;  // sums are as channels are
  constexpr HalfOrder() : lane() {
    for (size_t i = 0; i < 8; ++i) lane[i] = (int32_t)M::raw_position(quads, i / 2 * 4 + i % 2);
  }
  static constexpr bool is_right() {
    bool right = true;
    for (size_t c = 0; c < 16; ++c)
      right &= M::raw_position(quads, c) ==
               (kInOrder ? c : M::raw_position(quads, c - c % 4 / 2 * 2) + c % 4 / 2 * 8);
    return right;
  }
};
template <typename M, int quads>
alignas(32) constexpr HalfOrder<M, quads> kHalfOrder;

template <typename M>
struct GroupedYmm {
  using Vector = __m256i;
  using Pixel = __m256i;
  struct Raw {
    __m256i half[2];
  };
  static constexpr int kChannels = 64, kStore = 2;
  static constexpr bool kPacksSwap = true, kFloats = true;
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
  OCTET_INLINE static inline Raw floats(const Raw& raw, const float* scale,
                                        const Requantization& r) {
    return {{grouped_floats(raw.half[0], scale, kChannels, r),
             grouped_floats(raw.half[1], scale + 8, kChannels, r)}};
  }
  OCTET_INLINE static inline void store_raw(const Raw& raw, uint8_t* dst) {
    unroll<2>([&](auto h)
                  OCTET_INLINE { _mm256_storeu_si256((__m256i*)(dst + 32 * h), raw.half[h]); });
  }
  template <int quads>
  OCTET_INLINE static inline void store_s32(const Raw& raw, uint8_t* dst) {
    static_assert(HalfOrder<M, quads>::is_right());
    if constexpr (HalfOrder<M, quads>::kInOrder) return store_raw(raw, dst);
    const __m256i order = _mm256_load_si256((const __m256i*)&kHalfOrder<M, quads>);
    const auto twos = [&](int h)
                          OCTET_INLINE { return _mm256_permutevar8x32_epi32(raw.half[h], order); };
    const __m256i a = twos(0), b = twos(1), even = _mm256_unpacklo_epi64(a, b),
                  odd = _mm256_unpackhi_epi64(a, b);
    const auto store = [&](int four, __m128i x)
                           OCTET_INLINE { _mm_storeu_si128((__m128i*)(dst + 16 * four), x); };
    store(0, _mm256_castsi256_si128(even));
    store(1, _mm256_castsi256_si128(odd));
    store(2, _mm256_extracti128_si256(even, 1));
    store(3, _mm256_extracti128_si256(odd, 1));
  }
};

}  // namespace
}  // namespace octet
