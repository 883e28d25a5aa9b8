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
// The ends of rows, as find_ends has them.
template <bool asymmetric>
class Ends {
 public:
  OCTET_INLINE inline void add(int i, __m512i bits) {
    if (asymmetric)
      last_[i] = _mm512_max_epu32(last_[i], bits);
    else
      bits = _mm512_and_si512(bits, _mm512_set1_epi32(INT32_MAX));
    most_[i] = _mm512_max_epi32(most_[i], bits);
  }
  OCTET_INLINE inline void add_row(const float* x, size_t count) {
    size_t k = 0;
    for (; k + 64 <= count; k += 64)
      unroll<4>([&](auto i) OCTET_INLINE { add(i, _mm512_loadu_si512(x + k + 16 * i)); });
    add_rest(x + k, count - k);
  }
  OCTET_INLINE inline void add_rest(const float* x, size_t count) {
    for (size_t k = 0; k < count; k += 16)
      add(0, _mm512_maskz_loadu_epi32(lanes_below(count - k), x + k));
  }
  // Symmetric: both ends are magnitudes.
  OCTET_INLINE inline FloatEnds ends() const {
    const int32_t most = _mm512_reduce_max_epi32(_mm512_max_epi32(
        _mm512_max_epi32(most_[0], most_[1]), _mm512_max_epi32(most_[2], most_[3])));
    const uint32_t last = _mm512_reduce_max_epu32(_mm512_max_epu32(
        _mm512_max_epu32(last_[0], last_[1]), _mm512_max_epu32(last_[2], last_[3])));
    return {last >> 31 ? bits_float((int32_t)last) : 0, bits_float(most)};
  }
  static OCTET_INLINE inline __mmask16 lanes_below(size_t count) {
    return count < 16 ? (__mmask16)((1u << count) - 1) : (__mmask16)0xffff;
  }

 private:
  __m512i most_[4] = {}, last_[4] = {};
};

FloatEnds find_ends_zmm(const FloatRows& r) {
  Ends<true> ends;
  for (size_t i = 0; i < r.rows; ++i) ends.add_row(r.data + i * r.stride, r.depth);
  return ends.ends();
}

__attribute__((noinline)) void divide_floats(const Quantization& by, const float* x, size_t count,
                                             uint8_t* out) {
  quantize_floats(by, x, count, out);
}

// Quantizes by one FMA, x * (1 / scale) + zero point - lo + 256.5, whose bits 15 to 22 are the
// value less lo, and whose lower bits are its distance from one that rounds otherwise. The product
// of |x / scale| <= 255 errs by 2^-16, the sum rounds by 2^-16, the contract's quotient by 2^-17:
// where the distance is 2 * 2^-15 or more, the integer is right. The others, one in 8192, are
// divided.
struct FixedPoint {
  const Quantization by;
  const __m512 inverse, first;
  explicit FixedPoint(const Quantization& given)
      : by(given),
        inverse(_mm512_set1_ps(1.0f / by.scale)),
        first(_mm512_set1_ps(kFirst + kUlp + (float)(by.zero_point - by.lo))) {}

  // Whether the vectors of finite floats between these need no clamp.
  OCTET_INLINE inline bool holds(const FloatEnds& ends) const {
    const __m512 least = _mm512_fmadd_ps(_mm512_set1_ps(ends.least), inverse, first),
                 most = _mm512_fmadd_ps(_mm512_set1_ps(ends.most), inverse, first);
    return !(_mm512_cmp_ps_mask(least, _mm512_set1_ps(kFirst - 0.5f), _CMP_NGE_UQ) |
             _mm512_cmp_ps_mask(most, _mm512_set1_ps(2 * kFirst - 1), _CMP_NLT_UQ));
  }

