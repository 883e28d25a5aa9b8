// SPDX-License-Identifier: Apache-2.0
// Checks winograd2x2_int8 on every int8 kernel: approximate, but the same bytes everywhere, and
// near the exact ones.
#include <algorithm>
#include <cmath>
#include <limits>

#include "conv/winograd_case.h"
#include "dispatch/tables/transforms.h"
#include "support/kernels.h"

namespace octet_test {
namespace {

WinogradCase int8_case() {
  WinogradCase c;
  c.implementation = &octet::winograd_2x2_int8_algorithm;
  return c;
}

class WinogradInt8 : public EachKernel {
 protected:
  void SetUp() override {
    EachKernel::SetUp();
    if (kernel().rhs_layout.element_type == octet::ElementType::kU8)
      GTEST_SKIP() << kernel().name << ": transformed weights are s8";
    if (kernel().rhs_layout.is_4bit()) GTEST_SKIP() << kernel().name << ": and have 8 bits";
    if (kernel().rhs_layout.sparse()) GTEST_SKIP() << kernel().name << ": they are not sparse";
    if (kernel().m_max) GTEST_SKIP() << kernel().name << ": never chosen for blocks of tiles";
  }
  void check(const WinogradCase& c) { WinogradRun(kernel(), c).check(); }
};
OCTET_FOR_EACH_KERNEL(WinogradInt8);

TEST_P(WinogradInt8, SizesAndChannels) {
  WinogradCase c = int8_case();
  for (const size_t in : {1, 2, 3, 5, 8, 15, 16, 17, 31, 33, 70})
    for (const size_t out : {1, 4, 5, 9, 16, 31, 33, 64, 65}) {
      c.in_channels = in;
      c.out_channels = out;
      c.in_h = 1 + (in * 3 + out) % 7;
      c.in_w = 1 + (in + out) % 6;
      c.gap = in % 3;
      c.store = (in + out) % 2 ? Store::kRequantization : Store::kS32;
      check(c);
      if (HasFatalFailure()) return;
    }
}

TEST_P(WinogradInt8, TypesExitsAndZeroPoints) {
  WinogradCase c = int8_case();
  c.batch = 2, c.in_h = 7, c.in_w = 5, c.in_channels = 19, c.out_channels = 37;
  for (const bool lhs_u8 : {false, true})
    for (const bool rhs_u8 : {false, true})
      for (const bool runtime : {false, true})
        for (const Store store :
             {Store::kS32, Store::kRequantization, Store::kEpilogue, Store::kResidual}) {
          c.lhs_u8 = lhs_u8, c.rhs_u8 = rhs_u8, c.runtime_zero_point = runtime, c.store = store,
          c.ohwi = rhs_u8;
          c.zero_point = lhs_u8 ? 120 : -120;
          c.dst_u8 = rhs_u8;
          check(c);
          if (HasFatalFailure()) return;
        }
}

TEST_P(WinogradInt8, Extremes) {
  WinogradCase c = int8_case();
  c.in_channels = 130, c.out_channels = 3, c.in_h = c.in_w = 4;
  for (const int input : {-128, 127, 0})
    for (const int weight : {-128, -127, 127, 0}) {
      c.input = input, c.weight = weight;
      check(c);
      if (HasFatalFailure()) return;
    }
}

TEST_P(WinogradInt8, TapRanges) {
  float ranges[16];
  for (size_t i = 0; i < 16; ++i)
    ranges[i] = i % 4 == 3 ? 1e-3f : i % 4 == 2 ? 1e30f : 90.0f + 37.5f * (float)i;
  WinogradCase c = int8_case();
  c.tap_ranges = ranges;
  c.in_channels = 20, c.out_channels = 17;
  check(c);
}

TEST_P(WinogradInt8, TasksBlocksAndGroups) {
  WinogradCase c = int8_case();
  for (const size_t tasks : {1, 3})
    for (const size_t cache : {1, 100000}) {
      c.batch = 2, c.in_h = 13, c.in_w = 10, c.in_channels = 12, c.out_channels = 70;
      c.tasks = tasks, c.cache = cache, c.store = Store::kResidual;
      c.groups = tasks == 3 ? 2 : 1;
      check(c);
      if (HasFatalFailure()) return;
    }
}

// All taps of random data are equally large, so this is the worst case but for constructed ones.
TEST(WinogradInt8Accuracy, NearTheExactSum) {
  WinogradCase c = int8_case();
  c.in_channels = 96, c.out_channels = 4, c.in_h = c.in_w = 12;
  const WinogradRun run(*octet::find(octet::int8_kernels(), "scalar_u8s8_4x4x4"), c);
  double error = 0, signal = 0;
  for (size_t i = 0; i < run.outputs(); ++i) {
    const double exact = (double)run.exact(i / c.out_channels, i % c.out_channels),
                 difference =
                     (double)run.approximate(i / c.out_channels, i % c.out_channels) - exact;
    error += difference * difference;
    signal += exact * exact;
  }
  EXPECT_LT(std::sqrt(error / signal), 0.03);
  EXPECT_GT(error, 0.0);
}

// Many channels of extreme weights, with tap ranges to match, make sums beyond int32; the bytes are
// still the same. The last of four outputs is the product of its last tap (the others, which are
// equal here, cancel out).
TEST(WinogradInt8Outputs, SaturateBeforeTheyAreRounded) {
  alignas(64) int32_t products[64], init[64] = {}, out[4][64];
  alignas(64) float scale[64];
  for (int j = 0; j < 64; ++j) {
    products[j] = j % 2 ? -(1 << 30) : 1 << 30;
    scale[j] = j % 3 ? 4.0f : 1.0f;
    init[j] = j % 5;
  }
  for (size_t i = 0; const octet::Tier* tier = octet::nth_tier(i); ++i) {
    if (!octet::has(octet::this_machine().cpu.tiers, *tier)) continue;
    const octet::WinogradOps& transforms = octet::transforms_of(tier->tier_id);
    octet::WinogradOutput o = {};
    o.products = products;
    o.cols = transforms.columns;
    o.init = init;
    o.height = o.width = 2;
    o.dst = out;
    o.dst_pixel = sizeof out[0], o.dst_line = 2 * sizeof out[0];
    o.tap_scale = scale;
    transforms.output[(size_t)octet::Winograd::k2x2Int8](o);
    for (size_t j = 0; j < o.cols; ++j) {
      const int64_t product = int64_t{products[j]} * (j % 3 ? 4 : 1);
      const int64_t most = 2147483520, least = std::numeric_limits<int32_t>::min();
      EXPECT_EQ(out[3][j], std::clamp(product, least, most) + init[j]) << tier->name << ", " << j;
    }
  }
}

TEST(WinogradInt8Accuracy, RefusesDepthsThatCouldOverflow) {
  octet::ConvShape shape = {1, 8, 8, 8193, 8, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, false, 0, 0};
  EXPECT_NE(octet::winograd_2x2_int8_algorithm.refuse(shape, {0, 0}), nullptr);
  shape.in_channels = 8192;
  EXPECT_EQ(octet::winograd_2x2_int8_algorithm.refuse(shape, {0, 0}), nullptr);
}

}  // namespace
}  // namespace octet_test
