// SPDX-License-Identifier: Apache-2.0
// Functions of one value where input or output are of 16 bits, in TensorFlow Lite's arithmetic: the
// numbers of rescaling, and the curves of LOGISTIC and TANH. Facts from tensorflow/lite/kernels/
// activations.cc, quantize.cc and kernels/internal/reference/integer_ops/logistic.h and tanh.h.
#include "operators/functions/s16.h"

#include "dispatch/tables/elementwise.h"
#include "octet/helpers.h"
#include "operators/common/check.h"
#include "operators/functions/conversion.h"
#include "operators/functions/exponential.h"
#include "operators/functions/function.h"

namespace octet {
namespace {

using Desc = octet_unary_desc;

template <typename From, typename To>
constexpr auto run_s16 = run_conversion<From, To, S16Plan, &S16Plan::body>;

octet_status check_types(const Desc& d, octet_error* error) {
  if (d.function == OCTET_UNARY_HARD_SWISH)
    return fail(
        error, OCTET_UNSUPPORTED,
        "desc.function is OCTET_UNARY_HARD_SWISH, which TensorFlow Lite has of 8 bits only");
  if (d.input.type == OCTET_U8 || d.output.type == OCTET_U8)
    return fail(error, OCTET_UNSUPPORTED,
                "desc.%s.type is OCTET_U8, which is not requantized to or from OCTET_S16",
                d.input.type == OCTET_U8 ? "input" : "output");
  return OCTET_OK;
}

// ---- rescaling

// An s16 value takes 15 bits beside its sign.
constexpr int32_t kMostLeft = 15;

octet_status scale_of(double factor, S16Scale* scale, octet_error* error) {
  int32_t shift = 0;
  const bool fits = factor < 0x1p30;
  if (fits) OCTET_TRY(octet_quantize_multiplier(factor, &scale->multiplier, &shift, error));
  if (!fits || shift > kMostLeft)
    return fail(error, OCTET_BAD_SCALE,
                "desc: input.scale is %g of output.scale, alpha included; of 16 bits it must be "
                "less than 2^%d",
                factor, (int)kMostLeft);
  scale->left = shift > 0 ? shift : 0, scale->right = shift < 0 ? -shift : 0;
  return OCTET_OK;
}

// As of 8 bits: QUANTIZE computes its factor in double, LEAKY_RELU its two in float.
octet_status plan_rescaling(const Desc& d, const ElementwiseOps& ops, S16Plan* p,
                            octet_error* error) {
  const float in = d.input.scale, out = d.output.scale;
  const bool leaky = d.function == OCTET_UNARY_LEAKY_RELU;
  p->body = leaky                       ? ops.rescale_s16_by_sign
            : d.output.type == OCTET_S8 ? ops.rescale_s16_to_bytes
            : d.input.type == OCTET_S8  ? ops.rescale_bytes_to_s16
                                        : ops.rescale_s16;
  OCTET_TRY(scale_of(leaky ? (double)(in / out) : (double)in / (double)out, &p->scale[0], error));
  if (leaky) OCTET_TRY(scale_of((double)(in * d.alpha / out), &p->scale[1], error));
  return OCTET_OK;
}

// ---- LOGISTIC and TANH

constexpr uint32_t kLastOfLogistic = 65534, kLastOfTanh = 65535;  // behind the last piece

double logistic_at(int piece) { return 65536 / (1 + exponential(piece / -24.0)); }

// Pieces of the logistic curve are 1 / 24 wide. TensorFlow Lite's table lifts their ends by half of
// the distance between a straight piece and the curve in its middle: by an eighth of the distance
// between an end and the line from its one neighbour to the other. The last end is 65535, of
// 65536ths.
void make_pieces(uint32_t last, uint32_t* pieces) {
  uint32_t ends[kCurvePieces];
  for (int i = 0; i < (int)kCurvePieces; ++i) {
    const double here = logistic_at(i), line = (logistic_at(i - 1) + logistic_at(i + 1)) / 2;
    ends[i] = (uint32_t)(here + (here - line) / 8 + 0.5);
  }
  ends[kCurvePieces - 1] = 65535;
  for (size_t i = 0; i + 1 < kCurvePieces; ++i) pieces[i] = ends[i] | (ends[i + 1] - ends[i]) << 16;
  pieces[kCurvePieces - 1] = last;
}

// Whether TensorFlow Lite takes a scale for a power of two, by logarithms of f32.
bool is_power_of_two(float scale, int32_t* exponent) {
  constexpr float kLog2 = 0x1.62e43p-1f, kNear = 1e-3f;
  const float log2 = (float)logarithm(scale) * (1.0f / kLog2);
  *exponent = (int32_t)(log2 < 0 ? log2 - 0.5f : log2 + 0.5f);
  const float rest = log2 - (float)*exponent;
  return rest < kNear && rest > -kNear;
}

// An input of 2^-12 is 3 of the 2^9 parts of a piece; for TANH, which goes twice as far, of 2^8.
void place_on_curve(float scale, bool tanh, S16Plan* p) {
  int32_t exponent;
  const bool power = is_power_of_two(scale, &exponent);
  const int32_t shift = exponent + 12;
  if (power && (shift == 0 || (tanh && shift == 1))) {
    p->scale[0].multiplier = 3 << shift;
    return;
  }
  double multiplier = (double)scale * 4096 * 3;
  int32_t right = 0;
  for (; multiplier <= 32767 / 2.0 && right <= 30; ++right) multiplier *= 2;
  p->scale[0] = {(int32_t)multiplier, 0, right};
  p->half = right ? 1 << (right - 1) : 0;
}

octet_status plan_curve(const Desc& d, const ElementwiseOps& ops, S16Plan* p, octet_error* error) {
  // Below, multipliers are 0; above, products with s16 values leave int32.
  constexpr float kLeast = 0x1p-44f, kMost = 4;
  if (!(d.input.scale >= kLeast && d.input.scale <= kMost))
    return fail(error, OCTET_BAD_SCALE,
                "desc.input.scale is %g; LOGISTIC and TANH of 16 bits take 2^-44 to 4",
                (double)d.input.scale);
  if (d.output.scale != 0x1p-15f)
    return fail(error, OCTET_BAD_SCALE,
                "desc.output.scale is %g; LOGISTIC and TANH of 16 bits give steps of 2^-15",
                (double)d.output.scale);
  const bool tanh = d.function == OCTET_UNARY_TANH;
  p->body = ops.curve_s16;
  place_on_curve(d.input.scale, tanh, p);
  make_pieces(tanh ? kLastOfTanh : kLastOfLogistic, p->pieces);
  if (tanh) {  // 2 * logistic(2 x) - 1
    p->fraction = p->shift = 8;
    p->add = (1 << 7) - (1 << 23), p->subtract_from = (1 << 23) + (1 << 7) - 1;
  } else {
    p->fraction = 9, p->shift = 10;
    p->add = 1 << 9, p->subtract_from = (1 << 25) + (1 << 9) - 1;
  }
  return OCTET_OK;
}

}  // namespace

octet_status create_s16(const Desc& d, const int32_t (&bounds)[2], octet_function** function,
                        octet_error* error) {
  OCTET_TRY(check_types(d, error));
  TierId tier_id;
  OCTET_TRY(choose_tier(d.max_isa, &tier_id, error));
  const ElementwiseOps& ops = elementwise_of(tier_id);
  FunctionBuilder<S16Plan> builder = {};
  S16Plan& plan = builder.plan;
  plan.zero = d.input.zero_point, plan.out_zero = d.output.zero_point;
  plan.least = bounds[0], plan.most = bounds[1];
  const bool curved = d.function == OCTET_UNARY_LOGISTIC || d.function == OCTET_UNARY_TANH;
  OCTET_TRY(curved ? plan_curve(d, ops, &plan, error) : plan_rescaling(d, ops, &plan, error));
  builder.function = elementwise_function(d.input.type, d.output.type,
                                          d.output.type == OCTET_S8  ? run_s16<int16_t, int8_t>
                                          : d.input.type == OCTET_S8 ? run_s16<int8_t, int16_t>
                                                                     : run_s16<int16_t, int16_t>);
  builder.function.cycles = 2;
  return make_function(builder, d.allocator, function, error);
}

}  // namespace octet
