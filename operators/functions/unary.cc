// SPDX-License-Identifier: Apache-2.0
// octet_unary_table and octet_unary_create: functions of one value as tables, in each engine's
// arithmetic. Facts from tensorflow/lite/kernels/activations.cc, kernels/internal/reference/
// hard_swish.h and leaky_relu.h, XNNPACK's src/reference/unary-elementwise.cc and ONNX Runtime's
// contrib_ops/cpu/quantization/qlinear_lookup_table.cc.
#include <string.h>

#include "kernels/core/tflite_scale.h"
#include "octet/helpers.h"
#include "operators/common/check.h"
#include "operators/functions/exponential.h"
#include "operators/functions/look_up.h"
#include "operators/functions/s16.h"

namespace octet {
namespace {

using Desc = octet_unary_desc;

octet_status check_desc(const Desc& d, octet_error* error) {
  OCTET_TRY(check_quantized_or_s16(d.input, "desc.input", error));
  OCTET_TRY(check_quantized_or_s16(d.output, "desc.output", error));
  if (d.function < OCTET_UNARY_REQUANTIZE || d.function > OCTET_UNARY_LEAKY_RELU)
    return fail(error, OCTET_UNKNOWN_ENUM, "desc.function is %d, not an octet_unary",
                (int)d.function);
  OCTET_TRY(check_arithmetic(d.arithmetic, error));
  const bool leaky = d.function == OCTET_UNARY_LEAKY_RELU;
  if (leaky ? !(d.alpha >= 0 && d.alpha <= 0x1p20f) : d.alpha != 0)
    return fail(error, OCTET_BAD_SCALE, "desc.alpha is %g; it must be %s", (double)d.alpha,
                leaky ? "within 0 to 2^20" : "0 but with OCTET_UNARY_LEAKY_RELU");
  const bool tflite = d.arithmetic == OCTET_ARITHMETIC_TFLITE,
             alike = d.arithmetic == OCTET_ARITHMETIC_XNNPACK ||
                     (tflite && d.function != OCTET_UNARY_REQUANTIZE);
  if (alike && d.input.type != d.output.type)
    return fail(error, OCTET_UNSUPPORTED,
                "desc.output.type is %d and desc.input.type %d; in this arithmetic the function "
                "takes one type",
                (int)d.output.type, (int)d.input.type);
  OCTET_TRY(check_arithmetic_of_s16(d.input.type, d.arithmetic, error));
  OCTET_TRY(check_arithmetic_of_s16(d.output.type, d.arithmetic, error));
  if (d.reserved) return fail(error, OCTET_UNSUPPORTED, "desc.reserved must be 0");
  return OCTET_OK;
}

octet_status check_ratio(double ratio, double least, double most, octet_error* error) {
  if (ratio >= least && ratio <= most) return OCTET_OK;
  return fail(error, OCTET_BAD_SCALE,
              "desc: input.scale is %g of output.scale, alpha included; it must be within %g to %g",
              ratio, least, most);
}

// Tables of functions of x, the input less its zero point, whose results are less the output's zero
// point, and not clamped yet.
struct Table {
  const octet_quantized &in, &out;
  explicit Table(const Desc& desc) : Table(desc.input, desc.output) {}
  Table(const octet_quantized& input, const octet_quantized& output) : in(input), out(output) {}

