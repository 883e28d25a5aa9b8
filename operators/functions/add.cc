// SPDX-License-Identifier: Apache-2.0
// octet_add_create and octet_sub_create: the numbers of sums in each arithmetic. Facts from
// tensorflow/lite/kernels/add.cc, XNNPACK's src/microparams-init.c and ONNX Runtime's
// onnxruntime/core/mlas/lib/qladd.cpp.
#include "dispatch/tables/elementwise.h"
#include "kernels/core/strict_float.h"
#include "kernels/generic/functions/fused.h"
#include "kernels/generic/round.h"
#include "octet/helpers.h"
#include "operators/functions/binary.h"
#include "operators/functions/fit.h"

namespace octet {
namespace {

// The scales of both inputs relative to the output's.
struct Ratios {
  float a, b;
  explicit Ratios(const octet_add_desc& d)
      : a(d.a.scale / d.output.scale), b(d.b.scale / d.output.scale) {}
  float largest() const { return a > b ? a : b; }
  float smallest() const { return a < b ? a : b; }
};

octet_status plan_tflite(const octet_add_desc& d, BinaryPlan* p, octet_error* error) {
  octet_residual r;
  OCTET_TRY(octet_tflite_add(d.a.scale, d.b.scale, d.output.scale, &r, error));
  p->multiplier[0] = r.product_multiplier, p->shift[0] = -r.product_shift;
  p->multiplier[1] = r.residual_multiplier, p->shift[1] = -r.residual_shift;
  p->multiplier[2] = r.dst_multiplier, p->shift[2] = -r.dst_shift;
  return OCTET_OK;
}

// TensorFlow Lite shifts s16 values left by 15 bits, not by 20: as if the output's scale were 2^5
// times smaller. Tiny scales of outputs have no room for that.
octet_status plan_tflite_s16(const octet_add_desc& d, BinaryPlan* p, octet_error* error) {
  const Ratios ratio(d);
  if (!(ratio.largest() < 0x1p14f))
    return fail(error, OCTET_BAD_SCALE,
                "desc: the larger input scale is %g of the output's; of 16 bits TensorFlow Lite "
                "takes less than 2^14",
                (double)ratio.largest());
  const bool tiny = d.output.scale < 0x1p-100f;
  octet_add_desc moved = d;
  if (tiny)
    moved.a.scale *= 32, moved.b.scale *= 32;
  else
    moved.output.scale *= 1 / 32.0f;
  return plan_tflite(moved, p, error);
}

int32_t bits_of(float x) {
  int32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}

octet_status plan_xnnpack(const octet_add_desc& d, BinaryPlan* p, octet_error* error) {
  const Ratios ratio(d);
  if (!(ratio.largest() >= 0x1p-10f && ratio.largest() < 0x1p8f))
    return fail(error, OCTET_BAD_SCALE,
                "desc: the larger input scale is %g of the output's; XNNPACK takes 2^-10 to 2^8",
                (double)ratio.largest());
  // The larger factor takes 21 bits. All numbers are doubled until the shift is one of add_fixed's.
  const int32_t exponent = (bits_of(ratio.largest()) >> 23) - 127, shift = 20 - exponent,
                doubled = shift < kFixedLow ? kFixedLow - shift : 0;
  const float power = (float)((int64_t)1 << shift);
  p->multiplier[0] = round_half_even(ratio.a * power) * (1 << doubled);
  p->multiplier[1] = round_half_even(ratio.b * power) * (1 << doubled);
  p->offset = 1 << (shift + doubled - 1);
  p->shift[2] = shift + doubled;
  return OCTET_OK;
}

octet_status plan_onnxruntime(const octet_add_desc& d, BinaryPlan* p, bool* far,
                              octet_error* error) {
  const Ratios ratio(d);
  constexpr float kLeast = 0x1p-100f, kMost = 0x1p100f;
  if (!(ratio.smallest() >= kLeast && ratio.largest() <= kMost))
    return fail(error, OCTET_BAD_SCALE,
                "desc: the input scales are %g and %g of the output's; they must be within 2^-100 "
                "to 2^100",
                (double)ratio.a, (double)ratio.b);
  const float zero[] = {(float)d.a.zero_point, (float)d.b.zero_point, (float)d.output.zero_point};
  p->scale[0] = ratio.a, p->scale[1] = ratio.b;
  p->fixed = zero[2] - fused<true>(zero[0], ratio.a, ratio.b * zero[1]);
  p->zero[0] = p->flip[0], p->zero[1] = p->flip[1];
  // All terms are multiples of 2^-23 of the smallest power of two among 1 and both ratios, and
  // below 2^10 of the largest: within the 53 bits of a double if these are 2^19 apart.
  const float smallest = ratio.smallest() < 1 ? ratio.smallest() : 1;
  const float largest = ratio.largest() > 1 ? ratio.largest() : 1;
  *far = !(largest < smallest * 0x1p18f);
  return OCTET_OK;
}

// Makes a sum a difference: the subtrahend is the plan's b, or its a where these are exchanged.
void subtract(BinaryPlan* p) {
  const int i = p->swaps ? 0 : 1;
  p->negate[i] = -1;
  p->scale[i] = -p->scale[i];
}

// Takes add_fixed in place of a slower body, where it gives the same bytes. common: the plan
// without an arithmetic's numbers.
void hasten(const octet_add_desc& d, bool subtracts, PairsBody fixed, const BinaryPlan& common,
            BinaryPlan* plan) {
  if (plan->body == fixed) return;
  const double scale = (double)d.output.scale;
  SumToFit sum = {{(double)d.a.scale / scale, (double)d.b.scale / scale}, *plan};
  if (subtracts) sum.ratio[!common.swaps] *= -1;
  BinaryPlan fitted = common;
  fitted.body = fixed;
  if (fit_sum(sum, &fitted)) *plan = fitted;
}

octet_status create_sum(const octet_add_desc* given, bool subtracts, octet_function** function,
                        octet_error* error) {
  CallerStruct<octet_add_desc> desc;
  OCTET_TRY(begin(given, function, &desc, error));
  octet_add_desc d = *desc;
  FunctionBuilder<BinaryPlan> builder;
  TierId tier_id;
  OCTET_TRY(start_binary(&d, &builder, &tier_id, error));
  const ElementwiseOps& ops = elementwise_of(tier_id);
  const PairsBody fixed = add_fixed_of(tier_id);
  BinaryPlan& plan = builder.plan;
  const BinaryPlan common = plan;
  const bool s16 = d.output.type == OCTET_S16;
  bool far = false;
  switch (d.arithmetic) {
    case OCTET_ARITHMETIC_TFLITE:
      if (s16) {
        OCTET_TRY(plan_tflite_s16(d, &plan, error));
        plan.body = ops.add_s16;
        break;
      }
      OCTET_TRY(plan_tflite(d, &plan, error));
      plan.body = ops.add_tflite;
      break;
    case OCTET_ARITHMETIC_XNNPACK:
      OCTET_TRY(plan_xnnpack(d, &plan, error));
      if (subtracts) plan.multiplier[!plan.swaps] *= -1;
      plan.body = fixed;
      break;
    case OCTET_ARITHMETIC_ONNXRUNTIME:
      if (subtracts)
        return fail(error, OCTET_UNSUPPORTED, "desc.arithmetic: ONNX Runtime has no QLinearSub");
      OCTET_TRY(plan_onnxruntime(d, &plan, &far, error));
      plan.body = far ? elementwise_of(kPortableTier).add_fused_far : ops.add_fused;
      break;
    default: plan.body = ops.add_float;
  }
  if (subtracts) subtract(&plan);
  if (!s16) hasten(d, subtracts, fixed, common, &plan);
  return make_function(builder, d.allocator, function, error);
}

}  // namespace
}  // namespace octet

octet_status octet_add_create(const octet_add_desc* desc, octet_function** function,
                              octet_error* error) {
  return octet::create_sum(desc, false, function, error);
}

octet_status octet_sub_create(const octet_sub_desc* desc, octet_function** function,
                              octet_error* error) {
  return octet::create_sum(desc, true, function, error);
}
