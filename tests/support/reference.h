// SPDX-License-Identifier: Apache-2.0
// States the numeric contract of DESIGN.md once more, slowly and from its text or from the
// published formulas it names. It shares nothing with the library but the structs of its public
// header. A product of two floats is exact in double, and a sum, a quotient or such a product that
// is rounded to double and then to float is rounded right (double has more than twice float's
// bits), so `fl` of a double is the contract's single rounding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "octet/octet.h"

namespace octet_test {

inline float fl(double value) { return (float)value; }
int64_t round_half_even(double value);
// MinGW's round() makes 1 of the number below a half.
double round_half_away(double value);
int64_t clamped(int64_t value, int64_t lo, int64_t hi);

// ---- float mode

// fl(fl(float(acc) * scale) + residual), rounded half to even within [lo - zero_point, hi -
// zero_point], + zero_point.
int32_t requantize(int64_t acc, float scale, float residual, int32_t zero_point, int32_t lo,
                   int32_t hi);
// Starts from fl(fl(float(acc) * scale)), after the product's activation, if any
int32_t quantize_sum(float product, float residual, int32_t zero_point, int32_t lo, int32_t hi);

// ---- TensorFlow Lite's reference kernels, default (double-rounding) build: gemmlowp/fixedpoint
// and kernels/internal/common.h

int32_t saturating_rounding_doubling_high_mul(int32_t a, int32_t b);
int32_t rounding_divide_by_pot(int32_t x, int exponent);
int32_t multiply_by_quantized_multiplier(int32_t x, int32_t multiplier, int32_t shift);
void quantize_multiplier(double factor, int32_t* multiplier, int32_t* shift);

// MultiplyByQuantizedMultiplier of a 64-bit accumulator (16x8), by its published formula, in
// integers that do not wrap
int64_t multiply_s16(int64_t acc, int32_t multiplier, int32_t shift);

struct TfliteAdd {
  int32_t product_zero_point, product_multiplier, product_shift;
  int32_t residual_zero_point, residual_multiplier, residual_shift;
  int32_t dst_multiplier, dst_shift;
};
// The sum without the output's zero point and clamp
int64_t tflite_add(int32_t product, int32_t residual, const TfliteAdd& add);

// ---- quantization of an f32 row on the fly

struct QuantizedRow {
  std::vector<int32_t> values;
  float scale;  // NaN if the row holds NaN or infinity
  int32_t zero_point;
};
// One value by a static scale and zero point, to OCTET_S8 or OCTET_U8; NaN becomes the zero point
int32_t quantize_static(float x, float scale, int32_t zero_point, octet_type type);
QuantizedRow quantize_symmetric(const float* row, size_t depth);
QuantizedRow quantize_asymmetric(const float* row, size_t depth);  // ONNX DynamicQuantizeLinear

// ---- from operands without zero points to accumulators without bias

// acc[n] += sum over k of lhs[k] * rhs[k][n], for one row.
void multiply_row(size_t n, size_t k, const int32_t* lhs, const int32_t* rhs, int64_t* acc);

// The sizes of one run of a convolution, by the formulas of octet.h.
struct ConvSizes {
  ConvSizes(const octet_conv2d_shape& shape, size_t batch, size_t in_h, size_t in_w);
  size_t batch, in_h, in_w;
  int64_t out_h, out_w;  // below 1: no output
};

// acc[batch][out_h][out_w][out_channels] += lhs[batch][in_h][in_w][in_channels] *
// filter[out_channels][kernel_h][kernel_w][in_channels / groups].
void convolve(const octet_conv2d_shape& shape, const ConvSizes& sizes, const int32_t* lhs,
              const int32_t* filter, int64_t* acc);

// ---- from accumulators to outputs, by the fields that octet_gemm_desc and octet_conv2d_desc share

// The bits of one output. lhs_scale: the row's, if it comes with the run; else null. acc: an
// integer, or the sum of scale blocks.
uint32_t expected_output(const octet_gemm_desc& desc, size_t n, const float* lhs_scale, double acc,
                         int32_t residual);

}  // namespace octet_test
