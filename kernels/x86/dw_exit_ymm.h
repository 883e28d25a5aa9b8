// What the depthwise kernels on ymm registers have in common: pixels, accumulators of 16 channels and their exits. Lane l of vector v of pass p holds channels
// 16 l + 8 p + 4 v and on.
#pragma once

#include <immintrin.h>

#include "kernels/simd/depthwise.h"

namespace octet {
namespace {

struct PassesYmm {
  static constexpr int kChannels = 32, kPasses = 2, kPrepared = 128;
  using Pixel = __m256i;
  struct Acc {
    __m256i a[2];
  };

  template <bool flip>
  OCTET_INLINE static inline Pixel load(const uint8_t* p) {
    const __m256i bytes = _mm256_loadu_si256((const __m256i*)p);
    return flip ? _mm256_xor_si256(bytes, _mm256_set1_epi8((char)0x80)) : bytes;
  }

  OCTET_INLINE static inline Acc init(const uint8_t* prepared) {
    return {{_mm256_load_si256((const __m256i*)prepared), _mm256_load_si256((const __m256i*)(prepared + 32))}};
  }

  // See exits_ymm.h; saturation is the clamp.
  struct Narrowing {
    __m256i zero_point;
    __m128i lo, hi;
    size_t channels;
    bool dst_u8;
    explicit Narrowing(const DepthwiseTile& t)
        : zero_point(_mm256_set1_epi16((short)t.narrow->zero_point)), lo(_mm_set1_epi8((char)t.narrow->lo)), hi(_mm_set1_epi8((char)t.narrow->hi)),
          channels(t.channels), dst_u8(t.narrow->dst_u8) {}

    OCTET_INLINE inline void store(const Acc& acc, uint8_t* dst, int pass, const uint8_t* prepared) const {
      __m256i q[2];
      unroll<2>([&](auto v) OCTET_INLINE {
        q[v] = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_cvtepi32_ps(acc.a[v]), _mm256_load_ps((const float*)(prepared + 64 + 32 * v))));
      });
      const __m256i words = _mm256_adds_epi16(_mm256_packs_epi32(q[0], q[1]), zero_point);
      const __m128i low = _mm256_castsi256_si128(words), high = _mm256_extracti128_si256(words, 1);
      const __m128i bytes = dst_u8 ? _mm_min_epu8(_mm_max_epu8(_mm_packus_epi16(low, high), lo), hi)
                                   : _mm_min_epi8(_mm_max_epi8(_mm_packs_epi16(low, high), lo), hi);
      dst += 8 * pass;
      if (__builtin_expect(channels == kChannels, 1)) {
        _mm_storel_epi64((__m128i*)dst, bytes);
        _mm_storeh_pd((double*)(dst + 16), _mm_castsi128_pd(bytes));
      } else {
        const size_t first = 8 * (size_t)pass;
        store_eight(dst, (uint64_t)_mm_cvtsi128_si64(bytes), first, channels);
        store_eight(dst + 16, (uint64_t)_mm_extract_epi64(bytes, 1), first + 16, channels);
      }
    }

    // The bytes of channels first .. first + 7 that exist.
    static inline void store_eight(uint8_t* dst, uint64_t bytes, size_t first, size_t channels) {
      if (channels >= first + 8) {
        __builtin_memcpy(dst, &bytes, 8);
        return;
      }
      OCTET_NO_UNROLL
      for (; first < channels; ++first, bytes >>= 8) *dst++ = (uint8_t)bytes;
    }
  };

  OCTET_INLINE static inline void store_s32(const Acc& acc, uint8_t* dst, int pass) {
    dst += 32 * pass;
    unroll<2>([&](auto v) OCTET_INLINE {
      _mm_storeu_si128((__m128i*)(dst + 16 * v), _mm256_castsi256_si128(acc.a[v]));
      _mm_storeu_si128((__m128i*)(dst + 64 + 16 * v), _mm256_extracti128_si256(acc.a[v], 1));
    });
  }
};

}  // namespace
}  // namespace octet
