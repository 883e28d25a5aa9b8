// SPDX-License-Identifier: Apache-2.0
// Checks the windows of kernel lines that the direct algorithm copies for kernels which take rows
// at one stride only: at the sides, between images, in blocks that begin within a line, and where
// other ways take their place. All tiers run each case.
#include <algorithm>
#include <random>
#include <vector>

#include "operators/conv/algorithms/direct/line_windows.h"
#include "support/conv_case.h"
#include "support/guarded.h"

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

// ---- the copies themselves, which only some CPUs' kernels read

constexpr size_t kStep = 64, kMr = 16;

// Copies rows as a kernel's copy_rows does: whole groups of 4 bytes, the last one filled by zeros.
void copy_rows(const octet::Rows& rows, size_t stride, uint8_t* to) {
  for (size_t i = 0; i < rows.rows; ++i, to += stride)
    for (size_t k = 0; k < octet::round_up(rows.depth, 4); ++k)
      to[k] = k < rows.depth ? (uint8_t)(rows.row(i)[k] ^ rows.flip) : 0;
}

MicroKernel some_kernel() {
  MicroKernel kernel = {};
  kernel.mr = kMr, kernel.nr = 64;
  kernel.lhs_lanes_step = kMr, kernel.lhs_kr = 4;
  kernel.copy_rows = copy_rows;
  kernel.step_depth = kStep;
  kernel.tall_mr = 2 * kMr, kernel.tall_nr = 32;
  return kernel;
}

// A tensor between guard pages, with gaps between pixels and lines, all of it random.
class CopiedWindows {
 public:
  CopiedWindows(const octet::ConvShape& shape, size_t batch, size_t in_h, size_t in_w, size_t gap,
                uint32_t seed)
      : random_(seed), kernel_(some_kernel()) {
    plan_.shape = shape;
    plan_.kernel = &kernel_;
    plan_.lhs_flip = seed % 2 ? 0x80 : 0;
    run_.batch = batch, run_.in_h = in_h, run_.in_w = in_w;
    run_.out_h = octet::conv_out_h(shape, in_h), run_.out_w = octet::conv_out_w(shape, in_w);
    run_.pad_top = shape.pad_top, run_.pad_left = shape.pad_left;
    run_.lhs_pixel = shape.in_channels + gap;
    run_.lhs_row = in_w * run_.lhs_pixel + gap;
    run_.lhs_image = in_h * run_.lhs_row + gap;
    lhs_ = filled((batch * in_h - 1) * run_.lhs_row + (batch - 1) * gap +
                  (in_w - 1) * run_.lhs_pixel + shape.in_channels);
    zeros_ = filled(batch * zero_row());
    run_.lhs = lhs_.data();
    run_.zero_rows = zeros_.data();
    run_.zero_row_stride = zero_row();
  }

  size_t outputs() const { return run_.batch * run_.out_h * run_.out_w; }
  size_t random(size_t end) { return random_() % end; }

  // Copies the windows of a block, and compares every tile's rows with the tensor.
  void check(size_t most, size_t group, size_t pixel, size_t rows) {
    SCOPED_TRACE("pixels " + std::to_string(pixel) + " and " + std::to_string(rows - 1) +
                 " more, in blocks of " + std::to_string(most));
    const octet::ConvShape& s = plan_.shape;
    const Guarded room(octet::LineWindows::bytes(kernel_, s, run_.batch, run_.out_w, most),
                       Side::kBack, 64);
    octet::LineWindows windows(plan_, run_, most, room.data());
    std::vector<ptrdiff_t> steps(s.kernel_h);
    windows.tap_steps(steps.data());
    windows.copy(group, pixel, rows);
    std::vector<const uint8_t*> pointers(rows * s.kernel_h);
    std::vector<octet::BlockTile> tiles(rows);
    tiles.resize(windows.point(pixel, rows, pointers.data(), tiles.data()));
    size_t seen = 0;
    for (const octet::BlockTile& tile : tiles) {
      ASSERT_EQ(tile.pixel, seen);
      for (size_t i = 0; i < tile.rows; ++i) {
        for (size_t ky = 0; ky < tile.taps.first; ++ky)
          ASSERT_TRUE(is_padding(pixel + seen + i, ky));
        for (size_t ky = tile.taps.end; ky < s.kernel_h; ++ky)
          ASSERT_TRUE(is_padding(pixel + seen + i, ky));
        const uint8_t* row = tile.base ? tile.base + i * windows.row_stride() : nullptr;
        for (size_t tap = 0; tap < tile.taps.count(); ++tap) {
          if (!tile.base)
            row = tile.pointers[tap * tile.rows + i];
          else if (tap)
            row += steps[tap - 1];
          ASSERT_TRUE(is_window(row, group, pixel + seen + i, tile.taps.first + tap));
        }
      }
      seen += tile.rows;
    }
    ASSERT_EQ(seen, rows);
  }

