// SPDX-License-Identifier: Apache-2.0
// octet_mul_create: the numbers of MUL in each engine's arithmetic. Facts from
// tensorflow/lite/kernels/mul.cc, XNNPACK's src/microparams-init.c and ONNX Runtime's
// onnxruntime/core/mlas/lib/qlmul.cpp.
#include "dispatch/tables/elementwise.h"
#include "kernels/core/strict_float.h"
#include "octet/helpers.h"
#include "operators/functions/binary.h"

namespace octet {
namespace {

// A product of two differences of bytes takes 17 bits, so that it is shifted by at most 14; one of
// s16 values takes 31.
constexpr int32_t kMostLeft = 14, kMostLeftOfS16 = 0;

octet_status plan_tflite(float factor, int32_t most_left, BinaryPlan* p, octet_error* error) {
  int32_t shift;
  OCTET_TRY(octet_quantize_multiplier((double)factor, &p->multiplier[2], &shift, error));
  if (shift > most_left)
    return fail(
        error, OCTET_BAD_SCALE,
        "desc: a.scale * b.scale / output.scale is %g; TensorFlow Lite takes less than 2^%d",
        (double)factor, (int)most_left);
  p->shift[2] = -shift;
  return OCTET_OK;
}

octet_status check_factor(float factor, float least, float most, octet_error* error) {
  if (factor >= least && factor < most) return OCTET_OK;
  return fail(
      error, OCTET_BAD_SCALE,
      "desc: a.scale * b.scale / output.scale is %g; it must be at least %g and less than %g",
      (double)factor, (double)least, (double)most);
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_mul_create(const octet_mul_desc* given, octet_function** function,
                              octet_error* error) {
  CallerStruct<octet_add_desc> desc;
  OCTET_TRY(begin(given, function, &desc, error));
  octet_add_desc d = *desc;
  FunctionBuilder<BinaryPlan> builder;
  TierId tier_id;
  OCTET_TRY(start_binary(&d, &builder, &tier_id, error));
  const ElementwiseOps& ops = elementwise_of(tier_id);
  BinaryPlan& plan = builder.plan;
  const bool s16 = d.output.type == OCTET_S16;
  const float factor = d.a.scale * d.b.scale / d.output.scale;
  OCTET_TRY(check_factor(factor, 0x1p-126f, 0x1p96f, error));
  switch (d.arithmetic) {
    case OCTET_ARITHMETIC_TFLITE:
      OCTET_TRY(plan_tflite(factor, s16 ? kMostLeftOfS16 : kMostLeft, &plan, error));
      plan.body = s16 ? ops.multiply_s16 : ops.multiply_tflite;
      break;
    case OCTET_ARITHMETIC_XNNPACK:
      OCTET_TRY(check_factor(factor, 0x1p-16f, 0x1p8f, error));
      plan.scale[2] = factor;
      plan.body = ops.multiply_scaled;
      break;
    case OCTET_ARITHMETIC_ONNXRUNTIME:
      plan.scale[2] = factor;
      plan.fixed = (float)d.output.zero_point;
      plan.body = ops.multiply_scaled;
      break;
    default: plan.body = ops.multiply_float;
  }
  return make_function(builder, d.allocator, function, error);
}
