// SPDX-License-Identifier: Apache-2.0
// Checks every kind of geometry, by every algorithm that can compute it, on every tier of this
// machine.
#include "support/conv_case.h"

namespace octet_test {
namespace {

using Shapes = std::vector<octet_conv2d_shape>;

void check_all(const Shapes& shapes) {
  size_t ways = 0;
  for (size_t i = 0; i < shapes.size(); ++i) {
    ways += check_every_way(turned(shapes[i], (uint32_t)i));
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GE(ways, 2 * shapes.size()) << "explain left too little to check";
}

octet_conv2d_shape transposed(octet_conv2d_shape s, size_t output_padding_h = 0,
                              size_t output_padding_w = 0) {
  s.transposed = 1;
  s.output_padding_h = output_padding_h, s.output_padding_w = output_padding_w;
  return s;
}

TEST(ConvShapes, OnePixel) { check_all({square(1, 1, 1, 1)}); }

TEST(ConvShapes, Pointwise) {
  Shapes shapes;
  for (const size_t in : {1, 2, 5, 9})
    for (const size_t channels : {1, 3, 4, 16, 17, 65})
      shapes.push_back(square(in, channels, 66 - channels, 1));
  check_all(shapes);
}

TEST(ConvShapes, WidthsAroundTiles) {
  Shapes shapes;
  for (size_t w = 1; w <= 26; ++w) {
    octet_conv2d_shape s = square(3, 8, 17, 3, 1, 1);
    s.in_w_max = w;
    shapes.push_back(s);
    s.pad_left = 0, s.stride_w = 2;
    if (w > 1) shapes.push_back(s);
  }
  check_all(shapes);
}

TEST(ConvShapes, HeightsAroundTiles) {
  Shapes shapes;
  for (size_t h = 1; h <= 13; ++h) {
    octet_conv2d_shape s = square(5, 5, 9, 3, 1, 1);
    s.in_h_max = h;
    shapes.push_back(s);
    s.stride_h = s.stride_w = 2, s.pad_bottom = 0;
    if (h > 1) shapes.push_back(s);
  }
  check_all(shapes);
}

TEST(ConvShapes, InputChannels) {
  Shapes shapes;
  for (const size_t channels :
       {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 130}) {
    shapes.push_back(square(4, channels, 5, 3, 1, 1));
    shapes.push_back(square(5, channels, 18, 2, 2));
  }
  check_all(shapes);
}

TEST(ConvShapes, OutputChannels) {
  Shapes shapes;
  for (const size_t channels :
       {1, 2, 3, 4, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 130})
    shapes.push_back(square(4, 6, channels, 3, 1, 1));
  check_all(shapes);
}

TEST(ConvShapes, Kernels) {
  Shapes shapes = {square(5, 200, 20, 3, 2, 1), square(3, 1100, 5, 3, 1, 1)};  // deep taps
  for (const size_t h : {1, 2, 3, 4, 5, 7})
    for (const size_t w : {1, 2, 3, 5, 6}) {
      octet_conv2d_shape s = square(7, 5, 6, h);
      s.kernel_w = w;
      s.pad_top = h / 2, s.pad_bottom = (h - 1) / 2, s.pad_left = w / 2, s.pad_right = (w - 1) / 2;
      shapes.push_back(s);
    }
  check_all(shapes);
}

TEST(ConvShapes, Strides) {
  Shapes shapes;
  for (const size_t kernel : {1, 2, 3, 5})
    for (size_t stride = 1; stride <= 4; ++stride)
      for (const size_t pad : {0, 1, 2}) {
        octet_conv2d_shape s = square(9, 4, 9, kernel, stride, pad);
        shapes.push_back(s);
        s.in_w_max = 12, s.stride_w = 5 - stride;
        shapes.push_back(s);
      }
  check_all(shapes);
}

TEST(ConvShapes, AsymmetricPadding) {
  Shapes shapes;
  for (size_t i = 0; i < 16; ++i)
    for (const size_t stride : {1, 2}) {
      octet_conv2d_shape s = square(6, 7, 5, 3, stride);
      s.in_w_max = 8;
      s.pad_top = i & 1, s.pad_bottom = i >> 1 & 1 ? 2 : 0, s.pad_left = i >> 2 & 1 ? 3 : 0,
      s.pad_right = i >> 3 & 1;
      shapes.push_back(s);
    }
  check_all(shapes);
}

// Most or all taps of an output lie outside; some outputs are the bias alone.
TEST(ConvShapes, MorePaddingThanImage) {
  Shapes shapes;
  for (const size_t in : {1, 2, 3})
    for (const size_t kernel : {1, 2, 3, 5})
      for (const size_t pad : {4, 5, 9})
        shapes.push_back(square(in, 5, 6, kernel, 1 + pad % 3, pad));
  octet_conv2d_shape s = square(2, 3, 4, 3);
  s.pad_top = 9, s.pad_right = 1, s.pad_left = 40;
  shapes.push_back(s);
  check_all(shapes);
}

TEST(ConvShapes, KernelLargerThanImage) {
  Shapes shapes;
  for (const size_t in : {1, 2, 3})
    for (const size_t kernel : {4, 5, 7})
      shapes.push_back(square(in, 6, 5, kernel, 1, (kernel - in + 1) / 2 + 1));
  check_all(shapes);
}

TEST(ConvShapes, Dilation) {
  Shapes shapes;
  for (const size_t dilation : {2, 3, 6})
    for (const size_t pad : {0, 2, 6})
      for (const size_t groups : {1, 2, 8})
        for (const size_t stride : {1, 2}) {
          octet_conv2d_shape s = square(13, 8, 8, 3, stride, pad, groups);
          s.dilation_h = dilation, s.dilation_w = 1 + dilation / 2;
          shapes.push_back(s);
        }
  check_all(shapes);
}

TEST(ConvShapes, Groups) {
  Shapes shapes;
  for (const size_t groups : {2, 3, 4})
    for (const size_t in : {1, 3, 8, 17})
      for (const size_t out : {1, 5, 16})
        shapes.push_back(
            square(5, groups * in, groups * out, in % 2 ? 3 : 1, 1 + out % 2, in % 2, groups));
  check_all(shapes);
}

// More groups than a tile has lanes, each of a few channels: as ResNeXt has them, and odder.
TEST(ConvShapes, ManySmallGroups) {
  Shapes shapes;
  for (const size_t groups : {5, 8, 16, 17, 32})
    for (const size_t in : {1, 2, 4, 5})
      for (const size_t out : {1, 2, 3, 4}) {
        octet_conv2d_shape s = square(4, groups * in, groups * out, 3, 1 + out % 2, 1, groups);
        s.in_w_max = 4 + out;
        shapes.push_back(s);
      }
  check_all(shapes);
}

// The value that stands for zero is in no weight, only between groups that are multiplied together.
TEST(ConvShapes, WeightsThatAvoidTheirZeroPoint) {
  size_t ways = 0;
  for (const size_t groups : {1, 2, 3, 16})
    for (const octet_type rhs : {OCTET_S8, OCTET_U8})
      for (const FilterZeroPoints zero_points :
           {FilterZeroPoints::kNone, FilterZeroPoints::kLeast, FilterZeroPoints::kLeastSometimes})
        for (const Fill fill : {Fill::kNeverLeast, Fill::kMost, Fill::kRandom}) {
          ConvCase c;
          c.shape = square(4, 2 * groups, 2 * groups, 3, 1, 1, groups);
          c.lhs_fill = Fill::kEnds, c.filter_fill = fill;
          c.rhs = rhs, c.filter_zero_points = zero_points;
          c.dst = OCTET_S32, c.seed = (uint32_t)groups;
          ways += check_every_way(c);
          if (HasFatalFailure()) return;
        }
  EXPECT_GE(ways, 100u);
}

// First layers: whole windows of few channels are shorter than a vector.
TEST(ConvShapes, FewChannels) {
  Shapes shapes;
  for (const size_t channels : {1, 2, 3, 4})
    for (const size_t kernel : {3, 5, 7})
      for (const size_t stride : {1, 2, 3})
        for (const size_t pad : {size_t{0}, size_t{1}, kernel / 2}) {
          octet_conv2d_shape s = square(kernel + 3, channels, 10, kernel, stride, pad);
          s.in_w_max = 15 + 5 * stride + kernel;
          shapes.push_back(s);
        }
  check_all(shapes);
}

// A stride so long that no window reaches the image, or only some of its rows do.
TEST(ConvShapes, WindowsThatEndInThePadding) {
  Shapes shapes;
  for (const size_t channels : {3, 40})
    for (const size_t pad : {8, 9, 10, 11}) {
      octet_conv2d_shape s = square(1, channels, 10, 3, 4);
      s.pad_left = pad, s.pad_top = 2;
      shapes.push_back(s);
      s.pad_left = 2, s.pad_top = pad;
      shapes.push_back(s);
    }
  check_all(shapes);
}

// Windows of few channels are copied row by row, in moves of 16 and 32 bytes: rows around every
// number of them.
TEST(ConvShapes, CopiedWindowsOfEveryLength) {
  Shapes shapes;
  for (const size_t channels : {1, 3, 4, 5, 6, 7, 13, 14, 19, 20, 25, 26, 31})
    for (const size_t kernel : {2, 5}) shapes.push_back(square(6, channels, 9, kernel, 1, 1));
  check_all(shapes);
}

// Windows are so large that the windows of one tile exceed L1.
TEST(ConvShapes, LargeWindowsOfFewChannels) { check_all({square(3, 16, 5, 17, 1, 8)}); }

TEST(ConvShapes, Depthwise) {
  Shapes shapes;
  for (const size_t channels : {1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 64, 65, 100})
    for (const size_t stride : {1, 2})
      shapes.push_back(square(6, channels, channels, 3, stride, 1, channels));
  for (const size_t kernel : {1, 2, 4, 5, 7})
    for (const size_t stride : {1, 2, 3})
      shapes.push_back(square(9, 20, 20, kernel, stride, kernel / 2, 20));
  for (size_t w = 1; w <= 20; ++w) {
    octet_conv2d_shape s = square(3, 18, 18, 3, 1 + w % 2, 1, 18);
    s.in_w_max = w;
    shapes.push_back(s);
  }
  check_all(shapes);
}

// Images larger than half of L2 (of up to 4 MB) are walked in several bands of lines: each case in
// an image of its own, and in two.
TEST(ConvShapes, DepthwiseInBands) {
  struct Case {
    size_t h, w, channels, multiplier, kernel, stride;
  };
  uint32_t turn = 0;
  for (const Case& k : {Case{40, 1100, 40, 1, 3, 1}, Case{40, 1100, 40, 1, 3, 2},
                        Case{50, 900, 33, 1, 5, 1}, Case{44, 700, 17, 2, 3, 1}}) {
    ConvCase c;
    c.shape = square(k.h, k.channels, k.channels * k.multiplier, k.kernel, k.stride, k.kernel / 2,
                     k.channels);
    c.shape.in_w_max = k.w;
    c.shape.batch_max = 1 + turn % 2;
    c.dst = turn % 2 ? OCTET_U8 : OCTET_S32;
    c.runtime_quant = turn == 3;
    c.lhs_zero_point = turn == 3 ? 0 : 9;
    c.seed = ++turn;
    const ConvProblem problem(c);
    ConvHow how;
    how.algorithm = OCTET_CONV_DEPTHWISE;
    check(problem, how);
    if (HasFatalFailure()) return;
  }
}

// Groups of each size, blocks of channels that are not full, lines around the tiles' widths.
TEST(ConvShapes, SmallGroups) {
  Shapes shapes;
  for (const size_t group : {2, 4, 8, 16})
    for (const size_t groups : {1, 2, 3, 5, 8, 9, 33})
      for (const size_t stride : {1, 2})
        shapes.push_back(square(6, group * groups, group * groups, 3, stride, 1, groups));
  for (size_t w = 1; w <= 20; ++w)
    for (const size_t group : {4, 8, 16}) {
      octet_conv2d_shape s = square(3, 48, 48, 3, 1 + w % 2, 1, 48 / group);
      s.in_w_max = w;
      shapes.push_back(s);
    }
  for (const size_t kernel : {1, 2, 4, 5, 7})
    for (const size_t stride : {1, 2, 3})
      shapes.push_back(square(9, 24, 24, kernel, stride, kernel / 2, 6));
  octet_conv2d_shape uneven = square(7, 80, 80, 3, 1, 0, 10);
  uneven.kernel_w = 2, uneven.dilation_h = 2, uneven.dilation_w = 3, uneven.stride_h = 2;
  shapes.push_back(uneven);
  uneven.pad_top = 3, uneven.pad_right = 5;
  shapes.push_back(uneven);
  const size_t long_stride = size_t{1}
                             << (sizeof(size_t) > 4 ? 20 : 10);  // 32 bits bound its square
  octet_conv2d_shape one_output = square(3, 16, 16, 3, long_stride, 1, 4);
  shapes.push_back(one_output);
  one_output.stride_h = 1;
  shapes.push_back(one_output);
  check_all(shapes);
  for (const size_t group : {2, 4, 8, 16})
    for (const Fill lhs : {Fill::kLeast, Fill::kMost, Fill::kEnds})
      for (const Fill filter : {Fill::kLeast, Fill::kMost, Fill::kEnds}) {
        ConvCase c = turned(square(9, 48, 48, 3, 1, 1, 48 / group), (uint32_t)group);
        c.lhs_fill = lhs, c.filter_fill = filter;
        check_every_way(c);
        if (HasFatalFailure()) return;
      }
}

TEST(ConvShapes, DepthwiseMultiplier) {
  Shapes shapes;
  for (const size_t channels : {1, 3, 8, 17, 33})
    for (const size_t multiplier : {2, 3, 8})
      shapes.push_back(
          square(5, channels, channels * multiplier, 3, 1 + multiplier % 2, 1, channels));
  check_all(shapes);
}

TEST(ConvShapes, Batches) {
  Shapes shapes = {square(5, 7, 9, 3, 1, 1), square(1, 33, 17, 1), square(6, 4, 5, 2, 2),
                   square(4, 16, 16, 3, 1, 1, 16), transposed(square(3, 5, 4, 3, 2, 1))};
  for (octet_conv2d_shape& s : shapes) s.batch_max = 3;
  check_all(shapes);
}

TEST(ConvShapes, OneDimension) {
  Shapes shapes;
  for (const size_t w : {1, 5, 16, 40})
    for (const size_t kernel : {1, 3, 4})
      for (const size_t groups : {1, 6}) {
        octet_conv2d_shape s = square(1, 6, 12, 1, 1, 0, groups);
        s.in_w_max = w, s.kernel_w = kernel, s.pad_left = kernel - 1, s.stride_w = 1 + w % 3;
        shapes.push_back(s);
        s.pad_right = 2 * kernel, s.dilation_w = 2;
        shapes.push_back(s);
      }
  check_all(shapes);
}

TEST(ConvShapes, Transposed) {
  Shapes shapes;
  for (const size_t kernel : {1, 2, 3, 4})
    for (const size_t stride : {1, 2, 3})
      for (const size_t pad : {0, 1, 2})
        for (size_t output_padding = 0; output_padding < stride; ++output_padding) {
          octet_conv2d_shape s =
              transposed(square(4, 5, 6, kernel, stride, 0), output_padding, output_padding);
          s.pad_top = pad, s.pad_right = pad;
          const int64_t out =
              3 * (int64_t)stride + (int64_t)(kernel + output_padding) - (int64_t)pad;
          if (out >= 1) shapes.push_back(s);
        }
  check_all(shapes);
}

// Many phases of few pixels each, or none; kernel positions that skip phases; more lines and
// columns than one block and one band hold.
TEST(ConvShapes, TransposedPhases) {
  Shapes shapes;
  for (const size_t stride : {4, 5})
    for (const size_t kernel : {size_t{1}, stride - 1, 2 * stride + 1})
      for (const size_t in : {1, 4}) {
        octet_conv2d_shape s =
            transposed(square(in, 5, 9, kernel, stride, in > 1 ? stride / 2 : 0));
        s.in_w_max = in + 2;
        shapes.push_back(s);
        s.pad_left = s.pad_right = 0;
        // All positions along w are of one phase
        s.dilation_h = 2, s.stride_w = 3, s.dilation_w = 6;
        shapes.push_back(s);
      }
  shapes.push_back(transposed(square(2, 4, 6, 3, 2, 1, 2)));
  shapes.back().stride_h = 1, shapes.back().in_w_max = 3, shapes.back().batch_max = 3;
  check_all(shapes);

  const octet_conv2d_shape long_stride = transposed(square(3, 3, 4, 32, 16, 8));
  octet_conv2d_shape bands = transposed(square(16, 8, 40, 2, 2)),
                     wide = transposed(square(2, 8, 3, 3, 1));
  bands.in_w_max = 200;
  wide.in_w_max = 9000;
  for (const octet_conv2d_shape& s : {long_stride, bands, wide}) {
    ConvCase c;
    c.shape = s;
    c.dst = OCTET_S32, c.lhs_zero_point = 7;
    ConvHow how;
    how.algorithm = OCTET_CONV_DIRECT;
    check(ConvProblem(c), how);
  }
}

// Tiles of phases without taps have the kernel's most rows; tiles of the phases before, which are
// read through pointers, have fewer.
TEST(ConvShapes, TransposedPhasesWithoutTaps) {
  Shapes shapes;
  for (const size_t width : {7, 10, 12, 31})
    for (const size_t channels : {16, 40}) {
      octet_conv2d_shape s = transposed(square(7, channels, channels, 2, 1), 0, 1);
      s.in_w_max = width, s.stride_w = 3;
      shapes.push_back(s);
    }
  check_all(shapes);
}

// Phases along a line that are columns of one product: wide pixels that stick out at either end or
// at both, and channels around a panel's.
TEST(ConvShapes, TransposedPhasesAsColumns) {
  Shapes shapes;
  for (const size_t stride : {2, 3})
    for (const size_t positions : {1, 2})
      for (const size_t width : {1, 2, 7})
        for (size_t pad = 0; pad < stride; ++pad) {
          octet_conv2d_shape s = transposed(square(3, 5, 4, 2, 2), 0, pad % 2);
          s.stride_h = 1 + (width + pad) % 2;
          s.in_w_max = width, s.kernel_w = stride * positions, s.stride_w = stride;
          s.pad_left = pad, s.pad_right = stride - 1 - pad;
          s.out_channels = 3 + 7 * (shapes.size() % 3);
          shapes.push_back(s);
        }
  for (const size_t channels : {1, 2, 15, 16, 17, 21, 31, 32, 33})
    for (const size_t kernel : {2, 4})
      shapes.push_back(transposed(square(6, 20, channels, kernel, 2, kernel / 2 - 1)));
  check_all(shapes);
}

// The stride does not divide the kernel: some phases lack positions that others have. Weights of
// these positions count as 0, with every zero point of the filter.
TEST(ConvShapes, TransposedPhasesThatLackPositions) {
  Shapes shapes;
  for (const size_t stride : {2, 3})
    for (size_t kernel = 1; kernel <= 2 * stride; ++kernel)
      for (const size_t pad : {size_t{0}, stride / 2}) {
        if (kernel % stride == 0) continue;
        octet_conv2d_shape s = transposed(square(4, 5, 3, 3, 2), 0, pad);
        s.in_w_max = 1 + 4 * (kernel % 2), s.kernel_w = kernel, s.stride_w = stride;
        s.pad_left = pad && s.in_w_max > 1;
        shapes.push_back(s);
      }
  for (const size_t channels : {1, 2, 4, 5, 7, 8, 9, 16, 17})
    shapes.push_back(transposed(square(5, 8, channels, 3, 2, 1), 1, 1));
  // Column tiles end where the next columns need fewer taps; lines have many tiles
  shapes.push_back(transposed(square(4, 40, 32, 3, 2, 1), 1, 1));
  shapes.push_back(transposed(square(8, 19, 16, 5, 2, 2), 1, 1));
  check_all(shapes);

  for (const octet_type rhs : {OCTET_S8, OCTET_U8})
    for (const FilterZeroPoints zero_points :
         {FilterZeroPoints::kNone, FilterZeroPoints::kChannel, FilterZeroPoints::kLeast,
          FilterZeroPoints::kLeastSometimes})
      for (const Fill fill : {Fill::kNeverLeast, Fill::kMost, Fill::kRandom}) {
        ConvCase c;
        c.shape = shapes.back();
        c.shape.out_channels = 7;
        c.rhs = rhs, c.filter_zero_points = zero_points, c.filter_fill = fill;
        c.lhs_zero_point = 77;
        check_every_way(c);
        if (HasFatalFailure()) return;
      }
}

TEST(ConvShapes, TransposedMore) {
  Shapes shapes;
  for (const size_t groups : {1, 2, 8})
    for (const size_t dilation : {1, 2, 3})
      for (const size_t in : {1, 3, 7}) {
        octet_conv2d_shape s = transposed(square(in, 8, 16, 3, 2, 1, groups), 1, 0);
        s.dilation_h = dilation, s.dilation_w = 1 + dilation / 2;
        s.in_w_max = in + 1;
        // Fewer taps than the stride: some outputs are the bias alone
        s.stride_w = 4, s.kernel_w = 2;
        shapes.push_back(s);
      }
  for (const size_t channels : {1, 15, 17, 33, 70})
    shapes.push_back(transposed(square(3, channels, 71 - channels, 4, 2, 1)));
  for (const size_t channels : {1, 16, 17})
    shapes.push_back(transposed(square(3, channels, 2 * channels, 3, 2, 1, channels), 1, 1));
  check_all(shapes);
}

// One object serves every size up to its maximum; its workspace for the maximum serves them too.
TEST(ConvShapes, SmallerThanDeclared) {
  for (octet_conv2d_shape s :
       {square(9, 5, 18, 3, 1, 1), square(9, 5, 18, 3, 2, 1), square(9, 17, 17, 3, 1, 1, 17),
        transposed(square(9, 5, 6, 3, 2, 1), 1, 0), square(9, 20, 20, 1)})
    for (const octet_isa isa : tiers_to_test()) {
      s.batch_max = 2;
      ConvCase c = turned(s, 6);
      const ConvProblem largest(c);
      for (const octet_conv_algorithm algorithm : possible_algorithms(largest, isa)) {
        ConvHow how;
        how.algorithm = algorithm, how.isa = isa;
        Conv declared(largest, how);
        ASSERT_EQ(declared.status(), OCTET_OK) << how << ": " << declared.error().message;
        for (size_t batch = 1; batch <= 2; ++batch)
          for (const size_t h : {1, 4, 9})
            for (const size_t w : {1, 6, 9}) {
              c.batch = batch, c.in_h = h, c.in_w = w;
              const ConvProblem smaller(c);
              Conv run(smaller, how);
              ASSERT_EQ(run.status(), OCTET_OK) << how << ": " << run.error().message;
              ASSERT_LE(run.args().workspace_bytes, declared.args().workspace_bytes)
                  << how << ": " << c;
              // The smaller run uses its own workspace, then the larger one.
              for (const bool own : {true, false}) {
                octet_conv2d_args args = run.args();
                if (!own)
                  args.workspace = declared.args().workspace,
                  args.workspace_bytes = declared.args().workspace_bytes;
                run.clear_dst();
                octet_error error = {};
                ASSERT_EQ(octet_conv2d_run(declared.get(), &args, &error), OCTET_OK)
                    << how << ": " << c << ": " << error.message;
                ASSERT_TRUE(run.as_expected()) << how << ": " << c;
              }
            }
      }
    }
}

// Layers of real sizes, too slow for the reference. With a random t per output channel, sum of t[o]
// * acc[..,o] is the convolution with the one filter sum of t[o] * w[o], in int64.
TEST(ConvShapes, RealLayersAgreeWithOneFilter) {
  const octet_conv2d_shape layers[] = {square(28, 64, 96, 3, 1, 1), square(14, 200, 64, 3, 1, 1),
                                       square(29, 40, 72, 3, 2, 1), square(20, 130, 200, 1),
                                       square(64, 3, 32, 7, 2, 3),  square(7, 256, 130, 3, 1, 1)};
  for (const octet_conv2d_shape& s : layers) {
    ConvCase c;
    c.shape = s;
    c.lhs_zero_point = 77;
    c.bias = false;
    Random random(5);
    const size_t in = s.in_h_max, out = (in + 2 * s.pad_top - s.kernel_h) / s.stride_h + 1,
                 depth = s.kernel_h * s.kernel_w * s.in_channels;
    const auto bytes = [&](size_t count) {
      std::vector<uint8_t> values(count);
      for (uint8_t& value : values) value = (uint8_t)random();
      return values;
    };
    const std::vector<uint8_t> lhs = bytes(in * in * s.in_channels),
                               filter = bytes(s.out_channels * depth);
    std::vector<int64_t> t(s.out_channels), combined(depth), want(out * out);
    for (int64_t& value : t) value = (int64_t)(random() % 200) - 100;
    for (size_t o = 0; o < s.out_channels; ++o)
      for (size_t k = 0; k < depth; ++k) combined[k] += t[o] * (int8_t)filter[o * depth + k];
    for (size_t y = 0; y < out; ++y)
      for (size_t x = 0; x < out; ++x)
        for (size_t ky = 0; ky < s.kernel_h; ++ky)
          for (size_t kx = 0; kx < s.kernel_w; ++kx) {
            const size_t from_y = y * s.stride_h + ky - s.pad_top,
                         from_x = x * s.stride_w + kx - s.pad_left;
            if (from_y >= in || from_x >= in) continue;
            for (size_t i = 0; i < s.in_channels; ++i)
              want[y * out + x] +=
                  (lhs[(from_y * in + from_x) * s.in_channels + i] - c.lhs_zero_point) *
                  combined[(ky * s.kernel_w + kx) * s.in_channels + i];
          }

    octet_filter_desc f = OCTET_FILTER_DESC_INIT;
    f.shape = s;
    f.type = OCTET_S8;
    f.order = OCTET_OHWI;
    f.data = filter.data();
    for (const octet_isa isa : tiers_to_test()) {
      octet_conv2d_candidate candidate = OCTET_CONV2D_CANDIDATE_INIT;
      for (size_t i = 0; octet_conv2d_explain(&f, isa, i, &candidate, nullptr) == OCTET_OK; ++i) {
        if (!candidate.possible) continue;
        // the scalar tier is slow, and small shapes cover it
        if (isa == OCTET_ISA_SCALAR && !candidate.chosen) continue;
        f.algorithm = candidate.algorithm;
        octet_error error = {};
        size_t size = 0;
        ASSERT_EQ(octet_conv2d_pack_size(&f, isa, &size, &error), OCTET_OK) << error.message;
        const Guarded blob(size, Side::kBack, OCTET_ALIGNMENT);
        ASSERT_EQ(octet_conv2d_pack(&f, isa, blob.data(), size, &error), OCTET_OK) << error.message;
        f.algorithm = OCTET_CONV_AUTO;
        octet_conv2d_desc d = OCTET_CONV2D_DESC_INIT;
        d.shape = s;
        d.lhs_type = OCTET_U8, d.rhs_type = OCTET_S8, d.dst_type = OCTET_S32;
        d.lhs_zero_point = c.lhs_zero_point;
        d.packed = blob.data(), d.packed_bytes = size, d.max_isa = isa;
        octet_conv2d* conv = nullptr;
        ASSERT_EQ(octet_conv2d_create(&d, &conv, &error), OCTET_OK) << error.message;
        EXPECT_EQ(octet_conv2d_algorithm(conv), candidate.algorithm);
        ASSERT_EQ(octet_conv2d_workspace(conv, 0, 0, 0, 1, &size, &error), OCTET_OK)
            << error.message;
        const Guarded workspace(size + 1, Side::kFront, OCTET_ALIGNMENT);
        std::vector<int32_t> dst(out * out * s.out_channels);
        octet_conv2d_args args = OCTET_CONV2D_ARGS_INIT;
        args.out_h = args.out_w = out;
        args.lhs = lhs.data(), args.dst = dst.data(), args.workspace = workspace.data(),
        args.workspace_bytes = size;
        const octet_status status = octet_conv2d_run(conv, &args, &error);
        octet_conv2d_destroy(conv);
        ASSERT_EQ(status, OCTET_OK) << error.message;
        for (size_t p = 0; p < out * out; ++p) {
          int64_t got = 0;
          for (size_t o = 0; o < s.out_channels; ++o) got += t[o] * dst[p * s.out_channels + o];
          ASSERT_EQ(got, want[p]) << octet_conv_algorithm_name(candidate.algorithm) << ' '
                                  << candidate.kernel << ", pixel " << p / out << ' ' << p % out
                                  << ": " << c;
        }
      }
    }
  }
}

}  // namespace
}  // namespace octet_test
