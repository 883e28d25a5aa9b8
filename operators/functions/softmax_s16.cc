// SPDX-License-Identifier: Apache-2.0
// Creates softmax functions of 16-bit numbers in TensorFlow Lite's arithmetic. Facts from
// tensorflow/lite/kernels/activations.cc, kernels/internal/common.h and
// kernels/internal/reference/softmax.h.
#include "operators/functions/softmax_s16.h"

#include "octet/helpers.h"
#include "operators/functions/exponential.h"
#include "operators/functions/image_function.h"

namespace octet {
namespace {

constexpr int kPieces = 512;
constexpr size_t kMostChannels = (size_t)1 << 16;  // whose sum, of 15 bits each, fits 31 bits
constexpr float kScaleBelow = 5;        // from 2^15 * kStep on, scaled differences leave int32
constexpr double kStep = 10.0 / 65535;  // exponentials end at exp(-10)

double exponential_at(double x) { return exponential(x * 10 - 10); }
double reciprocal_at(double x) { return 1 / (1 + x); }

int32_t round_up_halves(double x) { return (int32_t)(x + 0.5); }
int32_t round_halves_away(double x) { return (int32_t)(x < 0 ? x - 0.5 : x + 0.5); }

// Of a curve from 0 to 1, in 2^15ths. An end is moved by half of the distance between the straight
// piece and the curve in the middle of the piece, each of them rounded.
void make_curve(double (*value)(double x), S16Curve* curve) {
  const auto at = [=](double i) { return value(i / kPieces) * 0x1p15; };
  for (int i = 0; i <= kPieces; ++i) {
    int32_t end = round_up_halves(at(i));
    if (i < kPieces) {
      const int32_t line = round_up_halves((at(i + 1) + end) / 2),
                    middle = round_up_halves(at(i + 0.5));
      end -= round_halves_away((line - middle) / 2.0);
    }
    curve->ends[i] = (int16_t)(end < INT16_MAX ? end : INT16_MAX);
  }
}

}  // namespace

octet_status create_softmax_of_s16(const octet_softmax_desc& desc,
                                   void (*kernel)(const S16Softmax& f, const ImageCall& call),
                                   octet_function** function, octet_error* error) {
  const octet_image_input& in = desc.input;
  OCTET_TRY(check_arithmetic_of_s16(in.values.type, desc.arithmetic, error));
  if (desc.output.type != OCTET_S16)
    return fail(error, OCTET_UNSUPPORTED,
                "desc.output.type is %d; a softmax of OCTET_S16 gives OCTET_S16 only",
                (int)desc.output.type);
  if (desc.output.scale != 0x1p-15f)
    return fail(error, OCTET_BAD_SCALE,
                "desc.output.scale is %g; a softmax of 16 bits gives steps of 2^-15",
                (double)desc.output.scale);
  const float scale = in.values.scale * desc.beta;
  if (!(scale < kScaleBelow))
    return fail(error, OCTET_BAD_SCALE,
                "desc: input.values.scale * beta is %g; of 16 bits it must be less than %g",
                (double)scale, (double)kScaleBelow);
  if (in.size.channels > kMostChannels)
    return fail(error, OCTET_BAD_SIZE,
                "desc.input.size.channels is %zu; a softmax of 16 bits takes at most 2^16",
                in.size.channels);
  S16Softmax numbers = {};
  OCTET_TRY(
      octet_quantize_multiplier((double)scale / kStep, &numbers.multiplier, &numbers.shift, error));
  make_curve(exponential_at, &numbers.exponentials);
  make_curve(reciprocal_at, &numbers.reciprocals);
  return make_function(image_function(in, {in.size, in.size}, kLineByLine, numbers, kernel),
                       in.allocator, function, error);
}

}  // namespace octet
