// SPDX-License-Identifier: Apache-2.0
// Checks that operators between DequantizeLinear and QuantizeLinear are found.
#include "engines/graph/match_qdq.h"

#include <algorithm>

#include "graph/graph_case.h"

namespace octet_test {
namespace {

struct Qdq : GraphCase {
  Qdq() { g.arithmetic = Arithmetic::kStandard; }
  int dequantize(int t) {
    const int real = tensor(g.tensors[(size_t)t].shape, OCTET_F32);
    op(Kind::kDequantize, {t}, real);
    return real;
  }
  int real(std::vector<int64_t> shape) { return tensor(std::move(shape), OCTET_F32); }
  int quantize(int t, float scale, int32_t zero) {
    const int bytes = tensor(g.tensors[(size_t)t].shape, OCTET_U8, scale, zero);
    op(Kind::kQuantize, {t}, bytes);
    return bytes;
  }
};

// DQ, DQ, DQ, Conv, Relu, [Add of a DQ,] Q.
struct ConvGroup : Qdq {
  int x, r, y;
  explicit ConvGroup(bool residual) {
    x = input({1, 3, 3, 4}, OCTET_U8, 0.5f, 9), r = input({1, 3, 3, 4}, OCTET_U8, 2, 5);
    const int conv = real({1, 3, 3, 4}), relu = real({1, 3, 3, 4}), sum = real({1, 3, 3, 4});
    const int inputs[] = {dequantize(x), dequantize(weights({4, 1, 1, 4}, 0.25f)),
                          dequantize(bias(4))};
    op(Kind::kConvolution, {inputs[0], inputs[1], inputs[2]}, conv);
    op(Kind::kActivation, {conv}, relu).clamp.activation = Activation::kRelu;
    if (residual) op(Kind::kAdd, {dequantize(r), relu}, sum);
    y = quantize(residual ? sum : relu, 8, 3);
    g.outputs = {y};
  }
};

TEST(MatchQdq, ConvolutionWithActivationAndResidual) {
  for (const bool residual : {false, true}) {
    ConvGroup c(residual);
    const Graph matched = match_qdq(c.g);
    ASSERT_EQ(matched.ops.size(), 1u);
    EXPECT_EQ(matched.ops[0].made_of.size(), c.g.ops.size());
    EXPECT_EQ(would(matched)[0], "");
    const Bytes in = c.draw(36), other = c.draw(36);
    const Bytes out = run(*created(matched), matched, {in, other});
    const auto constant = [&](int t) {
      return c.g.tensors[(size_t)c.g.ops[(size_t)t].inputs[0]].data;
    };
    const Image acc = convolve(image_of(in, OCTET_U8, 1, 3, 3, 4), 9, (const int8_t*)constant(1),
                               (const int32_t*)constant(2), 4, 1, 1, 0);
    for (size_t i = 0; i < 36; ++i) {
      // Powers of two: exact in floats.
      float value = std::max((float)acc.values[i] * 0.125f, 0.f);
      if (residual) value += (float)(other[i] - 5) * 2;
      const float steps = std::nearbyint(value / 8) + 3;
      ASSERT_EQ((float)out[i], std::clamp(steps, 0.f, 255.f)) << i;
    }
  }
}

TEST(MatchQdq, WhatIsReadTwiceStays) {
  ConvGroup c(false);
  c.g.outputs.push_back(c.g.ops[3].outputs[0]);  // the convolution's floats
  const Graph matched = match_qdq(c.g);
  ASSERT_EQ(matched.ops.size(), 3u);  // the convolution to f32, Relu, Q
  EXPECT_EQ(matched.ops[0].kind, Kind::kConvolution);
  EXPECT_EQ(matched.tensors[(size_t)matched.ops[0].outputs[0]].type, OCTET_F32);
  const std::vector<std::string> answers = would(matched);
  EXPECT_EQ(answers[0], "");
  EXPECT_EQ(answers[1], "op4: it is not from 8 bits to 8 bits");
  EXPECT_EQ(answers[2], "");
}

// The largest of two windows, of which the second one ends behind the image, at another scale and
// zero point than the input's.
TEST(MatchQdq, MovesBehindOneScaleAndBeforeAnother) {
  Qdq c;
  const int x = c.input({1, 3, 1, 1}, OCTET_U8, 0.5f, 9), most = c.real({1, 2, 1, 1}),
            relu = c.real({1, 2, 1, 1});
  Op& pool = c.op(Kind::kMaxPool, {c.dequantize(x)}, most);
  pool.window.kernel_h = pool.window.stride_h = 2, pool.window.ceil = true;
  c.op(Kind::kActivation, {most}, relu).clamp.activation = Activation::kRelu;
  c.g.outputs = {c.quantize(relu, 2, 3)};
  const Graph matched = match_qdq(c.g);
  ASSERT_EQ(matched.ops.size(), 1u);
  EXPECT_EQ(matched.ops[0].made_of.size(), 4u);
  EXPECT_EQ(would(matched)[0], "");
  EXPECT_EQ(run(*created(matched), matched, {{2, 17, 100}}), Bytes({5, 26}));  // 4 / 2, 45.5 / 2
  EXPECT_EQ(run(*created(matched), matched, {{2, 8, 0}}), Bytes({3, 3}));
  Graph far = matched;
  far.ops[0].window.top = far.ops[0].window.bottom = 1;  // the third window would begin behind it
  far.ops[0].window.kernel_h = far.ops[0].window.stride_h = 4;
  EXPECT_NE(would(far)[0].find("its windows do not fit its tensors"), std::string::npos);
}

// A split that is quantized part by part is one operator, which stands before the first reader of a
// part; one of whose parts the floats are read stays.
TEST(MatchQdq, Splits) {
  for (const bool read : {false, true}) {
    Qdq c;
    const int x = c.input({1, 2, 2, 6}, OCTET_U8, 0.5f, 9);
    const int from = c.dequantize(x), left = c.real({1, 2, 2, 4}), right = c.real({1, 2, 2, 2});
    Op& op = c.op(Kind::kSplit, {from}, left);
    op.outputs = {left, right}, op.axis = 3;
    const int a = c.quantize(left, 0.5f, 9), relu = c.real({1, 2, 2, 4});
    c.op(Kind::kActivation, {c.dequantize(a)}, relu).clamp.activation = Activation::kRelu;
    c.g.outputs = {c.quantize(relu, 0.5f, 9), c.quantize(right, 0.5f, 9)};
    if (read) c.g.outputs.push_back(right);
    const Graph matched = match_qdq(c.g);
    const auto is_split = [](const Op& o) { return o.kind == Kind::kSplit; };
    const auto split = std::find_if(matched.ops.begin(), matched.ops.end(), is_split);
    ASSERT_NE(split, matched.ops.end());
    if (read) {
      EXPECT_EQ(split->inputs, std::vector<int>{from});
      continue;
    }
    EXPECT_EQ(split, matched.ops.begin());
    EXPECT_EQ(split->inputs, std::vector<int>{x});
    EXPECT_EQ(split->outputs, (std::vector<int>{a, c.g.outputs[1]}));
    EXPECT_EQ(split->made_of.size(), 4u);
    const Bytes in = c.draw(24), out = run(*created(matched), matched, {in});
    for (size_t i = 0; i < 24; ++i) {
      const size_t pixel = i / 6, channel = i % 6;
      EXPECT_EQ(out[channel < 4 ? pixel * 4 + channel : 16 + pixel * 2 + channel - 4],
                channel < 4 ? std::max<uint8_t>(in[i], 9) : in[i]);
    }
  }
}

TEST(MatchQdq, OtherOperatorsAndRequantization) {
  Qdq c;
  const int a = c.input({1, 2}, OCTET_U8, 1), b = c.input({1, 2}, OCTET_U8, 2, 1);
  const int sum = c.real({1, 2});
  c.op(Kind::kAdd, {c.dequantize(a), c.dequantize(b)}, sum);
  const int y = c.quantize(sum, 4, 2);
  const int z = c.quantize(c.dequantize(y), 1, 0);
  c.g.outputs = {y, z};
  const Graph matched = match_qdq(c.g);
  ASSERT_EQ(matched.ops.size(), 2u);
  EXPECT_EQ(run(*created(matched), matched, {{7, 100}, {4, 200}}),
            (Bytes{2 + 3, 2 + 124, 12, 255}));
}

// Each function rounds to float; several in a row are one table.
TEST(MatchQdq, FunctionsOfFloats) {
  const double half_sqrt = std::sqrt(0.5);
  const std::pair<std::vector<FloatStep>, float (*)(float, double)> cases[] = {
      {{{FloatStep::kDivide, 3}}, [](float x, double) { return x / 3; }},
      {{{FloatStep::kErf}}, [](float x, double) { return (float)std::erf((double)x); }},
      {{{FloatStep::kGelu}},
       [](float x, double half) { return (float)(x * 0.5 * (1 + std::erf(x * half))); }},
      {{{FloatStep::kTanhGelu}},
       [](float x, double) {
         const double d = x, root = std::sqrt(2 / 3.141592653589793);
         return (float)(d * 0.5 * (1 + std::tanh(root * (d + 0.044715 * d * d * d))));
       }},
      {{{FloatStep::kMultiply, 0.1768f}, {FloatStep::kAdd, -0.3f}},
       [](float x, double) {
         const float product = x * 0.1768f;
         return product + -0.3f;
       }},
      {{{FloatStep::kDivide, -0.7f}, {FloatStep::kErf}, {FloatStep::kDivide, 0.125f}},
       [](float x, double) { return (float)std::erf((double)(x / -0.7f)) / 0.125f; }}};
  for (const auto& [steps, value] : cases)
    for (const float scale : {0.003f, 0.021f, 0.07f, 3.f, 1e10f}) {
      Qdq c;
      const int x = c.input({1, 256}, OCTET_S8, scale, -7);
      int last = c.dequantize(x);
      for (const FloatStep& step : steps) {
        const int next = c.real({1, 256});
        c.op(Kind::kFloats, {last}, next).steps = {step};
        last = next;
      }
      const float out = std::min(scale, 8.f) / 2;
      c.g.outputs = {c.quantize(last, out, 100)};
      const Graph matched = match_qdq(c.g);
      ASSERT_EQ(matched.ops.size(), 1u);
      Bytes in(256), expected;
      for (int i = 0; i < 256; ++i) {
        in[(size_t)i] = (uint8_t)i;
        const double steps = value((float)((int8_t)i + 7) * scale, half_sqrt) / out;
        expected.push_back((uint8_t)std::clamp(std::nearbyint(steps) + 100, 0., 255.));
      }
      EXPECT_EQ(run(*created(matched), matched, {in}), expected) << scale;
    }
}

// A division leaves float; GELU of -infinity is a NaN, which is quantized as ONNX Runtime on x86
// does it, and not as an infinity of any sign.
TEST(MatchQdq, FloatsThatAreNoNumbers) {
  Qdq c;
  const int x = c.input({1, 3}, OCTET_S8, 1e10f), y = c.real({1, 3});
  c.op(Kind::kFloats, {c.dequantize(x)}, y).steps = {
      {FloatStep::kDivide, 1e-30f}, {FloatStep::kGelu}, {FloatStep::kDivide, -1}};
  c.g.outputs = {c.quantize(y, 4, 100)};
  const Graph matched = match_qdq(c.g);
  EXPECT_EQ(run(*created(matched), matched, {{255, 0, 1}}), (Bytes{0, 100, 0}));
}

TEST(MatchQdq, RefusedSteps) {
  const std::pair<std::vector<FloatStep>, const char*> cases[] = {
      {{}, "it has no steps"},
      {{{FloatStep::kErf}, {FloatStep::kDivide, 0}}, "it divides by 0"},
      {{{FloatStep::kDivide, -INFINITY}}, "its number is -inf; it needs"},
      {{{FloatStep::kDivide, NAN}}, "its number is nan; it needs"},
      {{{FloatStep::kMultiply, INFINITY}}, "its number is inf; it needs"}};
  for (const auto& [steps, words] : cases) {
    GraphCase c;
    const int x = c.input({1, 2}, OCTET_S8, 1), y = c.tensor({1, 2}, OCTET_S8, 1);
    c.op(Kind::kFloats, {x}, y).steps = steps;
    c.g.outputs = {y};
    const std::string why = would(c.g)[0];
    EXPECT_NE(why.find(words), why.npos) << why;
  }
}

TEST(MatchQdq, FloatsStayFloats) {
  Qdq c;
  const int x = c.input({1, 2}, OCTET_F32), y = c.real({1, 2});
  c.op(Kind::kSoftmax, {x}, y);
  c.g.outputs = {y};
  const Graph matched = match_qdq(c.g);
  ASSERT_EQ(matched.ops.size(), 1u);
  EXPECT_EQ(would(matched)[0],
            "op0: it is not from 8 or 16 bits to the same type, nor from 8 bits to f32");
}

}  // namespace
}  // namespace octet_test
