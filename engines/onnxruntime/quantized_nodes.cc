// SPDX-License-Identifier: Apache-2.0
// Translates operators on quantized tensors: those of ONNX, and ONNX Runtime's own.
#include "engines/onnxruntime/node.h"

namespace octet::onnxruntime {
namespace {

using graph::Kind;

int output(const Form& f) { return f.node().outputs[0]; }

// Inputs: x, scale, zero point; weights, scale, zero point; scale and zero point of the output.
void quantize_operands(const Form& f, int weights_axis) {
  f.quantize(f.input(0), 1, 2);
  f.quantize(f.input(3), 4, 5, weights_axis);
}

void qlinear_conv(const Form& f) {
  if (f.node().integer("channels_last", 0)) return f.refuse("its channels are last");
  quantize_operands(f, 0);
  f.quantize(output(f), 6, 7);
  f.convolve(f.input(0), f.input(3), f.input(8));
}

void qlinear_matmul(const Form& f) {
  quantize_operands(f, 1);
  f.quantize(output(f), 6, 7);
  f.multiply(f.input(0), f.input(3), -1, true);
}

// The same, with a bias between weights and output. Without a scale of the output that one is f32.
void qgemm(const Form& f) {
  const bool by_rows = f.node().integer("transB", 0) != 0;
  if (f.node().integer("transA", 0) || f.node().number("alpha", 1) != 1)
    return f.refuse("its first operand is transposed, or its alpha is not 1");
  quantize_operands(f, by_rows ? 0 : 1);
  if (f.input(7) >= 0) f.quantize(output(f), 7, 8);
  f.multiply(f.input(0), f.input(3), f.input(6), !by_rows);
}

void conv_integer(const Form& f) {
  f.set_zero_point(f.input(0), 2);
  f.set_zero_point(f.input(1), 3, 0);
  f.convolve(f.input(0), f.input(1), -1);
}

void matmul_integer(const Form& f) {
  f.set_zero_point(f.input(0), 2);
  f.set_zero_point(f.input(1), 3, 1);
  f.multiply(f.input(0), f.input(1), -1, true);
}

template <Kind kKind>
void qlinear_binary(const Form& f) {
  f.quantize(f.input(0), 1, 2);
  f.quantize(f.input(3), 4, 5);
  f.quantize(output(f), 6, 7);
  f.take(kKind, {f.input(0), f.input(3)});
}

void quantize_ends(const Form& f) {
  f.quantize(f.input(0), 1, 2);
  f.quantize(output(f), 3, 4);
}

template <Kind kKind>
void qlinear_unary(const Form& f) {
  quantize_ends(f);
  f.op().alpha = f.node().number("alpha", 0.01f);
  f.take(kKind, {f.input(0)});
}

void qlinear_softmax(const Form& f) {
  const int64_t axis = f.node().integer("axis", -1);
  if (axis != -1 && axis + 1 != (int64_t)f.rank(0)) return f.refuse("it is not over the last axis");
  qlinear_unary<Kind::kSoftmax>(f);
}

void qlinear_average_pool(const Form& f) {
  quantize_ends(f);
  f.pool(Kind::kAveragePool);
}

void qlinear_global_average_pool(const Form& f) {
  quantize_ends(f);
  f.average_all();
}

// Inputs: scale and zero point of the output, then each x with its own.
void qlinear_concat(const Form& f) {
  std::vector<int> inputs;
  f.quantize(output(f), 0, 1);
  for (size_t i = 2; i + 1 < f.node().inputs.size(); i += 3) {
    if (f.input(i) < 0) return f.refuse("one of its inputs is left out");
    f.quantize(f.input(i), i + 1, i + 2);
    inputs.push_back(f.input(i));
  }
  f.concatenate(std::move(inputs));
}

constexpr char kOnnx[] = "", kMicrosoft[] = "com.microsoft";
constexpr NamedForm kForms[] = {
    {kOnnx, "QLinearConv", qlinear_conv},
    {kMicrosoft, "QLinearConv", qlinear_conv},
    {kOnnx, "QLinearMatMul", qlinear_matmul},
    {kOnnx, "ConvInteger", conv_integer},
    {kOnnx, "MatMulInteger", matmul_integer},
    {kMicrosoft, "QGemm", qgemm},
    {kMicrosoft, "QLinearAdd", qlinear_binary<Kind::kAdd>},
    {kMicrosoft, "QLinearMul", qlinear_binary<Kind::kMultiply>},
    {kMicrosoft, "QLinearAveragePool", qlinear_average_pool},
    {kMicrosoft, "QLinearGlobalAveragePool", qlinear_global_average_pool},
    {kMicrosoft, "QLinearConcat", qlinear_concat},
    {kMicrosoft, "QLinearSigmoid", qlinear_unary<Kind::kLogistic>},
    {kMicrosoft, "QLinearLeakyRelu", qlinear_unary<Kind::kLeakyRelu>},
    {kMicrosoft, "QLinearSoftmax", qlinear_softmax},
};

}  // namespace

const NamedForm* find_quantized(const Node& node) {
  for (const NamedForm& form : kForms)
    if (node.op == form.op && node.domain == form.domain) return &form;
  return nullptr;
}

}  // namespace octet::onnxruntime
