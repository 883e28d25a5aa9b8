// SPDX-License-Identifier: Apache-2.0
// Drives Winograd's exact algorithms directly, on every int16 kernel and the transforms of its
// tier, and compares them with the sum over seven loops.
#include "conv/winograd_case.h"
#include "support/kernels.h"

namespace octet_test {
namespace {

using octet::ConvAlgorithm;
using octet::ConvShape;

const ConvAlgorithm* const kImplementations[] = {&octet::winograd_4x4_algorithm,
                                                 &octet::winograd_2x2_algorithm,
                                                 &octet::winograd_2x2_s2_algorithm};

class WinogradTest : public EachKernel {
 protected:
  // Each algorithm, in turn.
  template <typename Change>
  void each_algorithm(Change change) {
    for (const ConvAlgorithm* implementation : kImplementations) {
      WinogradCase c;
      c.implementation = implementation;
      change(c);
      if (HasFatalFailure()) return;
    }
  }
  void check(const WinogradCase& c) { WinogradRun(kernel(), c).check(); }
};

INSTANTIATE_TEST_SUITE_P(, WinogradTest, testing::ValuesIn(int16_table()), kernel_name);

TEST_P(WinogradTest, OneTile) {
  each_algorithm([&](WinogradCase c) { check(c); });
}

TEST_P(WinogradTest, SizesAroundTiles) {
  each_algorithm([&](WinogradCase c) {
    for (c.in_h = 1; c.in_h <= 11; ++c.in_h)
      for (c.in_w = 1; c.in_w <= 11; ++c.in_w) {
        c.in_channels = 1 + (c.in_h * 7 + c.in_w) % 5;
        c.store = c.in_h % 2 ? Store::kS32 : Store::kRequantization;
        check(c);
        if (HasFatalFailure()) return;
      }
  });
}

TEST_P(WinogradTest, Channels) {
  each_algorithm([&](WinogradCase c) {
    for (const size_t in : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 65, 96})
      for (const size_t out : {1, 3, 4, 5, 8, 15, 16, 17, 31, 32, 33, 48, 65}) {
        c.in_channels = in;
        c.out_channels = out;
        c.in_h = 6 + in % 3;
        c.in_w = 7 + out % 3;
        c.store = (in + out) % 3 ? Store::kRequantization : Store::kS32;
        c.dst_u8 = out % 2;
        c.gap = in % 4;
        check(c);
        if (HasFatalFailure()) return;
      }
  });
}

TEST_P(WinogradTest, Pads) {
  each_algorithm([&](WinogradCase c) {
    for (size_t pads = 0; pads < 256; ++pads) {
      c.top = pads & 3, c.bottom = pads >> 2 & 3, c.left = pads >> 4 & 3, c.right = pads >> 6;
      c.in_h = 5, c.in_w = 6, c.in_channels = 3, c.out_channels = 5;
      c.lhs_u8 = pads % 3;
      c.zero_point = c.lhs_u8 ? 200 : -77;
      c.gap = pads % 5;
      check(c);
      if (HasFatalFailure()) return;
    }
  });
}

TEST_P(WinogradTest, TypesExitsAndZeroPoints) {
  each_algorithm([&](WinogradCase c) {
    for (const bool lhs_u8 : {false, true})
      for (const bool rhs_u8 : {false, true})
        for (const bool runtime : {false, true})
          for (const Store store :
               {Store::kS32, Store::kRequantization, Store::kEpilogue, Store::kResidual})
            for (const int32_t zero_point : {0, 1, 120}) {
              c.batch = 3, c.in_h = 7, c.in_w = 5, c.in_channels = 19, c.out_channels = 37;
              c.lhs_u8 = lhs_u8, c.rhs_u8 = rhs_u8, c.runtime_zero_point = runtime, c.store = store,
              c.ohwi = !lhs_u8;
              c.zero_point = lhs_u8 ? zero_point : -zero_point;
              c.dst_u8 = rhs_u8;
              check(c);
              if (HasFatalFailure()) return;
            }
  });
}

TEST_P(WinogradTest, TasksAndBlocks) {
  each_algorithm([&](WinogradCase c) {
    for (const size_t tasks : {1, 2, 3, 7})
      for (const size_t cache : {1, 100000, 1000000}) {
        c.batch = 3, c.in_h = 21, c.in_w = 18, c.in_channels = 12, c.out_channels = 70;
        c.tasks = tasks;
        c.cache = cache;
        c.store = tasks % 2 ? Store::kRequantization : Store::kResidual;
        check(c);
        if (HasFatalFailure()) return;
      }
  });
}

TEST_P(WinogradTest, BlocksOfAnySize) {
  each_algorithm([&](WinogradCase c) {
    c.in_h = 27, c.in_w = 29, c.out_channels = 9;
    for (const size_t channels : {24, 200})
      for (const size_t block : {1, 3, 7, 8, 14, 25, 28, 1000}) {
        c.in_channels = channels, c.block = block;
        c.weight = channels > 100 ? -128 : WinogradCase::kRandom;  // several chunks of depth
        check(c);
        if (HasFatalFailure()) return;
      }
  });
}

TEST_P(WinogradTest, Groups) {
  each_algorithm([&](WinogradCase c) {
    for (const size_t groups : {2, 3, 5}) {
      c.groups = groups, c.in_channels = groups * 7, c.out_channels = groups * 35,
      c.tasks = groups - 1;
      check(c);
      if (HasFatalFailure()) return;
    }
  });
}

// All kernels of up to three parts per axis, in all cuts: as sums of 3x3 ones.
TEST_P(WinogradTest, LargerKernels) {
  for (const size_t stride : {1, 2})
    for (size_t height = 5 - stride; height <= 11 - 2 * stride; ++height)
      for (size_t width = 5 - stride; width <= 11 - 2 * stride; ++width) {
        WinogradCase c;
        c.kernel_h = height, c.kernel_w = width, c.stride = stride;
        c.in_h = height + 5 * stride, c.in_w = width + 3 * stride;
        c.top = height / 2, c.left = width % 4, c.bottom = 2, c.right = width / 2;
        c.in_channels = 8 * (1 + (height + width) % 5), c.out_channels = 5 + 8 * (width % 3);
        c.lhs_u8 = width % 2, c.ohwi = height % 2, c.gap = height % 3;
        c.zero_point = c.lhs_u8 ? 200 : -77;
        c.store = height % 2 ? Store::kRequantization : Store::kS32;
        c.tasks = 1 + width % 3, c.cache = height % 2 ? 100000 : 1;
        check(c);
        if (HasFatalFailure()) return;
      }
}

TEST_P(WinogradTest, LargerKernelsOfGroups) {
  for (const size_t stride : {1, 2})
    for (const size_t groups : {2, 3}) {
      WinogradCase c;
      c.kernel_h = c.kernel_w = 5, c.stride = stride, c.top = c.left = 2, c.batch = 2;
      c.groups = groups, c.in_channels = groups * 24, c.out_channels = groups * 19,
      c.tasks = groups - 1;
      check(c);
      if (HasFatalFailure()) return;
    }
}

// Chunks of the depth end in any part: taps meet all of a chunk, some of it or none.
TEST_P(WinogradTest, LargerKernelsInChunks) {
  for (const size_t stride : {1, 2})
    for (const size_t kernel : {4, 5, 7})
      for (const size_t channels : {40, 72, 136})
        for (const Store store : {Store::kS32, Store::kResidual}) {
          WinogradCase c;
          c.kernel_h = c.kernel_w = kernel, c.stride = stride, c.in_channels = channels;
          c.in_h = c.in_w = kernel + 2, c.out_channels = 3, c.store = store;
          c.weight = c.input = -128;
          check(c);
          if (HasFatalFailure()) return;
        }
}

// The last depth of one chunk, and the first of two, with extreme inputs and weights.
TEST_P(WinogradTest, EdgeOfTheCertificate) {
  WinogradCase c;
  c.in_h = c.in_w = 4, c.out_channels = 2;
  for (const size_t channels :
       {226, 227, 228, 229, 230, 231, 453, 454, 455, 456, 457, 458, 459, 460, 461, 684})
    for (const int input : {-128, 127})
      for (const int weight : {-128, -127, 127})
        for (const Store store : {Store::kS32, Store::kResidual, Store::kRequantization}) {
          c.in_channels = channels, c.input = input, c.weight = weight, c.store = store;
          c.zero_point = 255 * (weight > 0);
          check(c);
          if (HasFatalFailure()) return;
        }
}

TEST_P(WinogradTest, EdgeOfTheCertificate2x2) {
  WinogradCase c;
  c.implementation = &octet::winograd_2x2_algorithm;
  c.in_h = c.in_w = 2, c.out_channels = 1;
  for (const size_t channels : {3639, 3640, 3641, 3642, 3668, 3669, 3670})
    for (const int input : {-128, 127})
      for (const int weight : {-128, -127, 127}) {
        c.in_channels = channels, c.input = input, c.weight = weight;
        c.zero_point = input < 0 ? 0 : 255;  // the padding counts like the input
        check(c);
        if (HasFatalFailure()) return;
      }
}

// Sums of |w| that are the limit itself, 2^18 and 2^22, are the first to be split: one output would
// be half the range and change its sign. 228 channels have 4 * 513 weights and 3641 have 32769;
// each 513th and each 32769th is 0, the others -128. With twice the channels either half has the
// limit.
TEST_P(WinogradTest, TheLimitItself) {
  for (const size_t halves : {1, 2})
    for (const bool small : {false, true}) {
      WinogradCase c;
      c.ohwi = false;  // channel by channel, so that half of the weights is half of the channels
      c.implementation = small ? &octet::winograd_2x2_algorithm : &octet::winograd_4x4_algorithm;
      c.in_h = c.in_w = small ? 2 : 4;
      c.in_channels = halves * (small ? 3641 : 228), c.out_channels = 1;
      c.zero_every = small ? 32769 : 513;
      c.input = c.weight = -128, c.zero_point = 0;
      check(c);
      if (HasFatalFailure()) return;
    }
}

TEST_P(WinogradTest, LargeRandomDepths) {
  each_algorithm([&](WinogradCase c) {
    for (const size_t channels : {511, 1024}) {
      c.in_h = 6, c.in_w = 5, c.in_channels = channels, c.out_channels = 33,
      c.weight = channels % 2 ? WinogradCase::kRandom : -128, c.batch = 2;
      check(c);
      if (HasFatalFailure()) return;
    }
  });
}

TEST(Winograd, RefusesWhatItCannotCompute) {
  const ConvShape good = {1, 8, 8, 8, 8, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, false, 0, 0};
  const auto refused = [&](auto change) {
    ConvShape shape = good;
    change(shape);
    return octet::winograd_4x4_algorithm.refuse(shape, {0, 0}) != nullptr &&
           octet::winograd_2x2_algorithm.refuse(shape, {0, 0}) != nullptr;
  };
  EXPECT_FALSE(refused([](ConvShape&) {}));
  EXPECT_TRUE(refused([](ConvShape& s) { s.kernel_h = 1; }));
  EXPECT_TRUE(refused([](ConvShape& s) { s.kernel_w = 5; }));
  EXPECT_TRUE(refused([](ConvShape& s) { s.stride_h = 2; }));
  EXPECT_TRUE(refused([](ConvShape& s) { s.dilation_w = 2; }));
  EXPECT_TRUE(refused([](ConvShape& s) { s.transposed = true; }));
  EXPECT_NE(octet::winograd_4x4_algorithm.refuse(good, {-128, 127}), nullptr);
  EXPECT_NE(octet::winograd_2x2_s2_algorithm.refuse(good, {0, 0}), nullptr);
  const auto refuses = [&](size_t h, size_t w, size_t stride, size_t channels) {
    ConvShape shape = good;
    shape.kernel_h = h, shape.kernel_w = w, shape.stride_h = shape.stride_w = stride;
    shape.in_channels = channels;
    return octet::winograd_4x4_algorithm.refuse(shape, {0, 0}) != nullptr;
  };
  EXPECT_FALSE(refuses(4, 9, 1, 8) || refuses(3, 7, 2, 8) || refuses(3, 3, 2, 16));
  EXPECT_TRUE(refuses(4, 10, 1, 8));
  EXPECT_TRUE(refuses(3, 8, 2, 8));
  EXPECT_TRUE(refuses(5, 5, 1, 12));
  EXPECT_TRUE(refuses(5, 5, 3, 8));
  EXPECT_TRUE(refuses(2, 5, 2, 8));
  ConvShape strided = good;
  strided.stride_h = strided.stride_w = 2;
  EXPECT_EQ(octet::winograd_2x2_s2_algorithm.refuse(strided, {0, 0}), nullptr);
}

TEST(Winograd, PayloadOfAHugeShapeIsRefused) {
  ConvShape shape = {1, 8, 8, SIZE_MAX / 64, 8, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, false, 0, 0};
  EXPECT_EQ(octet::winograd_4x4_algorithm.payload_bytes(
                octet::int16_kernels().begin()[0]->rhs_layout, shape),
            0u);
}

}  // namespace
}  // namespace octet_test
