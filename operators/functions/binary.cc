// Checks the descriptors and sizes of functions of two tensors.
#include "operators/functions/binary.h"

#include "operators/common/check.h"

namespace octet {
namespace {

octet_status check_shapes(const void* plan, const FunctionShapes& s, octet_error* error) {
  const BinaryPlan& p = *(const BinaryPlan*)plan;
  const octet_function_tensor& out = s.output;
  for (size_t i = 0; i < 2; ++i) {
    const octet_function_tensor& in = s.inputs[i];
    const bool one_pixel = p.one_pixel && i != p.swaps;
    const bool one_channel = one_pixel && in.channels == 1;
    OCTET_TRY(check_sizes_of(input_name(i), in, one_pixel ? 1 : out.h, one_pixel ? 1 : out.w,
                             one_channel ? 1 : out.channels, error));
  }
  return OCTET_OK;
}

}  // namespace

octet_status start_binary(octet_add_desc* d, FunctionBuilder<BinaryPlan>* builder, Isa* isa,
                          octet_error* error) {
  OCTET_TRY(check_quantized(d->a, "desc.a", error));
  OCTET_TRY(check_quantized(d->b, "desc.b", error));
  OCTET_TRY(check_quantized(d->output, "desc.output", error));
  if (d->arithmetic < OCTET_ARITHMETIC_STANDARD || d->arithmetic > OCTET_ARITHMETIC_ONNXRUNTIME)
    return fail(error, OCTET_UNKNOWN_ENUM, "desc.arithmetic = %d is no octet_arithmetic",
                (int)d->arithmetic);
  if (d->broadcast < OCTET_BROADCAST_NONE || d->broadcast > OCTET_BROADCAST_B)
    return fail(error, OCTET_UNKNOWN_ENUM, "desc.broadcast = %d is no octet_broadcast",
                (int)d->broadcast);
  if (d->arithmetic != OCTET_ARITHMETIC_STANDARD &&
      (d->a.type != d->output.type || d->b.type != d->output.type))
    return fail(error, OCTET_UNSUPPORTED,
                "desc: types differ, which only OCTET_ARITHMETIC_STANDARD takes");
  if (d->reserved) return fail(error, OCTET_UNSUPPORTED, "desc.reserved must be 0");
  int32_t bounds[2];
  OCTET_TRY(check_bounds(d->output, d->least, d->most, bounds, error));
  OCTET_TRY(choose_tier(d->max_isa, isa, error));
  octet_function& f = builder->function;
  f = {};
  f.types[0] = d->a.type, f.types[1] = d->b.type, f.output_type = d->output.type;
  f.input_count = 2;
  f.check = check_shapes;
  f.cycles = 0.5;
  // A pixel is one line for all, which no kernel of lines describes.
  f.network.kernel_h = d->broadcast ? 0 : 1;
  BinaryPlan& p = builder->plan;
  p = {};
  p.one_pixel = d->broadcast;
  p.swaps = d->broadcast == OCTET_BROADCAST_A;
  if (p.swaps) {
    const octet_quantized a = d->a;
    d->a = d->b, d->b = a;
  }
  const octet_quantized* const all[] = {&d->a, &d->b, &d->output};
  for (int i = 0; i < 3; ++i) {
    p.flip[i] = all[i]->type == OCTET_S8 ? 0x80 : 0;
    p.zero[i] = all[i]->zero_point + p.flip[i];
    p.scale[i] = all[i]->scale;
  }
  p.least = bounds[0] + p.flip[2];
  p.most = bounds[1] + p.flip[2];
  return OCTET_OK;
}

}  // namespace octet