  // Copies whole windows, and compares them with the tensor.
  void check_whole(size_t group, size_t pixel, size_t rows) {
    SCOPED_TRACE("pixels " + std::to_string(pixel) + " and " + std::to_string(rows - 1) + " more");
    const octet::ConvShape& s = plan_.shape;
    const size_t stride = octet::WholeWindows::stride(kernel_, s),
                 position = octet::round_up(s.group_in(), 4);
    const Guarded room(rows * stride, Side::kBack, 64);
    octet::WholeWindows(plan_, run_).copy(group, pixel, rows, room.data());
    for (size_t i = 0; i < rows; ++i)
      for (size_t ky = 0; ky < s.kernel_h; ++ky)
        ASSERT_TRUE(
            is_window(room.data() + i * stride + ky * s.kernel_w * position, group, pixel + i, ky));
  }

 private:
  size_t zero_row() const { return octet::round_up(plan_.shape.in_channels, 64) + 64; }
  Guarded filled(size_t bytes) {
    Guarded out(bytes, Side::kBack);
    for (size_t i = 0; i < bytes; ++i) out.data()[i] = (uint8_t)random_();
    return out;
  }
  ptrdiff_t line_of(size_t pixel, size_t ky) const {
    return (ptrdiff_t)(pixel / run_.out_w % run_.out_h * plan_.shape.stride_h +
                       ky * plan_.shape.dilation_h) -
           (ptrdiff_t)run_.pad_top;
  }
  bool is_padding(size_t pixel, size_t ky) const { return (size_t)line_of(pixel, ky) >= run_.in_h; }
  // Whether `row` has the kernel_w pixels that an output reads in kernel line ky.
  bool is_window(const uint8_t* row, size_t group, size_t pixel, size_t ky) const {
    const octet::ConvShape& s = plan_.shape;
    const size_t image = pixel / run_.out_w / run_.out_h, depth = s.group_in();
    for (size_t kx = 0; kx < s.kernel_w; ++kx) {
      const ptrdiff_t x = (ptrdiff_t)(pixel % run_.out_w * s.stride_w + kx * s.dilation_w) -
                          (ptrdiff_t)run_.pad_left;
      const bool outside = is_padding(pixel, ky) || (size_t)x >= run_.in_w;
      const uint8_t* const from = outside ? run_.zero_rows + image * run_.zero_row_stride
                                          : run_.lhs + image * run_.lhs_image +
                                                (size_t)line_of(pixel, ky) * run_.lhs_row +
                                                (size_t)x * run_.lhs_pixel + group * depth;
      const size_t position = octet::round_up(depth, 4);
      for (size_t k = 0; k < position; ++k)
        if (row[kx * position + k] != (k < depth ? (uint8_t)(from[k] ^ plan_.lhs_flip) : 0))
          return false;
    }
    return true;
  }

  std::mt19937 random_;
  const MicroKernel kernel_;
  octet::ConvPlan plan_ = {};
  octet::ConvRun run_ = {};
  Guarded lhs_, zeros_;
};

