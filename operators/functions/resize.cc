// SPDX-License-Identifier: Apache-2.0
// Creates functions that resize.
#include "operators/functions/resize.h"

#include "operators/functions/image_function.h"

namespace octet {
namespace {

constexpr size_t kLargestSide = (size_t)1 << 20;  // places times 1024 fit 32 bits

octet_status check_side(size_t side, const char* name, octet_error* error) {
  if (side && side <= kLargestSide) return OCTET_OK;
  return fail(error, OCTET_BAD_SIZE, "desc.%s is %zu; it must be in 1..2^20", name, side);
}

octet_status check_enums(const octet_resize_desc& d, octet_error* error) {
  OCTET_TRY(check_arithmetic(d.arithmetic, error));
  if (d.interpolation != OCTET_INTERPOLATION_NEAREST &&
      d.interpolation != OCTET_INTERPOLATION_BILINEAR)
    return fail(error, OCTET_UNKNOWN_ENUM, "desc.interpolation is %d, not an octet_interpolation",
                (int)d.interpolation);
  if (d.coordinates < OCTET_COORDINATES_ASYMMETRIC ||
      d.coordinates > OCTET_COORDINATES_PYTORCH_HALF_PIXEL)
    return fail(error, OCTET_UNKNOWN_ENUM, "desc.coordinates is %d, not an octet_coordinates",
                (int)d.coordinates);
  if (d.nearest < OCTET_NEAREST_PIXEL_TFLITE || d.nearest > OCTET_NEAREST_PIXEL_CEIL)
    return fail(error, OCTET_UNKNOWN_ENUM, "desc.nearest is %d, not an octet_nearest_pixel",
                (int)d.nearest);
  const bool bilinear = d.interpolation == OCTET_INTERPOLATION_BILINEAR;
  if (bilinear && d.nearest != OCTET_NEAREST_PIXEL_TFLITE)
    return fail(error, OCTET_UNSUPPORTED,
                "desc.nearest is not 0; OCTET_INTERPOLATION_BILINEAR has no use for it");
  const bool onnx = bilinear ? d.arithmetic == OCTET_ARITHMETIC_STANDARD ||
                                   d.arithmetic == OCTET_ARITHMETIC_ONNXRUNTIME
                             : d.nearest != OCTET_NEAREST_PIXEL_TFLITE;
  if (!onnx && d.coordinates == OCTET_COORDINATES_PYTORCH_HALF_PIXEL)
    return fail(error, OCTET_UNSUPPORTED,
                "desc.coordinates is OCTET_COORDINATES_PYTORCH_HALF_PIXEL, which only ONNX has");
  return OCTET_OK;
}

// The output has the input's scale and zero point but with one arithmetic: others would be ignored.
octet_status check_output(const octet_resize_desc& d, octet_error* error) {
  const octet_quantized &in = d.input.values, &out = d.output;
  if (d.interpolation == OCTET_INTERPOLATION_BILINEAR && d.arithmetic == OCTET_ARITHMETIC_STANDARD)
    return check_quantized(in, out, error);
  const bool nothing = !out.type && out.scale == 0 && !out.zero_point;
  if (nothing || (out.type == in.type && out.scale == in.scale && out.zero_point == in.zero_point))
    return OCTET_OK;
  return fail(error, OCTET_UNSUPPORTED,
              "desc.output is neither 0 nor desc.input.values; only a bilinear resize in "
              "OCTET_ARITHMETIC_STANDARD requantizes");
}

PlaceKind place_kind(const octet_resize_desc& d) {
  if (d.interpolation == OCTET_INTERPOLATION_NEAREST) return PlaceKind::kNearest;
  switch (d.arithmetic) {
    case OCTET_ARITHMETIC_TFLITE:
      return d.input.values.type == OCTET_U8 ? PlaceKind::kTfliteFloat : PlaceKind::kTfliteInt;
    case OCTET_ARITHMETIC_XNNPACK: return PlaceKind::kXnnpack;
    default: return PlaceKind::kOnnx;
  }
}

ResizeKind kind_of(PlaceKind places, octet_arithmetic arithmetic, octet_type type) {
  switch (places) {
    case PlaceKind::kNearest: return ResizeKind::kNearest;
    case PlaceKind::kTfliteInt:
      return type == OCTET_S16 ? ResizeKind::kTfliteS16 : ResizeKind::kTflite;
    case PlaceKind::kTfliteFloat: return ResizeKind::kTfliteFloat;
    case PlaceKind::kXnnpack: return ResizeKind::kXnnpack;
    default:
      return arithmetic == OCTET_ARITHMETIC_STANDARD ? ResizeKind::kStandard : ResizeKind::kOnnx;
  }
}

bool is_coarse(const ResizePlace* places, size_t count) {
  for (size_t i = 0; i < count; ++i)
    for (const float weight : places[i].weights)
      if (weight * 64 != (float)(int32_t)(weight * 64)) return false;
  return true;
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_resize_create(const octet_resize_desc* given, octet_function** function,
                                 octet_error* error) {
  CallerStruct<octet_resize_desc> desc;
  OCTET_TRY(begin(given, function, &desc, error));
  const octet_image_input& in = desc->input;
  ImageFunctions functions;
  const bool nearest = desc->interpolation == OCTET_INTERPOLATION_NEAREST;
  OCTET_TRY(
      check_input(in, nearest ? InputTypes::kAny : InputTypes::kBytesAndS16, &functions, error));
  OCTET_TRY(check_side(in.size.h, "input.size.h", error));
  OCTET_TRY(check_side(in.size.w, "input.size.w", error));
  OCTET_TRY(check_side(desc->out_h, "out_h", error));
  OCTET_TRY(check_side(desc->out_w, "out_w", error));
  const octet_image_size out = {desc->out_h, desc->out_w, in.size.channels};
  const size_t element = element_bytes(in.values.type);
  OCTET_TRY(check_size(out, element, "out", error));
  OCTET_TRY(check_enums(*desc, error));
  if (!nearest) OCTET_TRY(check_arithmetic_of_s16(in.values.type, desc->arithmetic, error));
  OCTET_TRY(check_output(*desc, error));
  const PlaceKind places = place_kind(*desc);
  const ResizeAxis lines = {in.size.h, out.h, desc->coordinates, desc->nearest, places},
                   pixels = {in.size.w, out.w, desc->coordinates, desc->nearest, places};
  Resize numbers = {};
  numbers.is_signed = in.values.type == OCTET_S8;
  numbers.kind = kind_of(places, desc->arithmetic, in.values.type);
  numbers.element = element;
  numbers.scale = in.values.scale, numbers.zero_point = in.values.zero_point;
  numbers.out_scale = desc->output.scale, numbers.out_zero_point = desc->output.zero_point;
  auto builder = image_function(in, {in.size, out}, kWholeImage, numbers, functions.resize);
  builder.bytes_behind = (out.h + out.w) * sizeof(ResizePlace);
  OCTET_TRY(make_function(builder, in.allocator, function, error));
  octet_network_function& made = (*function)->network;
  auto* const plan = (ImagePlan<Resize>*)made.context;
  auto* const found = (ResizePlace*)((uint8_t*)plan + round_up(sizeof *plan, kAlignment));
  find_places(lines, found);
  find_places(pixels, found + out.h);
  plan->numbers.coarse = is_coarse(found, out.h + out.w);
  plan->numbers.lines = found, plan->numbers.pixels = found + out.h;
  const octet_network_function read = within_limits(lines_of(found, in.size.h, out.h));
  made.kernel_h = read.kernel_h, made.stride_h = read.stride_h;
  made.repeat_h = read.repeat_h, made.pad_top = read.pad_top;
  return OCTET_OK;
}
