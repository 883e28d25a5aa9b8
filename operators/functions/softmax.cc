// SPDX-License-Identifier: Apache-2.0
// Creates softmax functions.
#include <float.h>

#include "operators/functions/exponential.h"
#include "operators/functions/image_function.h"
#include "operators/functions/softmax_s16.h"

namespace octet {
namespace {

octet_status check_output(const octet_softmax_desc& desc, octet_error* error) {
  const octet_quantized &in = desc.input.values, &out = desc.output;
  if (out.type != OCTET_F32) return check_quantized(in, out, error);
  if (out.scale != 0 || out.zero_point)
    return fail(error, OCTET_UNSUPPORTED, "desc.output.%s is not 0; floats are not quantized",
                out.scale != 0 ? "scale" : "zero_point");
  return check_scale(in.scale, "desc.input.values.scale", kScalar, error);
}

SoftmaxKind kind_of(const octet_softmax_desc& desc) {
  if (desc.output.type == OCTET_F32) return SoftmaxKind::kFloat;
  switch (desc.arithmetic) {
    case OCTET_ARITHMETIC_STANDARD: return SoftmaxKind::kStandard;
    case OCTET_ARITHMETIC_ONNXRUNTIME: return SoftmaxKind::kQLinear;
    default: return SoftmaxKind::kTflite;
  }
}

// ONNX Runtime's exponentials have a factor that keeps the sum of all channels within floats.
void set_qlinear(float scale, size_t channels, float out_scale, Softmax* numbers) {
  const auto log_factor = (float)logarithm(FLT_MAX / (float)channels);
  const double above = log_factor - 5.0, shift = (above > 0 ? above : 0) / (double)scale;
  for (int i = 0; i < 256; ++i)
    numbers->exponentials[i] = (float)exponential((shift - i) * (double)scale);
  const float steps = 1 / out_scale;  // from 2^24 on it is whole
  numbers->out_scale = steps < 0x1p24f ? (float)(int32_t)steps : steps;
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_softmax_create(const octet_softmax_desc* given, octet_function** function,
                                  octet_error* error) {
  CallerStruct<octet_softmax_desc> desc;
  OCTET_TRY(begin(given, function, &desc, error));
  const octet_image_input& in = desc->input;
  ImageFunctions functions;
  OCTET_TRY(check_input(in, InputTypes::kBytesAndS16, &functions, error));
  OCTET_TRY(check_output(*desc, error));
  OCTET_TRY(check_scale(desc->beta, "desc.beta", kScalar, error));
  OCTET_TRY(check_arithmetic(desc->arithmetic, error));
  if (in.values.type == OCTET_S16)
    return create_softmax_of_s16(*desc, functions.softmax_s16, function, error);
  const SoftmaxKind kind = kind_of(*desc);
  if (kind == SoftmaxKind::kQLinear && desc->beta != 1)
    return fail(error, OCTET_UNSUPPORTED, "desc.beta is not 1; ONNX Runtime's softmax has none");
  const size_t element = element_bytes(desc->output.type);
  OCTET_TRY(check_size(in.size, element, "input.size", error));
  Softmax numbers = {};
  numbers.is_signed = in.values.type == OCTET_S8;
  numbers.kind = kind;
  numbers.out_scale = desc->output.scale, numbers.out_zero_point = desc->output.zero_point;
  const float scale = -in.values.scale * desc->beta;
  for (int i = 0; i < 256; ++i)
    numbers.exponentials[i] = (float)exponential((double)(scale * (float)i));
  if (kind == SoftmaxKind::kQLinear)
    set_qlinear(in.values.scale, in.size.channels, desc->output.scale, &numbers);
  auto builder = image_function(in, {in.size, in.size}, kLineByLine, numbers, functions.softmax);
  builder.function.output_type = desc->output.type;
  return make_function(builder, in.allocator, function, error);
}
