// SPDX-License-Identifier: Apache-2.0
// Checks that pads that come with a run give the bytes of a convolution that declares them.
#include "support/conv_case.h"

namespace octet_test {
namespace {

struct Padded {
  octet_conv2d_shape shape;
  octet_conv2d_pads declared;
  std::vector<octet_conv2d_pads> runs;  // none makes a larger output than the declared ones
};

std::vector<Padded> padded() {
  std::vector<Padded> all = {
      {square(9, 20, 17, 3), {1, 1, 1, 1}, {{0, 2, 2, 0}, {2, 0, 0, 2}, {0, 1, 1, 0}, {}}},
      {square(9, 6, 33, 3, 2), {1, 1, 1, 1}, {{0, 1, 0, 1}, {1, 0, 1, 0}, {2, 0, 1, 2}}},
      {square(8, 3, 17, 3, 2), {1, 1, 1, 1}, {{0, 1, 0, 1}, {1, 0, 2, 0}}},  // wants borders
      {square(11, 36, 36, 3, 1, 0, 36), {1, 1, 1, 1}, {{2, 0, 2, 0}, {0, 1, 0, 2}, {}}},
      {square(12, 18, 36, 5, 2, 0, 18), {2, 2, 2, 2}, {{1, 2, 1, 2}, {3, 1, 0, 4}, {0, 3, 0, 3}}},
      {square(7, 24, 36, 3, 1, 0, 6), {2, 0, 2, 0}, {{1, 1, 1, 1}, {0, 2, 2, 0}}},
      {square(5, 16, 16, 1), {1, 1, 1, 1}, {{}, {0, 2, 1, 0}}},  // a matrix, unless padded
      {square(7, 10, 12, 1, 2), {}, {{0, 1, 1, 0}}},             // the stride skips a pad
      {square(6, 10, 12, 3, 2), {0, 0, 0, 0}, {{1, 0, 0, 1}, {2, 1, 1, 2}}},  // transposed
  };
  all.back().shape.transposed = 1;
  all[4].shape.in_w_max = 13;
  all[5].shape.dilation_h = 2, all[5].declared = {4, 0, 2, 0}, all[5].runs[1] = {1, 3, 0, 2};
  for (Padded& p : all) p.shape.batch_max = 2;
  return all;
}

octet_conv2d_shape with(octet_conv2d_shape shape, const octet_conv2d_pads& pads) {
  shape.pad_top = pads.top, shape.pad_bottom = pads.bottom;
  shape.pad_left = pads.left, shape.pad_right = pads.right;
  return shape;
}

TEST(ConvPads, AsDeclared) {
  uint32_t turn = 0;
  size_t ways = 0;
  for (const Padded& p : padded())
    for (const octet_conv2d_pads& pads : p.runs)
      for (const octet_layout layout : {OCTET_NHWC, OCTET_NCHW}) {
        ConvCase c = turned(with(p.shape, pads), turn++);
        c.lhs_layout = layout, c.dst_layout = turn % 3 ? layout : OCTET_NHWC;
        if (turn % 4 == 0) c.in_h = c.run_h() - 2, c.in_w = c.run_w() - 2;
        if (is_8bit(c.dst)) c.residual = OCTET_U8, c.residual_is_dst = turn % 2;
        const ConvProblem problem(c);
        for (const octet_isa isa : tiers_to_test())
          for (const octet_conv_algorithm algorithm : possible_algorithms(problem, isa))
            for (const size_t cache_bytes : {0, 1, 3000}) {
              ConvHow how;
              how.isa = isa, how.algorithm = algorithm, how.declared_pads = &p.declared;
              how.cache_bytes = cache_bytes, how.concurrency = turn % 2 ? 3 : 1;
              check(problem, how);
              if (HasFatalFailure()) return;
              ++ways;
            }
      }
  EXPECT_GT(ways, 200u);
}

// The approximate algorithm is compared, too, with its own definition.
TEST(ConvPads, OfOneObject) {
  const octet_conv2d_pads declared = {1, 1, 1, 1},
                          runs[] = {{2, 0, 0, 2}, {1, 1, 1, 1}, {0, 2, 1, 1}};
  for (const octet_layout layout : {OCTET_NHWC, OCTET_NCHW}) {
    ConvCase c;
    c.shape = with(square(9, 20, 17, 3), declared);
    c.dst = OCTET_U8, c.lhs_zero_point = 7;
    c.lhs_layout = c.dst_layout = layout;
    c.accuracy = OCTET_ACCURACY_APPROXIMATE;
    const ConvProblem problem(c);
    for (const octet_isa isa : tiers_to_test())
      for (const octet_conv_algorithm algorithm : possible_algorithms(problem, isa)) {
        if (algorithm == OCTET_CONV_AUTO) continue;
        ConvHow how;
        how.isa = isa, how.algorithm = algorithm;
        Conv one(problem, how);
        ASSERT_EQ(one.status(), OCTET_OK) << how << ": " << one.error().message;
        for (const octet_conv2d_pads& pads : runs) {
          ConvCase other = c;
          other.shape = with(c.shape, pads);
          const ConvProblem likewise(other);
          Conv declares(likewise, how);
          ASSERT_EQ(declares.run(), OCTET_OK) << how << ": " << declares.error().message;
          one.args().pads = &pads;
          one.clear_dst();
          ASSERT_EQ(one.run(), OCTET_OK) << how << ": " << one.error().message;
          EXPECT_EQ(one.dst_bytes(), declares.dst_bytes()) << how << ": " << other;
        }
      }
  }
}

}  // namespace
}  // namespace octet_test