  template <typename Function>
  void write(const Function& function, uint8_t* to) const {
    const int32_t first = least(out.type) - out.zero_point, last = most(out.type) - out.zero_point;
    for (int32_t q = least(in.type); q <= most(in.type); ++q) {
      const int32_t value = function(q - in.zero_point);
      const int32_t above = value > first ? value : first;
      to[(uint8_t)q] = (uint8_t)((above < last ? above : last) + out.zero_point);
    }
  }
};

// ---- floats

constexpr float kFar = 0x1p20f;  // beyond all bytes

float inside(float x) {
  x = x > -kFar ? x : -kFar;
  return x < kFar ? x : kFar;
}
int32_t round_even(float x) {
  constexpr double kAbove = 6755399441055744.0;  // 1.5 * 2^52
  return (int32_t)(((double)inside(x) + kAbove) - kAbove);
}
int32_t round_away(float x) {
  const double within = (double)inside(x);
  return (int32_t)(within < 0 ? within - 0.5 : within + 0.5);
}

double tanh_of(double x) {
  const double size = x < 0 ? -x : x;
  const double square = x * x;
  if (size < 0x1p-5) return x * (1 - square * (1 / 3.0 - square * (2 / 15.0 - square * 17 / 315)));
  const double e = exponential(-2 * size), result = (1 - e) / (1 + e);
  return x < 0 ? -result : result;
}

// As TFLite writes it: the exponential is a float, and infinity beyond these.
float logistic_tflite(float x) {
  const double e = exponential(-(double)x);
  return e < 0x1p128 ? 1 / (1 + (float)e) : 0;
}

float real_function(const Desc& d, float x) {
  switch (d.function) {
    case OCTET_UNARY_LOGISTIC:
      return d.arithmetic == OCTET_ARITHMETIC_TFLITE ? logistic_tflite(x)
                                                     : (float)(1 / (1 + exponential(-(double)x)));
    case OCTET_UNARY_TANH: return (float)tanh_of((double)x);
    case OCTET_UNARY_HARD_SWISH: {
      const float gate = x * (1 / 6.0f) + 0.5f, above = gate > 0 ? gate : 0;
      return x * (above < 1 ? above : 1);
    }
    case OCTET_UNARY_LEAKY_RELU: return x >= 0 ? x : d.alpha * x;
    default: return x;
  }
}

// Dequantized, the function, quantized.
void make_real(const Desc& d, uint8_t* to) {
  const bool tflite = d.arithmetic == OCTET_ARITHMETIC_TFLITE;
  const float inverse = 1 / d.output.scale;
  Table(d).write(
      [&](int32_t x) {
        const float y = real_function(d, (float)x * d.input.scale);
        return tflite ? round_away(y * inverse) : round_even(y / d.output.scale);
      },
      to);
}

// ---- TFLite's fixed point

struct Scaled {
  int32_t multiplier = 0, shift = 0;
  int32_t operator()(int32_t x) const { return tflite_scale(x, multiplier, shift); }
};

octet_status scale_of(double factor, Scaled* scaled, octet_error* error) {
  if (!(factor > 0)) return OCTET_OK;  // alpha is 0
  OCTET_TRY(check_ratio(factor, 0, 0x1p22 - 1, error));
  return octet_quantize_multiplier(factor, &scaled->multiplier, &scaled->shift, error);
}

// Requantization computes the factor in double, LEAKY_RELU its two in float.
octet_status make_scaled(const Desc& d, uint8_t* to, octet_error* error) {
  const float in = d.input.scale, out = d.output.scale;
  const bool leaky = d.function == OCTET_UNARY_LEAKY_RELU;
  Scaled positive, negative;
  OCTET_TRY(scale_of(leaky ? (double)(in / out) : (double)in / (double)out, &positive, error));
  OCTET_TRY(scale_of((double)(in * d.alpha / out), &negative, error));
  Table(d).write([&](int32_t x) { return x >= 0 || !leaky ? positive(x) : negative(x); }, to);
  return OCTET_OK;
}

int32_t saturated(int64_t x) {
  return (int32_t)(x > INT16_MAX ? INT16_MAX : x < INT16_MIN ? INT16_MIN : x);
}

// 16 bits of a multiplier.
struct Scaled16 {
  int32_t multiplier, exponent;
  int32_t high_product(int32_t x) const {
    return saturated(((int64_t)x * multiplier + (1 << 14)) >> 15);
  }
};

constexpr int32_t kLeastExponent = -15;  // gemmlowp's shifts of 16 bits

octet_status scale_16(float factor, int32_t most, const char* of, Scaled16* scaled,
                      octet_error* error) {
  int32_t multiplier;
  OCTET_TRY(octet_quantize_multiplier((double)factor, &multiplier, &scaled->exponent, error));
  if (!multiplier || scaled->exponent < kLeastExponent || scaled->exponent > most)
    return fail(error, OCTET_BAD_SCALE,
                "desc: input.scale / 128 is %g of %s; HARD_SWISH in TFLite's arithmetic takes "
                "2^-16 to 2^%d",
                (double)factor, of, (int)most);
  scaled->multiplier = (int32_t)(saturated(((int64_t)multiplier + (1 << 15)) >> 16));
  return OCTET_OK;
}

// The gate of HARD_SWISH, of 15 bits, from the input with 7 more bits.
int32_t gate_of(const Scaled16& three, int32_t fine) {
  const int32_t left = three.exponent > 0 ? three.exponent : 0;
  int32_t gate = left ? saturated(fine * ((int64_t)1 << (left - 1))) : fine;
  gate = three.high_product(gate);
  if (left) gate = saturated((int64_t)gate * 2);
  return (rounding_shift_right(gate, left - three.exponent) + (1 << 15)) >> 1;
}

octet_status make_hard_swish(const Desc& d, uint8_t* to, octet_error* error) {
  const float fine = d.input.scale * (1 / 128.0f);
  Scaled16 out, three;
  OCTET_TRY(scale_16(fine / d.output.scale, 0, "output.scale", &out, error));
  OCTET_TRY(scale_16(fine / (3 / 32768.0f), 31, "3 / 2^15", &three, error));
  Table(d).write(
      [&](int32_t x) {
        const int32_t product = gate_of(three, x * 128) * out.high_product(x * 128);
        return rounding_shift_right(product / (1 << 15), -out.exponent);
      },
      to);
  return OCTET_OK;
}

void bound(octet_type type, const int32_t (&bounds)[2], uint8_t* table) {
  for (int i = 0; i < 256; ++i) {
    const int32_t value = type == OCTET_S8 ? (int8_t)table[i] : (int32_t)table[i];
    const int32_t above = value > bounds[0] ? value : bounds[0];
    table[i] = (uint8_t)(above < bounds[1] ? above : bounds[1]);
  }
}

// ---- XNNPACK's fixed point, of 8 bits

octet_status make_xnnpack(const Desc& d, uint8_t* to, octet_error* error) {
  constexpr double kLeast = 0x1p-8, kMost = 0x1p7;
  const float ratio = d.input.scale / d.output.scale, of_negative = ratio * d.alpha;
  const bool leaky = d.function == OCTET_UNARY_LEAKY_RELU;
  OCTET_TRY(check_ratio((double)ratio, kLeast, kMost, error));
  if (leaky) OCTET_TRY(check_ratio((double)of_negative, kLeast, kMost, error));
  const int32_t positive = round_even(ratio * 256),
                negative = leaky ? round_even(of_negative * 256) : positive;
  Table(d).write([&](int32_t x) { return (x * (x >= 0 ? positive : negative) + 128) >> 8; }, to);
  return OCTET_OK;
}

octet_status make_plain_table(const Desc& d, uint8_t* to, octet_error* error) {
  const bool scales = d.function == OCTET_UNARY_REQUANTIZE || d.function == OCTET_UNARY_LEAKY_RELU;
  const bool tflite = d.arithmetic == OCTET_ARITHMETIC_TFLITE,
             xnnpack = d.arithmetic == OCTET_ARITHMETIC_XNNPACK;
  if ((tflite || xnnpack) && d.function == OCTET_UNARY_HARD_SWISH)
    return make_hard_swish(d, to, error);
  if (scales && tflite) return make_scaled(d, to, error);
  if (scales && xnnpack) return make_xnnpack(d, to, error);
  make_real(d, to);
  return OCTET_OK;
}

bool has_s16(const Desc& d) { return d.input.type == OCTET_S16 || d.output.type == OCTET_S16; }

octet_status make_table(const Desc& d, uint8_t* to, octet_error* error) {
  int32_t bounds[2];
  OCTET_TRY(check_desc(d, error));
  if (has_s16(d))
    return fail(
        error, OCTET_UNSUPPORTED,
        "desc.%s.type is OCTET_S16, of which there is no table; octet_unary_create takes it",
        d.input.type == OCTET_S16 ? "input" : "output");
  OCTET_TRY(check_bounds(d.output, d.least, d.most, bounds, error));
  OCTET_TRY(make_plain_table(d, to, error));
  if (d.least || d.most) bound(d.output.type, bounds, to);
  return OCTET_OK;
}

}  // namespace

void requantize_concat(const octet_quantized& in, const octet_quantized& out, bool tflite,
                       uint8_t* table) {
  const float scale = in.scale * (1 / out.scale), bias = (float)-in.zero_point * scale;
  Table(in, out).write(
      [&](int32_t x) {
        return tflite ? round_away((float)(x + in.zero_point) * scale + bias)
                      : round_even((float)x * in.scale / out.scale);
      },
      table);
}

}  // namespace octet

