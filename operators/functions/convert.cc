// SPDX-License-Identifier: Apache-2.0
// octet_quantize_create and octet_dequantize_create: between f32 and 8 or 16 bits.
#include "dispatch/tables/elementwise.h"
#include "kernels/core/strict_float.h"
#include "operators/common/check.h"
#include "operators/functions/conversion.h"
#include "operators/functions/function.h"

namespace octet {
namespace {

template <typename To>
constexpr auto run_quantize = run_conversion<float, To, ConvertPlan, &ConvertPlan::quantize>;
template <typename From>
constexpr auto run_dequantize = run_conversion<From, float, ConvertPlan, &ConvertPlan::dequantize>;

Rounding rounding_of(octet_arithmetic arithmetic) {
  return arithmetic == OCTET_ARITHMETIC_TFLITE    ? Rounding::kAway
         : arithmetic == OCTET_ARITHMETIC_XNNPACK ? Rounding::kXnnpack
                                                  : Rounding::kEven;
}

octet_status create_conversion(const octet_quantize_desc* given, bool to_float,
                               octet_function** function, octet_error* error) {
  CallerStruct<octet_quantize_desc> desc;
  OCTET_TRY(begin(given, function, &desc, error));
  const octet_quantized& q = desc->quantized;
  OCTET_TRY(check_quantized_or_s16(q, "desc.quantized", error));
  OCTET_TRY(check_arithmetic(desc->arithmetic, error));
  if (!to_float) OCTET_TRY(check_arithmetic_of_s16(q.type, desc->arithmetic, error));
  if (desc->reserved) return fail(error, OCTET_UNSUPPORTED, "desc.reserved must be 0");
  const Rounding rounding = rounding_of(desc->arithmetic);
  const bool inverts = !to_float && rounding == Rounding::kXnnpack;
  if (inverts && q.scale < 0x1p-126f)
    return fail(error, OCTET_BAD_SCALE,
                "desc.quantized.scale is %g; XNNPACK multiplies by its reciprocal, which must be "
                "finite",
                (double)q.scale);
  TierId tier_id;
  OCTET_TRY(choose_tier(desc->max_isa, &tier_id, error));
  const ElementwiseOps& ops = elementwise_of(tier_id);
  FunctionBuilder<ConvertPlan> builder = {};
  const uint8_t flip = to_float && q.type == OCTET_S8 ? 0x80 : 0;
  const bool s16 = q.type == OCTET_S16;
  builder.plan = {s16 ? ops.quantize_s16 : ops.quantize[(int)rounding],
                  s16 ? ops.dequantize_s16 : ops.dequantize,
                  inverts ? 1 / q.scale : q.scale,
                  q.zero_point + flip,
                  least(q.type),
                  most(q.type),
                  flip};
  builder.function =
      to_float ? elementwise_function(q.type, OCTET_F32,
                                      s16 ? run_dequantize<int16_t> : run_dequantize<uint8_t>)
               : elementwise_function(OCTET_F32, q.type,
                                      s16 ? run_quantize<int16_t> : run_quantize<uint8_t>);
  return make_function(builder, desc->allocator, function, error);
}

}  // namespace
}  // namespace octet

octet_status octet_quantize_create(const octet_quantize_desc* desc, octet_function** function,
                                   octet_error* error) {
  return octet::create_conversion(desc, false, function, error);
}

octet_status octet_dequantize_create(const octet_quantize_desc* desc, octet_function** function,
                                     octet_error* error) {
  return octet::create_conversion(desc, true, function, error);
}
