// SPDX-License-Identifier: Apache-2.0
// Computes the numeric contract, slowly.
#include "support/reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace octet_test {

int64_t round_half_even(double value) { return (int64_t)std::nearbyint(value); }

double round_half_away(double value) {
  const double whole = std::trunc(value);
  return whole + (std::abs(value - whole) < 0.5 ? 0 : std::copysign(1, value));
}

int64_t clamped(int64_t value, int64_t lo, int64_t hi) { return std::min(std::max(value, lo), hi); }

int32_t requantize(int64_t acc, float scale, float residual, int32_t zero_point, int32_t lo,
                   int32_t hi) {
  return quantize_sum(fl((double)fl(acc) * scale), residual, zero_point, lo, hi);
}

int32_t quantize_sum(float product, float residual, int32_t zero_point, int32_t lo, int32_t hi) {
  const float sum = fl((double)product + residual);
  const double bounded =
      std::min(std::max<double>(sum, lo - zero_point), (double)(hi - zero_point));
  return (int32_t)round_half_even(bounded) + zero_point;
}

int32_t saturating_rounding_doubling_high_mul(int32_t a, int32_t b) {
  if (a == b && a == std::numeric_limits<int32_t>::min())
    return std::numeric_limits<int32_t>::max();
  const int64_t ab = (int64_t)a * b;
  const int32_t nudge = ab >= 0 ? (1 << 30) : (1 - (1 << 30));
  return (int32_t)((ab + nudge) / (1ll << 31));
}

int32_t rounding_divide_by_pot(int32_t x, int exponent) {
  const int32_t mask = (int32_t)((1ll << exponent) - 1);
  const int32_t remainder = x & mask, threshold = (mask >> 1) + (x < 0 ? 1 : 0);
  return (x >> exponent) + (remainder > threshold ? 1 : 0);
}

int32_t multiply_by_quantized_multiplier(int32_t x, int32_t multiplier, int32_t shift) {
  const int left = shift > 0 ? shift : 0, right = shift > 0 ? 0 : -shift;
  return rounding_divide_by_pot(
      saturating_rounding_doubling_high_mul((int32_t)(x * (1ll << left)), multiplier), right);
}

void quantize_multiplier(double factor, int32_t* multiplier, int32_t* shift) {
  if (factor == 0) {
    *multiplier = *shift = 0;
    return;
  }
  int exponent;
  const double fraction = std::frexp(factor, &exponent);
  int64_t fixed = (int64_t)std::round(fraction * (1ll << 31));
  if (fixed == 1ll << 31) {
    fixed /= 2;
    ++exponent;
  }
  if (exponent < -31) exponent = 0, fixed = 0;
  *multiplier = (int32_t)fixed;
  *shift = exponent;
}

int64_t multiply_s16(int64_t acc, int32_t multiplier, int32_t shift) {
  const int64_t reduced =
      multiplier >= 0x7fff0000 ? 0x7fff : (int64_t{multiplier} + 0x8000) / 0x10000;
  const int64_t divisor = int64_t{1} << (15 - shift), sum = acc * reduced + divisor / 2;
  return sum / divisor - (sum % divisor < 0 ? 1 : 0);  // towards minus infinity
}

int64_t tflite_add(int32_t product, int32_t residual, const TfliteAdd& a) {
  const int32_t shifted1 = (product - a.product_zero_point) * (1 << 20),
                shifted2 = (residual - a.residual_zero_point) * (1 << 20);
  const int32_t scaled1 =
      multiply_by_quantized_multiplier(shifted1, a.product_multiplier, a.product_shift);
  const int32_t scaled2 =
      multiply_by_quantized_multiplier(shifted2, a.residual_multiplier, a.residual_shift);
  return multiply_by_quantized_multiplier(scaled1 + scaled2, a.dst_multiplier, a.dst_shift);
}

