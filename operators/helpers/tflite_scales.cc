// SPDX-License-Identifier: Apache-2.0
// Computes TFLite's fixed-point numbers from real ones, in the precision of TFLite's own
// preparation. Facts from tensorflow/lite: kernels/kernel_util.cc, kernels/fully_connected.cc,
// kernels/add.cc, kernels/internal/quantization_util.cc.
#include "octet/helpers.h"
#include "operators/common/check.h"

namespace octet {
namespace {

struct Multiplier {
  int32_t multiplier, shift;
};

// Quantizes a factor that is not negative. False from 2^30 on.
bool quantize(double factor, Multiplier* m) {
  uint64_t bits;
  __builtin_memcpy(&bits, &factor, sizeof bits);
  const int exponent = (int)(bits >> 52 & 0x7ff);
  // factor = fraction * 2^shift with the fraction in [0.5, 1): its 53 bits, rounded half up to 31.
  int64_t q = (int64_t)(((bits & 0xfffffffffffffull) | 0x10000000000000ull) + (1ull << 21)) >> 22;
  int32_t shift = exponent - 1022;
  if (q == (int64_t)1 << 31) {
    q >>= 1;
    ++shift;
  }
  // as in TFLite: too small to matter
  if (factor == 0 || exponent == 0 || shift < -31) q = shift = 0;
  *m = {(int32_t)q, shift};
  return shift <= 30;
}

// Each conversion and each operation rounds once, in the order in which TFLite writes them.
double factor_in_double(float lhs, float rhs, float dst) {
  return (double)lhs * (double)rhs / (double)dst;
}
double factor_in_float(float lhs, float rhs, float dst) {
  const float product = lhs * rhs;
  return (double)product / (double)dst;
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_quantize_multiplier(double factor, int32_t* multiplier, int32_t* shift,
                                       octet_error* error) {
  if (!multiplier || !shift)
    return fail(error, OCTET_NULL_POINTER, "%s is null", multiplier ? "shift" : "multiplier");
  if (!(factor >= 0) || factor == __builtin_inf())
    return fail(error, OCTET_BAD_SCALE, "factor is %g; it must be finite and not negative", factor);
  Multiplier m;
  if (!quantize(factor, &m))
    return fail(error, OCTET_BAD_SCALE, "factor is %g; it must be below 2^30", factor);
  *multiplier = m.multiplier;
  *shift = m.shift;
  return OCTET_OK;
}

octet_status octet_tflite_multipliers(octet_tflite_op op, octet_type type, float lhs_scale,
                                      const float* rhs_scales, size_t count, float dst_scale,
                                      int32_t* multipliers, int32_t* shifts, octet_error* error) {
  if (op != OCTET_TFLITE_CONVOLUTION && op != OCTET_TFLITE_FULLY_CONNECTED)
    return fail(error, OCTET_UNKNOWN_ENUM, "op is %d, not an octet_tflite_op", (int)op);
  if (!is_8bit(type) && type != OCTET_S16)
    return fail(error, OCTET_UNKNOWN_ENUM, "type is %d; it must be OCTET_S8, OCTET_U8 or OCTET_S16",
                (int)type);
  if (!rhs_scales || !multipliers || !shifts)
    return fail(error, OCTET_NULL_POINTER, "%s is null",
                !rhs_scales    ? "rhs_scales"
                : !multipliers ? "multipliers"
                               : "shifts");
  if (count == 0) return fail(error, OCTET_BAD_SIZE, "count is 0");
  if (count > PTRDIFF_MAX / sizeof(float))
    return fail(error, OCTET_BAD_SIZE, "count = %zu: the scales leave size_t", count);
  if (type == OCTET_U8 && count > 1)
    return fail(error, OCTET_UNSUPPORTED,
                "count is %zu; TFLite's uint8 operators have one weight scale per tensor", count);
  OCTET_TRY(check_scale(lhs_scale, "lhs_scale", kScalar, error));
  OCTET_TRY(check_scale(dst_scale, "dst_scale", kScalar, error));
  const bool in_float = op == OCTET_TFLITE_FULLY_CONNECTED ? count == 1 : type == OCTET_U8;
  const auto factor = in_float ? factor_in_float : factor_in_double;
  Multiplier m;
  for (size_t i = 0; i < count; ++i) {
    OCTET_TRY(check_scale(rhs_scales[i], "rhs_scales", i, error));
    const double f = factor(lhs_scale, rhs_scales[i], dst_scale);
    if (!quantize(f, &m))
      return fail(error, OCTET_BAD_SCALE,
                  "rhs_scales[%zu]: lhs scale * rhs scale / dst scale is %g; it must be below 2^30",
                  i, f);
  }
  for (size_t i = 0; i < count; ++i) {
    quantize(factor(lhs_scale, rhs_scales[i], dst_scale), &m);
    multipliers[i] = m.multiplier;
    shifts[i] = m.shift;
  }
  return OCTET_OK;
}

octet_status octet_tflite_add(float product_scale, float residual_scale, float dst_scale,
                              octet_residual* residual, octet_error* error) {
  if (!residual) return fail(error, OCTET_NULL_POINTER, "residual is null");
  OCTET_TRY(check_scale(product_scale, "product_scale", kScalar, error));
  OCTET_TRY(check_scale(residual_scale, "residual_scale", kScalar, error));
  OCTET_TRY(check_scale(dst_scale, "dst_scale", kScalar, error));
  // Both inputs, shifted left by 20, get one scale: twice the larger one.
  const float largest = product_scale > residual_scale ? product_scale : residual_scale;
  const double unit = (double)(2.0f * largest);
  const double sum = unit / (double)(1048576.0f * dst_scale);
  Multiplier product, addend, dst;
  quantize((double)product_scale / unit, &product);
  quantize((double)residual_scale / unit, &addend);
  if (!quantize(sum, &dst) || dst.shift > 0)
    return fail(error, OCTET_BAD_SCALE,
                "dst_scale is %g; TFLite's ADD needs more than 2^-19 of the larger input scale, %g",
                (double)dst_scale, (double)largest);
  residual->product_multiplier = product.multiplier;
  residual->product_shift = product.shift;
  residual->residual_multiplier = addend.multiplier;
  residual->residual_shift = addend.shift;
  residual->dst_multiplier = dst.multiplier;
  residual->dst_shift = dst.shift;
  return OCTET_OK;
}
