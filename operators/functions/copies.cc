// SPDX-License-Identifier: Apache-2.0
// Creates the functions that only copy: PAD, SLICE, reshaping, transposing between layouts.
#include <string.h>

#include "operators/functions/image_function.h"

namespace octet {
namespace {

octet_status add_sides(size_t before, size_t in, size_t after, const char* side, size_t* out,
                       octet_error* error) {
  if (!__builtin_add_overflow(before, in, out) && !__builtin_add_overflow(*out, after, out) &&
      *out <= PTRDIFF_MAX)
    return OCTET_OK;
  return fail(error, OCTET_BAD_SIZE, "desc.before.%s is %zu and desc.after.%s %zu: too large", side,
              before, side, after);
}

octet_status check_part(size_t first, size_t size, size_t in, const char* side,
                        octet_error* error) {
  if (size && first < in && size <= in - first) return OCTET_OK;
  return fail(error, OCTET_BAD_SIZE,
              "desc.first.%s is %zu and desc.size.%s %zu; they must be a part of %zu", side, first,
              side, size, in);
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_pad_create(const octet_pad_desc* given, octet_function** function,
                              octet_error* error) {
  CallerStruct<octet_pad_desc> desc;
  OCTET_TRY(begin(given, function, &desc, error));
  const octet_image_input& in = desc->input;
  ImageFunctions functions;
  const octet_image_size &before = desc->before, &after = desc->after;
  OCTET_TRY(check_input(in, InputTypes::kAny, &functions, error));
  const size_t element = element_bytes(in.values.type);
  octet_image_size out;
  OCTET_TRY(add_sides(before.h, in.size.h, after.h, "h", &out.h, error));
  OCTET_TRY(add_sides(before.w, in.size.w, after.w, "w", &out.w, error));
  OCTET_TRY(add_sides(before.channels, in.size.channels, after.channels, "channels", &out.channels,
                      error));
  OCTET_TRY(check_size(out, element, "after", error));
  if (element < sizeof desc->value)
    OCTET_TRY(check_zero_point(desc->value, in.values.type, "desc.value", kScalar, error));
  Place numbers = {
      (ptrdiff_t)before.h, (ptrdiff_t)before.w, (ptrdiff_t)before.channels, element, {}};
  const int16_t word = (int16_t)desc->value;
  if (element == 1)
    numbers.fill[0] = (uint8_t)desc->value;
  else if (element == sizeof word)
    memcpy(numbers.fill, &word, sizeof word);
  else
    memcpy(numbers.fill, &desc->value, sizeof desc->value);
  const octet_network_function lines = {nullptr, nullptr, 1, 1, 1, before.h};
  return make_function(image_function(in, {in.size, out}, lines, numbers, functions.place),
                       in.allocator, function, error);
}

octet_status octet_slice_create(const octet_slice_desc* given, octet_function** function,
                                octet_error* error) {
  CallerStruct<octet_slice_desc> desc;
  OCTET_TRY(begin(given, function, &desc, error));
  const octet_image_input& in = desc->input;
  ImageFunctions functions;
  const octet_image_size &first = desc->first, &size = desc->size;
  OCTET_TRY(check_input(in, InputTypes::kAny, &functions, error));
  const size_t element = element_bytes(in.values.type);
  OCTET_TRY(check_part(first.h, size.h, in.size.h, "h", error));
  OCTET_TRY(check_part(first.w, size.w, in.size.w, "w", error));
  OCTET_TRY(check_part(first.channels, size.channels, in.size.channels, "channels", error));
  // A network knows no lines that come later: those from the output's own on are read
  const octet_network_function lines = {nullptr, nullptr, first.h + 1, 1, 1, 0};
  const Place numbers = {
      -(ptrdiff_t)first.h, -(ptrdiff_t)first.w, -(ptrdiff_t)first.channels, element, {}};
  return make_function(image_function(in, {in.size, size}, lines, numbers, functions.place),
                       in.allocator, function, error);
}

octet_status octet_reshape_create(const octet_reshape_desc* given, octet_function** function,
                                  octet_error* error) {
  CallerStruct<octet_reshape_desc> desc;
  OCTET_TRY(begin(given, function, &desc, error));
  const octet_image_input& in = desc->input;
  const octet_image_size& size = desc->size;
  ImageFunctions functions;
  OCTET_TRY(check_input(in, InputTypes::kAny, &functions, error));
  const size_t element = element_bytes(in.values.type);
  OCTET_TRY(check_size(size, element, "size", error));
  if (size.h * size.w * size.channels != in.size.h * in.size.w * in.size.channels)
    return fail(error, OCTET_BAD_SIZE,
                "desc.size is %zu x %zu x %zu; it must have as many elements as the input, %zu x "
                "%zu x %zu",
                size.h, size.w, size.channels, in.size.h, in.size.w, in.size.channels);
  return make_function(
      image_function<Reshape>(in, {in.size, size}, kWholeImage, {element}, functions.reshape),
      in.allocator, function, error);
}

octet_status octet_transpose_create(const octet_transpose_desc* given, octet_function** function,
                                    octet_error* error) {
  CallerStruct<octet_transpose_desc> desc;
  OCTET_TRY(begin(given, function, &desc, error));
  const octet_image_input& in = desc->input;
  ImageFunctions functions;
  OCTET_TRY(check_input(in, InputTypes::kAny, &functions, error));
  const size_t element = element_bytes(in.values.type);
  if (desc->to != OCTET_NHWC && desc->to != OCTET_NCHW)
    return fail(error, OCTET_UNKNOWN_ENUM, "desc.to is %d, not an octet_layout", (int)desc->to);
  const octet_image_size planes = {in.size.channels, in.size.h * in.size.w, 1};
  const bool to_nhwc = desc->to == OCTET_NHWC;
  const ImageSizes sizes = {to_nhwc ? planes : in.size, to_nhwc ? in.size : planes};
  return make_function(
      image_function<Transpose>(in, sizes, kWholeImage, {to_nhwc, element}, functions.transpose),
      in.allocator, function, error);
}
