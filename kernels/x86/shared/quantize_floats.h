// SPDX-License-Identifier: Apache-2.0
// Quantizes floats to 8 bits in the longest vectors that the including file's ISA has.
#pragma once

#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/core/lhs_rows.h"
#include "kernels/generic/lhs_rows.h"

namespace octet {
namespace {

#ifdef __AVX512BW__
struct Floats {
  using Type = __m512;
  static constexpr size_t kLanes = 16;

  OCTET_INLINE static Type load(const float* x) { return _mm512_loadu_ps(x); }
  OCTET_INLINE static Type splat(float x) { return _mm512_set1_ps(x); }
  OCTET_INLINE static Type multiply(Type a, Type b) { return _mm512_mul_ps(a, b); }
  OCTET_INLINE static Type divide(Type a, Type b) { return _mm512_div_ps(a, b); }
  OCTET_INLINE static Type zero_for_nan(Type v) {
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(v, v, _CMP_ORD_Q), v);
  }
  OCTET_INLINE static Type clamp(Type v, Type lo, Type hi) {
    return _mm512_min_ps(_mm512_max_ps(v, lo), hi);
  }
  OCTET_INLINE static bool any_further(Type v, Type limit) {
    const Type whole = _mm512_roundscale_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const Type away = _mm512_abs_ps(_mm512_sub_ps(v, whole));
    return _mm512_cmp_ps_mask(away, limit, _CMP_GT_OQ) != 0;
  }
  OCTET_INLINE static void store(uint8_t* to, Type v, int32_t zero_point) {
    const __m512i q = _mm512_add_epi32(_mm512_cvtps_epi32(v), _mm512_set1_epi32(zero_point));
    _mm_storeu_si128((__m128i*)to, _mm512_cvtepi32_epi8(q));
  }
};
#else
struct Floats {
  using Type = __m256;
  static constexpr size_t kLanes = 8;

  OCTET_INLINE static Type load(const float* x) { return _mm256_loadu_ps(x); }
  OCTET_INLINE static Type splat(float x) { return _mm256_set1_ps(x); }
  OCTET_INLINE static Type multiply(Type a, Type b) { return _mm256_mul_ps(a, b); }
  OCTET_INLINE static Type divide(Type a, Type b) { return _mm256_div_ps(a, b); }
  OCTET_INLINE static Type zero_for_nan(Type v) {
    return _mm256_and_ps(v, _mm256_cmp_ps(v, v, _CMP_ORD_Q));
  }
  OCTET_INLINE static Type clamp(Type v, Type lo, Type hi) {
    return _mm256_min_ps(_mm256_max_ps(v, lo), hi);
  }
  OCTET_INLINE static bool any_further(Type v, Type limit) {
    const Type whole = _mm256_round_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const Type away = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), _mm256_sub_ps(v, whole));
    return _mm256_movemask_ps(_mm256_cmp_ps(away, limit, _CMP_GT_OQ)) != 0;
  }
  OCTET_INLINE static void store(uint8_t* to, Type v, int32_t zero_point) {
    const __m256i q = _mm256_add_epi32(_mm256_cvtps_epi32(v), _mm256_set1_epi32(zero_point));
    const __m128i pairs =
        _mm_packs_epi32(_mm256_castsi256_si128(q), _mm256_extracti128_si256(q, 1));
    const __m128i bytes = _mm_and_si128(pairs, _mm_set1_epi16(0xff));
    _mm_storel_epi64((__m128i*)to, _mm_packus_epi16(bytes, bytes));
  }
};
#endif

OCTET_INLINE inline void quantize_vector(const Quantization& by, float inverse, const float* x,
                                         uint8_t* out) {
  const Floats::Type values = Floats::load(x);
  const auto clamp = [&](Floats::Type v) {
    return Floats::clamp(Floats::zero_for_nan(v), Floats::splat((float)(by.lo - by.zero_point)),
                         Floats::splat((float)(by.hi - by.zero_point)));
  };
  Floats::Type v = clamp(Floats::multiply(values, Floats::splat(inverse)));
  if (Floats::any_further(v, Floats::splat(kUndecided)))
    v = clamp(Floats::divide(values, Floats::splat(by.scale)));
  Floats::store(out, v, by.zero_point);
}

void quantize_floats_x86(const Quantization& given, const float* x, size_t count, uint8_t* out) {
  const Quantization by = given;  // a copy, because stores of bytes may alias it
  if (!has_inverse(by.scale)) return quantize_floats(by, x, count, out);
  const float inverse = 1.0f / by.scale;
  size_t k = 0;
  for (; k + Floats::kLanes <= count; k += Floats::kLanes)
    quantize_vector(by, inverse, x + k, out + k);
  if (k == count) return;
  float last[Floats::kLanes] = {};
  uint8_t bytes[Floats::kLanes];
  __builtin_memcpy(last, x + k, (count - k) * sizeof *x);
  quantize_vector(by, inverse, last, bytes);
  __builtin_memcpy(out + k, bytes, count - k);
}

#ifdef __AVX512BW__
// The finite floats of a row whose own range makes the scale: none leaves [lo, hi] but by rounding
// the zero point, which saturates. 64 at a time share the question whether one is undecided.
void quantize_row_floats(const Quantization& given, const float* x, size_t count, uint8_t* out) {
  const Quantization by = given;
  if (!has_inverse(by.scale)) return quantize_floats(by, x, count, out);
  const __m512 inverse = _mm512_set1_ps(1.0f / by.scale), limit = _mm512_set1_ps(kUndecided);
  const __m512i zero_point = _mm512_set1_epi16((int16_t)by.zero_point),
                order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  size_t k = 0;
  for (; k + 64 <= count; k += 64) {
    __m512i q[4];
    __m512 away[4];
    unroll<4>([&](auto i) OCTET_INLINE {
      const __m512 v = _mm512_mul_ps(_mm512_loadu_ps(x + k + 16 * i), inverse);
      q[i] = _mm512_cvtps_epi32(v);
      away[i] = _mm512_sub_ps(v, _mm512_cvtepi32_ps(q[i]));
    });
    constexpr int kLargerMagnitude = 0b1011;
    const __m512 furthest =
        _mm512_range_ps(_mm512_range_ps(away[0], away[1], kLargerMagnitude),
                        _mm512_range_ps(away[2], away[3], kLargerMagnitude), kLargerMagnitude);
    if (_mm512_cmp_ps_mask(furthest, limit, _CMP_GT_OQ)) {
      quantize_floats_x86(by, x + k, 64, out + k);
      continue;
    }
    const __m512i low = _mm512_adds_epi16(_mm512_packs_epi32(q[0], q[1]), zero_point),
                  high = _mm512_adds_epi16(_mm512_packs_epi32(q[2], q[3]), zero_point),
                  bytes =
                      by.lo < 0 ? _mm512_packs_epi16(low, high) : _mm512_packus_epi16(low, high);
    _mm512_storeu_si512(out + k, _mm512_permutexvar_epi32(order, bytes));
  }
  quantize_floats_x86(by, x + k, count - k, out + k);
}
#else
constexpr QuantizeFloatsFn quantize_row_floats = quantize_floats_x86;
#endif

}  // namespace
}  // namespace octet
