// SPDX-License-Identifier: Apache-2.0
// Checks every epilogue behind every algorithm.
#include "support/conv_case.h"

namespace octet_test {
namespace {

// One shape for each family of algorithms. Odd sizes, so that every tile has an edge.
std::vector<octet_conv2d_shape> shapes() {
  octet_conv2d_shape plain = square(7, 11, 21, 3, 1, 1), strided = square(7, 6, 18, 3, 2, 1),
                     depthwise = square(5, 19, 19, 3, 1, 1, 19);
  octet_conv2d_shape transposed = square(3, 5, 17, 3, 2, 1), pointwise = square(5, 12, 35, 1),
                     phases = square(3, 5, 7, 4, 2, 1);
  plain.in_w_max = 9;
  plain.batch_max = depthwise.batch_max = pointwise.batch_max = 2;
  transposed.transposed = phases.transposed = 1;
  return {plain, strided, depthwise, transposed, pointwise, phases};
}

ConvCase with(const octet_conv2d_shape& shape, octet_type dst, uint32_t seed) {
  ConvCase c;
  c.shape = shape;
  c.seed = seed;
  c.dst = dst;
  c.lhs = seed % 2 ? OCTET_U8 : OCTET_S8;
  c.lhs_zero_point = 9;
  c.filter_zero_points = FilterZeroPoints::kCentre;
  return c;
}

class ConvEpilogue : public testing::TestWithParam<size_t> {
 protected:
  octet_conv2d_shape shape() const { return shapes()[GetParam()]; }
};
std::string shape_name(const testing::TestParamInfo<size_t>& index) {
  const char* const kNames[] = {"Plain",      "Strided",   "Depthwise",
                                "Transposed", "Pointwise", "Phases"};
  return kNames[index.param];
}
INSTANTIATE_TEST_SUITE_P(, ConvEpilogue, testing::Range(size_t{0}, shapes().size()), shape_name);

TEST_P(ConvEpilogue, EveryTypeAndActivation) {
  uint32_t seed = 0;
  for (const octet_type dst : {OCTET_S32, OCTET_F32, OCTET_S8, OCTET_U8})
    for (const octet_activation activation :
         {OCTET_ACTIVATION_NONE, OCTET_ACTIVATION_RELU, OCTET_ACTIVATION_RELU6,
          OCTET_ACTIVATION_CLAMP, OCTET_ACTIVATION_RELU_N1_TO_1})
      for (const bool per_channel : {false, true}) {
        if (dst == OCTET_S32 && (activation || per_channel)) continue;
        ConvCase c = with(shape(), dst, ++seed);
        c.activation = activation, c.per_channel = per_channel, c.bias = seed % 3,
        c.bias_f32 = dst == OCTET_F32 && seed % 2;
        check_every_way(c);
        if (HasFatalFailure()) return;
      }
}

TEST_P(ConvEpilogue, TfliteAndDoubleMode) {
  uint32_t seed = 20;
  for (const octet_requant requant : {OCTET_REQUANT_TFLITE, OCTET_REQUANT_DOUBLE})
    for (const octet_type dst : {OCTET_S8, OCTET_U8})
      for (const octet_activation activation : {OCTET_ACTIVATION_NONE, OCTET_ACTIVATION_RELU6})
        for (const bool per_channel : {false, true})
          for (const bool lut : {false, true}) {
            ConvCase c = with(shape(), dst, ++seed);
            c.requant = requant, c.activation = activation, c.per_channel = per_channel,
            c.lut = lut;
            check_every_way(c);
            if (HasFatalFailure()) return;
          }
}

TEST_P(ConvEpilogue, Residual) {
  uint32_t seed = 40;
  for (const octet_requant requant : {OCTET_REQUANT_FLOAT, OCTET_REQUANT_TFLITE})
    for (const octet_type dst : {OCTET_S8, OCTET_U8})
      for (const octet_type residual : {OCTET_S8, OCTET_U8})
        for (const bool in_place : {false, true}) {
          ConvCase c = with(shape(), dst, ++seed);
          c.requant = requant, c.residual = residual, c.residual_is_dst = in_place;
          c.lut = seed % 4 == 0;
          c.activation = seed % 3 ? OCTET_ACTIVATION_NONE : OCTET_ACTIVATION_RELU;
          c.product_activation = (octet_activation)(seed % 5);
          check_every_way(c);
          if (HasFatalFailure()) return;
        }
}

// Zero points and scales come with the run, one per image; create has seen none of them.
TEST_P(ConvEpilogue, RuntimeQuantization) {
  uint32_t seed = 60;
  for (const octet_type dst : {OCTET_S32, OCTET_F32, OCTET_S8, OCTET_U8})
    for (const octet_type lhs : {OCTET_S8, OCTET_U8})
      for (const FilterZeroPoints zero_points :
           {FilterZeroPoints::kCentre, FilterZeroPoints::kChannel}) {
        ConvCase c = with(shape(), dst, ++seed);
        c.shape.batch_max = 3;
        c.lhs = lhs, c.lhs_zero_point = 0, c.runtime_quant = true,
        c.filter_zero_points = zero_points;
        c.residual = is_8bit(dst) && seed % 2 ? OCTET_S8 : kNoResidual;
        check_every_way(c);
        if (HasFatalFailure()) return;
      }
}

// Null arrays stand for zero point 0 and scale 1.
TEST_P(ConvEpilogue, RuntimeQuantizationMayBeAbsent) {
  ConvCase quantized = with(shape(), OCTET_S8, 80);
  quantized.lhs_zero_point = 0;
  const ConvProblem plain(quantized);
  quantized.runtime_quant = true;
  const ConvProblem per_image(quantized);
  for (const ConvHow& how : ways_of(plain)) {
    Conv run(plain, how), created(per_image, how);
    ASSERT_EQ(run.status(), OCTET_OK) << run.error().message;
    ASSERT_EQ(created.status(), OCTET_OK) << created.error().message;
    run.args().workspace = created.args().workspace,
    run.args().workspace_bytes = created.args().workspace_bytes;
    octet_error error = {};
    ASSERT_EQ(octet_conv2d_run(created.get(), &run.args(), &error), OCTET_OK) << error.message;
    ASSERT_TRUE(run.as_expected()) << how;
  }
}

// Images of usual scales and, between them, of one whose product with a column's overflows: an
// accumulator of 0 then gives NaN, whose bits are the same everywhere.
TEST_P(ConvEpilogue, ScalesThatOverflow) {
  const std::vector<Channel> channels = {{0, 0, 0, 0, 0, 0x1p48f}, {90, -70, 5, 0, 0, 0x1p-9f}};
  for (const size_t columns : {0, 64}) {
    ConvCase c = with(shape(), OCTET_F32, 120);
    octet_conv2d_shape& s = c.shape;
    if (columns && s.groups == s.in_channels) s.groups = s.in_channels = s.out_channels = columns;
    s.batch_max = 4;
    c.runtime_quant = true, c.lhs_zero_point = 0, c.floats = true, c.odd_factor = 0x1p100f,
    c.channels = &channels;
    check_every_way(c);
    if (HasFatalFailure()) return;
  }
}

// Sums at the ends of their range, where a shortcut that holds for usual data would not.
TEST_P(ConvEpilogue, Extremes) {
  uint32_t seed = 90;
  for (const octet_type dst : {OCTET_S8, OCTET_F32})
    for (const Fill lhs : {Fill::kLeast, Fill::kMost, Fill::kEnds})
      for (const Fill filter : {Fill::kLeast, Fill::kMost, Fill::kEnds}) {
        ConvCase c = with(shape(), dst, ++seed);
        c.lhs_fill = lhs, c.filter_fill = filter;
        c.lhs_zero_point = seed % 2 ? least(c.lhs) : most(c.lhs);
        check_every_way(c);
        if (HasFatalFailure()) return;
      }
}

}  // namespace
}  // namespace octet_test
