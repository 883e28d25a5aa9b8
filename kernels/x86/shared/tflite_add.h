// TFLite's ADD on x86, of a product's bytes and a residual's: in one rounding where create has
// found a ByteSum, else as it is defined, three times what kernels/x86/shared/tflite.h has.
//
// Interleaved with zeros, a lane holds a byte of each as words, so that VPMADDWD makes of them the
// sum of both times a part of their factors.
#pragma once

#include "kernels/x86/shared/epilogue_rows.h"
#include "kernels/x86/shared/tflite.h"

namespace octet {
namespace {

struct ShortSum {
  static constexpr int kMostVectors = 2;
  ExitVector high, low, offset;
  __m128i left, right;
  explicit ShortSum(const Finish& f)
      : high(pair(f.byte_sum->high)),
        low(pair(f.byte_sum->low)),
        offset(splat<ExitVector>(f.byte_sum->offset)),
        left(_mm_cvtsi32_si128(f.byte_sum->left)),
        right(_mm_cvtsi32_si128(f.byte_sum->right)) {}
  static int32_t zero_point(const Finish&) { return 0; }  // in the offset

  OCTET_INLINE static inline ExitVector pair(const int16_t (&factors)[2]) {
    int32_t both;
    __builtin_memcpy(&both, factors, sizeof both);
    return splat<ExitVector>(both);
  }
#ifdef __AVX512VNNI__
  OCTET_INLINE inline ExitVector of(ExitVector words) const {
    const __m512i sum = _mm512_dpwssd_epi32(offset, words, high);
    return _mm512_sra_epi32(_mm512_dpwssd_epi32(_mm512_sll_epi32(sum, left), words, low), right);
  }
#else
  OCTET_INLINE inline ExitVector of(ExitVector words) const {
    const __m256i sum = add(multiply_pairs(words, high), offset);
    return _mm256_sra_epi32(add(_mm256_sll_epi32(sum, left), multiply_pairs(words, low)), right);
  }
#endif
};

struct ExactSum {
  static constexpr int kMostVectors = 1;  // rarely needed, and long
  TfliteScaler<kExitBytes> product, residual, sum;
  ExitVector product_zero, residual_zero;
  explicit ExactSum(const Finish& f)
      : product_zero(splat<ExitVector>(f.intermediate_zero_point + (f.dst_u8 ? 0 : 128))),
        residual_zero(splat<ExitVector>(f.residual_zero_point + (f.residual_u8 ? 0 : 128))) {
    product.set(f.product_scale, 20);
    residual.set(f.residual_tflite, 20);
    sum.set(f.sum_scale, 0);
  }
  static int32_t zero_point(const Finish& f) { return f.zero_point; }

  OCTET_INLINE inline ExitVector of(ExitVector words) const {
    const ExitVector sixteen = splat<ExitVector>(16);
    const ExitVector x = shift_right_unsigned(shift_left(words, sixteen), sixteen),
                     r = shift_right_unsigned(words, sixteen);
    return sum.scale(
        add(product.scale(subtract(x, product_zero)), residual.scale(subtract(r, residual_zero))));
  }
};

// What kernels/x86/shared/epilogue_tflite.h does with a product's bytes, as unsigned.
template <typename Sum>
struct Added {
  static constexpr int kMostVectors = Sum::kMostVectors;
  const Sum sum;
  const Narrower<kExitBytes> narrower;
  const ExitVector flip;
  const uint8_t* const residual;
  const size_t stride;

  Added(const Finish& f, const Output& to)
      : sum(f),
        narrower(Narrow{Sum::zero_point(f), f.lo, f.hi, f.dst_u8}),
        flip(splat<ExitVector>((uint8_t)(f.residual_u8 ? 0 : 0x80))),
        residual(to.residual),
        stride(to.residual_stride) {}

  template <int width>
  OCTET_INLINE inline ExitVector of(ExitVector x, size_t row, size_t rows, size_t column,
                                    size_t count) const {
    const ExitVector zero = splat<ExitVector>(0),
                     r = load_rows<width>(residual + row * stride + column, stride, rows, count) ^
                         flip;
    const ExitVector low = low_bytes(x, r), high = high_bytes(x, r);
    return narrower.bytes(
        pack_words(sum.of(low_bytes(low, zero)), sum.of(high_bytes(low, zero))),
        pack_words(sum.of(low_bytes(high, zero)), sum.of(high_bytes(high, zero))));
  }
};

}  // namespace
}  // namespace octet
