// SPDX-License-Identifier: Apache-2.0
// Asks the library for tables, and bounds them by activations.
#include "engines/graph/tables.h"

#include <algorithm>
#include <cmath>

#include "engines/graph/image_functions.h"
#include "engines/graph/refused.h"
#include "engines/graph/sizes.h"
#include "octet/functions.h"

namespace octet::graph {
namespace {

octet_quantized quantized(const Tensor& t) {
  if (!is_8_bits(t.type) || t.scales.size() != 1)
    refuse("tensor '", t.name, "' is not of 8 bits with one scale");
  return {t.type, scale_of(t), zero_of(t)};
}

std::vector<uint8_t> unary_table(const Graph& g, octet_unary function, float alpha,
                                 const Tensor& from, const Tensor& to, bool is_activation = false) {
  octet_unary_desc d = OCTET_UNARY_DESC_INIT;
  d.input = quantized(from), d.output = quantized(to);
  d.function = function, d.alpha = alpha, d.arithmetic = arithmetic_of(g);
  // XNNPACK has none from one type to another, and no activation by itself that requantizes: LiteRT
  // runs its own kernel.
  if (d.arithmetic == OCTET_ARITHMETIC_XNNPACK && (from.type != to.type || is_activation))
    d.arithmetic = OCTET_ARITHMETIC_TFLITE;
  std::vector<uint8_t> table(256);
  octet_error error = {};
  check(octet_unary_table(&d, table.data(), &error), error);
  return table;
}

// By its series, without libm, which differs from system to system. From 4 on it rounds to 1 as a
// float.
double error_function(double x) {
  if (std::fabs(x) >= 4) return x > 0 ? 1 : -1;
  double power = x, sum = x;
  for (int n = 1; n < 80; ++n) {
    power *= -x * x / n;
    sum += power / (2 * n + 1);
  }
  return sum * 0x1.20dd750429b6dp+0;  // 2 / sqrt(pi)
}

// By the exponential's series. From 20 on it rounds to 1 as a double.
double hyperbolic_tangent(double x) {
  if (std::fabs(x) >= 20) return x > 0 ? 1 : -1;
  const double part = x / 32;  // of the exponent 2 * x, at most 1.25
  double power = 1, exponential = 1;
  for (int n = 1; n < 30; ++n) {
    power *= part / n;
    exponential += power;
  }
  for (int i = 0; i < 6; ++i) exponential *= exponential;
  return 1 - 2 / (exponential + 1);
}

float step(const FloatStep& s, float x) {
  constexpr double kHalfSqrt = 0x1.6a09e667f3bcdp-1;  // 1 / sqrt(2)
  constexpr double kRoot = 0x1.9884533d43651p-1;      // sqrt(2 / pi)
  const double d = x;
  switch (s.function) {
    case FloatStep::kMultiply: return x * s.by;
    case FloatStep::kAdd: return x + s.by;
    case FloatStep::kUnit: return std::clamp(x, 0.f, 1.f);
    case FloatStep::kTanhGelu:
      return (float)(d * 0.5 * (1 + hyperbolic_tangent(kRoot * (d + 0.044715 * d * d * d))));
    case FloatStep::kErf: return (float)error_function(x);
    case FloatStep::kGelu: return (float)(x * 0.5 * (1 + error_function(x * kHalfSqrt)));
    default: return x / s.by;
  }
}

int32_t value_of(octet_type type, int byte) { return type == OCTET_S8 ? (int8_t)byte : byte; }

void check_steps(const std::vector<FloatStep>& steps) {
  if (steps.empty()) refuse("it has no steps");
  for (const FloatStep& s : steps) {
    if (!std::isfinite(s.by)) refuse("its number is ", s.by, "; it needs a finite one");
    if (s.function == FloatStep::kDivide && s.by == 0) refuse("it divides by 0");
  }
}

// Dequantized, computed in floats and quantized, as ONNX has it. A NaN, as GELU makes of -infinity,
// is the least byte, as ONNX Runtime's QuantizeLinear gives it on x86.
std::vector<uint8_t> float_table(const std::vector<FloatStep>& steps, const Tensor& from,
                                 const Tensor& to) {
  constexpr float kFar = 1 << 20;  // leaves 8 bits by far, and stays in int32
  check_steps(steps);
  const octet_quantized in = quantized(from), out = quantized(to);
  const Bounds all = bounds_of_type(out.type);
  std::vector<uint8_t> table(256);
  for (int i = 0; i < 256; ++i) {
    float x = (float)(value_of(in.type, i) - in.zero_point) * in.scale;
    for (const FloatStep& s : steps) x = step(s, x);
    const float scaled = std::isnan(x) ? -kFar : std::clamp(x / out.scale, -kFar, kFar);
    const auto rounded = (int32_t)std::nearbyint(scaled);
    table[(size_t)i] = (uint8_t)std::clamp(rounded + out.zero_point, all.least, all.most);
  }
  return table;
}

}  // namespace

octet_unary unary_of(Kind kind) {
  switch (kind) {
    case Kind::kLogistic: return OCTET_UNARY_LOGISTIC;
    case Kind::kTanh: return OCTET_UNARY_TANH;
    case Kind::kHardSwish: return OCTET_UNARY_HARD_SWISH;
    case Kind::kLeakyRelu: return OCTET_UNARY_LEAKY_RELU;
    default: return OCTET_UNARY_REQUANTIZE;
  }
}

bool is_table(Kind kind) {
  return kind == Kind::kActivation || kind == Kind::kQuantize || kind == Kind::kFloats ||
         unary_of(kind) != OCTET_UNARY_REQUANTIZE;
}

bool is_table(const Graph& g, const Op& op) {
  const auto type = [&](int t) { return g.tensors[(size_t)t].type; };
  return is_table(op.kind) && op.inputs.size() == 1 && op.outputs.size() == 1 &&
         op.inputs[0] >= 0 && is_8_bits(type(op.inputs[0])) && is_8_bits(type(op.outputs[0]));
}

std::vector<uint8_t> table_of(const Graph& g, const Op& op) {
  if (!is_table(g, op)) refuse("it is not from 8 bits to 8 bits");
  const Tensor &x = g.tensors[(size_t)op.inputs[0]], &y = g.tensors[(size_t)op.outputs[0]];
  std::vector<uint8_t> table(256);
  if (op.kind == Kind::kFloats)
    table = float_table(op.steps, x, y);
  else if (unary_of(op.kind) == OCTET_UNARY_REQUANTIZE && same_quantization(x, y))
    for (int i = 0; i < 256; ++i) table[(size_t)i] = (uint8_t)i;
  else
    table = unary_table(g, unary_of(op.kind), op.kind == Kind::kLeakyRelu ? op.alpha : 0, x, y,
                        op.kind == Kind::kActivation);
  const Bounds b =
      bounds_of(op.clamp, y.type, scale_of(y), zero_of(y), without_xnnpack(g.arithmetic));
  for (uint8_t& byte : table) byte = (uint8_t)std::clamp(value_of(y.type, byte), b.least, b.most);
  return table;
}

std::vector<uint8_t> join_table(const Graph& g, const Tensor& from, const Tensor& to) {
  if (same_quantization(from, to)) return {};
  if (to.type == OCTET_S16)
    refuse("tensor '", from.name,
           "' has another scale than its output, or type; 16 bits are joined "
           "as they are");
  if (without_xnnpack(g.arithmetic) != Arithmetic::kTflite)
    return unary_table(g, OCTET_UNARY_REQUANTIZE, 0, from, to);
  // TensorFlow Lite's, by one float product of the stored bytes. XNNPACK joins no tensors with
  // different scales: LiteRT runs its own kernel.
  const octet_quantized x = quantized(from), y = quantized(to);
  const float inverse = 1 / y.scale, scale = x.scale * inverse;
  const float bias = -(float)x.zero_point * scale;
  const Bounds all = bounds_of_type(y.type);
  std::vector<uint8_t> table(256);
  for (int i = 0; i < 256; ++i) {
    const float steps = rounded_away((float)value_of(x.type, i) * scale + bias);
    table[(size_t)i] = (uint8_t)std::clamp(
        (int32_t)std::clamp(steps, -65536.f, 65536.f) + y.zero_point, all.least, all.most);
  }
  return table;
}

}  // namespace octet::graph
