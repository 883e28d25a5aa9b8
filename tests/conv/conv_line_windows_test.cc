// Checks the windows of kernel lines that the direct algorithm copies for kernels which take rows
// at one stride only: at the sides, between images, in blocks that begin within a line, and where
// other ways take their place. All tiers run each case.
#include "support/conv_case.h"

namespace octet_test {
namespace {

class LineWindows : public testing::Test {
 protected:
  // Zero points, types, outputs and tasks rotate.
  void check_shape(octet_conv2d_shape shape, FilterZeroPoints zero_points = FilterZeroPoints::kNone,
                   bool runtime_quant = false) {
    for (const size_t batch : {1, 3}) {
      ConvCase c;
      c.shape = shape;
      c.shape.batch_max = batch;
      c.seed = ++turn_;
      c.lhs = turn_ % 2 ? OCTET_U8 : OCTET_S8;
      c.lhs_zero_point = turn_ % 3 && !runtime_quant ? 5 : 0;
      c.runtime_quant = runtime_quant;
      c.filter_zero_points = zero_points;
      c.lhs_extra = turn_ % 4 ? 0 : 3;
      c.dst = turn_ % 5 ? OCTET_S8 : OCTET_S32;
      const ConvProblem problem(c);
      for (const octet_isa isa : tiers_to_test())
        for (const size_t cache : {size_t{0}, size_t{64} << 10}) {
          ConvHow how;
          how.algorithm = OCTET_CONV_DIRECT, how.isa = isa, how.cache_bytes = cache;
          how.concurrency = turn_ % 2 ? 1 : 3;
          check(problem, how);
          if (HasFatalFailure()) return;
        }
    }
  }

  uint32_t turn_ = 0;
};

TEST_F(LineWindows, Widths) {
  for (const size_t width : {1, 2, 5, 7, 15, 16, 17, 33, 95, 97}) {
    octet_conv2d_shape s = square(6, 64, 40, 3, 1, 1);
    s.in_w_max = width;
    check_shape(s);
  }
}

TEST_F(LineWindows, KernelsAndPads) {
  constexpr size_t kKernels[][2] = {{3, 3}, {2, 5}, {1, 7}, {7, 1}, {4, 2}},
                   kPads[][2] = {{1, 1}, {0, 2}, {3, 0}, {6, 5}};
  for (const auto& kernel : kKernels)
    for (const auto& pads : kPads) {
      octet_conv2d_shape s = square(9, 64, 18, 1);
      s.kernel_h = kernel[0], s.kernel_w = kernel[1];
      s.pad_left = pads[0], s.pad_right = pads[1], s.pad_top = pads[1], s.pad_bottom = pads[0];
      check_shape(s);
    }
}

TEST_F(LineWindows, StridesAndDilations) {
  for (const size_t stride : {1, 2, 3})
    for (const size_t dilation : {1, 3}) {
      octet_conv2d_shape s = square(12, 64, 20, 3, 1, 2);
      s.stride_w = stride, s.dilation_w = dilation;
      check_shape(s);
      s.stride_h = stride, s.dilation_h = dilation;
      check_shape(s);
    }
}

TEST_F(LineWindows, ChannelsAndGroups) {
  for (const size_t channels : {60, 64, 100, 128, 320})
    check_shape(square(8, channels, 70, 3, 1, 1));
  check_shape(square(8, 256, 64, 3, 1, 1, 2));
  check_shape(square(8, 192, 96, 3, 1, 1, 3));
}

TEST_F(LineWindows, ZeroPoints) {
  const octet_conv2d_shape s = square(11, 64, 24, 3, 1, 1);
  for (const FilterZeroPoints zero_points :
       {FilterZeroPoints::kNone, FilterZeroPoints::kTensor, FilterZeroPoints::kChannel})
    for (const bool runtime_quant : {false, true}) check_shape(s, zero_points, runtime_quant);
}

}  // namespace
}  // namespace octet_test
