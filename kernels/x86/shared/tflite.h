// SPDX-License-Identifier: Apache-2.0
// TFLite mode's arithmetic on x86. Floats do it in four to six instructions
// (operators/epilogue/tflite_floats.h), wherever create finds them; TfliteScaler in ten, for
// accumulators that, shifted left, stay below 2^30.
//
// Both its roundings need only the upper halves of 64-bit sums, which VPMULDQ computes for the even
// lanes and then for the odd ones:
//
//     high = (2 x << left) * multiplier + 2^31 + (half << 32)  >> 32
//     y    = high - [x < 0] >> right
//
// The first line is SaturatingRoundingDoublingHighMul with the second rounding's half added. The
// second line is RoundingDivideByPOT: subtracting 1 rounds halves of negative numbers away from
// zero. Where the clamp admits no output below the zero point, the 1 does not matter: a negative
// number gives 0 or less without it, too.
#pragma once

#include "kernels/core/epilogue.h"
#include "kernels/x86/shared/widths.h"

namespace octet {
namespace {

OCTET_INLINE inline __m256i odd_to_even(__m256i x) { return _mm256_srli_epi64(x, 32); }
// Combines the odd lanes of both; those of `even` move down.
OCTET_INLINE inline __m256i odd_lanes(__m256i even, __m256i odd) {
  return _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
}
OCTET_INLINE inline __m256i with_odd(__m256i x, __m256i odd) {
  return _mm256_blend_epi32(x, odd, 0xaa);
}
#ifdef __AVX512BW__
OCTET_INLINE inline __m512i odd_to_even(__m512i x) { return _mm512_srli_epi64(x, 32); }
OCTET_INLINE inline __m512i odd_lanes(__m512i even, __m512i odd) {
  return _mm512_mask_shuffle_epi32(odd, 0x5555, even, (_MM_PERM_ENUM)0xf5);
}
OCTET_INLINE inline __m512i with_odd(__m512i x, __m512i odd) {
  return _mm512_mask_mov_epi32(x, 0xaaaa, odd);
}
#endif

// Scales some columns by their TfliteColumns.
template <int kInt8>
struct TfliteScaler {
  using Scale = int32_t;
  using Vector = typename VectorOf<kInt8>::Type;
  static constexpr int kMostVectors = 2;  // vectors whose scales fit in registers together
  Vector left, multiplier, odd_multiplier, half, odd_half, sign, right;

  // Loads row by row from one pointer, because seven addresses would take all registers.
  OCTET_INLINE inline void load(const int32_t* row, size_t apart) {
    const Vector rounds = splat<Vector>((uint32_t)1 << 31);
    multiplier = at(row);
    odd_multiplier = at(row + 1);
    left = at(row += apart);
    half = with_odd(rounds, at((row += apart) - 1));
    odd_half = with_odd(rounds, at(row));
    sign = at(row += apart);
    right = at(row += apart);
  }
  // Sets one scale for all columns, whose values are shifted left first.
  OCTET_INLINE inline void set(const TfliteScale& by, int32_t shifted) {
    const int32_t divisor = -by.shift;
    multiplier = odd_multiplier = splat<Vector>(by.multiplier);
    left = splat<Vector>(shifted + 1);
    half = odd_half =
        splat<Vector>((uint64_t)1 << 31 | (divisor ? (uint64_t)1 << (31 + divisor) : 0));
    sign = splat<Vector>(divisor ? 31 : 32);
    right = splat<Vector>(divisor);
  }
  OCTET_INLINE static inline Vector at(const int32_t* row) {
    Vector v;
    __builtin_memcpy(&v, row, sizeof v);
    return v;
  }

