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

octet_status plan_clamp(Draft* draft) {
  const octet_gemm_desc& d = draft->desc;
  const octet_epilogue& e = d.epilogue;
  octet_error* error = draft->error;
  Finish& f = draft->finish;
  const float infinity = __builtin_inff();
  if (e.activation == OCTET_ACTIVATION_CLAMP && e.clamp_min == 0 && e.clamp_max == 0)
    return fail(error, OCTET_BAD_CLAMP,
                "desc.epilogue.clamp_min and desc.epilogue.clamp_max are both 0: "
                "OCTET_ACTIVATION_CLAMP needs its bounds");
  if (d.dst_type == OCTET_F32) {
    f.lo_f32 = e.activation == OCTET_ACTIVATION_NONE    ? -infinity
               : e.activation == OCTET_ACTIVATION_CLAMP ? e.clamp_min
                                                        : 0;
    f.hi_f32 = e.activation == OCTET_ACTIVATION_RELU6   ? 6
               : e.activation == OCTET_ACTIVATION_CLAMP ? e.clamp_max
                                                        : infinity;
    if (!(f.lo_f32 <= f.hi_f32))
      return fail(error, OCTET_BAD_CLAMP,
                  "desc.epilogue.clamp_min = %g, desc.epilogue.clamp_max = %g: not an interval",
                  (double)e.clamp_min, (double)e.clamp_max);
    return OCTET_OK;
  }
  OCTET_TRY(check_zero_point(e.dst_zero_point, d.dst_type, "desc.epilogue.dst_zero_point", kScalar,
                             error));
  f.zero_point = e.dst_zero_point;
  f.lo = least(d.dst_type);
  f.hi = most(d.dst_type);
  switch (e.activation) {
    case OCTET_ACTIVATION_NONE: break;
    case OCTET_ACTIVATION_RELU6: {
      OCTET_TRY(check_scale(e.dst_scale, "desc.epilogue.dst_scale", kScalar, error));
      const float six = 6.0f / e.dst_scale;
      if (six < 256) {
        // Half to even; TFLite rounds this bound half away from zero.
        const int32_t rounded = e.requant == OCTET_REQUANT_TFLITE
                                    ? (int32_t)((double)six + 0.5)
                                    : (int32_t)((six + 12582912.0f) - 12582912.0f);
        const int32_t hi = e.dst_zero_point + rounded;
        f.hi = hi < f.hi ? hi : f.hi;
      }
      f.lo = e.dst_zero_point;
      break;
    }
    case OCTET_ACTIVATION_RELU: f.lo = e.dst_zero_point; break;
    case OCTET_ACTIVATION_CLAMP:
      if (!(e.clamp_min >= (float)f.lo && e.clamp_max <= (float)f.hi &&
            e.clamp_min <= e.clamp_max) ||
          e.clamp_min != (float)(int32_t)e.clamp_min || e.clamp_max != (float)(int32_t)e.clamp_max)
        return fail(error, OCTET_BAD_CLAMP,
                    "desc.epilogue.clamp_min = %g, desc.epilogue.clamp_max = %g: not an interval "
                    "of integers within %d..%d",
                    (double)e.clamp_min, (double)e.clamp_max, (int)f.lo, (int)f.hi);
      f.lo = (int32_t)e.clamp_min;
      f.hi = (int32_t)e.clamp_max;
      break;
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
