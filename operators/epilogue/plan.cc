// SPDX-License-Identifier: Apache-2.0
// Works out the parameters of an epilogue: residual, zero points and clamps.
#include "operators/common/check.h"
#include "operators/epilogue/builder.h"

namespace octet {
namespace {

octet_status check_tflite_scale(int32_t multiplier, int32_t shift, const char* name,
                                octet_error* error) {
  if ((multiplier == 0 || multiplier >= 1 << 30) && shift >= -31 && shift <= 0) return OCTET_OK;
  return fail(
      error, OCTET_BAD_SCALE,
      "desc.epilogue.residual.%s: multiplier %d, shift %d; the multiplier must be 0 or in [2^30, "
      "2^31), the shift in [-31, 0]",
      name, (int)multiplier, (int)shift);
}

struct Interval {
  float lo, hi;
};

// The bounds of an activation as real numbers. CLAMP has its own bounds, in steps of the output.
Interval interval_of(octet_activation activation) {
  const float infinity = __builtin_inff();
  switch (activation) {
    case OCTET_ACTIVATION_RELU: return {0, infinity};
    case OCTET_ACTIVATION_RELU6: return {0, 6};
    case OCTET_ACTIVATION_RELU_N1_TO_1: return {-1, 1};
    case OCTET_ACTIVATION_NONE:
    case OCTET_ACTIVATION_CLAMP: break;
  }
  return {-infinity, infinity};
}

// An activation with the fields that it needs, and their names.
struct Activation {
  octet_activation kind;
  float min, max;      // of OCTET_ACTIVATION_CLAMP
  float scale;         // of the tensor that it bounds
  const char* prefix;  // desc.epilogue.{prefix}clamp_min
  const char* scale_name;
};

// A bound in steps of the output, rounded half to even in float mode, else half away from zero.
// Bounds that no output reaches become +-65536.
int32_t steps_to(float bound, float scale, octet_requant requant) {
  if (bound == 0) return 0;
  const float steps = bound / scale;
  if (!(steps > -65536 && steps < 65536)) return bound < 0 ? -65536 : 65536;
  if (requant != OCTET_REQUANT_FLOAT) return (int32_t)((double)steps + (bound < 0 ? -0.5 : 0.5));
  return (int32_t)((steps + 12582912.0f) - 12582912.0f);
}

octet_status check_bounds(const Activation& a, octet_error* error) {
  if (a.kind == OCTET_ACTIVATION_CLAMP && a.min == 0 && a.max == 0)
    return fail(error, OCTET_BAD_CLAMP,
                "desc.epilogue.%sclamp_min and desc.epilogue.%sclamp_max are both 0: "
                "OCTET_ACTIVATION_CLAMP needs its bounds",
                a.prefix, a.prefix);
  const bool in_steps = interval_of(a.kind).hi < __builtin_inff();
  return in_steps ? check_scale(a.scale, a.scale_name, kScalar, error) : OCTET_OK;
}

// The bounds as floats, in steps of a.scale.
octet_status float_bounds(const Activation& a, Interval* bounds, octet_error* error) {
  OCTET_TRY(check_bounds(a, error));
  *bounds = interval_of(a.kind);
  if (bounds->hi < __builtin_inff()) *bounds = {bounds->lo / a.scale, bounds->hi / a.scale};
  if (a.kind == OCTET_ACTIVATION_CLAMP) *bounds = {a.min, a.max};
  if (bounds->lo <= bounds->hi) return OCTET_OK;
  return fail(error, OCTET_BAD_CLAMP,
              "desc.epilogue.%sclamp_min = %g, desc.epilogue.%sclamp_max = %g: not an interval",
              a.prefix, (double)a.min, a.prefix, (double)a.max);
}

// The bounds as integers of a type with a zero point.
octet_status integer_bounds(const Activation& a, octet_requant requant, octet_type type,
                            int32_t zero_point, int32_t* lo, int32_t* hi, octet_error* error) {
  OCTET_TRY(check_bounds(a, error));
  *lo = least(type);
  *hi = most(type);
  if (a.kind != OCTET_ACTIVATION_CLAMP) {
    const Interval interval = interval_of(a.kind);
    const int32_t from = zero_point + steps_to(interval.lo, a.scale, requant),
                  to = zero_point + steps_to(interval.hi, a.scale, requant);
    *lo = from > *lo ? from : *lo;
    *hi = to < *hi ? to : *hi;
    return OCTET_OK;
  }
  if (!(a.min >= (float)*lo && a.max <= (float)*hi && a.min <= a.max) ||
      a.min != (float)(int32_t)a.min || a.max != (float)(int32_t)a.max)
    return fail(
        error, OCTET_BAD_CLAMP,
        "desc.epilogue.%sclamp_min = %g, desc.epilogue.%sclamp_max = %g: not an interval of "
        "integers within %d..%d",
        a.prefix, (double)a.min, a.prefix, (double)a.max, (int)*lo, (int)*hi);
  *lo = (int32_t)a.min;
  *hi = (int32_t)a.max;
  return OCTET_OK;
}

octet_status plan_clamp(EpilogueBuilder* builder) {
  const octet_epilogue& e = builder->desc;
  octet_error* error = builder->error;
  Epilogue& f = builder->plan;
  Activation a = {e.activation, e.clamp_min, e.clamp_max,
                  e.dst_scale,  "",          "desc.epilogue.dst_scale"};
  if (builder->dst_type == OCTET_F32) {
    a.scale = 1;
    Interval bounds;
    OCTET_TRY(float_bounds(a, &bounds, error));
    f.lo_f32 = bounds.lo;
    f.hi_f32 = bounds.hi;
    return OCTET_OK;
  }
  OCTET_TRY(check_zero_point(e.dst_zero_point, builder->dst_type, "desc.epilogue.dst_zero_point",
                             kScalar, error));
  f.zero_point = e.dst_zero_point;
  OCTET_TRY(integer_bounds(a, e.requant, builder->dst_type, f.zero_point, &f.lo, &f.hi, error));
  f.lo_f32 = (float)(f.lo - f.zero_point);
  f.hi_f32 = (float)(f.hi - f.zero_point);
  return OCTET_OK;
}

octet_status plan_residual(EpilogueBuilder* builder) {
  const octet_epilogue& e = builder->desc;
  const octet_residual& r = e.residual;
  octet_error* error = builder->error;
  Epilogue& f = builder->plan;
  if (!r.type) return OCTET_OK;
  const bool tflite = e.requant == OCTET_REQUANT_TFLITE;
  const Activation product = {
      e.product_activation, e.product_clamp_min,
      e.product_clamp_max,  tflite ? e.product_scale : e.dst_scale,
      "product_",           tflite ? "desc.epilogue.product_scale" : "desc.epilogue.dst_scale"};
  f.has_residual = true;
  f.residual_type = element_type_of(r.type);
  OCTET_TRY(
      check_zero_point(r.zero_point, r.type, "desc.epilogue.residual.zero_point", kScalar, error));
  f.residual_zero_point = r.zero_point;
  if (!tflite) {
    OCTET_TRY(check_scale(r.scale, "desc.epilogue.residual.scale", kScalar, error));
    f.residual_scale = r.scale;
    f.clamps_product = e.product_activation != OCTET_ACTIVATION_NONE;
    Interval bounds;
    OCTET_TRY(float_bounds(product, &bounds, error));
    f.product_lo_f32 = bounds.lo;
    f.product_hi_f32 = bounds.hi;
    return OCTET_OK;
  }
  OCTET_TRY(check_zero_point(r.intermediate_zero_point, builder->dst_type,
                             "desc.epilogue.residual.intermediate_zero_point", kScalar, error));
  OCTET_TRY(check_tflite_scale(r.product_multiplier, r.product_shift, "product", error));
  OCTET_TRY(check_tflite_scale(r.residual_multiplier, r.residual_shift, "residual", error));
  OCTET_TRY(check_tflite_scale(r.dst_multiplier, r.dst_shift, "dst", error));
  OCTET_TRY(integer_bounds(product, e.requant, builder->dst_type, r.intermediate_zero_point,
                           &f.product_lo, &f.product_hi, error));
  f.intermediate_zero_point = r.intermediate_zero_point;
  f.product_lo -= r.intermediate_zero_point;
  f.product_hi -= r.intermediate_zero_point;
  f.product_scale = {r.product_multiplier, r.product_shift};
  f.residual_tflite = {r.residual_multiplier, r.residual_shift};
  f.sum_scale = {r.dst_multiplier, r.dst_shift};
  return OCTET_OK;
}

}  // namespace

octet_status plan_epilogue(EpilogueBuilder* builder) {
  if (builder->dst_type == OCTET_S32) return OCTET_OK;
  OCTET_TRY(plan_residual(builder));
  return plan_clamp(builder);
}

}  // namespace octet
