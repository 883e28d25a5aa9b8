// SPDX-License-Identifier: Apache-2.0
// Checks the sides of images. Where padding adds 0, the direct algorithm skips it: it cuts lines
// into tiles of rows and of columns, and adds up their taps kernel row by kernel row. The cuts
// depend on kernels, pads, widths, images, tasks and epilogues, and the tests vary all of them.
#include <algorithm>

#include "dispatch/tables/tiers.h"
#include "operators/conv/object.h"
#include "support/conv_case.h"
#include "support/tiers.h"

namespace octet_test {
namespace {

// The zero points that become 0 for kernels of u8 (x86) and for kernels of s8 (Arm).
struct Nothing {
  octet_type lhs;
  int32_t zero_point;
};
constexpr Nothing kNothing[] = {{OCTET_U8, 0}, {OCTET_S8, 0}, {OCTET_S8, -128}, {OCTET_U8, 128}};

struct Store {
  octet_type dst, residual;
  bool in_place;
};
constexpr Store kEpilogueCases[] = {{OCTET_U8, kNoResidual, false}, {OCTET_S32, kNoResidual, false},
                                    {OCTET_U8, OCTET_U8, true},     {OCTET_F32, kNoResidual, false},
                                    {OCTET_S8, kNoResidual, false}, {OCTET_S8, OCTET_U8, false}};

// Runs each case with the next epilogue and the next number of tasks.
class Sides : public testing::Test {
 protected:
  void check_shape(const octet_conv2d_shape& shape,
                   const std::vector<const octet_machine*>& machines = {nullptr}) {
    check_shape(shape, machines, kNothing);
  }
  template <size_t count>
  void check_shape(const octet_conv2d_shape& shape,
                   const std::vector<const octet_machine*>& machines,
                   const Nothing (&zero_points)[count]) {
    for (const Nothing& nothing : zero_points) {
      ConvCase c;
      c.shape = shape;
      c.seed = ++turn_;
      c.lhs = nothing.lhs, c.lhs_zero_point = nothing.zero_point;
      if (pairs_) c.filter_fill = Fill::kSeldomFar;
      const Store& store = kEpilogueCases[turn_ % std::size(kEpilogueCases)];
      c.dst = store.dst, c.residual = store.residual, c.residual_is_dst = store.in_place;
      c.dst_extra = turn_ % 3;
      if (store.in_place) c.residual_extra = c.dst_extra;
      const ConvProblem problem(c);
      for (const octet_machine* machine : machines)
        for (const octet_isa isa : tiers_) {
          ConvHow how;
          how.algorithm = OCTET_CONV_DIRECT, how.machine = machine;
          const ScopedEnvironment limit("OCTET_MAX_ISA", pairs_ ? octet_isa_name(isa) : nullptr);
          if (!pairs_) how.isa = isa;
          how.concurrency = std::vector<size_t>{1, 3, 7}[turn_ % 3];
          check(problem, how);
          if (HasFatalFailure()) return;
        }
    }
  }