  OCTET_INLINE inline Vector scale(Vector x) const {
    const Vector shifted = shift_left(x, left);
    const Vector even = add_long(multiply_even(shifted, multiplier), half);
    const Vector odd = add_long(multiply_even(odd_to_even(shifted), odd_multiplier), odd_half);
    const Vector high = subtract(odd_lanes(even, odd), shift_right_unsigned(x, sign));
    return shift_right(high, right);
  }
  OCTET_INLINE inline Vector scale_at(const int32_t* x) const { return scale(at(x)); }
};

// Floats of forms kFloats and kFloatsUp. They round towards zero: zmm registers do by themselves,
// ymm registers where a TowardsZero lives.
struct TowardsZero {
#ifdef __AVX512BW__
  OCTET_INLINE inline explicit TowardsZero(bool) {}
#else
  uint32_t before;
  bool changes;
  OCTET_INLINE inline explicit TowardsZero(bool is) : before(is ? _mm_getcsr() : 0) {
    changes = is && (before & _MM_ROUND_MASK) != _MM_ROUND_TOWARD_ZERO;
    if (changes) set(before | _MM_ROUND_TOWARD_ZERO);
  }
  OCTET_INLINE inline ~TowardsZero() {
    if (changes) set(before);
  }
  TowardsZero(const TowardsZero&) = delete;

 private:
  // Compilers move no load and no store, hence no float, past this
  OCTET_INLINE static inline void set(uint32_t csr) {
    __asm__ volatile("vldmxcsr %0" : : "m"(csr) : "memory");
  }
#endif
};
#ifdef __AVX512BW__
using TfliteFloats = __m512;
constexpr int kTfliteVectors = 4;
// signs: the bits of a sum's that begin takes over, if any.
template <bool any = true>
OCTET_INLINE inline __m512i by_floats(__m512i acc, __m512 high, __m512 low, __m512 begin,
                                      [[maybe_unused]] __m512i signs = __m512i()) {
  const __m512 x = _mm512_cvtepi32_ps(acc);
  if constexpr (any)  // begin | (x & signs)
    begin = _mm512_castsi512_ps(
        _mm512_ternarylogic_epi32(_mm512_castps_si512(begin), _mm512_castps_si512(x), signs, 0xf8));
  return _mm512_cvttps_epi32(_mm512_fmadd_round_ps(x, high, _mm512_fmadd_ps(x, low, begin),
                                                   _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
}
#elif defined(__FMA__)
using TfliteFloats = __m256;
constexpr int kTfliteVectors = 2;
template <bool any = true>
OCTET_INLINE inline __m256i by_floats(__m256i acc, __m256 high, __m256 low, __m256 begin,
                                      [[maybe_unused]] __m256i signs = __m256i()) {
  const __m256 x = _mm256_cvtepi32_ps(acc);
  if constexpr (any) begin = _mm256_or_ps(begin, _mm256_and_ps(x, _mm256_castsi256_ps(signs)));
  return _mm256_cvttps_epi32(_mm256_fmadd_ps(x, high, _mm256_fmadd_ps(x, low, begin)));
}
#endif
#if defined(__AVX512BW__) || defined(__FMA__)
// Scales columns by TfliteColumns of floats. negatives: whether outputs below zero count.
template <bool negatives>
struct TfliteFloatScaler {
  using Scale = int32_t;
  using Vector = VectorOf<sizeof(TfliteFloats)>::Type;
  static constexpr int kMostVectors = kTfliteVectors;
  TfliteFloats high, low, begin;

  OCTET_INLINE inline void load(const int32_t* row, size_t apart) {
    __builtin_memcpy(&high, row + kTfliteHigh * apart, sizeof high);
    __builtin_memcpy(&low, row + kTfliteLow * apart, sizeof low);
    __builtin_memcpy(&begin, row + kTfliteBegin * apart, sizeof begin);
  }
  OCTET_INLINE inline Vector scale(Vector acc) const {
    return by_floats<negatives>(acc, high, low, begin, splat<Vector>(INT32_MIN));
  }
  OCTET_INLINE inline Vector scale_at(const int32_t* x) const {
    return scale(TfliteScaler<sizeof(TfliteFloats)>::at(x));
  }
};
template <typename Scaler>
constexpr bool kByFloats = false;
template <bool negatives>
constexpr bool kByFloats<TfliteFloatScaler<negatives>> = true;
#endif

}  // namespace
}  // namespace octet
