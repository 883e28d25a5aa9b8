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
  EpilogueVector high, low, offset, left, right;  // shifts by vectors take one step, not two
  explicit ShortSum(const Epilogue& f)
      : high(pair(f.tflite_add->high)),
        low(pair(f.tflite_add->low)),
        offset(splat<EpilogueVector>(f.tflite_add->offset)),
        left(splat<EpilogueVector>(f.tflite_add->left)),
        right(splat<EpilogueVector>(f.tflite_add->right)) {}
  static int32_t zero_point(const Epilogue&) { return 0; }  // the offset includes it

  OCTET_INLINE static inline EpilogueVector pair(const int16_t (&factors)[2]) {
    int32_t both;
    __builtin_memcpy(&both, factors, sizeof both);
    return splat<EpilogueVector>(both);
  }
  OCTET_INLINE static inline EpilogueVector add_pairs(EpilogueVector sum, EpilogueVector int16,
                                                      EpilogueVector factors) {
#ifdef __AVX512VNNI__
    return _mm512_dpwssd_epi32(sum, int16, factors);
#else
    return octet::add(sum, multiply_pairs(int16, factors));
#endif
  }
  OCTET_INLINE inline EpilogueVector of(EpilogueVector int16) const {
    const EpilogueVector upper = shift_left(multiply_pairs(int16, high), left);
    return shift_right(add_pairs(octet::add(upper, offset), int16, low), right);
  }
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

// How the product becomes bytes, as u8, before the ADD.
inline Requantization product_of(const Epilogue& f) {
  const int32_t zero_point = f.intermediate_zero_point + (f.dst_type == ElementType::kU8 ? 0 : 128);
  return {zero_point, zero_point + f.product_lo, zero_point + f.product_hi, ElementType::kU8,
          f.tflite.apart};
}

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
    return of(x, load_rows<width>(residual + row * stride + column, stride, rows, count));
  }
  OCTET_INLINE inline EpilogueVector of(EpilogueVector x, EpilogueVector r) const {
    const EpilogueVector zero = splat<EpilogueVector>(0);
    r = r ^ flip;
    const EpilogueVector low = low_bytes(x, r), high = high_bytes(x, r);
    return requantizer.bytes(
        pack_int16(sum.of(low_bytes(low, zero)), sum.of(high_bytes(low, zero))),
        pack_int16(sum.of(low_bytes(high, zero)), sum.of(high_bytes(high, zero))));
  }
};

}  // namespace
}  // namespace octet
