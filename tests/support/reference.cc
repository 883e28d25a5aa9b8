#include "support/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace octet_test {

int64_t round_half_even(double value) { return static_cast<int64_t>(std::nearbyint(value)); }

int64_t clamped(int64_t value, int64_t lo, int64_t hi) { return std::min(std::max(value, lo), hi); }

int32_t requantize(int64_t acc, float scale, float residual, int32_t zero_point, int32_t lo, int32_t hi) {
  const float scaled = fl(static_cast<double>(fl(static_cast<double>(acc))) * scale);
  const float sum = fl(static_cast<double>(scaled) + residual);
  const double bounded = std::min(std::max<double>(sum, lo - zero_point), static_cast<double>(hi - zero_point));
  return static_cast<int32_t>(round_half_even(bounded)) + zero_point;
}

int32_t saturating_rounding_doubling_high_mul(int32_t a, int32_t b) {
  if (a == b && a == std::numeric_limits<int32_t>::min()) return std::numeric_limits<int32_t>::max();
  const int64_t ab = static_cast<int64_t>(a) * b;
  const int32_t nudge = ab >= 0 ? (1 << 30) : (1 - (1 << 30));
  return static_cast<int32_t>((ab + nudge) / (1ll << 31));
}

int32_t rounding_divide_by_pot(int32_t x, int exponent) {
  const int32_t mask = static_cast<int32_t>((1ll << exponent) - 1);
  const int32_t remainder = x & mask, threshold = (mask >> 1) + (x < 0 ? 1 : 0);
  return (x >> exponent) + (remainder > threshold ? 1 : 0);
}

int32_t multiply_by_quantized_multiplier(int32_t x, int32_t multiplier, int32_t shift) {
  const int left = shift > 0 ? shift : 0, right = shift > 0 ? 0 : -shift;
  return rounding_divide_by_pot(saturating_rounding_doubling_high_mul(static_cast<int32_t>(x * (1ll << left)), multiplier), right);
}

void quantize_multiplier(double factor, int32_t* multiplier, int32_t* shift) {
  if (factor == 0) {
    *multiplier = *shift = 0;
    return;
  }
  int exponent;
  const double fraction = std::frexp(factor, &exponent);
  int64_t fixed = static_cast<int64_t>(std::round(fraction * (1ll << 31)));
  if (fixed == 1ll << 31) {
    fixed /= 2;
    ++exponent;
  }
  if (exponent < -31) exponent = 0, fixed = 0;
  *multiplier = static_cast<int32_t>(fixed);
  *shift = exponent;
}

int64_t tflite_add(int32_t product, int32_t residual, const TfliteAdd& a) {
  const int32_t shifted1 = (product - a.product_zero_point) * (1 << 20), shifted2 = (residual - a.residual_zero_point) * (1 << 20);
  const int32_t scaled1 = multiply_by_quantized_multiplier(shifted1, a.product_multiplier, a.product_shift);
  const int32_t scaled2 = multiply_by_quantized_multiplier(shifted2, a.residual_multiplier, a.residual_shift);
  return multiply_by_quantized_multiplier(scaled1 + scaled2, a.dst_multiplier, a.dst_shift);
}

namespace {

constexpr float kSmallestRange = 0x1p-100f;

QuantizedRow zeros(size_t depth, float scale) { return {std::vector<int32_t>(depth, 0), scale, 0}; }

bool all_finite(const float* row, size_t depth) {
  return std::all_of(row, row + depth, [](float x) { return std::isfinite(x); });
}

QuantizedRow quantize(const float* row, size_t depth, float scale, int32_t zero_point, int32_t lo, int32_t hi) {
  QuantizedRow out = {{}, scale, zero_point};
  for (size_t i = 0; i < depth; ++i)
    out.values.push_back(static_cast<int32_t>(clamped(round_half_even(fl(static_cast<double>(row[i]) / scale)) + zero_point, lo, hi)));
  return out;
}

}  // namespace

QuantizedRow quantize_symmetric(const float* row, size_t depth) {
  if (!all_finite(row, depth)) return zeros(depth, std::numeric_limits<float>::quiet_NaN());
  float largest = 0;
  for (size_t i = 0; i < depth; ++i) largest = std::max(largest, std::fabs(row[i]));
  if (largest < kSmallestRange) return zeros(depth, 1);
  return quantize(row, depth, fl(largest / 127.0), 0, -127, 127);
}

QuantizedRow quantize_asymmetric(const float* row, size_t depth) {
  if (!all_finite(row, depth)) return zeros(depth, std::numeric_limits<float>::quiet_NaN());
  float lo = 0, hi = 0;
  for (size_t i = 0; i < depth; ++i) lo = std::min(lo, row[i]), hi = std::max(hi, row[i]);
  const float range = fl(static_cast<double>(hi) - lo);
  if (std::isinf(range)) return zeros(depth, std::numeric_limits<float>::quiet_NaN());
  if (range < kSmallestRange) return zeros(depth, 1);
  const float scale = fl(range / 255.0);
  const int32_t zero_point = static_cast<int32_t>(clamped(round_half_even(-fl(static_cast<double>(lo) / scale)), 0, 255));
  return quantize(row, depth, scale, zero_point, 0, 255);
}

}  // namespace octet_test
