// SPDX-License-Identifier: Apache-2.0
// Creates pools and means.
#include "octet/helpers.h"
#include "operators/functions/image_function.h"

namespace octet {
namespace {

// Sums of bytes less zero points fit 32 bits, and so do those of s16 with half of the count.
constexpr int kMostPixels = 22, kMostPixelsOfS16 = 15;  // powers of two

octet_status check_pixels(size_t h, size_t w, octet_type type, const char* name,
                          octet_error* error) {
  const int most = type == OCTET_S16 ? kMostPixelsOfS16 : kMostPixels;
  size_t pixels;
  if (!__builtin_mul_overflow(h, w, &pixels) && pixels <= (size_t)1 << most) return OCTET_OK;
  return fail(error, OCTET_BAD_SIZE, "desc.%s: %zu x %zu pixels; at most 2^%d are averaged", name,
              h, w, most);
}

AverageKind kind_of(octet_arithmetic arithmetic) {
  return arithmetic == OCTET_ARITHMETIC_ONNXRUNTIME ? AverageKind::kQLinear
         : arithmetic == OCTET_ARITHMETIC_STANDARD  ? AverageKind::kStandard
                                                    : AverageKind::kTflite;
}

octet_status check_average(const octet_average_pool_desc& desc, octet_error* error) {
  const octet_quantized &in = desc.input.values, &out = desc.output;
  OCTET_TRY(check_arithmetic(desc.arithmetic, error));
  OCTET_TRY(check_quantized(in, out, error));
  OCTET_TRY(check_arithmetic_of_s16(in.type, desc.arithmetic, error));
  if (desc.count_include_pad != 0 && desc.count_include_pad != 1)
    return fail(error, OCTET_UNKNOWN_ENUM, "desc.count_include_pad is %d, neither 0 nor 1",
                desc.count_include_pad);
  if (kind_of(desc.arithmetic) != AverageKind::kTflite) return OCTET_OK;
  if (desc.count_include_pad)
    return fail(error, OCTET_UNSUPPORTED,
                "desc.count_include_pad is 1; TFLite's arithmetic does not count padding");
  if (in.scale == out.scale && in.zero_point == out.zero_point) return OCTET_OK;
  return fail(error, OCTET_UNSUPPORTED,
              "desc.output has another scale or zero point than the input; TFLite's average pool "
              "does not requantize");
}

// A sum of n < 2^(b + 1) differences of bytes is below 2^(b + 9), one of s16 values below 2^(b +
// 16); it is shifted left by b less than the scales' ratio wants.
constexpr int32_t kMostLeft = 22, kMostLeftOfS16 = 14;

// The multiplier of a mean over n pixels: as many bits of the scales' as n leaves, divided by n.
octet_status set_tflite(const octet_mean_desc& desc, int32_t n, Mean* mean, octet_error* error) {
  int32_t multiplier, shift;
  OCTET_TRY(octet_quantize_multiplier((double)desc.input.values.scale / (double)desc.output.scale,
                                      &multiplier, &shift, error));
  const int32_t most_left = desc.output.type == OCTET_S16 ? kMostLeftOfS16 : kMostLeft;
  if (shift > most_left)
    return fail(error, OCTET_BAD_SCALE,
                "desc: input.values.scale is %g of output.scale; a mean in TFLite's arithmetic "
                "takes less than 2^%d",
                (double)desc.input.values.scale / (double)desc.output.scale, (int)most_left);
  int32_t bits = 31 - __builtin_clz((uint32_t)n);
  if (bits > 31 + shift) bits = 31 + shift;
  mean->multiplier = (int32_t)(((int64_t)multiplier << bits) / n);
  mean->shift = shift - bits;
  return OCTET_OK;
}

// Each operation rounds once to float.
void set_floats(const octet_mean_desc& desc, int32_t n, Mean* mean) {
  const float count = (float)n, scale = desc.input.values.scale, out_scale = desc.output.scale;
  if (desc.arithmetic == OCTET_ARITHMETIC_ONNXRUNTIME) {
    mean->factor = scale / (out_scale * count);
    return;
  }
  mean->factor = 1 / count * (scale / out_scale);
  mean->offset = (float)desc.output.zero_point - (float)mean->addend * mean->factor;
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_average_pool_create(const octet_average_pool_desc* given,
                                       octet_function** function, octet_error* error) {
  CallerStruct<octet_average_pool_desc> desc;
  OCTET_TRY(begin(given, function, &desc, error));
  const octet_image_input& in = desc->input;
  const octet_window& window = desc->window;
  int32_t range[2];
  octet_image_size out;
  ImageFunctions functions;
  OCTET_TRY(check_input(in, InputTypes::kBytesAndS16, &functions, error));
  OCTET_TRY(check_window(in.size, window, &out, error));
  OCTET_TRY(check_pixels(window.kernel_h, window.kernel_w, in.values.type, "window", error));
  OCTET_TRY(check_average(*desc, error));
  OCTET_TRY(check_bounds(in.values, desc->least, desc->most, range, error));
  const AveragePool numbers = {in.values.type == OCTET_S8,
                               element_bytes(in.values.type),
                               kind_of(desc->arithmetic),
                               desc->count_include_pad == 1,
                               range[0],
                               range[1],
                               in.values.zero_point,
                               desc->output.zero_point,
                               in.values.scale,
                               desc->output.scale,
                               window_of(window)};
  return make_function(
      image_function(in, {in.size, out}, lines_of(window), numbers, functions.average_pool),
      in.allocator, function, error);
}

octet_status octet_mean_create(const octet_mean_desc* given, octet_function** function,
                               octet_error* error) {
  CallerStruct<octet_mean_desc> desc;
  OCTET_TRY(begin(given, function, &desc, error));
  const octet_image_input& in = desc->input;
  int32_t range[2];
  ImageFunctions functions;
  OCTET_TRY(check_input(in, InputTypes::kBytesAndS16, &functions, error));
  OCTET_TRY(check_pixels(in.size.h, in.size.w, in.values.type, "input.size", error));
  OCTET_TRY(check_arithmetic(desc->arithmetic, error));
  if (desc->arithmetic == OCTET_ARITHMETIC_STANDARD)
    return fail(error, OCTET_UNSUPPORTED,
                "desc.arithmetic is OCTET_ARITHMETIC_STANDARD; octet_average_pool_create has it, "
                "with a window as large as the image");
  OCTET_TRY(check_quantized(in.values, desc->output, error));
  OCTET_TRY(check_arithmetic_of_s16(in.values.type, desc->arithmetic, error));
  OCTET_TRY(check_bounds(in.values, desc->least, desc->most, range, error));
  const int32_t n = (int32_t)(in.size.h * in.size.w);
  Mean mean = {};
  mean.is_signed = in.values.type == OCTET_S8;
  mean.element = element_bytes(in.values.type);
  mean.kind = desc->arithmetic == OCTET_ARITHMETIC_TFLITE    ? MeanKind::kTflite
              : desc->arithmetic == OCTET_ARITHMETIC_XNNPACK ? MeanKind::kXnnpack
                                                             : MeanKind::kQLinear;
  mean.least = range[0], mean.most = range[1];
  mean.addend = n * in.values.zero_point, mean.out_zero_point = desc->output.zero_point;
  if (desc->arithmetic == OCTET_ARITHMETIC_TFLITE)
    OCTET_TRY(set_tflite(*desc, n, &mean, error));
  else
    set_floats(*desc, n, &mean);
  const ImageSizes sizes = {in.size, {1, 1, in.size.channels}};
  return make_function(image_function(in, sizes, kWholeImage, mean, functions.mean), in.allocator,
                       function, error);
}

octet_status octet_max_pool_create(const octet_max_pool_desc* given, octet_function** function,
                                   octet_error* error) {
  CallerStruct<octet_max_pool_desc> desc;
  OCTET_TRY(begin(given, function, &desc, error));
  const octet_image_input& in = desc->input;
  int32_t range[2];
  octet_image_size out;
  ImageFunctions functions;
  OCTET_TRY(check_input(in, InputTypes::kBytesAndS16, &functions, error));
  OCTET_TRY(check_window(in.size, desc->window, &out, error));
  OCTET_TRY(check_bounds(in.values, desc->least, desc->most, range, error));
  const MaxPool numbers = {in.values.type == OCTET_S8, element_bytes(in.values.type), range[0],
                           range[1], window_of(desc->window)};
  return make_function(
      image_function(in, {in.size, out}, lines_of(desc->window), numbers, functions.max_pool),
      in.allocator, function, error);
}