  // Makes up to 64 bytes. Returns false if one of them may be wrong; with clamps, NaN is.
  template <bool clamps>
  OCTET_INLINE inline bool convert(const __m512 (&x)[4], __m512i* bytes) const {
    __m512i v[4];
    unroll<4>([&](auto i) OCTET_INLINE {
      __m512 f = _mm512_fmadd_ps(x[i], inverse, first);
      if (clamps)  // NaN stays
        f = _mm512_min_ps(_mm512_set1_ps(kFirst + (float)(by.hi - by.lo)),
                          _mm512_max_ps(_mm512_set1_ps(kFirst), f));
      v[i] = _mm512_castps_si512(f);
    });
    const __m512i distance = _mm512_set1_epi32(0x7ffc), even = _mm512_set1_epi16(0xff),
                  lower = _mm512_set1_epi32(0xffff),
                  turn = _mm512_broadcast_i32x4(
                      _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15)),
                  order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const auto near = [&](int i) OCTET_INLINE { return _mm512_testn_epi32_mask(v[i], distance); };
    __mmask16 wrong = (__mmask16)(near(0) | near(1) | near(2) | near(3));
    if (clamps)
      wrong |= _mm512_test_epi32_mask(
          _mm512_or_si512(_mm512_or_si512(v[0], v[1]), _mm512_or_si512(v[2], v[3])),
          _mm512_set1_epi32(0x20000000));
    // mask ? a : b
    const auto of = [](__m512i mask, __m512i a, __m512i b)
                        OCTET_INLINE { return _mm512_ternarylogic_epi32(mask, a, b, 0xca); };
    const __m512i low = of(even, _mm512_srli_epi32(v[0], 15), _mm512_srli_epi32(v[1], 7)),
                  high = of(even, _mm512_add_epi32(v[2], v[2]), _mm512_slli_epi32(v[3], 9)),
                  less_lo = _mm512_permutexvar_epi32(
                      order, _mm512_shuffle_epi8(of(lower, low, high), turn));
    *bytes = _mm512_add_epi8(less_lo, _mm512_set1_epi8((char)by.lo));
    return !wrong;
  }
  template <bool clamps>
  OCTET_INLINE inline void convert64(const float* x, uint8_t* out) const {
    __m512 floats[4];
    __m512i bytes;
    unroll<4>([&](auto i) OCTET_INLINE { floats[i] = _mm512_loadu_ps(x + 16 * i); });
    if (__builtin_expect(convert<clamps>(floats, &bytes), 1))
      _mm512_storeu_si512(out, bytes);
    else
      divide_floats(by, x, 64, out);
  }
  // ... of less than 64 floats.
  template <bool clamps>
  OCTET_INLINE inline void convert_rest(const float* x, size_t count, uint8_t* out) const {
    if (!count) return;
    __m512 floats[4];
    __m512i bytes;
    unroll<4>([&](auto i) OCTET_INLINE {
      const size_t from = 16 * i.value;
      floats[i] =
          _mm512_maskz_loadu_ps(Ends<true>::lanes_below(count > from ? count - from : 0), x + from);
    });
    if (convert<clamps>(floats, &bytes))
      _mm512_mask_storeu_epi8(out, ((uint64_t)1 << count) - 1, bytes);
    else
      divide_floats(by, x, count, out);
  }

 private:
  static constexpr float kFirst = 256.5f, kUlp = 1.0f / 32768;
};

void quantize_floats_x86(const Quantization& by, const float* x, size_t count, uint8_t* out) {
  if (!has_inverse(by.scale)) return divide_floats(by, x, count, out);
  const FixedPoint fixed(by);
  size_t k = 0;
  for (; k + 64 <= count; k += 64) fixed.convert64<true>(x + k, out + k);
  fixed.convert_rest<true>(x + k, count - k, out + k);
}

// Finds the ends of a row while it quantizes the row before it.
template <bool asymmetric>
void quantize_rows_zmm(const FloatRows& r, uint8_t* out, size_t stride, float* scales,
                       int32_t* zero_points) {
  const float* x = r.data;
  Ends<asymmetric> first;
  first.add_row(x, r.depth);
  FloatEnds ends = first.ends();
  for (size_t i = 0; i < r.rows; ++i, x += r.stride, out += stride) {
    const RowQuant quant = quant_between(ends, asymmetric);
    scales[i] = quant.scale;
    if (zero_points) zero_points[i] = quant.zero_point;
    const float* const next = i + 1 < r.rows ? x + r.stride : x;
    const FixedPoint fixed(dynamic_quantization(quant, asymmetric));
    Ends<asymmetric> of_next;
    if (!has_inverse(quant.scale) || (asymmetric && !fixed.holds(ends))) {
      quantize_floats_x86(fixed.by, x, r.depth, out);
      of_next.add_row(next, r.depth);
    } else {
      size_t k = 0;
      for (; k + 64 <= r.depth; k += 64) {
        unroll<4>([&](auto v)
                      OCTET_INLINE { of_next.add(v, _mm512_loadu_si512(next + k + 16 * v)); });
        fixed.convert64<false>(x + k, out + k);
      }
      fixed.convert_rest<false>(x + k, r.depth - k, out + k);
      of_next.add_rest(next + k, r.depth - k);
    }
    ends = of_next.ends();
  }
}
void quantize_rows_x86(const FloatRows& rows, bool asymmetric, uint8_t* out, size_t stride,
                       float* scales, int32_t* zero_points) {
  (asymmetric ? quantize_rows_zmm<true> : quantize_rows_zmm<false>)(rows, out, stride, scales,
                                                                    zero_points);
}
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
#endif

}  // namespace
}  // namespace octet
