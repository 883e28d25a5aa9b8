// SPDX-License-Identifier: Apache-2.0
// Checks the benches' documentation: the two kinds of operands, and suites with as many
// convolutions as their networks.
#include "bench/problems/operands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bench/cases/conv_suite.h"
#include "bench/problems/conv_check.h"
#include "bench/problems/conv_plan.h"
#include "bench/problems/gemm_check.h"
#include "bench/problems/gemm_plan.h"

namespace tool {
namespace {

constexpr Operands kReal = {Likeness::kReal, Requant::kFloat, {}};
constexpr GemmShape kShape = {64, 48, 300};

TEST(Operands, RealU8ActivationsAreHalfZeros) {
  const GemmData data = plain_data(kShape, {OCTET_U8, OCTET_S8, OCTET_U8}, kReal);
  size_t zeros = 0, large = 0;
  for (size_t i = 0; i < data.lhs.size(); ++i) {
    const int32_t x = byte_at(data.lhs, OCTET_U8, i);
    zeros += x == 0;
    large += x > 128;
  }
  EXPECT_NEAR((double)zeros / (double)data.lhs.size(), 0.5, 0.02);
  EXPECT_LT(large, data.lhs.size() / 20);
  EXPECT_GT(large, 0u);
}

TEST(Operands, RealS8ActivationsLieAroundZero) {
  const GemmData data = plain_data(kShape, {OCTET_S8, OCTET_S8, OCTET_S8}, kReal);
  double sum = 0, squares = 0;
  for (size_t i = 0; i < data.lhs.size(); ++i) {
    const int32_t x = byte_at(data.lhs, OCTET_S8, i);
    EXPECT_GT(x, -128);
    sum += x;
    squares += x * x;
  }
  const double count = (double)data.lhs.size();
  EXPECT_NEAR(sum / count, 0, 1);
  EXPECT_NEAR(squares / count, 127 / 4.0 * 127 / 4.0, 40);
}

// The largest weight of a channel is 127 away from the zero point, and the mean is near it.
void expect_channel(const std::vector<int32_t>& centred) {
  int32_t largest = 0;
  double sum = 0;
  for (const int32_t weight : centred) {
    largest = std::max(largest, std::abs(weight));
    sum += weight;
  }
  EXPECT_EQ(largest, 127);
  EXPECT_NEAR(sum / (double)centred.size(), 0, 15);
}

TEST(Operands, RealWeightsAreScaledPerChannel) {
  for (const octet_type type : {OCTET_S8, OCTET_U8}) {
    const GemmData data = plain_data(kShape, {OCTET_U8, type, OCTET_S32}, kReal);
    EXPECT_EQ(data.rhs_zero_points.empty(), type == OCTET_S8);
    for (size_t n = 0; n < kShape.n; ++n) {
      std::vector<int32_t> column;
      for (size_t k = 0; k < kShape.k; ++k) column.push_back(data.rhs_at(k, n));
      expect_channel(column);
    }
  }
}

TEST(Operands, RealFiltersToo) {
  const ConvData data =
      plain_conv_data(parse_conv("ic40oc24_ih5oh5kh3ph1"), {OCTET_U8, OCTET_S8, OCTET_S32}, kReal);
  for (size_t channel = 0; channel < 24; ++channel) {
    const int8_t* const weights = data.filter.as<int8_t>() + channel * 360;
    expect_channel({weights, weights + 360});
  }
}

// The channels without weights, a bias of about 2^30 each.
template <typename Data>
std::vector<size_t> dead_channels(const Data& data) {
  std::vector<size_t> dead;
  for (size_t n = 0; n < data.bias.size(); ++n)
    if (std::abs(std::abs(data.bias[n]) - (1 << 30)) <= 128) dead.push_back(n);
  return dead;
}

TEST(Operands, OneRealChannelIn16IsDead) {
  const Operands tflite = {Likeness::kReal, Requant::kTflite, {}};
  for (const octet_type type : {OCTET_S8, OCTET_U8}) {
    const GemmData data = plain_data(kShape, {OCTET_S8, type, OCTET_S8}, tflite);
    const std::vector<size_t> dead = dead_channels(data);
    ASSERT_EQ(dead.size(), kShape.n / 16);
    bool zero = false, other = false;
    for (const size_t n : dead) {
      for (size_t k = 0; k < kShape.k; ++k) ASSERT_EQ(data.rhs_at(k, n), 0);
      const int32_t multiplier = data.tflite.multipliers[n];
      (multiplier ? other : zero) = true;
      const double output = std::abs(data.bias[n] * (double)data.scales[n]);
      EXPECT_TRUE(multiplier ? output >= 1 && output < 127 : output < 0.5) << output;
    }
    EXPECT_TRUE(zero && other);
  }
  const ConvData data =
      plain_conv_data(parse_conv("g64ic64oc64_ih5kh3ph1"), {OCTET_S8, OCTET_S8, OCTET_S8}, tflite);
  ASSERT_EQ(dead_channels(data).size(), 4u);
  for (const size_t n : dead_channels(data))
    for (size_t k = 0; k < 9; ++k) EXPECT_EQ(data.filter.as()[n * 9 + k], 0);
}

TEST(Operands, NoChannelIsDeadOfUniformOnesOrOf32Bits) {
  EXPECT_TRUE(dead_channels(plain_data(kShape, {OCTET_S8, OCTET_S8, OCTET_S8})).empty());
  EXPECT_TRUE(dead_channels(plain_data(kShape, {OCTET_S8, OCTET_S8, OCTET_F32}, kReal)).empty());
}

// A bench's reference takes a multiplier of 0 as TFLite does, also before an ADD.
TEST(Contract, AMultiplierOf0IsTflites) {
  Operands operands = {Likeness::kReal, Requant::kTflite, {}, true};
  const GemmData data = plain_data(kShape, {OCTET_S8, OCTET_S8, OCTET_S8}, operands);
  const Factor zero = factor_of({0.5f}, {{0}, {0}}, 0),
               one = factor_of({0.5f}, {{1 << 30}, {1}}, 0);
  const OutputStage stage = {OCTET_S8, 0, false};
  EXPECT_EQ(contract_output(stage, 100, zero), 0);
  for (size_t i = 0; i < 100; ++i)
    EXPECT_EQ(contract_output(stage, 100, zero, data.after, i),
              contract_output(stage, 0, one, data.after, i));
}

TEST(Operands, AnAskedForZeroPointIsTheWeightsMiddle) {
  Operands asked = kReal;
  asked.rhs_zero_point = 5;
  const GemmData data = plain_data(kShape, {OCTET_U8, OCTET_S8, OCTET_U8}, asked);
  EXPECT_EQ(data.rhs_zero_points, std::vector<int32_t>(kShape.n, 5));
  double sum = 0;
  for (size_t i = 0; i < data.rhs.size(); ++i) sum += byte_at(data.rhs, OCTET_S8, i);
  EXPECT_NEAR(sum / (double)data.rhs.size(), 5, 1);
}

// The plan computes with the zero point, and the reference refuses outputs of another one.
TEST(Operands, AnAskedForZeroPointIsTheInputsMiddle) {
  Operands asked = kReal;
  asked.lhs_zero_point = 7;
  for (const octet_type type : {OCTET_U8, OCTET_S8}) {
    const OperandTypes types = {type, OCTET_S8, OCTET_S32};
    GemmData data = plain_data(kShape, types, asked);
    if (type == OCTET_S8) {
      double sum = 0;
      for (size_t i = 0; i < data.lhs.size(); ++i) sum += byte_at(data.lhs, type, i);
      EXPECT_NEAR(sum / (double)data.lhs.size(), 7, 1);
    }
    GemmPlan plan(data, {});
    plan.run(1);
    EXPECT_TRUE(check_product(data, plan.dst()).right);
    data.lhs_zero_point = 8;
    EXPECT_FALSE(check_product(data, plan.dst()).right);

    ConvData conv_data = plain_conv_data(parse_conv("ic8oc8_ih6kh3ph1"), types, asked);
    ConvPlan conv(conv_data, {});
    conv.run(1);
    EXPECT_TRUE(ConvReference(conv_data).check(conv.dst()).right);
    conv_data.lhs_zero_point = 8;
    EXPECT_FALSE(ConvReference(conv_data).check(conv.dst()).right);
  }
}

// Scales that suit uniform operands would leave most real outputs within a few units of each other.
TEST(Operands, OutputsOfEitherKindSpreadOverTheirType) {
  for (const Likeness likeness : {Likeness::kUniform, Likeness::kReal}) {
    const GemmData data =
        plain_data(kShape, {OCTET_S8, OCTET_S8, OCTET_S8}, {likeness, Requant::kFloat, {}});
    double squares = 0;
    for (size_t m = 0; m < kShape.m; ++m)
      for (size_t n = 0; n < kShape.n; ++n) {
        double sum = data.bias[n];
        for (size_t k = 0; k < kShape.k; ++k) sum += data.lhs_at(m, k) * data.rhs_at(k, n);
        squares += sum * sum * data.scales[n] * data.scales[n];
      }
    const double deviation = std::sqrt(squares / (kShape.m * kShape.n));
    EXPECT_GT(deviation, 25) << likeness_name(likeness);
    EXPECT_LT(deviation, 80) << likeness_name(likeness);
  }
}

TEST(Suites, HoldEachConvolutionOfTheirNetworks) {
  const struct {
    const char* suite;
    int convolutions;
    double billions;  // of multiplications and additions
  } networks[] = {{"resnet50", 53, 8.18},           {"mobilenet_v2", 52, 0.60},
                  {"efficientnet_lite0", 49, 0.77}, {"vgg16", 13, 30.69},
                  {"detection", 47, 2.46},          {"yolo", 13, 5.57},
                  {"densenet121", 120, 5.80},       {"googlenet", 57, 3.16}};
  for (const auto& network : networks) {
    int convolutions = 0;
    double ops = 0;
    for (const ConvCase& conv : conv_suite(network.suite)) {
      convolutions += conv.count;
      ops += conv.count * conv.shape.ops();
    }
    EXPECT_EQ(convolutions, network.convolutions) << network.suite;
    EXPECT_NEAR(ops / 1e9, network.billions, 0.006 * network.billions) << network.suite;
  }
}

}  // namespace
}  // namespace tool
