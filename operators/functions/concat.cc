// SPDX-License-Identifier: Apache-2.0
// octet_concat_create: tensors side by side along an axis, each requantized. Facts from
// tensorflow/lite/kernels/internal/reference/concatenation.h and ONNX Runtime's
// contrib_ops/cpu/quantization/qlinear_concat.cc.
#include <string.h>

#include "dispatch/select/machine.h"
#include "dispatch/tables/elementwise.h"
#include "operators/common/check.h"
#include "operators/functions/look_up.h"

namespace octet {
namespace {

struct ConcatPlan {
  size_t count, element;
  octet_axis axis;
  FunctionBody look_up;
  bool copies[OCTET_NETWORK_INPUTS_MAX];  // the input has the output's quantization
  TablePlan tables[OCTET_NETWORK_INPUTS_MAX];
};

size_t& along(octet_axis axis, octet_function_tensor& t) {
  return axis == OCTET_AXIS_H ? t.h : axis == OCTET_AXIS_W ? t.w : t.channels;
}

octet_status check_shapes(const void* plan, const FunctionShapes& s, octet_error* error) {
  const ConcatPlan& p = *(const ConcatPlan*)plan;
  octet_function_tensor out = s.output;
  const size_t whole = along(p.axis, out);
  size_t sum = 0;
  for (size_t i = 0; i < p.count; ++i) {
    octet_function_tensor in = s.inputs[i];
    along(p.axis, out) = along(p.axis, in);
    OCTET_TRY(check_sizes_of(input_name(i), in, out.h, out.w, out.channels, error));
    if (__builtin_add_overflow(sum, along(p.axis, in), &sum)) sum = SIZE_MAX;
  }
  if (sum == whole) return OCTET_OK;
  return fail(error, OCTET_BAD_SIZE,
              "args.output has %zu places along desc.axis, but the inputs have %zu", whole, sum);
}

// One line of an image.
octet_network_image line_of(const octet_network_image& image, size_t y) {
  return {octet_network_line(&image, y), image.pixel, image.line, 1, image.w, image.channels, 0, 0};
}

void copy_line(const octet_network_image& in, const octet_network_image& out, size_t element) {
  const size_t bytes = in.channels * element;
  const bool dense = in.pixel == bytes && out.pixel == bytes;
  const size_t runs = dense ? 1 : in.w, run = dense ? in.w * bytes : bytes;
  for (size_t x = 0; x < runs; ++x)
    memcpy((uint8_t*)out.data + x * out.pixel, (const uint8_t*)in.data + x * in.pixel, run);
}

void write_line(const ConcatPlan& p, size_t index, const octet_network_image& in,
                const octet_network_image& out) {
  if (p.copies[index]) return copy_line(in, out, p.element);
  octet_network_call call = {};
  call.end = 1;
  call.inputs[0] = in;
  call.output = out;
  p.look_up((void*)&p.tables[index], &call);
}

void run_concat(void* plan, const octet_network_call* call) {
  const ConcatPlan& p = *(const ConcatPlan*)plan;
  for (size_t y = call->first; y < call->end; ++y) {
    octet_network_image out = line_of(call->output, y);
    size_t above = 0;
    for (size_t i = 0; i < p.count; ++i) {
      const octet_network_image& in = call->inputs[i];
      if (p.axis == OCTET_AXIS_H) {
        if (y >= above && y - above < in.h) write_line(p, i, line_of(in, y - above), out);
        above += in.h;
        continue;
      }
      out.w = in.w, out.channels = in.channels;
      write_line(p, i, line_of(in, y), out);
      out.data = (uint8_t*)out.data +
                 (p.axis == OCTET_AXIS_W ? in.w * out.pixel : in.channels * p.element);
    }
  }
}

constexpr const char* kInputs[] = {"desc.inputs[0]", "desc.inputs[1]", "desc.inputs[2]",
                                   "desc.inputs[3]"};
static_assert(sizeof kInputs / sizeof kInputs[0] == OCTET_NETWORK_INPUTS_MAX, "name each");

// Elements that are never requantized.
bool only_copies(octet_type type) { return type == OCTET_S32 || type == OCTET_F32; }

octet_status check_types(const octet_concat_desc& d, octet_error* error) {
  if (!d.input_count || d.input_count > OCTET_NETWORK_INPUTS_MAX)
    return fail(error, OCTET_BAD_SIZE, "desc.input_count is %zu; it must be in 1..%d",
                d.input_count, OCTET_NETWORK_INPUTS_MAX);
  if (d.axis < OCTET_AXIS_H || d.axis > OCTET_AXIS_CHANNELS)
    return fail(error, OCTET_UNKNOWN_ENUM, "desc.axis is %d, not an octet_axis", (int)d.axis);
  OCTET_TRY(check_arithmetic(d.arithmetic, error));
  if (d.reserved) return fail(error, OCTET_UNSUPPORTED, "desc.reserved must be 0");
  const bool any = only_copies(d.output.type);
  if (!any) OCTET_TRY(check_quantized_or_s16(d.output, "desc.output", error));
  for (size_t i = 0; i < d.input_count; ++i) {
    if (d.inputs[i].type != d.output.type)
      return fail(error, OCTET_UNSUPPORTED, "%s.type is %d; it must be the output's, %d",
                  kInputs[i], (int)d.inputs[i].type, (int)d.output.type);
    if (!any) OCTET_TRY(check_quantized_or_s16(d.inputs[i], kInputs[i], error));
  }
  return OCTET_OK;
}

octet_status make_tables(const octet_concat_desc& d, ConcatPlan* p, octet_error* error) {
  const octet_quantized& out = d.output;
  for (size_t i = 0; i < d.input_count; ++i) {
    const octet_quantized& in = d.inputs[i];
    p->copies[i] =
        only_copies(out.type) || (in.scale == out.scale && in.zero_point == out.zero_point);
    if (p->copies[i]) continue;
    if (out.type == OCTET_S16)
      return fail(error, OCTET_UNSUPPORTED,
                  "%s has another scale than desc.output; s16 is not requantized here", kInputs[i]);
    const bool tflite =
        d.arithmetic == OCTET_ARITHMETIC_TFLITE || d.arithmetic == OCTET_ARITHMETIC_XNNPACK;
    if (tflite && out.type == OCTET_S8)
      return fail(error, OCTET_UNSUPPORTED,
                  "%s has another scale or zero point than desc.output; LiteRT does not requantize "
                  "s8 here",
                  kInputs[i]);
    uint8_t entries[256];
    requantize_concat(in, out, tflite, entries);
    p->tables[i].set(entries);
  }
  return OCTET_OK;
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_concat_create(const octet_concat_desc* given, octet_function** function,
                                 octet_error* error) {
  CallerStruct<octet_concat_desc> desc;
  OCTET_TRY(begin(given, function, &desc, error));
  OCTET_TRY(check_types(*desc, error));
  TierId tier_id;
  OCTET_TRY(choose_tier(desc->max_isa, &tier_id, error));
  FunctionBuilder<ConcatPlan> builder = {};
  ConcatPlan& plan = builder.plan;
  plan.count = desc->input_count, plan.element = element_bytes(desc->output.type);
  plan.axis = desc->axis;
  plan.look_up = look_up_of(tier_id, this_machine().cpu.features);
  OCTET_TRY(make_tables(*desc, &plan, error));
  octet_function& f = builder.function;
  for (size_t i = 0; i < plan.count; ++i) f.types[i] = desc->inputs[i].type;
  f.output_type = desc->output.type, f.input_count = plan.count;
  f.check = check_shapes;
  f.cycles = 1;
  // Along the height a line comes from another one of each input.
  f.network.kernel_h = desc->axis == OCTET_AXIS_H ? 0 : 1;
  f.network.run = run_concat;
  return make_function(builder, desc->allocator, function, error);
}