namespace {

constexpr float kSmallestRange = 0x1p-100f;

QuantizedRow zeros(size_t depth, float scale) { return {std::vector<int32_t>(depth, 0), scale, 0}; }

bool all_finite(const float* row, size_t depth) {
  return std::all_of(row, row + depth, [](float x) { return std::isfinite(x); });
}

QuantizedRow quantize(const float* row, size_t depth, float scale, int32_t zero_point, int32_t lo,
                      int32_t hi) {
  QuantizedRow out = {{}, scale, zero_point};
  for (size_t i = 0; i < depth; ++i)
    out.values.push_back(
        (int32_t)clamped(round_half_even(fl((double)row[i] / scale)) + zero_point, lo, hi));
  return out;
}

}  // namespace

int32_t quantize_static(float x, float scale, int32_t zero_point, octet_type type) {
  const int32_t least = type == OCTET_U8 ? 0 : -128;
  if (std::isnan(x)) return zero_point;
  const float steps = std::min(std::max(fl((double)x / scale), -1000.0f), 1000.0f);
  return (int32_t)clamped(round_half_even(steps) + zero_point, least, least + 255);
}

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
  const float range = fl((double)hi - lo);
  if (std::isinf(range)) return zeros(depth, std::numeric_limits<float>::quiet_NaN());
  if (range < kSmallestRange) return zeros(depth, 1);
  const float scale = fl(range / 255.0);
  const int32_t zero_point = (int32_t)clamped(round_half_even(-fl((double)lo / scale)), 0, 255);
  return quantize(row, depth, scale, zero_point, 0, 255);
}

// ---- accumulators

void multiply_row(size_t n, size_t k, const int32_t* lhs, const int32_t* rhs, int64_t* acc) {
  for (size_t i = 0; i < k; ++i)
    for (size_t j = 0; j < n; ++j) acc[j] += int64_t{lhs[i]} * rhs[i * n + j];
}

namespace {

int64_t out_size(size_t in, size_t before, size_t after, size_t kernel, size_t stride,
                 size_t dilation, bool transposed, size_t output_padding) {
  const int64_t i = (int64_t)in, pads = (int64_t)(before + after),
                reach = (int64_t)(dilation * (kernel - 1) + 1);
  const int64_t s = (int64_t)stride;
  if (transposed) return (i - 1) * s + reach - pads + (int64_t)output_padding;
  return i + pads < reach ? 0 : (i + pads - reach) / s + 1;
}

// One pixel of the input and one of the output that meet in one tap.
void add_products(const octet_conv2d_shape& s, const int32_t* pixel, const int32_t* taps,
                  int64_t* acc) {
  const size_t in = s.in_channels / s.groups, out = s.out_channels / s.groups,
               filter = s.kernel_h * s.kernel_w * in;
  for (size_t o = 0; o < s.out_channels; ++o) {
    const int32_t* const l = pixel + o / out * in;
    int64_t sum = 0;
    for (size_t i = 0; i < in; ++i) sum += l[i] * taps[o * filter + i];
    acc[o] += sum;
  }
}

}  // namespace

ConvSizes::ConvSizes(const octet_conv2d_shape& s, size_t run_batch, size_t run_h, size_t run_w)
    : batch(run_batch),
      in_h(run_h),
      in_w(run_w),
      out_h(out_size(run_h, s.pad_top, s.pad_bottom, s.kernel_h, s.stride_h, s.dilation_h,
                     s.transposed, s.output_padding_h)),
      out_w(out_size(run_w, s.pad_left, s.pad_right, s.kernel_w, s.stride_w, s.dilation_w,
                     s.transposed, s.output_padding_w)) {}

