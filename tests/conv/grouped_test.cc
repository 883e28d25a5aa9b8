// SPDX-License-Identifier: Apache-2.0
// Checks grouped convolutions: every exit, weights with zero points, blocks that are not full.
#include <algorithm>

#include "operators/conv/algorithms/channelwise.h"
#include "operators/conv/algorithms/filter_blob.h"
#include "operators/conv/object.h"
#include "support/conv_case.h"
#include "support/tiers.h"

namespace octet_test {
namespace {

// One case for each way from the sums of a group's channels to outputs: registers, lines of raw
// sums, the tier's epilogue. Lines are longer than one call of any of them takes.
std::vector<ConvCase> grouped_cases(size_t channels, size_t group,
                                    FilterZeroPoints zero_points = FilterZeroPoints::kCentre) {
  ConvCase c;
  c.shape = square(3, channels, channels, 3, 1, 1, channels / group);
  c.shape.in_w_max = 70 + channels;
  c.filter_zero_points = zero_points;
  c.lhs = OCTET_S8, c.dst = OCTET_S32;
  std::vector<ConvCase> cases = {c};
  c.dst = OCTET_F32, cases.push_back(c);
  c.dst = OCTET_U8, cases.push_back(c);
  c.residual = OCTET_S8, cases.push_back(c);
  c.requant = OCTET_REQUANT_TFLITE, cases.push_back(c);
  c.residual = kNoResidual, cases.push_back(c);
  // All columns are shifted to the right, and the clamp ends at the zero point
  c.per_channel = false, c.activation = OCTET_ACTIVATION_RELU, cases.push_back(c);
  c.lut = true, cases.push_back(c);
  return cases;
}

// The reference, which takes longest, computes the case once for all tiers.
void check_on_every_tier(const ConvCase& c) {
  const ConvProblem problem(c);
  for (const octet_isa isa : tiers_to_test()) {
    ConvHow how;
    how.isa = isa, how.algorithm = OCTET_CONV_GROUPED;
    check(problem, how);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Grouped, EveryExitOfLongLines) {
  for (const size_t group : {2, 4, 8, 16})
    for (const size_t channels : {16, 48, 80})
      for (const ConvCase& c : grouped_cases(channels + (group < 8 ? group : 0), group)) {
        check_on_every_tier(c);
        if (HasFatalFailure()) return;
      }
}

// Weights that have zero points, near and far, so that few or most channels have an offset.
TEST(Grouped, ZeroPointsOfWeights) {
  for (const size_t group : {2, 4, 8, 16})
    for (const size_t channels : {16, 144})
      for (const FilterZeroPoints zero_points : {FilterZeroPoints::kNear, FilterZeroPoints::kFar})
        for (ConvCase& c : grouped_cases(channels, group, zero_points)) {
          c.shape.stride_h = c.shape.stride_w = 1 + group % 16 / 8;
          c.rhs = group == 4 ? OCTET_U8 : OCTET_S8;
          check_on_every_tier(c);
          if (HasFatalFailure()) return;
        }
}

// The accumulators of a convolution of all-255 pixels; empty if its filter is refused.
std::vector<int32_t> sums_of(octet_filter_desc filter, octet_conv_algorithm algorithm,
                             octet_isa isa, octet_error* error) {
  filter.algorithm = algorithm;
  size_t bytes = 0;
  if (octet_conv2d_pack_size(&filter, isa, &bytes, error) != OCTET_OK) return {};
  const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
  EXPECT_EQ(octet_conv2d_pack(&filter, isa, blob.data(), bytes, error), OCTET_OK);
  octet_conv2d_desc desc = OCTET_CONV2D_DESC_INIT;
  desc.shape = filter.shape;
  desc.lhs_type = OCTET_U8, desc.rhs_type = filter.type, desc.dst_type = OCTET_S32;
  desc.packed = blob.data(), desc.packed_bytes = bytes, desc.max_isa = isa;
  octet_conv2d* conv = nullptr;
  EXPECT_EQ(octet_conv2d_create(&desc, &conv, error), OCTET_OK) << error->message;
  octet_conv2d_args args = OCTET_CONV2D_ARGS_INIT;
  size_t needed = 0;
  EXPECT_EQ(octet_conv2d_workspace(conv, 0, 0, 0, 1, &needed, error), OCTET_OK) << error->message;
  const Guarded workspace(needed, Side::kBack, OCTET_ALIGNMENT);
  const octet_conv2d_shape& s = filter.shape;
  const std::vector<uint8_t> lhs(s.in_h_max * s.in_w_max * s.in_channels, 255);
  std::vector<int32_t> dst(s.in_h_max * s.in_w_max * s.out_channels);
  args.lhs = lhs.data(), args.dst = dst.data();
  args.workspace = workspace.data(), args.workspace_bytes = needed;
  EXPECT_EQ(octet_conv2d_run(conv, &args, error), OCTET_OK) << error->message;
  octet_conv2d_destroy(conv);
  return dst;
}

// Differences of -255 to 255, whole taps of each.
TEST(Grouped, ZeroPointsAtTheEnds) {
  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
  filter.shape = square(5, 16, 16, 3, 1, 1, 2);
  std::vector<uint8_t> weights(16 * 8 * 9);
  filter.data = weights.data();
  const struct {
    octet_type type;
    int32_t zero_point;
  } kCases[] = {{OCTET_S8, -128}, {OCTET_S8, -1}, {OCTET_S8, 0},  {OCTET_S8, 1},
                {OCTET_S8, 127},  {OCTET_U8, 0},  {OCTET_U8, 255}};
  for (const octet_isa isa : tiers_to_test())
    for (const auto& end : kCases) {
      filter.type = end.type;
      filter.zero_points = &end.zero_point, filter.zero_point_count = 1;
      // Whole taps at either end of the type
      for (size_t i = 0; i < weights.size(); ++i)
        weights[i] = (uint8_t)(i / 8 % 2 ? most(end.type) : least(end.type));
      octet_error error = {};
      const std::vector<int32_t> sums = sums_of(filter, OCTET_CONV_GROUPED, isa, &error);
      EXPECT_EQ(sums.size(), 25u * 16) << error.message;
      EXPECT_EQ(sums, sums_of(filter, OCTET_CONV_DIRECT, isa, &error))
          << octet_isa_name(isa) << ' ' << end.zero_point;
    }
}

// Windows whose sums of pixels would not fit two int16 are refused.
TEST(Grouped, LargestWindowsOfWeightsWithZeroPoints) {
  const int32_t zero_point = 127;
  for (const octet_isa isa : tiers_to_test())
    for (const size_t width : {514, 515}) {  // 2 * 514 * 16 pixels of 16448
      octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
      filter.shape = square(4, 16, 16, 2, 1, 0);
      filter.shape.in_w_max = filter.shape.kernel_w = width;
      std::vector<int8_t> weights(2 * width * 16 * 16, 127);
      for (size_t i = 0; i < weights.size(); i += 3) weights[i] = -128;
      filter.type = OCTET_S8, filter.data = weights.data();
      filter.zero_points = &zero_point, filter.zero_point_count = 1;
      octet_error error = {};
      const std::vector<int32_t> sums = sums_of(filter, OCTET_CONV_GROUPED, isa, &error);
      if (width > 514) {
        EXPECT_NE(std::string(error.message).find("weights with zero points are too large"),
                  std::string::npos)
            << error.message;
        continue;
      }
      EXPECT_FALSE(sums.empty());
      EXPECT_EQ(sums, sums_of(filter, OCTET_CONV_DIRECT, isa, &error)) << octet_isa_name(isa);
    }
}

// Only channels whose differences leave int8 have an offset.
TEST(Grouped, ChannelsHaveTheOffsetsThatTheyNeed) {
  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
  filter.shape = square(5, 192, 192, 3, 1, 1, 48);
  std::vector<int8_t> weights(192 * 4 * 9, 20);  // 36 of each output channel
  weights[100 * 36 + 5] = -128;
  for (size_t i = 160 * 36; i < 161 * 36; ++i) weights[i] = -127;
  const int32_t zero_point = 3;
  filter.type = OCTET_S8, filter.data = weights.data();
  filter.zero_points = &zero_point, filter.zero_point_count = 1;
  filter.algorithm = OCTET_CONV_GROUPED, filter.order = OCTET_OHWI;
  size_t bytes = 0;
  octet_error error = {};
  ASSERT_EQ(octet_conv2d_pack_size(&filter, OCTET_ISA_AUTO, &bytes, &error), OCTET_OK);
  const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
  ASSERT_EQ(octet_conv2d_pack(&filter, OCTET_ISA_AUTO, blob.data(), bytes, &error), OCTET_OK);
  octet::Container container;
  ASSERT_EQ(octet::read_head(blob.data(), bytes, &container), octet::BlobProblem::kNone);
  const octet::ConvShape s = octet::filter_shape(container);
  const uint8_t* const payload =
      octet::section_of(container, octet::SectionId::kWeights, blob.data());
  EXPECT_FALSE(octet::OffsetPanel(s, payload, 0).any(64));
  const octet::OffsetPanel one(s, payload, 64), last(s, payload, 160);
  EXPECT_TRUE(one.any(64));
  for (size_t c = 0; c < 64; ++c) EXPECT_EQ(one.offsets()[c], c == 36 ? -3 : 0) << c;
  EXPECT_EQ(last.offsets()[0], -2);
  EXPECT_EQ(last.weights()[0], (uint8_t)-128);
  EXPECT_EQ(sums_of(filter, OCTET_CONV_GROUPED, OCTET_ISA_AUTO, &error),
            sums_of(filter, OCTET_CONV_DIRECT, OCTET_ISA_AUTO, &error));
}

const octet::DepthwiseKernel* traced;
size_t most_channels;
void watch(const octet::DepthwiseTile& t) {
  most_channels = std::max(most_channels, t.channels);
  traced->multiply(t);
}

// Kernels of a block that is not full do no work for missing channels, with every epilogue.
TEST(Grouped, MultipliesNoMissingChannels) {
  for (const octet_isa isa : tiers_to_test())
    for (const ConvCase& c : grouped_cases(8, 8)) {
      ConvHow how;
      how.isa = isa, how.algorithm = OCTET_CONV_GROUPED;
      const ConvProblem problem(c);
      Conv conv(problem, how);
      ASSERT_EQ(conv.status(), OCTET_OK) << c << how;
      octet::ConvPlan& plan = ((octet_conv2d*)conv.get())->plan;
      traced = plan.depthwise, most_channels = 0;
      octet::DepthwiseKernel watching = *traced;
      watching.multiply = watch;
      plan.depthwise = &watching;
      ASSERT_EQ(conv.run(), OCTET_OK);
      EXPECT_TRUE(conv.as_expected()) << c << how;
      EXPECT_LE(most_channels, octet::kGroupedBlock) << c << how;
    }
}

}  // namespace
}  // namespace octet_test
