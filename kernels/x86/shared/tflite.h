// SPDX-License-Identifier: Apache-2.0
// TFLite mode's arithmetic on x86: TfliteScaler for accumulators that, shifted left, stay below
// 2^30, TfliteRightScaler for any.
//
// Both roundings need only the upper halves of 64-bit sums, which VPMULDQ computes for the even
// lanes and then for the odd ones:
//
//     high = (2 x << left) * multiplier + 2^31 + (half << 32)  >> 32
//     y    = high - [x < 0] >> right
//
// The first line is SaturatingRoundingDoublingHighMul with the second rounding's half added. The
// second line is RoundingDivideByPOT: subtracting 1 rounds halves of negative numbers away from
// zero. Where the clamp admits no output below the zero point, the 1 does not matter: a negative
// number gives 0 or less without it, too. If all columns are shifted to the right as well, the sum
// alone suffices (write_tflite_right_column). Where x is in memory, VMOVSHDUP loads the odd lanes.
//
// AVX-512 rounds each operation as it says, so that floats do it in four or five instructions
// (operators/epilogue/tflite_floats.h) in place of seven or ten, wherever create finds such floats.
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

OCTET_INLINE inline __m256i load_odd(const __m256i* x) {
  return _mm256_castps_si256(_mm256_movehdup_ps(_mm256_loadu_ps((const float*)x)));
}
#ifdef __AVX512BW__
OCTET_INLINE inline __m512i load_odd(const __m512i* x) {
  return _mm512_castps_si512(_mm512_movehdup_ps(_mm512_loadu_ps((const float*)x)));
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

// Scales some columns by TfliteColumns that are right_only.
template <int kInt8>
struct TfliteRightScaler {
  using Scale = int32_t;
  using Vector = typename VectorOf<kInt8>::Type;
  static constexpr int kMostVectors = kInt8 == 64 ? 4 : 2;
  Vector multiplier, odd_multiplier, half, odd_half, right;

  OCTET_INLINE inline void load(const int32_t* row, size_t apart) {
    const auto at = TfliteScaler<kInt8>::at;
    multiplier = at(row);
    odd_multiplier = at(row + 1);
    const int32_t* const low = row + apart;
    const int32_t* const high = low + apart;
    half = with_odd(at(low), at(high - 1));
    odd_half = with_odd(at(low + 1), at(high));
    right = at(high + 2 * apart);
  }
  // odd_x: x with its odd lanes moved to the even ones.
  OCTET_INLINE inline Vector scale(Vector x, Vector odd_x) const {
    const Vector even = add_long(multiply_even(x, multiplier), half);
    const Vector odd = add_long(multiply_even(odd_x, odd_multiplier), odd_half);
    return shift_right(odd_lanes(even, odd), right);
  }
  OCTET_INLINE inline Vector scale(Vector x) const { return scale(x, odd_to_even(x)); }
  OCTET_INLINE inline Vector scale_at(const int32_t* x) const {
    return scale(TfliteScaler<kInt8>::at(x), load_odd((const Vector*)x));
  }
};

#ifdef __AVX512VNNI__
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
// Scales 16 columns by TfliteColumns of floats. negatives: whether outputs below zero count.
template <bool negatives>
struct TfliteFloatScaler {
  using Scale = int32_t;
  static constexpr int kMostVectors = 4;
  __m512 high, low, begin;

  OCTET_INLINE inline void load(const int32_t* row, size_t apart) {
    high = _mm512_loadu_ps(row + kTfliteHigh * apart);
    low = _mm512_loadu_ps(row + kTfliteLow * apart);
    begin = _mm512_loadu_ps(row + kTfliteBegin * apart);
  }
  OCTET_INLINE inline __m512i scale(__m512i acc) const {
    return by_floats<negatives>(acc, high, low, begin, _mm512_set1_epi32(INT32_MIN));
  }
  OCTET_INLINE inline __m512i scale_at(const int32_t* x) const {
    return scale(TfliteScaler<64>::at(x));
  }
};
#endif

}  // namespace
}  // namespace octet