  std::vector<octet_isa> tiers_ = tiers_to_test();
  // Weights make pairs, which filters are packed in if their tier is the best, not if it is named
  bool pairs_ = false;
  uint32_t turn_ = 0;
};

TEST_F(Sides, Widths) {
  for (size_t w = 1; w <= 20; ++w) {
    octet_conv2d_shape s = square(5, 33, 20, 3, 1 + w % 2, 1);
    s.in_w_max = w, s.batch_max = 1 + w % 3;
    check_shape(s);
  }
}

TEST_F(Sides, KernelsAndPads) {
  constexpr size_t kKernels[][2] = {{3, 3}, {2, 5}, {1, 7}, {5, 2}, {4, 4}},
                   kPads[][2] = {{1, 1}, {0, 2}, {3, 0}, {4, 4}, {9, 1}};
  for (const auto& kernel : kKernels)
    for (const auto& pads : kPads) {
      octet_conv2d_shape s = square(11, 40, 18, 1);
      s.kernel_h = kernel[0], s.kernel_w = kernel[1];
      s.pad_left = pads[0], s.pad_right = pads[1], s.pad_top = pads[1], s.pad_bottom = pads[0];
      s.dilation_w = pads[0] == 4 ? 2 : 1;
      s.batch_max = 2;
      check_shape(s);
    }
}

TEST_F(Sides, Groups) {
  for (const size_t groups : {2, 4, 8}) {
    octet_conv2d_shape s = square(7, 64, 80, 3, 1, 1, groups);
    s.batch_max = 3;
    check_shape(s);
  }
}

// Groups of few channels, which AVX-VNNI copies one by one: other pads, dilations and strides, and
// images that take several copies.
TEST_F(Sides, GroupsOfFewChannels) {
  constexpr size_t kChannels[][2] = {{24, 24}, {12, 12}, {20, 9}, {28, 31}, {4, 17}, {22, 24}};
  constexpr struct {
    size_t h, w, kernel_h, kernel_w, stride_h, stride_w, dilation_h, pads[4];
  } kLines[] = {
      {14, 14, 3, 3, 1, 1, 1, {1, 1, 1, 1}}, {27, 28, 3, 3, 2, 2, 1, {1, 1, 1, 1}},
      {9, 41, 3, 3, 2, 2, 1, {0, 1, 0, 1}},  {12, 40, 5, 5, 2, 2, 1, {2, 2, 2, 2}},
      {13, 30, 5, 5, 1, 1, 1, {2, 2, 2, 2}}, {9, 26, 3, 2, 1, 1, 2, {2, 1, 0, 1}},
      {7, 27, 1, 3, 2, 2, 1, {0, 0, 1, 0}},  {11, 36, 2, 3, 3, 1, 1, {0, 1, 2, 0}},
      {33, 41, 3, 3, 1, 1, 1, {1, 1, 1, 1}}, {6, 90, 3, 3, 1, 2, 1, {3, 0, 1, 2}},
      {8, 40, 2, 2, 1, 1, 1, {0, 1, 3, 1}},  // a window that has padding only
  };
  size_t groups = 2, turn = 0;
  for (const auto& line : kLines)
    for (int repeat = 0; repeat < 2; ++repeat) {
      const auto& channels = kChannels[turn++ % std::size(kChannels)];
      octet_conv2d_shape s = square(1, groups * channels[0], groups * channels[1], 1, 1, 0, groups);
      s.in_h_max = line.h, s.in_w_max = line.w;
      s.kernel_h = line.kernel_h, s.kernel_w = line.kernel_w;
      s.stride_h = line.stride_h, s.stride_w = line.stride_w, s.dilation_h = line.dilation_h;
      s.pad_top = line.pads[0], s.pad_bottom = line.pads[1];
      s.pad_left = line.pads[2], s.pad_right = line.pads[3];
      s.batch_max = 1 + groups % 2;
      groups = groups % 3 + 2;
      check_shape(s);
    }
}

// AVX2 by weights that make pairs, AVX-VNNI and, of many channels or to few, AVX512-VNNI multiply
// small images tap by tap, the VNNI tiers also by the taps of a kernel line: images of one to
// several blocks, other pads, dilations and strides, groups, transposed ones, and zero points of
// which padding adds the products. Tiers without it would be emulated for nothing.
TEST_F(Sides, TapByTap) {
  const auto lacks = [](octet_isa isa) {
    return octet::tier_of((octet::TierId)isa).costs.tap_panels == 0;
  };
  tiers_.erase(std::remove_if(tiers_.begin(), tiers_.end(), lacks), tiers_.end());
  if (tiers_.empty()) GTEST_SKIP() << "No tier multiplies tap by tap";
  pairs_ = true;
  constexpr Nothing kZeroPoints[] = {
      {OCTET_U8, 0}, {OCTET_U8, 77}, {OCTET_S8, -128}, {OCTET_S8, 5}};
  constexpr struct {
    size_t h, w, batch, kernel_h, kernel_w, stride, dilation, pads[4];
    bool transposed;
  } kImages[] = {{4, 4, 1, 3, 3, 1, 1, {1, 1, 1, 1}, false},
                 {2, 2, 3, 3, 3, 1, 1, {1, 1, 1, 1}, false},
                 {1, 1, 2, 3, 3, 1, 1, {1, 1, 1, 1}, false},
                 {7, 7, 6, 3, 3, 1, 1, {1, 1, 1, 1}, false},
                 {3, 3, 70, 3, 3, 2, 1, {1, 1, 1, 1}, false},
                 {7, 5, 2, 5, 5, 1, 1, {2, 2, 2, 2}, false},
                 {6, 9, 1, 3, 2, 1, 2, {2, 3, 1, 2}, false},
                 {9, 3, 2, 2, 3, 2, 1, {1, 0, 3, 1}, false},
                 {2, 40, 4, 3, 3, 1, 1, {2, 1, 1, 0}, false},
                 {40, 2, 4, 3, 1, 1, 3, {3, 3, 0, 1}, false},
                 {5, 5, 2, 7, 7, 1, 1, {3, 3, 3, 3}, false},
                 {3, 4, 1, 2, 2, 1, 1, {4, 0, 0, 4}, false},
                 {34, 33, 1, 3, 3, 1, 16, {16, 16, 16, 16}, false},
                 {14, 13, 2, 5, 5, 1, 1, {2, 2, 2, 2}, false},
                 {15, 17, 1, 5, 7, 2, 1, {2, 1, 3, 3}, false},
                 {9, 11, 3, 3, 4, 1, 2, {1, 1, 1, 2}, false},
                 {1, 1, 2, 4, 4, 2, 1, {1, 1, 1, 1}, true},
                 {4, 3, 3, 4, 4, 2, 1, {1, 1, 1, 1}, true},
                 {1, 1, 1, 4, 4, 1, 1, {0, 0, 0, 0}, true},
                 {3, 5, 1, 3, 3, 2, 1, {1, 0, 0, 1}, true},
                 {2, 2, 40, 5, 4, 3, 1, {2, 1, 1, 2}, true},
                 {4, 4, 1, 3, 3, 2, 3, {2, 3, 4, 2}, true},
                 {2, 3, 2, 2, 3, 3, 1, {0, 0, 1, 1}, true}};
  constexpr size_t kChannels[][3] = {{32, 80, 1},  {260, 40, 1}, {36, 40, 1},
                                     {100, 93, 1}, {520, 86, 2}, {256, 65, 1},
                                     {64, 20, 1},  {92, 7, 1},   {72, 13, 1}};
  size_t turn = 0;
  for (const auto& image : kImages)
    for (int repeat = 0; repeat < 2; ++repeat) {
      const auto& channels = kChannels[turn++ % std::size(kChannels)];
      octet_conv2d_shape s = square(1, channels[0], channels[1], 1, 1, 0, channels[2]);
      s.in_h_max = image.h, s.in_w_max = image.w, s.batch_max = image.batch;
      s.kernel_h = image.kernel_h, s.kernel_w = image.kernel_w;
      s.stride_h = s.stride_w = image.stride, s.dilation_h = s.dilation_w = image.dilation;
      s.pad_top = image.pads[0], s.pad_bottom = image.pads[1];
      s.pad_left = image.pads[2], s.pad_right = image.pads[3];
      s.transposed = image.transposed;
      check_shape(s, {nullptr}, kZeroPoints);
    }
}

// With few pixels the costs decide how an image is cut: by rows where tiles wait for their weights,
// as with a small L2; by columns on Zen 4; by all sides on Zen 5, which reads weights fast.
TEST_F(Sides, FewPixels) {
  octet_machine small = OCTET_MACHINE_INIT, zen4 = small, zen5 = small;
  small.l2_bytes = 4096, zen4.l2_bytes = zen5.l2_bytes = 1 << 20;
  zen4.design = OCTET_DESIGN_ZEN4, zen5.design = OCTET_DESIGN_ZEN5;
  const std::vector<const octet_machine*> machines = {&small, &zen4, &zen5};
  for (const size_t size : {1, 2, 3, 4, 5, 7})
    for (const size_t stride : {1, 2}) {
      octet_conv2d_shape s = square(size, 96, 160, 3, stride, 1);
      s.batch_max = 1 + size % 3;
      check_shape(s, machines);
      s.in_w_max = size + 2, s.dilation_h = size > 2 ? 2 : 1;
      check_shape(s, machines);
      if (size <= 3) check_shape(square(size, 256, 320, 3, stride, 1), machines);
    }
}

// Tiles of a transposed layer omit taps that are padding for all of their pixels, and serve several
// phases: of inputs of a few pixels most taps are padding, of some tiles all.
TEST_F(Sides, TransposedOfFewPixels) {
  for (const size_t size : {1, 2, 4})
    for (const size_t kernel : {2, 4, 5})
      for (const size_t stride : {1, 2, 3}) {
        octet_conv2d_shape s = square(size, 40, 72, kernel, stride, kernel / 3);
        s.transposed = 1;
        s.in_w_max = size + kernel % 2, s.batch_max = 1 + stride % 2;
        check_shape(s);
      }
}

// s8 images of few channels are flipped as they lie, whole lines of them: also where a stride
// leaves columns at the end that no window reads, which bands with borders have no room for.
TEST_F(Sides, ColumnsThatNoWindowReads) {
  constexpr Nothing kSigned[] = {{OCTET_S8, 0}, {OCTET_S8, -128}};
  constexpr size_t kShapes[][5] = {{5, 4, 4, 57, 78},
                                   {4, 3, 3, 30, 43},
                                   {4, 5, 4, 57, 79},
                                   {5, 8, 4, 57, 78},
                                   {3, 3, 2, 40, 40}};
  for (const auto& [channels, kernel, stride, h, w] : kShapes)
    for (const size_t pad : {0, 1}) {
      octet_conv2d_shape s = square(h, channels, 16, kernel, stride);
      s.in_w_max = w, s.pad_left = pad;
      check_shape(s, {nullptr}, kSigned);
    }
}

// The pixels that a 1x1 kernel reads at a stride are copied in whole vectors, with their padding,
// and the last of them may end where the tensor does.
TEST_F(Sides, PixelsAtAStride) {
  for (const size_t channels : {3, 16, 24, 33, 64, 100, 160})
    for (const size_t stride : {2, 3})
      for (const size_t size : {2 * stride + 1, 3 * stride, 11 * stride + 1}) {
        octet_conv2d_shape s = square(size, channels, channels % 3 * 20 + 9, 1, stride);
        s.batch_max = 1 + channels % 2, s.in_w_max = size + channels % 3;
        s.stride_h = 1 + channels % 3;
        check_shape(s);
        s.pad_left = s.pad_bottom = stride - 1;
        check_shape(s);
        s = square(size, 2 * channels, 4 * channels, 1, stride);
        s.groups = 2;
        check_shape(s);
      }
}

// ---- what is multiplied: the same bytes come out of tiles that omit nothing

octet::MicroKernel counting;
octet::MultiplyFn counted;
size_t multiplied = 0;  // taps of rows

void count(const octet::Tile& tile) {
  multiplied += tile.taps * tile.rows;
  counted(tile);
}

// The taps of rows that the direct algorithm multiplies, for all micro-panels. 0: its kernel
// gathers or copies rows, of which tiles omit none.
size_t multiplied_by(const ConvCase& c, octet_isa isa) {
  const ConvProblem problem(c);
  ConvHow how;
  how.algorithm = OCTET_CONV_DIRECT, how.isa = isa;
  Conv conv(problem, how);
  EXPECT_EQ(conv.status(), OCTET_OK) << conv.error().message;
  if (conv.status() != OCTET_OK) return 0;
  octet::ConvPlan& plan = const_cast<octet_conv2d*>(conv.get())->plan;
  if (plan.kernel->gather || plan.kernel->copy_rows) return 0;
  EXPECT_EQ(plan.shape.phases, 1u);  // phases as columns omit nothing
  counting = *plan.kernel;
  counted = counting.multiply;
  counting.multiply = count;
  counting.add_tap = nullptr;
  plan.kernel = &counting;
  multiplied = 0;
  EXPECT_EQ(conv.run(), OCTET_OK);
  EXPECT_TRUE(conv.as_expected());
  return multiplied;
}

// Of a convolution of one pixel, tiles multiply one tap for each output where padding adds nothing,
// else `taps`.
void expect_one_of(size_t taps, const octet_conv2d_shape& shape) {
  for (const octet_isa isa : tiers_to_test()) {
    ConvCase c;
    c.shape = shape;
    c.lhs_zero_point = 77;
    const size_t all = multiplied_by(c, isa);
    size_t least = all;
    for (const Nothing& nothing : kNothing) {
      c.lhs = nothing.lhs, c.lhs_zero_point = nothing.zero_point;
      least = std::min(least, multiplied_by(c, isa));
    }
    EXPECT_EQ(least * taps, all) << octet_isa_name(isa);
  }
}

octet::AddTapFn added_by;
size_t added = 0;  // rows of taps

void count_added(const octet::TapRows& t) {
  added += t.count;
  added_by(t);
}

// What TapByTap checks happens: tiers that can multiply tap by tap do so.
TEST(Omitted, TiersThatAddTapsDoSo) {
  for (const octet_isa isa : tiers_to_test()) {
    if (octet::tier_of((octet::TierId)isa).costs.tap_panels == 0) continue;
    const ScopedEnvironment limit("OCTET_MAX_ISA", octet_isa_name(isa));
    for (const size_t columns : {8, 13, 40}) {
      ConvCase c;
      c.shape = square(4, 256, columns, 3, 1, 1);
      c.filter_fill = Fill::kSeldomFar;
      const ConvProblem problem(c);
      ConvHow how;
      how.algorithm = OCTET_CONV_DIRECT;
      Conv conv(problem, how);
      ASSERT_EQ(conv.status(), OCTET_OK) << conv.error().message;
      octet::ConvPlan& plan = const_cast<octet_conv2d*>(conv.get())->plan;
      ASSERT_TRUE(plan.kernel->add_tap) << plan.kernel->name;
      counting = *plan.kernel;
      added_by = counting.add_tap;
      counting.add_tap = count_added;
      plan.kernel = &counting;
      added = 0;
      EXPECT_EQ(conv.run(), OCTET_OK);
      EXPECT_TRUE(conv.as_expected());
      EXPECT_GT(added, 0u) << plan.kernel->name << ", " << columns << " columns";
    }
  }
}

// Tiles omit kernel lines that are padding in any case: three taps remain.
TEST(Omitted, TapsInPadding) { expect_one_of(3, square(1, 64, 64, 3, 1, 1)); }

TEST(Omitted, TapsInPaddingOfTransposed) {
  octet_conv2d_shape s = square(1, 64, 64, 8, 2, 3);  // four phases of 16 taps, an output each
  s.transposed = 1;
  expect_one_of(16, s);
}

// An image of several blocks, and lines that no block holds.
TEST_F(Sides, Blocks) {
  check_shape(square(64, 40, 4, 3, 1, 1));
  octet_conv2d_shape s = square(2, 33, 4, 1, 1, 1);
  s.in_w_max = 9000, s.kernel_h = s.kernel_w = 3;
  check_shape(s);
}

}  // namespace
}  // namespace octet_test
