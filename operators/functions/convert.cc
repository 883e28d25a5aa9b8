// octet_quantize_create and octet_dequantize_create: between f32 and 8 or 16 bits.
#include "dispatch/tables/elementwise.h"
#include "kernels/core/strict_float.h"
#include "operators/common/check.h"
#include "operators/functions/conversion.h"
#include "operators/functions/function.h"

namespace octet {
namespace {

octet_status check_shapes(const void*, const FunctionShapes& s, octet_error* error) {
  const octet_function_tensor& out = s.output;
  return check_sizes_of(input_name(0), s.inputs[0], out.h, out.w, out.channels, error);
}

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
  if (desc->arithmetic < OCTET_ARITHMETIC_STANDARD ||
      desc->arithmetic > OCTET_ARITHMETIC_ONNXRUNTIME)
    return fail(error, OCTET_UNKNOWN_ENUM, "desc.arithmetic is %d, not an octet_arithmetic",
                (int)desc->arithmetic);
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
  octet_function& f = builder.function;
  f.types[0] = to_float ? q.type : OCTET_F32, f.output_type = to_float ? OCTET_F32 : q.type;
  f.input_count = 1;
  f.check = check_shapes;
  f.cycles = 1;
  f.network.kernel_h = 1;
  f.network.run = s16 ? (to_float ? run_dequantize<int16_t> : run_quantize<int16_t>)
                      : (to_float ? run_dequantize<uint8_t> : run_quantize<uint8_t>);
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
