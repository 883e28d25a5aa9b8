// The epilogue's parameters: residual, zero point, clamp.
#include "dispatch/check.h"
#include "dispatch/gemm_draft.h"

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

octet_status plan_residual(Draft* draft) {
  const octet_residual& r = draft->desc.epilogue.residual;
  octet_error* error = draft->error;
  Finish& f = draft->finish;
  if (!r.type) return OCTET_OK;
  f.has_residual = true;
  f.residual_u8 = r.type == OCTET_U8;
  OCTET_TRY(
      check_zero_point(r.zero_point, r.type, "desc.epilogue.residual.zero_point", kScalar, error));
  f.residual_zero_point = r.zero_point;
  if (draft->desc.epilogue.requant == OCTET_REQUANT_FLOAT) {
    OCTET_TRY(check_scale(r.scale, "desc.epilogue.residual.scale", kScalar, error));
    f.residual_scale = r.scale;
    return OCTET_OK;
  }
  OCTET_TRY(check_zero_point(r.intermediate_zero_point, draft->desc.dst_type,
                             "desc.epilogue.residual.intermediate_zero_point", kScalar, error));
  OCTET_TRY(check_tflite_scale(r.product_multiplier, r.product_shift, "product", error));
  OCTET_TRY(check_tflite_scale(r.residual_multiplier, r.residual_shift, "residual", error));
  OCTET_TRY(check_tflite_scale(r.dst_multiplier, r.dst_shift, "dst", error));
  f.intermediate_zero_point = r.intermediate_zero_point;
  f.product_scale = {r.product_multiplier, r.product_shift};
  f.residual_tflite = {r.residual_multiplier, r.residual_shift};
  f.sum_scale = {r.dst_multiplier, r.dst_shift};
  return OCTET_OK;
}

struct Interval {
  float lo, hi;
};

// Of the real numbers; CLAMP has bounds of its own, in the output's units.
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

// A bound in steps of the output; one that no output reaches is as good as any other. Half to
// even, and in TFLite mode half away from zero.
int32_t steps_to(float bound, const octet_epilogue& e) {
  if (bound == 0) return 0;
  const float steps = bound / e.dst_scale;
  if (!(steps > -256 && steps < 256)) return bound < 0 ? -256 : 256;
  if (e.requant == OCTET_REQUANT_TFLITE) return (int32_t)((double)steps + (bound < 0 ? -0.5 : 0.5));
  return (int32_t)((steps + 12582912.0f) - 12582912.0f);
}

octet_status plan_f32_clamp(Draft* draft) {
  const octet_epilogue& e = draft->desc.epilogue;
  const Interval interval = e.activation == OCTET_ACTIVATION_CLAMP
                                ? Interval{e.clamp_min, e.clamp_max}
                                : interval_of(e.activation);
  draft->finish.lo_f32 = interval.lo;
  draft->finish.hi_f32 = interval.hi;
  if (interval.lo <= interval.hi) return OCTET_OK;
  return fail(draft->error, OCTET_BAD_CLAMP,
              "desc.epilogue.clamp_min = %g, desc.epilogue.clamp_max = %g: not an interval",
              (double)e.clamp_min, (double)e.clamp_max);
}

octet_status plan_clamp(Draft* draft) {
  const octet_gemm_desc& d = draft->desc;
  const octet_epilogue& e = d.epilogue;
  octet_error* error = draft->error;
  Finish& f = draft->finish;
  const bool clamp = e.activation == OCTET_ACTIVATION_CLAMP;
  if (clamp && e.clamp_min == 0 && e.clamp_max == 0)
    return fail(error, OCTET_BAD_CLAMP,
                "desc.epilogue.clamp_min and desc.epilogue.clamp_max are both 0: "
                "OCTET_ACTIVATION_CLAMP needs its bounds");
  if (d.dst_type == OCTET_F32) return plan_f32_clamp(draft);
  OCTET_TRY(check_zero_point(e.dst_zero_point, d.dst_type, "desc.epilogue.dst_zero_point", kScalar,
                             error));
  f.zero_point = e.dst_zero_point;
  f.lo = least(d.dst_type);
  f.hi = most(d.dst_type);
  if (clamp) {
    if (!(e.clamp_min >= (float)f.lo && e.clamp_max <= (float)f.hi && e.clamp_min <= e.clamp_max) ||
        e.clamp_min != (float)(int32_t)e.clamp_min || e.clamp_max != (float)(int32_t)e.clamp_max)
      return fail(error, OCTET_BAD_CLAMP,
                  "desc.epilogue.clamp_min = %g, desc.epilogue.clamp_max = %g: not an interval of "
                  "integers within %d..%d",
                  (double)e.clamp_min, (double)e.clamp_max, (int)f.lo, (int)f.hi);
    f.lo = (int32_t)e.clamp_min;
    f.hi = (int32_t)e.clamp_max;
  } else {
    const Interval interval = interval_of(e.activation);
    if (interval.hi < __builtin_inff())
      OCTET_TRY(check_scale(e.dst_scale, "desc.epilogue.dst_scale", kScalar, error));
    const int32_t lo = e.dst_zero_point + steps_to(interval.lo, e),
                  hi = e.dst_zero_point + steps_to(interval.hi, e);
    f.lo = lo > f.lo ? lo : f.lo;
    f.hi = hi < f.hi ? hi : f.hi;
  }
  f.lo_f32 = (float)(f.lo - f.zero_point);
  f.hi_f32 = (float)(f.hi - f.zero_point);
  return OCTET_OK;
}

}  // namespace

octet_status plan_finish(Draft* draft) {
  if (draft->desc.dst_type == OCTET_S32) return OCTET_OK;
  OCTET_TRY(plan_residual(draft));
  return plan_clamp(draft);
}

}  // namespace octet
