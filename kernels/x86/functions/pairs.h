// SPDX-License-Identifier: Apache-2.0
// Sums and products of two tensors in vectors of SSE4.1 or AVX2, as the including file is compiled.
// Unpacking and packing keep to halves of a vector, and cancel each other.
#pragma once

#include "kernels/generic/functions/pairs.h"
#include "kernels/x86/functions/vector.h"

namespace octet {
namespace {

OCTET_INLINE inline Vector sum32(Vector a, Vector b) { return OCTET_MM(add_epi32)(a, b); }

#ifdef __AVX2__
// Half a vector from `from` on and the half that ends with the last byte.
OCTET_INLINE inline Vector load_ends(const uint8_t* from, size_t bytes) {
  const __m128i low = _mm_loadu_si128((const __m128i*)from),
                high = _mm_loadu_si128((const __m128i*)(from + bytes - kVector / 2));
  return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}
OCTET_INLINE inline void store_ends(uint8_t* to, size_t bytes, Vector made) {
  _mm_storeu_si128((__m128i*)to, _mm256_castsi256_si128(made));
  _mm_storeu_si128((__m128i*)(to + bytes - kVector / 2), _mm256_extracti128_si256(made, 1));
}
#else
OCTET_INLINE inline Vector load_ends(const uint8_t* from, size_t) { return load(from); }
OCTET_INLINE inline void store_ends(uint8_t* to, size_t, Vector made) {
  __builtin_memcpy(to, &made, sizeof made);
}
#endif

// Calls quarter(bytes of a and b alternating, as 16 bits) for a fourth of the bytes of each vector;
// its result, 32 bits for each pair, is saturated and clamped as for_each_pair does it.
template <typename Quarters>
OCTET_INLINE inline void for_each_vector(const BinaryPlan& p, const uint8_t* a, const uint8_t* b,
                                         uint8_t* out, size_t bytes, const Quarters& quarters) {
  const Vector flip_a = OCTET_MM(set1_epi8)((char)p.flip[0]),
               flip_b = OCTET_MM(set1_epi8)((char)p.flip[1]),
               flip = OCTET_MM(set1_epi8)((char)p.flip[2]);
  const Vector zero = OCTET_MM(set1_epi16)((int16_t)p.zero[2]),
               least = OCTET_MM(set1_epi8)((char)p.least), most = OCTET_MM(set1_epi8)((char)p.most);
  const bool few = bytes < kVector;
  for (size_t i = 0; i < bytes; i += kVector) {
    const size_t at = few ? 0 : block_at(i, kVector, bytes);
    const Vector from_a = few ? load_ends(a, bytes) : load(a + at),
                 from_b = few ? load_ends(b, bytes) : load(b + at);
    Vector part[4];
    quarters(from_a ^ flip_a, from_b ^ flip_b, part);
    const Vector low = OCTET_MM(packs_epi32)(part[0], part[1]),
                 high = OCTET_MM(packs_epi32)(part[2], part[3]);
    Vector made =
        OCTET_MM(packus_epi16)(OCTET_MM(adds_epi16)(low, zero), OCTET_MM(adds_epi16)(high, zero));
    made = OCTET_MM(min_epu8)(OCTET_MM(max_epu8)(made, least), most) ^ flip;
    if (few)
      store_ends(out, bytes, made);
    else
      __builtin_memcpy(out + at, &made, sizeof made);
  }
}

// 16 bits for a and 16 for b, alternating.
OCTET_INLINE inline Vector alternating(int32_t a, int32_t b) {
  return OCTET_MM(set1_epi32)((int32_t)((uint32_t)(uint16_t)a | (uint32_t)b << 16));
}

inline void add_fixed_x86(const BinaryPlan& p, const uint8_t* a, const uint8_t* b, uint8_t* out,
                          size_t bytes) {
  const FixedFactor of_a(p.multiplier[0]), of_b(p.multiplier[1]);
  const Vector factor_high = alternating(of_a.high, of_b.high),
               factor_low = alternating(of_a.low, of_b.low),
               zeros = alternating(p.zero[0], p.zero[1]), offset = OCTET_MM(set1_epi32)(p.offset),
               nothing = {};
  const __m128i shift = _mm_cvtsi32_si128(p.shift[2] - kFixedLow);
  const auto sum = [&](Vector pairs) __attribute__((always_inline)) {
    pairs = OCTET_MM(sub_epi16)(pairs, zeros);
    const Vector low = sum32(OCTET_MM(madd_epi16)(pairs, factor_low), offset);
    return OCTET_MM(sra_epi32)(
        sum32(OCTET_MM(madd_epi16)(pairs, factor_high), OCTET_MM(srai_epi32)(low, kFixedLow)),
        shift);
  };
  for_each_vector(
      p, a, b, out, bytes, [&](Vector a, Vector b, Vector * part) __attribute__((always_inline)) {
        const Vector low = OCTET_MM(unpacklo_epi8)(a, b), high = OCTET_MM(unpackhi_epi8)(a, b);
        part[0] = sum(OCTET_MM(unpacklo_epi8)(low, nothing));
        part[1] = sum(OCTET_MM(unpackhi_epi8)(low, nothing));
        part[2] = sum(OCTET_MM(unpacklo_epi8)(high, nothing));
        part[3] = sum(OCTET_MM(unpackhi_epi8)(high, nothing));
      });
}

// Calls scaled((a - zero a) * (b - zero b)), 32 bits, for all elements.
template <typename Scaled>
OCTET_INLINE inline void for_each_product(const BinaryPlan& p, const uint8_t* a, const uint8_t* b,
                                          uint8_t* out, size_t bytes, const Scaled& scaled) {
  const Vector zero_a = OCTET_MM(set1_epi16)((int16_t)p.zero[0]),
               zero_b = OCTET_MM(set1_epi16)((int16_t)p.zero[1]), nothing = {};
  const auto multiply = [&](Vector a, Vector b, Vector * part) __attribute__((always_inline)) {
    a = OCTET_MM(sub_epi16)(a, zero_a), b = OCTET_MM(sub_epi16)(b, zero_b);
    const Vector low = OCTET_MM(mullo_epi16)(a, b), high = OCTET_MM(mulhi_epi16)(a, b);
    part[0] = scaled(OCTET_MM(unpacklo_epi16)(low, high));
    part[1] = scaled(OCTET_MM(unpackhi_epi16)(low, high));
  };
  for_each_vector(
      p, a, b, out, bytes, [&](Vector a, Vector b, Vector * part) __attribute__((always_inline)) {
        multiply(OCTET_MM(unpacklo_epi8)(a, nothing), OCTET_MM(unpacklo_epi8)(b, nothing), part);
        multiply(OCTET_MM(unpackhi_epi8)(a, nothing), OCTET_MM(unpackhi_epi8)(b, nothing),
                 part + 2);
      });
}

// Calls combined(real a, real b), in float, for all elements; its result is divided by the output's
// scale and rounded.
template <typename Combined>
OCTET_INLINE inline void for_each_real(const BinaryPlan& p, const uint8_t* a, const uint8_t* b,
                                       uint8_t* out, size_t bytes, const Combined& combined) {
  const Vector zero_a = OCTET_MM(set1_epi16)((int16_t)p.zero[0]),
               zero_b = OCTET_MM(set1_epi16)((int16_t)p.zero[1]), nothing = {};
  const VectorF scale_a = OCTET_MM(set1_ps)(p.scale[0]), scale_b = OCTET_MM(set1_ps)(p.scale[1]),
                scale = OCTET_MM(set1_ps)(p.scale[2]), least = OCTET_MM(set1_ps)(-0x1p16f),
                most = OCTET_MM(set1_ps)(0x1p16f);
  const auto real = [](Vector twice, VectorF by) __attribute__((always_inline)) {
    return OCTET_MM(mul_ps)(OCTET_MM(cvtepi32_ps)(OCTET_MM(srai_epi32)(twice, 16)), by);
  };
  const auto value = [&](Vector x, Vector y) __attribute__((always_inline)) {
    const VectorF exact = OCTET_MM(div_ps)(combined(real(x, scale_a), real(y, scale_b)), scale);
    return OCTET_MM(cvtps_epi32)(OCTET_MM(min_ps)(OCTET_MM(max_ps)(exact, least), most));
  };
  const auto half = [&](Vector x, Vector y, Vector * part) __attribute__((always_inline)) {
    x = OCTET_MM(sub_epi16)(x, zero_a), y = OCTET_MM(sub_epi16)(y, zero_b);
    part[0] = value(OCTET_MM(unpacklo_epi16)(x, x), OCTET_MM(unpacklo_epi16)(y, y));
    part[1] = value(OCTET_MM(unpackhi_epi16)(x, x), OCTET_MM(unpackhi_epi16)(y, y));
  };
  for_each_vector(
      p, a, b, out, bytes, [&](Vector x, Vector y, Vector * part) __attribute__((always_inline)) {
        half(OCTET_MM(unpacklo_epi8)(x, nothing), OCTET_MM(unpacklo_epi8)(y, nothing), part);
        half(OCTET_MM(unpackhi_epi8)(x, nothing), OCTET_MM(unpackhi_epi8)(y, nothing), part + 2);
      });
}

inline void add_float_x86(const BinaryPlan& p, const uint8_t* a, const uint8_t* b, uint8_t* out,
                          size_t bytes) {
  for_each_real(
      p, a, b, out, bytes,
      [](VectorF x, VectorF y) __attribute__((always_inline)) { return OCTET_MM(add_ps)(x, y); });
}

inline void multiply_float_x86(const BinaryPlan& p, const uint8_t* a, const uint8_t* b,
                               uint8_t* out, size_t bytes) {
  for_each_real(
      p, a, b, out, bytes,
      [](VectorF x, VectorF y) __attribute__((always_inline)) { return OCTET_MM(mul_ps)(x, y); });
}

// As high_product: bits 31 to 62 of the products less their rounding.
OCTET_INLINE inline Vector high_products(Vector x, Vector multiplier) {
  const Vector half = OCTET_MM(set1_epi64x)((int64_t)1 << 30);
  Vector even = OCTET_MM(add_epi64)(OCTET_MM(mul_epi32)(x, multiplier), half);
  Vector odd = OCTET_MM(srli_epi64)(x, 32);
  odd = OCTET_MM(add_epi64)(OCTET_MM(mul_epi32)(odd, multiplier), half);
  even = OCTET_MM(srli_epi64)(even, 31);
  odd = OCTET_MM(add_epi64)(odd, odd);
  return OCTET_MM(blend_epi16)(even, odd, 0xcc);
}

inline void multiply_tflite_x86(const BinaryPlan& p, const uint8_t* a, const uint8_t* b,
                                uint8_t* out, size_t bytes) {
  const RoundingShift right(p.shift[2] > 0 ? p.shift[2] : 0);
  const __m128i left = _mm_cvtsi32_si128(p.shift[2] < 0 ? -p.shift[2] : 0),
                shift = _mm_cvtsi32_si128(right.bits);
  const Vector multiplier = OCTET_MM(set1_epi32)(p.multiplier[2]),
               half = OCTET_MM(set1_epi32)(right.half), sign = OCTET_MM(set1_epi32)(right.sign);
  for_each_product(
      p, a, b, out, bytes, [&](Vector product) __attribute__((always_inline)) {
        const Vector high = high_products(OCTET_MM(sll_epi32)(product, left), multiplier);
        const Vector below = OCTET_MM(srai_epi32)(high, 31) & sign;
        return OCTET_MM(sra_epi32)(sum32(sum32(high, half), below), shift);
      });
}

inline void multiply_scaled_x86(const BinaryPlan& p, const uint8_t* a, const uint8_t* b,
                                uint8_t* out, size_t bytes) {
  const VectorF scale = OCTET_MM(set1_ps)(p.scale[2]), fixed = OCTET_MM(set1_ps)(p.fixed),
                least = OCTET_MM(set1_ps)(-0x1p16f), most = OCTET_MM(set1_ps)(0x1p16f);
  const Vector moved = OCTET_MM(set1_epi32)((int32_t)p.fixed);
  for_each_product(
      p, a, b, out, bytes, [&](Vector product) __attribute__((always_inline)) {
        const VectorF exact =
            OCTET_MM(add_ps)(OCTET_MM(mul_ps)(OCTET_MM(cvtepi32_ps)(product), scale), fixed);
        const VectorF inside = OCTET_MM(min_ps)(OCTET_MM(max_ps)(exact, least), most);
        return OCTET_MM(sub_epi32)(OCTET_MM(cvtps_epi32)(inside), moved);
      });
}

}  // namespace
}  // namespace octet
