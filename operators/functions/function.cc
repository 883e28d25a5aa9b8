// SPDX-License-Identifier: Apache-2.0
// Shared code of all functions: their checks, the choice of a tier, and the way into a network.
#include "operators/functions/function.h"

#include "dispatch/cpu/environment.h"
#include "dispatch/select/machine.h"
#include "dispatch/tables/tiers.h"
#include "operators/common/check.h"

namespace octet {

octet_status check_sizes_of(const char* name, const octet_function_tensor& tensor, size_t h,
                            size_t w, size_t channels, octet_error* error) {
  const struct {
    const char* name;
    size_t is, wanted;
  } sizes[] = {{"h", tensor.h, h}, {"w", tensor.w, w}, {"channels", tensor.channels, channels}};
  for (const auto& size : sizes)
    if (size.is != size.wanted)
      return fail(error, OCTET_BAD_SIZE, "%s.%s is %zu, but must be %zu", name, size.name, size.is,
                  size.wanted);
  return OCTET_OK;
}

namespace {

octet_status check_same_sizes(const void*, const FunctionShapes& s, octet_error* error) {
  const octet_function_tensor& out = s.output;
  return check_sizes_of(input_name(0), s.inputs[0], out.h, out.w, out.channels, error);
}

}  // namespace

const char* input_name(size_t index) {
  static constexpr const char* kNames[] = {"args.inputs[0]", "args.inputs[1]", "args.inputs[2]",
                                           "args.inputs[3]"};
  static_assert(sizeof kNames / sizeof kNames[0] == OCTET_NETWORK_INPUTS_MAX, "name each");
  return kNames[index];
}

octet_status check_quantized(const octet_quantized& q, const char* name, octet_error* error) {
  if (!is_8bit(q.type))
    return fail(error, OCTET_UNKNOWN_ENUM, "%s.type is %d; it must be OCTET_S8 or OCTET_U8", name,
                (int)q.type);
  OCTET_TRY(check_scale(q.scale, name, kScalar, error));
  return check_zero_point(q.zero_point, q.type, name, kScalar, error);
}

octet_status check_quantized_or_s16(const octet_quantized& q, const char* name,
                                    octet_error* error) {
  if (q.type != OCTET_S16 && !is_8bit(q.type))
    return fail(error, OCTET_UNKNOWN_ENUM,
                "%s.type is %d; it must be OCTET_S8, OCTET_U8 or OCTET_S16", name, (int)q.type);
  if (q.type != OCTET_S16) return check_quantized(q, name, error);
  if (q.zero_point)
    return fail(error, OCTET_BAD_ZERO_POINT, "%s.zero_point is %d; of OCTET_S16 it must be 0", name,
                (int)q.zero_point);
  return check_scale(q.scale, name, kScalar, error);
}

octet_status check_arithmetic_of_s16(octet_type type, octet_arithmetic arithmetic,
                                     octet_error* error) {
  if (type != OCTET_S16 || arithmetic == OCTET_ARITHMETIC_TFLITE) return OCTET_OK;
  return fail(error, OCTET_UNSUPPORTED,
              "desc.arithmetic is %d; tensors of OCTET_S16 have OCTET_ARITHMETIC_TFLITE only",
              (int)arithmetic);
}

octet_status check_arithmetic(octet_arithmetic arithmetic, octet_error* error) {
  if (arithmetic >= OCTET_ARITHMETIC_STANDARD && arithmetic <= OCTET_ARITHMETIC_ONNXRUNTIME)
    return OCTET_OK;
  return fail(error, OCTET_UNKNOWN_ENUM, "desc.arithmetic is %d, not an octet_arithmetic",
              (int)arithmetic);
}

octet_status check_bounds(const octet_quantized& output, int32_t lower, int32_t upper,
                          int32_t (&bounds)[2], octet_error* error) {
  const int32_t lo = least(output.type), hi = most(output.type);
  const bool given = lower || upper;
  bounds[0] = given ? lower : lo;
  bounds[1] = given ? upper : hi;
  if (bounds[0] > bounds[1] || bounds[0] < lo || bounds[1] > hi)
    return fail(error, OCTET_BAD_CLAMP,
                "desc.least is %d and desc.most %d; they must be in order, within %d..%d",
                (int)lower, (int)upper, (int)lo, (int)hi);
  return OCTET_OK;
}

octet_status choose_tier(octet_isa max_isa, TierId* tier_id, octet_error* error) {
  const TierId most = (TierId)max_isa;
  const bool limited = max_isa != OCTET_ISA_AUTO;
  if (limited && (!find_tier((int)max_isa) || !(tiers_of_this_architecture() & mask_of(most))))
    return fail(error, OCTET_UNSUPPORTED, "desc.max_isa is %d, not a tier of this architecture",
                (int)max_isa);
  Environment environment;
  OCTET_TRY(read_environment(&environment, error));
  *tier_id =
      best_of(this_machine().cpu.tiers & (limited ? tiers_within(most) : environment.allowed));
  return OCTET_OK;
}

octet_function elementwise_function(octet_type in, octet_type out,
                                    void (*run)(void* plan, const octet_network_call* call)) {
  octet_function f = {};
  f.types[0] = in, f.output_type = out;
  f.input_count = 1;
  f.check = check_same_sizes;
  f.cycles = 1;
  f.network.kernel_h = 1;
  f.network.run = run;
  return f;
}

}  // namespace octet

using namespace octet;

void octet_function_destroy(octet_function* function) {
  if (!function) return;
  const octet_allocator allocator = function->allocator;
  allocator.release(allocator.context, function);
}

octet_status octet_function_for_network(const octet_function* function, octet_network_function* to,
                                        octet_error* error) {
  if (!function || !to)
    return fail(error, OCTET_NULL_POINTER, "%s is null", function ? "to" : "function");
  *to = function->network;
  return OCTET_OK;
}
