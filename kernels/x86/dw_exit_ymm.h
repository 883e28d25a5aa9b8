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

  OCTET_INLINE static inline Pixel load(const uint8_t* p) { return _mm256_loadu_si256((const __m256i*)p); }
  OCTET_INLINE static inline Pixel flipped(Pixel bytes, Pixel sign) { return _mm256_xor_si256(bytes, sign); }
  OCTET_INLINE static inline Pixel sign(bool flip) { return _mm256_set1_epi8(flip ? (char)0x80 : 0); }

  // Init and scale stay in memory: sixteen registers are few.
  struct Ends {
    const uint8_t* prepared;
    OCTET_INLINE inline explicit Ends(const uint8_t* p) : prepared(p) {}
    OCTET_INLINE inline Acc start() const { return {{_mm256_load_si256((const __m256i*)prepared), _mm256_load_si256((const __m256i*)(prepared + 32))}}; }
    OCTET_INLINE inline __m256 scale(int v) const { return _mm256_load_ps((const float*)(prepared + 64 + 32 * v)); }
  };

  // See exits_ymm.h; saturation is the clamp.
  struct Narrowing {
    __m256i zero_point;
    __m128i lo, hi;
    bool dst_u8;
    explicit Narrowing(const DepthwiseTile& t)
        : zero_point(_mm256_set1_epi16((short)t.narrow->zero_point)), lo(_mm_set1_epi8((char)t.narrow->lo)), hi(_mm_set1_epi8((char)t.narrow->hi)),
          dst_u8(t.narrow->dst_u8) {}

    OCTET_INLINE inline void store(const Acc& acc, const Ends& ends, uint8_t* dst) const {
      __m256i q[2];
      unroll<2>([&](auto v) OCTET_INLINE { q[v] = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_cvtepi32_ps(acc.a[v]), ends.scale(v))); });
      const __m256i words = _mm256_adds_epi16(_mm256_packs_epi32(q[0], q[1]), zero_point);
      const __m128i low = _mm256_castsi256_si128(words), high = _mm256_extracti128_si256(words, 1);
      const __m128i bytes = dst_u8 ? _mm_min_epu8(_mm_max_epu8(_mm_packus_epi16(low, high), lo), hi)
                                   : _mm_min_epi8(_mm_max_epi8(_mm_packs_epi16(low, high), lo), hi);
      _mm_storel_epi64((__m128i*)dst, bytes);
      _mm_storel_epi64((__m128i*)(dst + 16), _mm_srli_si128(bytes, 8));
    }
  };

  OCTET_INLINE static inline void store_s32(const Acc& acc, uint8_t* dst) {
    unroll<2>([&](auto v) OCTET_INLINE {
      _mm_storeu_si128((__m128i*)(dst + 16 * v), _mm256_castsi256_si128(acc.a[v]));
      _mm_storeu_si128((__m128i*)(dst + 64 + 16 * v), _mm256_extracti128_si256(acc.a[v], 1));
    });
  }
};

}  // namespace
}  // namespace octet
