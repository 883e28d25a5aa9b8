// SPDX-License-Identifier: Apache-2.0
// TFLite's ADD on x86, of a product's bytes and a residual's: in one rounding if create has found a
// TfliteAdd, else by definition, with three scalers of kernels/x86/shared/tflite.h.
//
// A lane holds one byte of each as int16, so that VPMADDWD computes the sum of both times their
// factors' high or low parts.
#pragma once

#include "kernels/x86/shared/epilogue_rows.h"
#include "kernels/x86/shared/tflite.h"

namespace octet {
namespace {

struct ShortSum {
  static constexpr int kMostVectors = 2;
  EpilogueVector high, low, offset;
  __m128i left, right;
  explicit ShortSum(const Epilogue& f)
      : high(pair(f.tflite_add->high)),
        low(pair(f.tflite_add->low)),
        offset(splat<EpilogueVector>(f.tflite_add->offset)),
        left(_mm_cvtsi32_si128(f.tflite_add->left)),
        right(_mm_cvtsi32_si128(f.tflite_add->right)) {}
  static int32_t zero_point(const Epilogue&) { return 0; }  // the offset includes it

  OCTET_INLINE static inline EpilogueVector pair(const int16_t (&factors)[2]) {
    int32_t both;
    __builtin_memcpy(&both, factors, sizeof both);
    return splat<EpilogueVector>(both);
  }
#ifdef __AVX512BW__
  OCTET_INLINE static inline __m512i add_pairs(__m512i sum, __m512i int16, __m512i factors) {
#ifdef __AVX512VNNI__
    return _mm512_dpwssd_epi32(sum, int16, factors);
#else
    return _mm512_add_epi32(sum, _mm512_madd_epi16(int16, factors));
#endif
  }
  OCTET_INLINE inline EpilogueVector of(EpilogueVector int16) const {
    const __m512i upper = _mm512_sll_epi32(_mm512_madd_epi16(int16, high), left);
    return _mm512_sra_epi32(add_pairs(add(upper, offset), int16, low), right);
  }
#else
  OCTET_INLINE inline EpilogueVector of(EpilogueVector int16) const {
    const __m256i upper = _mm256_sll_epi32(multiply_pairs(int16, high), left);
    return _mm256_sra_epi32(add(add(upper, offset), multiply_pairs(int16, low)), right);
  }
#endif
};

struct ExactSum {
  static constexpr int kMostVectors = 1;  // one only, because this code is long and rarely runs
  TfliteScaler<kEpilogueBytes> product, residual, sum;
  EpilogueVector product_zero, residual_zero;
  explicit ExactSum(const Epilogue& f)
      : product_zero(splat<EpilogueVector>(f.intermediate_zero_point +
                                           (f.dst_type == ElementType::kU8 ? 0 : 128))),
        residual_zero(splat<EpilogueVector>(f.residual_zero_point +
                                            (f.residual_type == ElementType::kU8 ? 0 : 128))) {
    product.set(f.product_scale, 20);
    residual.set(f.residual_tflite, 20);
    sum.set(f.sum_scale, 0);
  }
  static int32_t zero_point(const Epilogue& f) { return f.zero_point; }

  OCTET_INLINE inline EpilogueVector of(EpilogueVector int16) const {
    const EpilogueVector sixteen = splat<EpilogueVector>(16);
    const EpilogueVector x = shift_right_unsigned(shift_left(int16, sixteen), sixteen),
                         r = shift_right_unsigned(int16, sixteen);
    return sum.scale(
        add(product.scale(subtract(x, product_zero)), residual.scale(subtract(r, residual_zero))));
  }
};

// The last step of kernels/x86/shared/requantize_tile.h on a product's bytes, as u8.
template <typename Sum>
struct Added {
  static constexpr int kMostVectors = Sum::kMostVectors;
  const Sum sum;
  const Requantizer<kEpilogueBytes> requantizer;
  const EpilogueVector flip;
  const uint8_t* const residual;
  const size_t stride;

  Added(const Epilogue& f, const Output& to)
      : sum(f),
        requantizer(Requantization{Sum::zero_point(f), f.lo, f.hi, f.dst_type}),
        flip(splat<EpilogueVector>((uint8_t)(f.residual_type == ElementType::kU8 ? 0 : 0x80))),
        residual(to.residual),
        stride(to.residual_stride) {}

  template <int width>
  OCTET_INLINE inline EpilogueVector of(EpilogueVector x, size_t row, size_t rows, size_t column,
                                        size_t count) const {
    const EpilogueVector zero = splat<EpilogueVector>(0),
                         r = load_rows<width>(residual + row * stride + column, stride, rows,
                                              count) ^
                             flip;
    const EpilogueVector low = low_bytes(x, r), high = high_bytes(x, r);
    return requantizer.bytes(
        pack_int16(sum.of(low_bytes(low, zero)), sum.of(high_bytes(low, zero))),
        pack_int16(sum.of(low_bytes(high, zero)), sum.of(high_bytes(high, zero))));
  }
};

}  // namespace
}  // namespace octet
