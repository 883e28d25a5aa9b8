// SPDX-License-Identifier: Apache-2.0
// Checks, with the data that comes closest to it, both sides of the border where Winograd's sums
// can no longer be recovered and it splits the input channels.
#include <algorithm>
#include <cmath>

#include "support/conv_case.h"

namespace octet_test {
namespace {

bool is_winograd(octet_conv_algorithm algorithm) {
  return algorithm == OCTET_CONV_WINOGRAD_2X2 || algorithm == OCTET_CONV_WINOGRAD_4X4 ||
         algorithm == OCTET_CONV_WINOGRAD_2X2_S2;
}

// Checks Winograd's algorithms only, on every tier; returns the number of ways.
size_t check_winograd(const ConvCase& c) {
  const ConvProblem problem(c);
  size_t ways = 0;
  for (const octet_isa isa : tiers_to_test())
    for (const octet_conv_algorithm algorithm : possible_algorithms(problem, isa)) {
      if (!is_winograd(algorithm)) continue;
      ConvHow how;
      how.isa = isa, how.algorithm = algorithm;
      check(problem, how);
      if (testing::Test::HasFatalFailure()) return ways;
      ++ways;
    }
  return ways;
}

ConvCase layer(size_t in_channels, size_t stride = 1) {
  ConvCase c;
  c.shape = square(4, in_channels, 3, 3, stride, 1);
  c.shape.in_w_max = 5;
  c.lhs = OCTET_S8;
  return c;
}

// F(4x4,3x3) recovers 576 Y from 32 bits while |Y| < 2^25, that is 128 * sum|w| < 2^25: 227
// channels of nothing but -128 pass and 228 do not; with +127 it is 229 and 230. A second split
// begins at twice as many. F(2x2,3x3) would need 3641 channels.
TEST(ConvWinogradEdges, ChannelsAroundTheCertificate) {
  for (const size_t channels : {226, 227, 228, 229, 230, 231, 454, 455, 456, 458, 459, 460, 600})
    for (const Fill lhs : {Fill::kLeast, Fill::kMost})
      for (const Fill filter : {Fill::kLeast, Fill::kMost}) {
        ConvCase c = layer(channels);
        c.lhs_fill = lhs, c.filter_fill = filter;
        c.lhs_zero_point = lhs == Fill::kLeast ? 127 : -128;
        EXPECT_GE(check_winograd(c), 2u);
        if (HasFatalFailure()) return;
      }
}

TEST(ConvWinogradEdges, ChannelsAroundTheCertificateWithStrideTwo) {
  for (const size_t channels : {227, 228, 455, 456, 600})
    for (const Fill lhs : {Fill::kLeast, Fill::kMost})
      for (const Fill filter : {Fill::kLeast, Fill::kMost}) {
        ConvCase c = layer(channels, 2);
        c.lhs_fill = lhs, c.filter_fill = filter;
        EXPECT_GE(check_winograd(c), 1u);
        if (HasFatalFailure()) return;
      }
}

// The certificate is per output channel: one channel must be split, its neighbours need not.
TEST(ConvWinogradEdges, EachOutputChannelForItself) {
  for (const size_t channels : {228, 300, 456})
    for (const size_t out : {1, 16, 17, 35})
      for (const bool at_random : {false, true}) {
        ConvCase c = layer(channels);
        c.shape.out_channels = out;
        c.filter_fill = at_random ? Fill::kEnds : Fill::kMostThenOne;
        c.lhs_fill = at_random ? Fill::kEnds : Fill::kLeast;
        EXPECT_GE(check_winograd(c), 2u);
        if (HasFatalFailure()) return;
      }
}

// The transforms multiply by up to 10 and add up 6 x 6 values: random signs reach sums that fixed
// signs do not.
TEST(ConvWinogradEdges, EndsAtRandom) {
  for (uint32_t seed = 1; seed <= 12; ++seed)
    for (const size_t stride : {1, 2})
      for (const octet_type lhs : {OCTET_S8, OCTET_U8})
        for (const octet_type rhs : {OCTET_S8, OCTET_U8}) {
          ConvCase c = layer(1 + seed * seed, stride);
          c.seed = seed;
          c.shape.in_h_max = 3 + seed, c.shape.in_w_max = 14 - seed;
          c.shape.out_channels = 1 + seed * 3;
          c.lhs = lhs, c.rhs = rhs, c.lhs_fill = Fill::kEnds, c.filter_fill = Fill::kEnds,
          c.filter_zero_points = FilterZeroPoints::kCentre;
          c.lhs_zero_point = seed % 2 ? least(lhs) : most(lhs);
          c.dst = seed % 3 ? OCTET_S32 : OCTET_U8;
          c.runtime_quant = seed % 4 == 0;
          if (c.runtime_quant) c.lhs_zero_point = 0;
          EXPECT_GE(check_winograd(c), 1u);
          if (HasFatalFailure()) return;
        }
}

// Tiles of 2 x 2 and 4 x 4 outputs at every offset from the edge, with every padding.
TEST(ConvWinogradEdges, EveryTail) {
  uint32_t turn = 0;
  for (size_t h = 1; h <= 9; ++h)
    for (size_t w = 1; w <= 10; ++w)
      for (const size_t stride : {1, 2}) {
        ConvCase c = layer(5, stride);
        c.shape.in_h_max = h, c.shape.in_w_max = w, c.shape.out_channels = 4;
        c.shape.pad_top = ++turn % 3, c.shape.pad_bottom = 2, c.shape.pad_left = turn / 3 % 4,
        c.shape.pad_right = 2;
        c.lhs_zero_point = 11;
        c.shape.batch_max = 1 + turn % 2;
        EXPECT_GE(check_winograd(c), 1u) << c;
        if (HasFatalFailure()) return;
      }
}

// Weights less their zero points have 9 bits. F(4x4,3x3) accepts them as long as 16 bits hold 144
// times their size; beyond that it gives a reason.
TEST(ConvWinogradEdges, WeightZeroPoints) {
  for (const octet_type rhs : {OCTET_S8, OCTET_U8})
    for (const FilterZeroPoints kind :
         {FilterZeroPoints::kNone, FilterZeroPoints::kTensor, FilterZeroPoints::kChannel,
          FilterZeroPoints::kLeast, FilterZeroPoints::kLeastSometimes, FilterZeroPoints::kFar})
      for (const Fill filter : {Fill::kLeast, Fill::kMost, Fill::kEnds, Fill::kRandom})
        for (const size_t channels : {8, 127, 128, 129, 257})
          for (const size_t stride : {1, 2}) {
            ConvCase c = layer(channels, stride);
            c.rhs = rhs, c.filter_zero_points = kind, c.filter_fill = filter;
            c.lhs_fill = Fill::kEnds, c.lhs_zero_point = 127;
            EXPECT_GE(check_winograd(c), 1u) << c;
            if (HasFatalFailure()) return;
          }
}

TEST(ConvWinogradEdges, WeightZeroPointsBeyondSixteenBits) {
  ConvCase c = layer(8);
  octet_conv2d_shape& s = c.shape;
  s.out_channels = 2;
  for (const octet_type rhs : {OCTET_S8, OCTET_U8}) {
    c.rhs = rhs, c.filter_zero_points = FilterZeroPoints::kFar;
    ConvProblem problem(c);
    const auto lists = [&] {
      const std::vector<octet_conv_algorithm> possible =
          possible_algorithms(problem, OCTET_ISA_AUTO);
      return std::count(possible.begin(), possible.end(), OCTET_CONV_WINOGRAD_4X4);
    };
    EXPECT_EQ(lists(), 1) << c;
    --problem.filter_zero_points[0];
    EXPECT_EQ(lists(), 0) << c;
    ++problem.filter_zero_points[0], ++problem.filter_zero_points[1];
    EXPECT_EQ(lists(), 0) << c;
  }
}

// ---- the approximate one

bool lists_int8(const ConvProblem& problem, octet_isa isa) {
  const std::vector<octet_conv_algorithm> possible = possible_algorithms(problem, isa);
  return std::count(possible.begin(), possible.end(), OCTET_CONV_WINOGRAD_2X2_INT8) == 1;
}

TEST(ConvWinogradInt8, NeedsPermission) {
  ConvCase c = layer(32);
  for (const octet_accuracy accuracy : {OCTET_ACCURACY_EXACT, OCTET_ACCURACY_APPROXIMATE}) {
    c.accuracy = accuracy;
    const ConvProblem problem(c);
    octet_filter_desc d = problem.filter_desc();
    d.algorithm = OCTET_CONV_WINOGRAD_2X2_INT8;
    size_t bytes = 0;
    octet_error error = {};
    EXPECT_EQ(octet_conv2d_pack_size(&d, OCTET_ISA_AUTO, &bytes, &error),
              accuracy ? OCTET_OK : OCTET_UNSUPPORTED)
        << error.message;
    for (const octet_isa isa : tiers_to_test())
      EXPECT_EQ(lists_int8(problem, isa), accuracy == OCTET_ACCURACY_APPROXIMATE)
          << octet_isa_name(isa);
  }
}

// Its accumulators may be larger than any exact one. A scale that brings the largest exact one just
// below 2^31 must not make them wrap.
TEST(ConvWinogradInt8, SaturatesBeyondExactAccumulators) {
  Random random(5);
  for (int draw = 0; draw < 40; ++draw)
    for (const octet_isa isa : tiers_to_test()) {
      const std::vector<int32_t> drawn = draw_integers(&random, 9, -128, 127);
      std::vector<int8_t> weights, most, least;
      int32_t largest = 0, smallest = 0;  // over all inputs; these two give them
      for (const int32_t w : drawn) {
        weights.push_back((int8_t)w);
        most.push_back(w < 0 ? -128 : 127);
        least.push_back(w < 0 ? 127 : -128);
        largest += w * most.back();
        smallest += w * least.back();
      }
      const bool up = largest > -smallest;
      octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
      filter.shape = square(3, 1, 1, 3);
      filter.type = OCTET_S8, filter.data = weights.data();
      filter.algorithm = OCTET_CONV_WINOGRAD_2X2_INT8, filter.accuracy = OCTET_ACCURACY_APPROXIMATE;
      size_t bytes = 0;
      octet_error error = {};
      ASSERT_EQ(octet_conv2d_pack_size(&filter, isa, &bytes, &error), OCTET_OK) << error.message;
      const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
      ASSERT_EQ(octet_conv2d_pack(&filter, isa, blob.data(), bytes, &error), OCTET_OK)
          << error.message;
      octet_conv2d_desc desc = OCTET_CONV2D_DESC_INIT;
      const float scale = 2147480000.0f / (float)(up ? largest : -smallest);
      desc.shape = filter.shape, desc.max_isa = isa;
      desc.lhs_type = OCTET_S8, desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_S8;
      desc.packed = blob.data(), desc.packed_bytes = bytes;
      desc.epilogue.scales = &scale, desc.epilogue.scale_count = 1;
      octet_conv2d* conv = nullptr;
      ASSERT_EQ(octet_conv2d_create(&desc, &conv, &error), OCTET_OK) << error.message;
      ASSERT_EQ(octet_conv2d_workspace(conv, 0, 0, 0, 1, &bytes, &error), OCTET_OK)
          << error.message;
      const Guarded workspace(bytes, Side::kBack, OCTET_ALIGNMENT);
      int8_t dst = 0;
      octet_conv2d_args args = OCTET_CONV2D_ARGS_INIT;
      args.lhs = (up ? most : least).data(), args.dst = &dst;
      args.workspace = workspace.data(), args.workspace_bytes = bytes;
      EXPECT_EQ(octet_conv2d_run(conv, &args, &error), OCTET_OK) << error.message;
      EXPECT_EQ(dst, up ? 127 : -128) << octet_isa_name(isa) << ", draw " << draw;
      octet_conv2d_destroy(conv);
    }
}

// An approximate sum may exceed the range of the exact one on both sides, also where the range ends
// at 0: create does not replace a large bias by the one that suits exact sums.
TEST(ConvWinogradInt8, LargeBiasesStay) {
  std::vector<int8_t> weights(18, 0);  // taps of two channels
  for (size_t tap = 0; tap < 9; ++tap) weights[2 * tap] = 127;
  weights[2 * 4 + 1] = 5;
  for (const octet_isa isa : tiers_to_test())
    for (const int32_t bias : {300, 40000, 65535, -300000})
      for (const uint8_t pixel : {0, 255}) {
        octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
        filter.shape = square(4, 2, 1, 3);
        filter.type = OCTET_S8, filter.data = weights.data();
        filter.algorithm = OCTET_CONV_WINOGRAD_2X2_INT8;
        filter.accuracy = OCTET_ACCURACY_APPROXIMATE;
        size_t bytes = 0;
        octet_error error = {};
        ASSERT_EQ(octet_conv2d_pack_size(&filter, isa, &bytes, &error), OCTET_OK) << error.message;
        const Guarded blob(bytes, Side::kBack, OCTET_ALIGNMENT);
        ASSERT_EQ(octet_conv2d_pack(&filter, isa, blob.data(), bytes, &error), OCTET_OK);
        const std::vector<uint8_t> image(32, pixel);
        int32_t sums[4] = {};
        uint8_t out[4] = {};
        for (const octet_type dst : {OCTET_S32, OCTET_U8}) {
          octet_conv2d_desc desc = OCTET_CONV2D_DESC_INIT;
          const float scale = 1;
          desc.shape = filter.shape, desc.max_isa = isa;
          desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8, desc.dst_type = dst;
          desc.packed = blob.data(), desc.packed_bytes = bytes;
          desc.epilogue.bias = &bias;
          if (dst == OCTET_U8) desc.epilogue.scales = &scale, desc.epilogue.scale_count = 1;
          octet_conv2d* conv = nullptr;
          ASSERT_EQ(octet_conv2d_create(&desc, &conv, &error), OCTET_OK) << error.message;
          size_t needed = 0;
          ASSERT_EQ(octet_conv2d_workspace(conv, 0, 0, 0, 1, &needed, &error), OCTET_OK);
          const Guarded workspace(needed, Side::kBack, OCTET_ALIGNMENT);
          octet_conv2d_args args = OCTET_CONV2D_ARGS_INIT;
          args.lhs = image.data();
          args.dst = dst == OCTET_S32 ? (void*)sums : out;
          args.workspace = workspace.data(), args.workspace_bytes = needed;
          EXPECT_EQ(octet_conv2d_run(conv, &args, &error), OCTET_OK) << error.message;
          octet_conv2d_destroy(conv);
        }
        for (size_t i = 0; i < 4; ++i)
          EXPECT_EQ(out[i], std::clamp(sums[i], 0, 255))
              << octet_isa_name(isa) << ", bias " << bias << ", pixels of " << int{pixel};
      }
}

// The bytes are the same on every tier, with any number of threads and in any layout, and close to
// the exact ones: the measure is the root mean square of the difference over the one of the exact
// accumulators less their mean. Uniform data with the widest ranges is the worst case, because
// transformed weights and inputs keep 7 bits of magnitude and use few. An algorithm that computes
// another function is at 1.4. Returns the bytes; empty if they differ.
std::vector<uint8_t> same_everywhere(const ConvProblem& problem) {
  std::vector<uint8_t> first;
  const auto look = [&](const ConvHow& how, Side side) {
    Conv conv(problem, how, side);
    ASSERT_EQ(conv.status(), OCTET_OK) << conv.error().message;
    ASSERT_TRUE(conv.as_planned()) << how;
    ASSERT_EQ(conv.run(), OCTET_OK) << conv.error().message;
    if (first.empty()) first = conv.dst_bytes();
    ASSERT_EQ(conv.dst_bytes(), first) << "other bytes: " << how << ": " << problem.c;
  };
  for (const octet_isa isa : tiers_to_test())
    for (const size_t concurrency : {1, 3})
      for (const Side side : {Side::kBack, Side::kFront}) {
        ConvHow how;
        how.isa = isa, how.algorithm = OCTET_CONV_WINOGRAD_2X2_INT8;
        how.concurrency = concurrency;
        look(how, side);
        if (testing::Test::HasFatalFailure()) return {};
      }
  return first;
}

// Both modes are checked, because they requantize differently: kernels requantize only while a
// bound of the accumulators allows it, and the bound grows with the square of the channels.
TEST(ConvWinogradInt8, IsTheSameEverywhereInBytes) {
  for (const octet_requant requant : {OCTET_REQUANT_FLOAT, OCTET_REQUANT_TFLITE})
    for (const octet_type dst : {OCTET_S8, OCTET_U8})
      for (const size_t out_channels : {7, 16, 65}) {
        ConvCase c = layer(out_channels == 16 ? 20 : 2);
        c.shape.out_channels = out_channels;
        c.accuracy = OCTET_ACCURACY_APPROXIMATE;
        c.dst = dst, c.requant = requant;
        same_everywhere(ConvProblem(c));
        if (testing::Test::HasFatalFailure()) return;
      }
}

TEST(ConvWinogradInt8, IsTheSameEverywhereAndClose) {
  for (const octet_type lhs : {OCTET_S8, OCTET_U8})
    for (const size_t channels : {3, 32, 65}) {
      ConvCase c = layer(channels);
      c.shape.in_h_max = 9, c.shape.in_w_max = 14, c.shape.out_channels = 24, c.shape.batch_max = 2;
      c.lhs = lhs, c.lhs_zero_point = lhs == OCTET_U8 ? 120 : -5;
      c.accuracy = OCTET_ACCURACY_APPROXIMATE;
      const ConvProblem problem(c);
      const std::vector<uint8_t> first = same_everywhere(problem);
      if (testing::Test::HasFatalFailure()) return;
      const size_t count = problem.acc.size();
      double mean = 0, power = 0, noise = 0;
      for (const int64_t acc : problem.acc) mean += (double)acc / (double)count;
      for (size_t i = 0; i < count; ++i) {
        int32_t got;
        std::memcpy(&got, &first[4 * i], 4);
        const double exact = (double)problem.acc[i];
        power += (exact - mean) * (exact - mean);
        noise += (got - exact) * (got - exact);
      }
      RecordProperty("noise", std::to_string(std::sqrt(noise / power)));
      EXPECT_LT(std::sqrt(noise / power), 0.1) << c;
    }
}

}  // namespace
}  // namespace octet_test
