// SPDX-License-Identifier: Apache-2.0
// Reads the operands of products by scale blocks (scales, weights, rows) in the vectors of each x86
// tier, whose tile it names.
#pragma once

#include "kernels/core/scale_blocks.h"
#include "kernels/x86/shared/quads.h"
#include "kernels/x86/shared/vector.h"

namespace octet {
namespace {

#if defined(__AVX512BW__)
using Floats = __m512;
#elif defined(__AVX2__)
using Floats = __m256;
#else
using Floats = __m128;
#endif
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
constexpr bool kDotProducts = true;
#else
constexpr bool kDotProducts = false;
#endif
constexpr int kLanes = sizeof(Vector) / 4, kOfPanel = kScaleBlockColumns / kLanes;
constexpr int kPanels = kLanes == 16 ? 2 : 1, kVectors = kPanels * kOfPanel;
constexpr int kMr = kLanes == 16 ? 8 : kDotProducts ? 6 : kLanes == 8 ? 4 : 2;
constexpr int kByteMr = kDotProducts ? kMr : kLanes == 8 ? 2 : 1;  // of weights of 8 bits
// 1.5 * 2^23, and its bits; others convert
constexpr float kMagic = 12582912.0f;
constexpr int32_t kBias = kLanes == 16 ? 0x4b400000 : 0;
constexpr size_t kNr = kPanels * kScaleBlockColumns;
// Rows that decode in registers: decoding once does not pay yet. SSE4.1 has no tile of kMr for them
constexpr size_t kFew = kLanes == 16 ? 24 : kDotProducts ? 16 : kLanes == 8 ? 8 : 2;
constexpr size_t kStep = 64;  // bytes of 8 depth steps of a panel
// See avx512vnni_u8s4_6x64x8.cc and avxvnni_u8s8_6x16x4.cc
constexpr size_t kAhead = kLanes == 16 ? 4096 : 2048;

OCTET_INLINE inline Floats load_floats(const float* from) { return OCTET_MM(loadu_ps)(from); }

// kLanes scales from `lane` on, as floats.
OCTET_INLINE inline Floats load_scales(const uint8_t* scales, bool f16, int lane) {
  if (!f16) return load_floats((const float*)scales + lane);
  const uint8_t* const from = scales + 2 * lane;
#if defined(__AVX512BW__)
  return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i*)from));
#elif defined(__AVX2__)
  return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)from));
#else
  // Sign, and exponent and mantissa moved to their places, for f16 that are normal; of others the
  // mantissa is an integer of units of 2^-24
  const __m128i bits = _mm_cvtepu16_epi32(_mm_loadl_epi64((const __m128i*)from)),
                magnitude = _mm_and_si128(bits, _mm_set1_epi32(0x7fff)),
                sign = _mm_slli_epi32(_mm_and_si128(bits, _mm_set1_epi32(0x8000)), 16),
                normal = _mm_add_epi32(_mm_slli_epi32(magnitude, 13), _mm_set1_epi32(112 << 23)),
                is_normal = _mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x3ff));
  const __m128 small = _mm_mul_ps(_mm_cvtepi32_ps(magnitude), _mm_set1_ps(1.0f / (1 << 24)));
  return _mm_or_ps(_mm_blendv_ps(small, _mm_castsi128_ps(normal), _mm_castsi128_ps(is_normal)),
                   _mm_castsi128_ps(sign));
#endif
}

// kLanes s8 from `lane` on, or s16 that are not negative, as int32.
OCTET_INLINE inline Vector load_bytes(const uint8_t* bytes, int lane) {
#if defined(__AVX512BW__)
  const __m128i some = _mm_loadu_si128((const __m128i*)(bytes + lane));
#elif defined(__AVX2__)
  const __m128i some = _mm_loadl_epi64((const __m128i*)(bytes + lane));
#else
  const __m128i some = _mm_cvtsi32_si128(load_quad(bytes + lane));
#endif
  return OCTET_MM(cvtepi8_epi32)(some);
}
OCTET_INLINE inline Vector load_shorts(const int16_t* from) {
#if defined(__AVX512BW__)
  const __m256i some = _mm256_loadu_si256((const __m256i*)from);
#elif defined(__AVX2__)
  const __m128i some = _mm_loadu_si128((const __m128i*)from);
#else
  const __m128i some = _mm_loadl_epi64((const __m128i*)from);
#endif
  return OCTET_MM(cvtepi16_epi32)(some);
}

// Weights as bytes of 0 to 15, of the first or the second four of 8 depth steps.
template <int second>
OCTET_INLINE inline Vector nibbles(Vector two, Vector low) {
  const Vector four = second ? OCTET_MM(srli_epi16)(two, 4) : two;
#if defined(__AVX512BW__)
  return _mm512_and_si512(four, low);
#elif defined(__AVX2__)
  return _mm256_and_si256(four, low);
#else
  return _mm_and_si128(four, low);
#endif
}

// Pointers to some rows of a tile, few of which take registers.
template <int rows, class T>
struct Rows {
  static constexpr int kApart = rows == 8 || rows % 3 == 0 ? 3 : rows % 2 == 0 ? 2 : 1;
  static constexpr int kCount = (rows + kApart - 1) / kApart;
  T* at[kCount];
  size_t stride;  // elements

  OCTET_INLINE inline Rows(T* first, size_t apart) : stride(apart) {
    unroll<kCount>([&](auto i) OCTET_INLINE { at[i] = first + i * kApart * apart; });
  }
  template <class I>
  OCTET_INLINE inline T* operator[](I i) const {
    return at[i / kApart] + i % kApart * stride;
  }
  OCTET_INLINE inline void skip(size_t count) {
    unroll<kCount>([&](auto i) OCTET_INLINE {
      at[i] += count;
      __asm__("" : "+r"(at[i]));  // else GCC 12 adds to all in a vector, in memory
    });
  }
};

// The weights of a tile's columns, and where a vector's are in its panel.
struct Panels {
  const uint8_t* at[kPanels];  // panels; those beyond the last one are the last one again

  explicit Panels(const ScaleBlockTile& t) {
    for (size_t p = 0; p < kPanels; ++p)
      at[p] = t.rhs + (p < t.panels ? p : t.panels - 1) * t.blocks.panel_bytes();
  }
  template <int v>
  OCTET_INLINE inline const uint8_t* of() const {
    return at[v / kOfPanel] + v % kOfPanel * sizeof(Vector);
  }
};

}  // namespace
}  // namespace octet
