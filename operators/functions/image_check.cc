// SPDX-License-Identifier: Apache-2.0
// Checks the fields that descriptors of image functions share.
#include "operators/functions/image_function.h"

namespace octet {

octet_status check_input(const octet_image_input& input, InputTypes types,
                         ImageFunctions* functions, octet_error* error) {
  const octet_type type = input.values.type;
  const bool any = types == InputTypes::kAny;
  if (!is_8bit(type) && type != OCTET_S16 && !(any && (type == OCTET_S32 || type == OCTET_F32)))
    return fail(error, OCTET_UNKNOWN_ENUM, "desc.input.values.type is %d; it must be %s", (int)type,
                any ? "OCTET_S8, OCTET_U8, OCTET_S16, OCTET_S32 or OCTET_F32"
                    : "OCTET_S8, OCTET_U8 or OCTET_S16");
  if (input.reserved)
    return fail(error, OCTET_UNSUPPORTED,
                "desc.input.reserved is not 0; this version has no use for it");
  OCTET_TRY(check_size(input.size, element_bytes(type), "input.size", error));
  TierId tier_id;
  OCTET_TRY(choose_tier(input.max_isa, &tier_id, error));
  *functions = image_functions_of(tier_id);
  return OCTET_OK;
}

octet_status check_size(const octet_image_size& size, size_t element, const char* name,
                        octet_error* error) {
  const size_t sides[] = {size.h, size.w, size.channels};
  const char* const names[] = {"h", "w", "channels"};
  size_t bytes = element;
  for (int i = 0; i < 3; ++i) {
    if (!sides[i]) return fail(error, OCTET_BAD_SIZE, "desc.%s.%s is 0", name, names[i]);
    if (__builtin_mul_overflow(bytes, sides[i], &bytes) || bytes > PTRDIFF_MAX)
      return fail(error, OCTET_BAD_SIZE, "desc.%s: an image of %zu x %zu x %zu leaves memory", name,
                  size.h, size.w, size.channels);
  }
  return OCTET_OK;
}

namespace {

constexpr size_t kLargest = (size_t)1 << 30;  // sums of three such numbers fit 32 bits

struct WindowAxis {
  const char *axis, *before_name, *after_name;
  size_t in, kernel, stride, before, after;
};

octet_status check_axis(const WindowAxis& a, size_t* out, octet_error* error) {
  if (!a.kernel || !a.stride || a.kernel > kLargest || a.stride > kLargest)
    return fail(error, OCTET_BAD_SIZE,
                "desc.window: kernel_%s is %zu and stride_%s %zu; they must be in 1..2^30", a.axis,
                a.kernel, a.axis, a.stride);
  if (a.before >= a.kernel || a.after >= a.kernel)
    return fail(error, OCTET_BAD_SIZE,
                "desc.window: %s is %zu and %s %zu; they must be below kernel_%s = %zu",
                a.before_name, a.before, a.after_name, a.after, a.axis, a.kernel);
  const size_t padded = a.in + a.before + a.after;
  if (a.in > kLargest || padded < a.kernel)
    return fail(error, OCTET_BAD_SIZE,
                "desc.window: kernel_%s is %zu; the padded input.size.%s is %zu", a.axis, a.kernel,
                a.axis, padded);
  *out = (padded - a.kernel) / a.stride + 1;
  return OCTET_OK;
}

}  // namespace

octet_status check_window(const octet_image_size& in, const octet_window& w, octet_image_size* out,
                          octet_error* error) {
  out->channels = in.channels;
  OCTET_TRY(check_axis(
      {"h", "pad_top", "pad_bottom", in.h, w.kernel_h, w.stride_h, w.pad_top, w.pad_bottom},
      &out->h, error));
  return check_axis(
      {"w", "pad_left", "pad_right", in.w, w.kernel_w, w.stride_w, w.pad_left, w.pad_right},
      &out->w, error);
}

octet_status check_quantized(const octet_quantized& input, const octet_quantized& output,
                             octet_error* error) {
  if (output.type != input.type)
    return fail(error, OCTET_UNSUPPORTED, "desc.output.type is %d; it must be the input's, %d",
                (int)output.type, (int)input.type);
  OCTET_TRY(check_quantized_or_s16(input, "desc.input.values", error));
  return check_quantized_or_s16(output, "desc.output", error);
}

octet_status check_image_sizes(const void* plan, const FunctionShapes& shapes, octet_error* error) {
  const ImageSizes& sizes = *(const ImageSizes*)plan;
  const octet_image_size &in = sizes.in, &out = sizes.out;
  OCTET_TRY(check_sizes_of("args.inputs[0]", shapes.inputs[0], in.h, in.w, in.channels, error));
  return check_sizes_of("args.output", shapes.output, out.h, out.w, out.channels, error);
}

}  // namespace octet