// A plain convolution walks the output and gathers, a transposed one walks the input and scatters:
// two definitions, not one turned around.
void convolve(const octet_conv2d_shape& s, const ConvSizes& z, const int32_t* lhs,
              const int32_t* filter, int64_t* acc) {
  const size_t out_h = (size_t)z.out_h, out_w = (size_t)z.out_w;
  const size_t walk_h = s.transposed ? z.in_h : out_h, walk_w = s.transposed ? z.in_w : out_w;
  const size_t other_h = s.transposed ? out_h : z.in_h, other_w = s.transposed ? out_w : z.in_w;
  for (size_t b = 0; b < z.batch; ++b)
    for (size_t y = 0; y < walk_h; ++y)
      for (size_t x = 0; x < walk_w; ++x)
        for (size_t ky = 0; ky < s.kernel_h; ++ky)
          for (size_t kx = 0; kx < s.kernel_w; ++kx) {
            // Unsigned: positions before the tensor wrap to far beyond it.
            const size_t other_y = y * s.stride_h + ky * s.dilation_h - s.pad_top,
                         other_x = x * s.stride_w + kx * s.dilation_w - s.pad_left;
            if (other_y >= other_h || other_x >= other_w) continue;
            const size_t walked = (b * walk_h + y) * walk_w + x,
                         other = (b * other_h + other_y) * other_w + other_x;
            add_products(s, lhs + (s.transposed ? walked : other) * s.in_channels,
                         filter + (ky * s.kernel_w + kx) * (s.in_channels / s.groups),
                         acc + (s.transposed ? other : walked) * s.out_channels);
          }
}

// ---- outputs

