// SPDX-License-Identifier: Apache-2.0
// Defines functions of two values in each engine's arithmetic, one value at a time, without any
// code of the library's.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "octet/functions.h"

namespace octet_test {

struct QuantizedValue {
  int32_t value, zero_point;
  double real() const { return value - zero_point; }
};

// gemmlowp's SaturatingRoundingDoublingHighMul and RoundingDivideByPOT, in exact arithmetic.
inline int64_t scale_twice(int64_t x, int32_t multiplier, int shift) {
  const int64_t product = x * (shift > 0 ? (int64_t)1 << shift : 1) * multiplier;
  int64_t high = (int64_t)std::floor(((long double)product + 0x1p30L) / 0x1p31L);
  const int right = shift < 0 ? -shift : 0;
  const long double exact = (long double)high / std::exp2((long double)right);
  return (int64_t)std::round(exact);  // halves away from zero
}

inline void quantize_multiplier(double factor, int32_t* multiplier, int* shift) {
  const double fraction = std::frexp(factor, shift);
  int64_t q = (int64_t)std::round(fraction * 0x1p31);
  if (q == (int64_t)1 << 31) q /= 2, ++*shift;
  if (*shift < -31) q = 0, *shift = 0;
  *multiplier = (int32_t)q;
}

inline double round_half_to_even(double x) { return std::nearbyint(x); }

// The output less its zero point, or NaN where a conversion would overflow.
inline double add_tflite(const octet_add_desc& d, int32_t a, int32_t b, int sign) {
  const double unit = 2 * (double)std::max(d.a.scale, d.b.scale);
  const int left = d.output.type == OCTET_S16 ? 15 : 20;
  int32_t multipliers[3];
  int shifts[3];
  quantize_multiplier(d.a.scale / unit, &multipliers[0], &shifts[0]);
  quantize_multiplier(d.b.scale / unit, &multipliers[1], &shifts[1]);
  quantize_multiplier(unit / (std::exp2(left) * d.output.scale), &multipliers[2], &shifts[2]);
  const int64_t scaled_a =
      scale_twice((int64_t)(a - d.a.zero_point) * (1 << left), multipliers[0], shifts[0]);
  const int64_t scaled_b =
      scale_twice((int64_t)(b - d.b.zero_point) * (1 << left), multipliers[1], shifts[1]);
  return (double)scale_twice(scaled_a + sign * scaled_b, multipliers[2], shifts[2]);
}

inline double add_xnnpack(const octet_add_desc& d, int32_t a, int32_t b, int sign) {
  const float ratio_a = d.a.scale / d.output.scale, ratio_b = d.b.scale / d.output.scale;
  const int shift = 20 - std::ilogb(std::max(ratio_a, ratio_b));
  const double unit = std::exp2(shift);
  const double sum = (a - d.a.zero_point) * round_half_to_even(ratio_a * unit) +
                     sign * (b - d.b.zero_point) * round_half_to_even(ratio_b * unit);
  return std::floor(sum / unit + 0.5);
}

// x * y + z, rounded once. MinGW's std::fma rounds to 64 bits of mantissa first. A double that was
// rounded to an odd mantissa rounds to float as the exact sum does.
inline float fused(float x, float y, float z) {
  const double product = (double)x * y, sum = product + z;  // the product is exact
  const double added = sum - product, lost = (product - (sum - added)) + (z - added);
  uint64_t bits;
  std::memcpy(&bits, &sum, sizeof bits);
  return (float)(lost == 0 || bits & 1 ? sum
                                       : std::nextafter(sum, lost > 0 ? INFINITY : -INFINITY));
}

inline double add_onnxruntime(const octet_add_desc& d, int32_t a, int32_t b, int) {
  const float ratio_a = d.a.scale / d.output.scale, ratio_b = d.b.scale / d.output.scale;
  const float zero_a = (float)d.a.zero_point, zero_b = (float)d.b.zero_point,
              zero = (float)d.output.zero_point;
  const float fixed = zero - fused(ratio_a, zero_a, ratio_b * zero_b);
  const float sum = fused((float)a, ratio_a, fused((float)b, ratio_b, fixed));
  return round_half_to_even(sum) - zero;
}

inline double add_standard(const octet_add_desc& d, int32_t a, int32_t b, int sign) {
  const float real_a = (float)(a - d.a.zero_point) * d.a.scale,
              real_b = (float)(b - d.b.zero_point) * d.b.scale;
  const float sum = sign > 0 ? real_a + real_b : real_a - real_b;
  return round_half_to_even(sum / d.output.scale);
}

inline double multiply_tflite(const octet_mul_desc& d, int32_t a, int32_t b, int) {
  const float factor = d.a.scale * d.b.scale / d.output.scale;
  int32_t multiplier;
  int shift;
  quantize_multiplier(factor, &multiplier, &shift);
  return (double)scale_twice((int64_t)(a - d.a.zero_point) * (b - d.b.zero_point), multiplier,
                             shift);
}

inline double multiply_xnnpack(const octet_mul_desc& d, int32_t a, int32_t b, int) {
  const float factor = d.a.scale * d.b.scale / d.output.scale;
  return round_half_to_even((float)((a - d.a.zero_point) * (b - d.b.zero_point)) * factor);
}

inline double multiply_onnxruntime(const octet_mul_desc& d, int32_t a, int32_t b, int) {
  const float factor = d.a.scale * d.b.scale / d.output.scale, zero = (float)d.output.zero_point;
  const float product = (float)((a - d.a.zero_point) * (b - d.b.zero_point)) * factor;
  return round_half_to_even(product + zero) - zero;
}

inline double multiply_standard(const octet_mul_desc& d, int32_t a, int32_t b, int) {
  const float real_a = (float)(a - d.a.zero_point) * d.a.scale,
              real_b = (float)(b - d.b.zero_point) * d.b.scale;
  const float product = real_a * real_b;
  return round_half_to_even(product / d.output.scale);
}

inline int32_t clamp_output(const octet_add_desc& d, double value) {
  const bool given = d.least || d.most;
  const octet_type type = d.output.type;
  const double lo = given               ? d.least
                    : type == OCTET_U8  ? 0
                    : type == OCTET_S16 ? -32768
                                        : -128,
               hi = given               ? d.most
                    : type == OCTET_U8  ? 255
                    : type == OCTET_S16 ? 32767
                                        : 127;
  return (int32_t)std::min(std::max(value + d.output.zero_point, lo), hi);
}

}  // namespace octet_test
