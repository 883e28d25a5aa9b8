// SPDX-License-Identifier: Apache-2.0
// Finds a smaller bias for channels whose outputs are all the same byte. Converters write a bias
// near 2^30 or 2^31 for a channel whose weights are zero or too small to matter; a smaller bias
// gives the same byte and leaves the accumulators the room that fast requantization needs.
#include "kernels/core/double_scale.h"
#include "operators/common/check.h"
#include "operators/epilogue/builder.h"

namespace octet {
namespace {

constexpr int64_t kFarthest = (int64_t)1 << 32;  // a bias and a sum, either of them in int32

int64_t clamp(int64_t x, int64_t lo, int64_t hi) { return x < lo ? lo : x > hi ? hi : x; }

// kernels/core/tflite_scale.h, of an accumulator that int32 need not hold. An accumulator that is
// shifted left stops where the multiplier, 2^30 or more, takes it beyond every clamp.
int64_t tflite_scaled(int64_t acc, int32_t multiplier, int32_t shift) {
  const int32_t left = shift > 0 ? shift : 0, right = left - shift;
  const int64_t x = clamp(acc, -(kFarthest >> left), kFarthest >> left) * ((int64_t)1 << left);
  const int64_t high = (x * multiplier + ((int64_t)1 << 30)) >> 31;
  const int64_t mask = ((int64_t)1 << right) - 1;
  return (high >> right) + ((high & mask) > (mask >> 1) + (high < 0));
}

// The epilogue of a column: a function of the accumulator that never falls.
class Column {
 public:
  Column(const octet_epilogue& e, const Epilogue& f, size_t n) : f_(f) {
    if (e.requant != OCTET_REQUANT_TFLITE) {
      scale_ = factor_of(e, n);
      in_double_ = e.requant == OCTET_REQUANT_DOUBLE;
    } else {
      multiplier_ = e.multipliers[e.multiplier_count == 1 ? 0 : n];
      shift_ = shift_of(e, n);
    }
  }

  // Whether two accumulators, hence all between them, give the same byte, whatever the residual.
  bool alike(int64_t a, int64_t b) const {
    if (multiplier_ >= 0) return integer(a) == integer(b);
    if (in_double_) return in_double(a) == in_double(b);
    if (!f_.has_residual) return rounded(product(a)) == rounded(product(b));
    for (int32_t byte = 0; byte < 256; ++byte) {
      const int32_t value =
          byte - (f_.residual_type == ElementType::kU8 ? 0 : 128) - f_.residual_zero_point;
      const float residual = (float)value * f_.residual_scale;
      if (rounded(product(a) + residual) != rounded(product(b) + residual)) return false;
    }
    return true;
  }

 private:
  // TFLite mode: the output less its zero point, or the product that a residual is added to
  int64_t integer(int64_t acc) const {
    const int64_t lo = f_.has_residual ? f_.product_lo : f_.lo - f_.zero_point,
                  hi = f_.has_residual ? f_.product_hi : f_.hi - f_.zero_point;
    return clamp(tflite_scaled(acc, multiplier_, shift_), lo, hi);
  }
  // Double mode: the output less its zero point
  int32_t in_double(int64_t acc) const {
    return double_scale((double)acc, scale_, f_.lo_f32, f_.hi_f32);
  }
  float product(int64_t acc) const {
    const float p = (float)acc * (float)scale_;
    if (!f_.has_residual || !f_.clamps_product) return p;
    return p < f_.product_lo_f32   ? f_.product_lo_f32
           : p > f_.product_hi_f32 ? f_.product_hi_f32
                                   : p;
  }
  // Half to even: 1.5 * 2^23 leaves no bits for a fraction
  float rounded(float x) const {
    return (x < f_.lo_f32 ? f_.lo_f32 : x > f_.hi_f32 ? f_.hi_f32 : x) + 12582912.0f;
  }

  const Epilogue& f_;
  double scale_ = 0;
  bool in_double_ = false;
  int32_t multiplier_ = -1, shift_ = 0;  // in TFLite mode only
};

}  // namespace

int32_t settled_bias(const EpilogueBuilder& builder, const PackedRhs& packed, size_t n) {
  const octet_epilogue& e = builder.desc;
  const int32_t bias = e.bias ? e.bias[n] : 0;
  if (!bias || !packed.positive || builder.runtime_scales() || !is_8bit(builder.dst_type))
    return bias;
  // An approximate sum leaves its exact range on both sides, by an amount that only has a bound
  if (builder.stretch != 1) return bias;
  const SumRange sums = sum_range(builder, packed, n);
  if (sums.lo < INT32_MIN || sums.hi > INT32_MAX || sums.hi - sums.lo > INT32_MAX) return bias;
  const int64_t reach = bias < 0 ? -(bias + sums.lo) : bias + sums.hi;
  const bool tflite = e.requant == OCTET_REQUANT_TFLITE;
  if (reach <= INT32_MAX &&
      (double)reach * factor_of(e, n) * kFloatMargin < (tflite ? kTfliteLimit : kInt16Limit))
    return bias;
  const Column column(e, builder.plan, n);
  // The good biases between 0 and the caller's are those from some one on
  const int64_t given_end = bias < 0 ? bias + sums.hi : bias + sums.lo;
  const auto as_good = [&](int64_t other) {
    return column.alike(other + sums.lo, given_end) && column.alike(other + sums.hi, given_end);
  };
  if (!as_good(bias)) return bias;
  if (as_good(0)) return 0;
  int64_t worse = 0, good = bias;
  while (good - worse > 1 || worse - good > 1) {
    const int64_t between = (worse + good) / 2;
    (as_good(between) ? good : worse) = between;
  }
  return (int32_t)good;
}

}  // namespace octet