using namespace octet;

octet_status octet_unary_table(const octet_unary_desc* given, uint8_t table[256],
                               octet_error* error) {
  if (!table) return fail(error, OCTET_NULL_POINTER, "table is null");
  CallerStruct<octet_unary_desc> desc;
  OCTET_TRY(desc.read(given, "desc", error));
  uint8_t made[256];
  OCTET_TRY(make_table(*desc, made, error));
  memcpy(table, made, sizeof made);
  return OCTET_OK;
}

octet_status octet_unary_create(const octet_unary_desc* given, octet_function** function,
                                octet_error* error) {
  CallerStruct<octet_unary_desc> desc;
  OCTET_TRY(begin(given, function, &desc, error));
  if (has_s16(*desc)) {
    int32_t bounds[2];
    OCTET_TRY(check_desc(*desc, error));
    OCTET_TRY(check_bounds(desc->output, desc->least, desc->most, bounds, error));
    return create_s16(*desc, bounds, function, error);
  }
  octet_lut_desc table = OCTET_LUT_DESC_INIT;
  OCTET_TRY(make_table(*desc, table.table, error));
  table.input = desc->input.type, table.output = desc->output.type;
  table.max_isa = desc->max_isa;
  table.allocator = desc->allocator;
  return create_look_up(table, function, error);
}