// Strides and dilations, blocks that begin and end anywhere, several images. whole: of lines that
// are copied side by side.
void check_copies(bool whole) {
  std::mt19937 random(32);
  const auto draw = [&](size_t first, size_t last) {
    return first + random() % (last - first + 1);
  };
  constexpr size_t kChannels[] = {32, 33, 48, 66, 96, 100};
  size_t shapes = 0;
  for (int turn = 0; turn < 400; ++turn) {
    octet::ConvShape s = {};
    s.groups = draw(1, 2);
    s.in_channels = s.groups * (whole ? kChannels[turn / 2 % 6] : kStep);
    s.out_channels = s.groups * draw(1, 70);
    s.kernel_h = draw(1, 5), s.kernel_w = draw(1, 4);
    s.stride_w = draw(1, 3), s.dilation_w = draw(1, 3);
    s.stride_h = turn % 2 ? draw(1, 6) : 1, s.dilation_h = turn % 2 && !whole ? 1 : draw(1, 4);
    s.pad_top = draw(0, 6), s.pad_bottom = draw(0, 6);
    s.pad_left = draw(0, 4), s.pad_right = draw(0, 4);
    if (whole && turn % 4 < 2)  // windows whose pixels lie side by side
      s.groups = s.dilation_w = 1, s.in_channels = kChannels[turn / 4 % 6];
    if (whole && turn % 4 == 0)  // in lines that lie side by side
      s.stride_w = 1, s.pad_left = draw(0, s.kernel_w - 1),
      s.pad_right = s.kernel_w - 1 - s.pad_left;
    s.phases = 1;
    const size_t batch = draw(1, 3), in_h = draw(1, 9), in_w = draw(1, 9);
    s.batch = batch, s.in_h = in_h, s.in_w = in_w;
    if ((s.kernel_h - 1) * s.dilation_h + 1 > in_h + s.pad_top + s.pad_bottom ||
        (s.kernel_w - 1) * s.dilation_w + 1 > in_w + s.pad_left + s.pad_right)
      continue;
    SCOPED_TRACE("turn " + std::to_string(turn));
    CopiedWindows windows(s, batch, in_h, in_w, turn % 3 ? 0 : 5, (uint32_t)turn);
    const size_t all = windows.outputs();
    for (int block = 0; block < 4; ++block) {
      const size_t most = block ? 1 + windows.random(all) : all,
                   pixel = block ? windows.random(all) : 0, rows = std::min(most, all - pixel);
      if (whole)
        windows.check_whole(windows.random(s.groups), pixel, rows);
      else
        windows.check(most, windows.random(s.groups), pixel, rows);
      if (testing::Test::HasFatalFailure()) return;
    }
    ++shapes;
  }
  EXPECT_GT(shapes, 200u);
}
TEST(CopiedLineWindows, AreThePixelsThatOutputsRead) { check_copies(false); }
TEST(CopiedWholeWindows, AreThePixelsThatOutputsRead) { check_copies(true); }

// Windows are copied where that copies less: not with a stride as long as the kernel, nor of long
// lines, nor where lines have a stride and a dilation.
TEST(CopiedLineWindows, AreChosenWhereTheyAreFewer) {
  const auto are_fewer = [](size_t kernel, size_t stride, size_t dilation, size_t out_w,
                            size_t channels = kStep) {
    octet::ConvShape s = {};
    s.groups = s.phases = 1;
    s.in_channels = s.out_channels = channels;
    s.kernel_h = s.kernel_w = kernel;
    s.stride_h = s.stride_w = stride;
    s.dilation_h = s.dilation_w = dilation;
    return octet::LineWindows::are_fewer(kStep, kMr, s, out_w);
  };
  EXPECT_TRUE(are_fewer(3, 1, 1, 95));
  EXPECT_FALSE(are_fewer(3, 1, 1, 96));
  EXPECT_TRUE(are_fewer(3, 2, 1, 47));
  EXPECT_FALSE(are_fewer(3, 2, 1, 48));
  EXPECT_TRUE(are_fewer(3, 1, 4, 30));
  EXPECT_FALSE(are_fewer(3, 2, 2, 30));
  EXPECT_FALSE(are_fewer(3, 3, 1, 7));
  EXPECT_FALSE(are_fewer(2, 2, 1, 7));
  EXPECT_FALSE(are_fewer(1, 1, 1, 7));
  EXPECT_FALSE(are_fewer(3, 1, 1, 14, 40));
}

}  // namespace
}  // namespace octet_test
