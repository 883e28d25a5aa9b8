// SPDX-License-Identifier: Apache-2.0
// Checks where tensors and weights may lie: NHWC, NCHW, slices of wider tensors, all filter orders.
#include "support/conv_case.h"

namespace octet_test {
namespace {

std::vector<octet_conv2d_shape> shapes() {
  octet_conv2d_shape grouped = square(6, 12, 18, 3, 1, 1, 3),
                     transposed = square(4, 6, 8, 3, 2, 1, 2), pointwise = square(5, 9, 33, 1);
  octet_conv2d_shape phases = square(4, 6, 5, 4, 2, 1);
  octet_conv2d_shape plain = square(6, 5, 17, 3, 1, 1), depthwise = square(6, 18, 36, 3, 2, 1, 18);
  plain.in_w_max = 9;
  plain.batch_max = grouped.batch_max = transposed.batch_max = pointwise.batch_max =
      depthwise.batch_max = 2;
  transposed.transposed = phases.transposed = 1;
  return {plain, grouped, transposed, pointwise, depthwise, phases};
}

TEST(ConvLayout, EveryPairOfLayouts) {
  uint32_t turn = 0;
  for (const octet_conv2d_shape& shape : shapes())
    for (const octet_layout lhs : {OCTET_NHWC, OCTET_NCHW})
      for (const octet_layout dst : {OCTET_NHWC, OCTET_NCHW})
        for (const octet_type type : {OCTET_S32, OCTET_S8, OCTET_F32}) {
          ConvCase c = turned(shape, turn++);
          c.dst = type, c.lhs_layout = lhs, c.dst_layout = dst;
          c.residual = type == OCTET_S8 ? OCTET_U8 : kNoResidual;
          c.residual_is_dst = type == OCTET_S8 && turn % 2;
          check_every_way(c);
          if (HasFatalFailure()) return;
        }
}

TEST(ConvLayout, EveryFilterOrder) {
  uint32_t turn = 0;
  for (const octet_conv2d_shape& shape : shapes())
    for (const octet_filter_order order : {OCTET_OHWI, OCTET_OIHW, OCTET_HWIO, OCTET_IOHW})
      for (const FilterZeroPoints zero_points :
           {FilterZeroPoints::kCentre, FilterZeroPoints::kChannel}) {
        ConvCase c = turned(shape, turn++);
        c.order = order, c.filter_zero_points = zero_points, c.filter_fill = Fill::kRandom;
        check_every_way(c);
        if (HasFatalFailure()) return;
      }
}

// All windows lie in the padding: staged lines have no input, and not all of the padding.
TEST(ConvLayout, NoWindowMeetsTheInput) {
  uint32_t turn = 0;
  for (const size_t groups : {1, 4})
    for (const bool above : {false, true})
      for (const octet_layout lhs : {OCTET_NHWC, OCTET_NCHW}) {
        octet_conv2d_shape s = square(3, 4, 8, 2, 12, 0, groups);
        (above ? s.pad_top : s.pad_left) = 7;
        ConvCase c = turned(s, turn++);
        c.lhs_layout = lhs;
        check_every_way(c);
        if (HasFatalFailure()) return;
      }
}

// Pixels lie in a wider tensor: the bytes between them have no effect on the output and are not
// written.
TEST(ConvLayout, PixelStrides) {
  uint32_t turn = 0;
  for (const octet_conv2d_shape& shape : shapes())
    for (const octet_type type : {OCTET_S32, OCTET_U8})
      for (int which = 1; which < 8; ++which) {
        ConvCase c = turned(shape, turn++);
        c.dst = type;
        c.residual = type == OCTET_U8 ? OCTET_U8 : kNoResidual;
        c.residual_is_dst = c.residual && turn % 3 == 0;
        c.lhs_extra = which & 1 ? 3 : 0, c.dst_extra = which & 2 ? 5 : 0,
        c.residual_extra = c.residual && which & 4 ? 64 : 0;
        check_every_way(c);
        if (HasFatalFailure()) return;
      }
}

// A slice of channels at both ends: the network writes two branches into one tensor.
TEST(ConvLayout, TwoBranchesFillOneTensor) {
  ConvCase c;
  c.shape = square(5, 7, 9, 3, 1, 1);
  c.dst = OCTET_S8;
  c.dst_extra = 9;
  ConvCase second_case = c;
  second_case.seed = 2;
  const ConvProblem first(c), second(second_case);
  Conv left(first), right(second);
  ASSERT_EQ(left.status(), OCTET_OK) << left.error().message;
  ASSERT_EQ(right.status(), OCTET_OK) << right.error().message;
  std::vector<uint8_t> both(25 * 18, 0);
  left.args().dst = both.data();
  right.args().dst = both.data() + 9;
  ASSERT_EQ(left.run(), OCTET_OK) << left.error().message;
  ASSERT_EQ(right.run(), OCTET_OK) << right.error().message;
  for (size_t p = 0; p < 25; ++p)
    for (size_t n = 0; n < 18; ++n)
      ASSERT_EQ(both[p * 18 + n], (uint8_t)(n < 9 ? first : second).expected[p * 9 + n % 9])
          << p << ' ' << n;
}

}  // namespace
}  // namespace octet_test
