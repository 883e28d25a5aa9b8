// SPDX-License-Identifier: Apache-2.0
// Checks that quantizing an f32 input within a convolution gives the same bytes as quantizing it
// before.
#include <octet/helpers.h>

#include "support/conv_case.h"

namespace octet_test {
namespace {

std::vector<octet_conv2d_shape> shapes() {
  std::vector<octet_conv2d_shape> all = {square(9, 20, 17, 3, 1, 1),
                                         square(9, 6, 33, 3, 2, 1),
                                         square(8, 3, 17, 3, 2, 1),
                                         square(11, 36, 36, 3, 1, 1, 36),
                                         square(5, 16, 16, 1),
                                         square(6, 24, 36, 3, 1, 0, 6),
                                         square(4, 10, 12, 3, 2, 1) /* transposed */,
                                         square(70, 2, 5, 1, 3)};
  all[6].transposed = 1;
  for (octet_conv2d_shape& s : all) s.batch_max = 4, s.in_w_max += 2;
  return all;
}

ConvCase quantized(const octet_conv2d_shape& shape, uint32_t turn, bool dynamic) {
  ConvCase c = turned(shape, turn);
  c.floats = true;
  c.lhs = turn / 2 % 2 ? OCTET_S8 : OCTET_U8;
  c.runtime_quant = dynamic;
  c.lhs_zero_point = dynamic ? 0 : turn % 3 ? least(c.lhs) + 100 : least(c.lhs);
  if (dynamic) c.dst = OCTET_F32;
  c.lhs_layout = turn % 2 ? OCTET_NCHW : OCTET_NHWC;
  c.dst_layout = turn % 3 ? OCTET_NHWC : OCTET_NCHW;
  c.lhs_extra = c.lhs_layout == OCTET_NHWC && turn % 4 == 2 ? 3 : 0;
  return c;
}

TEST(ConvQuantize, EveryWay) {
  size_t ways = 0;
  uint32_t turn = 0;
  for (const octet_conv2d_shape& shape : shapes())
    for (const bool dynamic : {false, true})
      for (int times = 0; times < 4; ++times) {
        ways += check_every_way(quantized(shape, turn++, dynamic));
        if (HasFatalFailure()) return;
      }
  EXPECT_GT(ways, 200u);
}

// Bands, tasks that share an image, and runs smaller than declared.
TEST(ConvQuantize, BandsAndTasks) {
  uint32_t turn = 1;
  for (const octet_conv2d_shape& shape : shapes())
    for (const bool dynamic : {false, true})
      for (const size_t cache_bytes : {1, 3000}) {
        ConvCase c = quantized(shape, turn++, dynamic);
        c.batch = 1 + turn % 3, c.in_h = c.run_h() - turn % 2;
        const ConvProblem problem(c);
        for (ConvHow how : ways_of(problem)) {
          how.cache_bytes = cache_bytes, how.concurrency = 1 + turn % 4;
          check(problem, how);
          if (HasFatalFailure()) return;
        }
      }
}

// The library's helpers quantize the same floats before the run.
TEST(ConvQuantize, AsTheHelpersAndAnInputOfBytes) {
  uint32_t turn = 0;
  for (const octet_conv2d_shape& shape : shapes())
    for (const bool dynamic : {false, true})
      for (int times = 0; times < 2; ++times) {
        ConvCase c = quantized(shape, turn++, dynamic);
        c.lhs_layout = OCTET_NHWC, c.lhs_extra = 0;
        const ConvProblem floats(c);
        c.floats = false;
        const ConvProblem bytes(c);  // with other data, but the same weights
        const size_t image = floats.lhs.size() / c.run_batch();
        std::vector<uint8_t> quantized_lhs(floats.lhs.size());
        std::vector<float> scales(c.run_batch());
        std::vector<int32_t> zero_points(c.run_batch());
        for (size_t b = 0; b < c.run_batch(); ++b) {
          const float* const x = &floats.lhs_floats[b * image];
          uint8_t* const to = &quantized_lhs[b * image];
          const octet_status status =
              dynamic ? octet_dynamic_quantize(
                            c.lhs == OCTET_U8 ? OCTET_LHS_ASYMMETRIC : OCTET_LHS_SYMMETRIC, x,
                            image, to, &scales[b], &zero_points[b], nullptr)
                      : octet_quantize(x, image, kLhsScale, c.lhs_zero_point, c.lhs, to, nullptr);
          ASSERT_EQ(status, OCTET_OK);
        }
        // An image that holds infinity has no scale that a run takes
        const size_t batch = dynamic ? 3 : c.run_batch();
        for (const octet_isa isa : tiers_to_test()) {
          ConvHow how;
          how.isa = isa;
          Conv on_the_fly(floats, how), before(bytes, how);
          ASSERT_EQ(on_the_fly.status(), OCTET_OK) << c << on_the_fly.error().message;
          ASSERT_EQ(before.status(), OCTET_OK) << c << before.error().message;
          on_the_fly.args().batch = before.args().batch = batch;
          before.args().lhs = quantized_lhs.data();
          if (dynamic)
            before.args().lhs_zero_points = zero_points.data(),
            before.args().lhs_scales = scales.data();
          ASSERT_EQ(on_the_fly.run(), OCTET_OK) << c << on_the_fly.error().message;
          ASSERT_EQ(before.run(), OCTET_OK) << c << before.error().message;
          EXPECT_EQ(on_the_fly.dst_bytes(), before.dst_bytes()) << how << ": " << c;
        }
      }
}

}  // namespace
}  // namespace octet_test
