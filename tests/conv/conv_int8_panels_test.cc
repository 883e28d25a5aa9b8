// SPDX-License-Identifier: Apache-2.0
// Checks depthwise convolutions whose weights have zero points: panels whose differences fit int8
// are multiplied by the int8 kernel, the others by the int16 one.
#include "dispatch/tables/kernels.h"
#include "operators/conv/algorithms/channelwise.h"
#include "operators/conv/object.h"
#include "support/conv_case.h"
#include "support/tiers.h"

namespace octet_test {
namespace {

constexpr size_t kChannels = 140;  // three panels, the last of which is not full
// The channel of the second panel with a weight of 127, which is 129 from its zero point of -2:
// FilterZeroPoints::kNear gives channel 70 this one.
constexpr size_t kFar = 70;

std::vector<Channel> channels(size_t taps) {
  std::vector<Channel> all(kChannels);
  for (size_t n = 0; n < all.size(); ++n) {
    const int32_t most = n == kFar ? 127 : (int32_t)(n * 7 % 120);
    const auto count = (int32_t)(taps + 1) / 2;
    all[n] = {most * count - (n == kFar ? 0 : (int32_t)n % 5),
              -(int32_t)(n * 3 % 90),
              (int32_t)n - 20,
              1 << 30,
              -6,
              0.01f};
  }
  return all;
}

std::vector<ConvCase> cases(const std::vector<Channel>& channels, size_t kernel, size_t stride,
                            size_t multiplier) {
  ConvCase c;
  c.shape = square(9, kChannels / multiplier, kChannels, kernel, stride, kernel / 2,
                   kChannels / multiplier);
  c.filter_zero_points = FilterZeroPoints::kNear;
  c.channels = &channels;
  std::vector<ConvCase> all = {c};
  c.dst = OCTET_F32, all.push_back(c);
  c.dst = OCTET_U8, all.push_back(c);
  c.lhs = OCTET_S8, all.push_back(c);
  c.requant = OCTET_REQUANT_TFLITE, all.push_back(c);
  c.residual = OCTET_S8, all.push_back(c);
  c.residual = kNoResidual, c.lut = true, all.push_back(c);
  c.requant = OCTET_REQUANT_FLOAT, c.lut = false;
  c.shape.batch_max = 2, c.lhs_layout = c.dst_layout = OCTET_NCHW, all.push_back(c);
  c.runtime_quant = true, c.in_h = 7, c.in_w = 6, all.push_back(c);
  return all;
}

TEST(Int8Panels, EveryLoopAndExit) {
  const struct {
    size_t kernel, stride, multiplier;
  } kShapes[] = {{3, 1, 1}, {3, 2, 1}, {5, 1, 1}, {5, 2, 1}, {3, 1, 2}, {2, 3, 1}};
  for (const octet_isa isa : tiers_to_test())
    for (const auto& shape : kShapes) {
      const std::vector<Channel> all = channels(shape.kernel * shape.kernel);
      for (const ConvCase& c : cases(all, shape.kernel, shape.stride, shape.multiplier)) {
        ConvHow how;
        how.isa = isa, how.algorithm = OCTET_CONV_DEPTHWISE, how.concurrency = 1 + c.lut;
        const ConvProblem problem(c);
        Conv conv(problem, how);
        ASSERT_EQ(conv.status(), OCTET_OK) << conv.error().message << c << how;
        const octet::Int8Panels& panels = conv.get()->plan.int8_panels;
        ASSERT_NE(panels.kernel, nullptr) << how;
        EXPECT_TRUE(panels.fits[0]) << c << how;
        EXPECT_FALSE(panels.fits[1]) << c << how;
        EXPECT_TRUE(panels.fits[2]) << c << how;
        ASSERT_EQ(conv.run(), OCTET_OK);
        ASSERT_TRUE(conv.as_expected()) << c << how;
      }
    }
}

// The ends of int8 fit, and the values beyond them do not.
TEST(Int8Panels, FitUpToTheEndsOfInt8) {
  octet::ConvShape s = {};
  s.in_channels = s.out_channels = s.groups = 4 * 64;
  s.kernel_h = s.kernel_w = 1;
  const size_t count = octet::depthwise_panel_weights(s);
  std::vector<int16_t> weights(4 * count);
  const int16_t ends[] = {-128, 127, -129, 128};
  for (size_t panel = 0; panel < 4; ++panel) weights[panel * count + 17 * panel] = ends[panel];
  bool fits[4];
  std::vector<uint8_t> copied(4 * count);
  octet::copy_int8_panels(s, (const uint8_t*)weights.data(), {nullptr, fits, copied.data()});
  EXPECT_TRUE(fits[0] && fits[1]);
  EXPECT_FALSE(fits[2] || fits[3]);
  for (size_t i = 0; i < 2 * count; ++i) ASSERT_EQ((int8_t)copied[i], weights[i]) << i;
}

// Weights without zero points have no panels to copy, and a kernel that the caller names runs.
TEST(Int8Panels, AreNotMadeWithoutNeed) {
  const std::vector<Channel> all = channels(9);
  ConvCase c = cases(all, 3, 1, 1)[2];
  ConvHow how;
  how.algorithm = OCTET_CONV_DEPTHWISE;
  const ConvProblem problem(c);
  Conv chosen(problem, how);
  ASSERT_EQ(chosen.status(), OCTET_OK) << chosen.error().message;
  how.kernel = octet_conv2d_kernel(chosen.get());
  Conv named(problem, how);
  ASSERT_EQ(named.status(), OCTET_OK) << named.error().message;
  EXPECT_EQ(named.get()->plan.int8_panels.kernel, nullptr);
  ASSERT_EQ(named.run(), OCTET_OK);
  EXPECT_TRUE(named.as_expected());

  c.filter_zero_points = FilterZeroPoints::kCentre;
  how.kernel = nullptr;
  const ConvProblem centred(c);
  Conv plain(centred, how);
  ASSERT_EQ(plain.status(), OCTET_OK) << plain.error().message;
  EXPECT_EQ(plain.get()->plan.int8_panels.kernel, nullptr);
}

// A kernel that copies lines as int16 needs more room than a plan for one that copies bytes has.
TEST(Int8Panels, CopiesFitThePlan) {
  octet::DepthwiseKernel bytes = **octet::depthwise_kernels().begin();
  bytes.copied_5x5 = true, bytes.widen = bytes.widen_5x5 = nullptr;
  octet::DepthwiseKernel words = bytes;
  words.widen_5x5 = [](const uint8_t*, size_t, size_t, size_t, uint8_t, uint16_t*) {};
  EXPECT_TRUE(octet::alike(&bytes, &bytes));
  EXPECT_TRUE(octet::alike(&bytes, &words));
  EXPECT_FALSE(octet::alike(&words, &bytes));
}

}  // namespace
}  // namespace octet_test