namespace {

struct Bounds {
  int32_t lo, hi;
};

// Either rounding is the same on both sides of zero.
int32_t steps_to(double bound, double scale, octet_requant requant) {
  const double steps = std::min(fl(bound / scale), 1e6f);
  return (int32_t)(requant == OCTET_REQUANT_FLOAT ? std::nearbyint(steps) : round_half_away(steps));
}

// The bounds of an integer tensor of dst's type.
Bounds integer_bounds(const octet_gemm_desc& d, octet_activation activation, double scale,
                      int32_t zero, float clamp_min, float clamp_max) {
  const bool s16 = d.dst_type == OCTET_S16;
  const int32_t least = s16                      ? -32768
                        : d.dst_type == OCTET_U8 ? 0
                                                 : -128,
                most = least + (s16 ? 65535 : 255);
  const auto steps = [&](double bound) { return steps_to(bound, scale, d.epilogue.requant); };
  switch (activation) {
    case OCTET_ACTIVATION_NONE: break;
    case OCTET_ACTIVATION_RELU: return {zero, most};
    case OCTET_ACTIVATION_RELU6: return {zero, std::min(most, zero + steps(6))};
    case OCTET_ACTIVATION_RELU_N1_TO_1:
      return {std::max(least, zero - steps(1)), std::min(most, zero + steps(1))};
    case OCTET_ACTIVATION_CLAMP: return {(int32_t)clamp_min, (int32_t)clamp_max};
  }
  return {least, most};
}

// The product of float mode after its own activation, in steps of dst.
float bounded_product(const octet_epilogue& e, float product) {
  const double infinity = std::numeric_limits<double>::infinity(), scale = e.dst_scale;
  double lo = -infinity, hi = infinity;
  switch (e.product_activation) {
    case OCTET_ACTIVATION_NONE: break;
    case OCTET_ACTIVATION_RELU: lo = 0; break;
    case OCTET_ACTIVATION_RELU6: lo = 0, hi = fl(6 / scale); break;
    case OCTET_ACTIVATION_RELU_N1_TO_1: lo = fl(-1 / scale), hi = fl(1 / scale); break;
    case OCTET_ACTIVATION_CLAMP: lo = e.product_clamp_min, hi = e.product_clamp_max; break;
  }
  return (float)std::min(std::max<double>(product, lo), hi);
}

uint32_t expected_f32(const octet_epilogue& e, size_t n, float scaled) {
  float value = e.bias_f32 ? fl((double)scaled + e.bias_f32[n]) : scaled;
  const auto at_least = [&](float bound) { value = value < bound ? bound : value; };
  const auto at_most = [&](float bound) { value = value > bound ? bound : value; };
  switch (e.activation) {
    case OCTET_ACTIVATION_NONE: break;
    case OCTET_ACTIVATION_RELU: at_least(0); break;
    case OCTET_ACTIVATION_RELU6: at_least(0), at_most(6); break;
    case OCTET_ACTIVATION_CLAMP: at_least(e.clamp_min), at_most(e.clamp_max); break;
    case OCTET_ACTIVATION_RELU_N1_TO_1: at_least(-1), at_most(1); break;
  }
  uint32_t bits = 0x7fc00000;
  if (!std::isnan(value)) std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

int64_t expected_tflite(const octet_gemm_desc& d, size_t n, int32_t acc, int32_t residual) {
  const octet_epilogue& e = d.epilogue;
  const size_t channel = e.multiplier_count == 1 ? 0 : n;
  const int32_t product =
      multiply_by_quantized_multiplier(acc, e.multipliers[channel], e.shifts[channel]);
  const octet_residual& r = e.residual;
  if (!r.type) return product;
  const Bounds bounds =
      integer_bounds(d, e.product_activation, (double)e.product_scale, r.intermediate_zero_point,
                     e.product_clamp_min, e.product_clamp_max);
  const int64_t intermediate =
      clamped(int64_t{product} + r.intermediate_zero_point, bounds.lo, bounds.hi);
  return tflite_add((int32_t)intermediate, residual,
                    {r.intermediate_zero_point, r.product_multiplier, r.product_shift, r.zero_point,
                     r.residual_multiplier, r.residual_shift, r.dst_multiplier, r.dst_shift});
}

}  // namespace

uint32_t expected_output(const octet_gemm_desc& d, size_t n, const float* lhs_scale, double acc,
                         int32_t residual) {
  const octet_epilogue& e = d.epilogue;
  if (d.dst_type == OCTET_S32) return (uint32_t)(int64_t)acc;
  float scale = 1;
  if (e.requant == OCTET_REQUANT_FLOAT) scale = e.scales[e.scale_count == 1 ? 0 : n];
  if (lhs_scale) scale = fl((double)(*lhs_scale) * scale);
  const float product = fl((double)fl((double)acc) * scale);
  if (d.dst_type == OCTET_F32) return expected_f32(e, n, product);
  const Bounds bounds = integer_bounds(d, e.activation, (double)e.dst_scale, e.dst_zero_point,
                                       e.clamp_min, e.clamp_max);
  int64_t out;
  if (e.requant == OCTET_REQUANT_FLOAT) {
    const float added =
        e.residual.type ? fl((double)(residual - e.residual.zero_point) * e.residual.scale) : 0;
    out = quantize_sum(bounded_product(e, product), added, e.dst_zero_point, bounds.lo, bounds.hi);
  } else if (e.requant == OCTET_REQUANT_DOUBLE) {
    const double value = round_half_away(acc * e.factors[e.factor_count == 1 ? 0 : n]);
    out =
        (int64_t)std::min<double>(std::max<double>(value + e.dst_zero_point, bounds.lo), bounds.hi);
  } else if (d.dst_type == OCTET_S16) {
    const size_t channel = e.multiplier_count == 1 ? 0 : n;
    const int32_t multiplier = e.multipliers[channel];
    out = clamped(multiply_s16((int64_t)acc, multiplier, multiplier ? e.shifts[channel] : 0),
                  bounds.lo, bounds.hi);
  } else {
    out = clamped(expected_tflite(d, n, (int32_t)(int64_t)acc, residual) + e.dst_zero_point,
                  bounds.lo, bounds.hi);
  }
  if (d.dst_type == OCTET_S16) return (uint16_t)out;
  const uint8_t byte = (uint8_t)out;
  return e.lut ? e.lut[byte] : byte;
}

}  // namespace octet_test
