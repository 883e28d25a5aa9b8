// SPDX-License-Identifier: Apache-2.0
// Checks convolutions of few channels whose values mostly allow products of bytes that saturate
// (kernels/core/depthwise_kernel.h), on every tier: their pairs are lowered, or too many to be.
#include "support/conv_case.h"
#include "support/tiers.h"

namespace octet_test {
namespace {

void check_on_every_tier(const ConvCase& c, octet_conv_algorithm algorithm,
                         size_t concurrency = 1) {
  const ConvProblem problem(c);
  ConvCase floats = c;
  floats.dst = OCTET_F32;
  const ConvProblem float_problem(floats);
  for (const octet_isa isa : tiers_to_test()) {
    ConvHow how;
    how.isa = isa, how.algorithm = algorithm, how.concurrency = concurrency;
    check(problem, how);
    if (testing::Test::HasFatalFailure()) return;
    check(float_problem, how);
    if (testing::Test::HasFatalFailure()) return;
  }
}

ConvCase seldom_large(const octet_conv2d_shape& shape) {
  ConvCase c;
  c.shape = shape;
  c.dst = OCTET_U8;
  c.lhs_fill = Fill::kSeldomLarge;
  return c;
}

octet_conv_algorithm algorithm_of(const octet_conv2d_shape& s) {
  return s.in_channels / s.groups <= 16 && s.groups > 1 && s.in_channels == s.out_channels
             ? OCTET_CONV_GROUPED
             : OCTET_CONV_DIRECT;
}

// Groups that share a copied pixel, and such that fill it only in part; odd and even lines.
TEST(ByteWindows, GroupsAndStrides) {
  for (const size_t group : {8, 16, 24, 32})
    for (const size_t stride : {1, 2})
      for (const size_t in : {7, 12, 29}) {
        ConvCase c = seldom_large(square(in, 3 * group, 3 * group, 3, stride, 1, 3));
        c.shape.batch_max = in == 7 ? 2 : 1;
        c.lhs_extra = in % 2 * 5;
        check_on_every_tier(c, algorithm_of(c.shape));
        if (HasFatalFailure()) return;
        c.lhs = OCTET_S8, c.lhs_zero_point = -128, c.dst = OCTET_S8;
        c.activation = OCTET_ACTIVATION_RELU;
        check_on_every_tier(c, algorithm_of(c.shape), 2);
        if (HasFatalFailure()) return;
      }
}

// One group, whose pixels lie side by side; more outputs than inputs; windows of any form.
TEST(ByteWindows, OneGroupAndOtherWindows) {
  for (const size_t in_channels : {4, 8, 12, 28, 32})
    for (const size_t out_channels : {8, 24, 72}) {
      ConvCase c = seldom_large(square(15, in_channels, out_channels, 3, 1, 1));
      check_on_every_tier(c, OCTET_CONV_DIRECT);
      if (HasFatalFailure()) return;
      c.shape.kernel_h = 2, c.shape.kernel_w = 5, c.shape.dilation_h = 2;
      c.shape.stride_h = 3, c.shape.stride_w = 2, c.shape.pad_left = 3, c.shape.pad_top = 0;
      c.lhs_zero_point = 3;
      check_on_every_tier(c, OCTET_CONV_DIRECT, 3);
      if (HasFatalFailure()) return;
    }
}

// Tasks that begin within a pixel, whose groups are all copied together: of one line, so that only
// channels can be cut.
TEST(ByteWindows, TasksOfSomeGroups) {
  for (const size_t groups : {2, 5})
    for (const size_t in_w : {85, 285}) {
      ConvCase c = seldom_large(square(1, 4 * groups, 160, 3, 1, 0, groups));
      c.shape.kernel_h = 1;
      c.shape.in_w_max = in_w;
      for (const size_t concurrency : {2, 3, 5}) {
        check_on_every_tier(c, OCTET_CONV_DIRECT, concurrency);
        if (HasFatalFailure()) return;
      }
    }
}

// Weights at the ends of their type, with which every crowded pair saturates; lines of few pixels.
TEST(ByteWindows, WeightsAtTheEnds) {
  for (const Fill filter : {Fill::kEnds, Fill::kMost, Fill::kLeast})
    for (const size_t group : {8, 24})
      for (const size_t in_w : {2, 3, 4, 40}) {
        ConvCase c = seldom_large(square(9, 2 * group, 2 * group, 3, 1, 1, 2));
        c.shape.in_w_max = in_w;
        c.filter_fill = filter;
        check_on_every_tier(c, algorithm_of(c.shape));
        if (HasFatalFailure()) return;
      }
}

// Many crowded pairs, so that a run begins with bytes and goes on without.
TEST(ByteWindows, TooManyCrowdedPairs) {
  for (const Fill fill : {Fill::kRandom, Fill::kMostThenOne, Fill::kEnds, Fill::kMost}) {
    ConvCase c = seldom_large(square(24, 32, 32, 3, 1, 1, 4));
    c.lhs_fill = fill;
    check_on_every_tier(c, OCTET_CONV_GROUPED);
    if (HasFatalFailure()) return;
    c.lhs_zero_point = 255;
    check_on_every_tier(c, OCTET_CONV_DIRECT);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace octet_test
