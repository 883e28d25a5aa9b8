// SPDX-License-Identifier: Apache-2.0
// Checks that convolutions by lines, in bands of any height, out of rings, give the bytes of the
// whole.
#include "operators/conv/algorithms/lines.h"
#include "operators/conv/object.h"
#include "support/conv_case.h"

namespace octet_test {
namespace {

using octet::ConvPlan;
using octet::ConvRun;
using octet::LineRange;

std::vector<octet_conv2d_shape> shapes() {
  std::vector<octet_conv2d_shape> shapes = {
      square(13, 6, 17, 3, 1, 1),      square(12, 3, 20, 3, 2, 1),  square(17, 20, 9, 5, 1, 2),
      square(11, 40, 33, 1),           square(9, 16, 16, 1, 2),     square(14, 36, 36, 3, 1, 1, 36),
      square(15, 20, 20, 5, 2, 2, 20), square(10, 12, 24, 3, 1, 3), square(8, 24, 18, 2, 3),
      square(16, 24, 36, 3, 1, 1, 6)};
  shapes[2].dilation_h = 2;
  shapes[7].dilation_h = 3, shapes[7].kernel_w = 1;
  for (octet_conv2d_shape& shape : shapes) {
    shape.in_w_max = 7;
    shape.batch_max = 2;
  }
  // Few channels, wide enough that kernels read windows in the staged lines.
  for (octet_conv2d_shape shape : {square(13, 8, 17, 3, 1, 1), square(12, 4, 9, 5, 2, 2),
                                   square(11, 12, 24, 3), square(10, 16, 8, 2, 1, 1)}) {
    shape.in_w_max = 27;
    shape.batch_max = 2;
    shapes.push_back(shape);
  }
  for (size_t stride = 1; stride < 4; ++stride) {
    octet_conv2d_shape transposed = square(6 + stride, 10, 12, 3, stride, stride - 1);
    transposed.transposed = 1;
    transposed.in_w_max = 5;
    transposed.dilation_h = 3 - stride / 2;
    shapes.push_back(transposed);
  }
  return shapes;
}

// ---- staged tensors, in bands that an L2 of a few bytes allows

TEST(ConvLines, Bands) {
  uint32_t turn = 0;
  for (const octet_conv2d_shape& shape : shapes())
    for (const size_t cache_bytes : {1, 3000, 40000}) {
      ConvCase c = turned(shape, turn++);
      c.lhs_layout = turn % 4 ? OCTET_NCHW : OCTET_NHWC;
      c.dst_layout = turn % 4 != 1 ? OCTET_NCHW : OCTET_NHWC;
      if (c.dst == OCTET_U8 || c.dst == OCTET_S8) {
        c.residual = OCTET_U8;
        c.residual_is_dst = turn % 2;
      }
      const ConvProblem problem(c);
      for (const octet_isa isa : tiers_to_test())
        for (const octet_conv_algorithm algorithm : possible_algorithms(problem, isa))
          for (const size_t concurrency : {1, 3}) {
            ConvHow how;
            how.isa = isa, how.algorithm = algorithm;
            how.concurrency = concurrency, how.cache_bytes = cache_bytes;
            check(problem, how);
            if (HasFatalFailure()) return;
          }
    }
}

// Lines of the sign that a kernel does not read are flipped in the caller's layout, in bands and
// rings of any height, by tasks that share them among channels or not.
TEST(ConvLines, FlippedLines) {
  std::vector<octet_conv2d_shape> shapes = {
      square(13, 16, 40, 3, 1, 1),   square(12, 48, 17, 3, 2, 1), square(9, 7, 33, 3, 1, 1),
      square(11, 32, 70, 1),         square(10, 24, 96, 1, 2),    square(12, 20, 33, 1, 2),
      square(14, 64, 64, 3, 1, 1, 2)};
  shapes[0].dilation_h = 2;
  size_t flipped = 0;
  bool flips = false;
  uint32_t turn = 0;
  for (octet_conv2d_shape& shape : shapes) {
    shape.in_w_max = 9, shape.batch_max = 3;
    for (const octet_type lhs : {OCTET_S8, OCTET_U8})
      for (const size_t cache_bytes : {1, 3000, 40000})
        for (const octet_isa isa : tiers_to_test()) {
          ConvCase c = turned(shape, turn++);
          c.lhs = lhs, c.lhs_extra = turn % 4 ? 0 : 5;
          if (!c.runtime_quant) c.lhs_zero_point = lhs == OCTET_U8 ? 131 : -3;
          c.lhs_layout = c.dst_layout = OCTET_NHWC;
          const ConvProblem problem(c);
          ConvHow how;
          how.isa = isa, how.algorithm = OCTET_CONV_DIRECT;
          how.concurrency = 1 + turn % 3, how.cache_bytes = cache_bytes;
          check(problem, how);
          if (HasFatalFailure()) return;
          const Conv conv(problem, how);
          const ConvPlan& plan = conv.get()->plan;
          flips = flips || (plan.kernel->flip_rows && plan.lhs_shift && !plan.shape.pointwise());
          flipped += conv.get()->declared.staging.only_flips;
        }
  }
  EXPECT_EQ(flipped > 0, flips);
}

// Lines of a staged input are longer than the lines of positions that windows begin at, also where
// both begin and end together because nothing is padded and the kernel has one line.
TEST(ConvLines, KernelsOfOneLine) {
  for (uint32_t turn = 0; turn < 10; ++turn) {
    octet_conv2d_shape shape = square(4, turn % 2 ? 8 : 6, 16, 1);
    shape.in_w_max = 30, shape.kernel_w = 3, shape.batch_max = 2;
    const ConvProblem problem(turned(shape, turn));
    for (const octet_isa isa : tiers_to_test())
      for (const octet_conv_algorithm algorithm : possible_algorithms(problem, isa)) {
        ConvHow how;
        how.isa = isa, how.algorithm = algorithm;
        check(problem, how);
        if (HasFatalFailure()) return;
      }
  }
}

// Few channels whose lines fill no whole groups are packed with padded lines, where kernels then
// read windows line by line; other kernels, and lines of few pixels, copy windows of such weights.
TEST(ConvLines, PaddedLines) {
  size_t padded = 0, reading = 0;
  uint32_t turn = 0;
  for (const size_t channels : {1, 2, 3, 5, 7})
    for (const auto& [kernel, stride] : {std::pair<size_t, size_t>{3, 2}, {3, 1}, {7, 2}})
      for (const size_t width : {41, 9})
        for (const octet_isa isa : tiers_to_test()) {
          octet_conv2d_shape shape =
              square(10, channels, turn % 3 ? 16 : 13, kernel, stride, turn % 2);
          shape.in_w_max = width, shape.batch_max = 2;
          ConvHow how;
          how.isa = isa, how.algorithm = OCTET_CONV_DIRECT;
          how.concurrency = 1 + turn % 2;
          ConvCase c = turned(shape, turn++);
          c.lhs_layout = turn % 4 ? OCTET_NHWC : OCTET_NCHW;
          const ConvProblem problem(c);
          check(problem, how);
          if (HasFatalFailure()) return;
          const Conv conv(problem, how);
          padded += conv.get()->plan.shape.padded_lines;
          const octet::Tier& tier = octet::tier_of((octet::TierId)isa);
          reading += tier.costs.gather == 0 && tier.costs.pads_lines &&
                     octet::format_of(tier.s8).layout.kr == 4;
        }
  // Zero points of weights, and lines that fill whole groups by themselves, are not padded.
  EXPECT_GE(4 * padded, reading);
  EXPECT_LE(padded, reading);
}

// Few channels in wide lines are read where they lie, if their kernels can: more lines than are
// computed together, paddings of each side, lines of padding only, padded lines that reach several
// pixels further, several images, outputs that are their residual.
TEST(ConvLines, FewChannelsInPlace) {
  const struct {
    size_t channels, outputs, kernel, stride, top, left, bottom, right;
  } kShapes[] = {{12, 12, 3, 1, 1, 1, 1, 1}, {8, 7, 3, 1, 0, 1, 2, 1},   {3, 16, 3, 2, 1, 1, 1, 1},
                 {3, 20, 3, 2, 0, 0, 1, 1},  {16, 32, 3, 2, 1, 1, 1, 1}, {5, 16, 5, 1, 2, 2, 2, 2},
                 {4, 9, 5, 2, 4, 2, 3, 1},   {3, 8, 7, 2, 3, 3, 3, 3},   {24, 24, 3, 1, 2, 2, 2, 2},
                 {8, 16, 3, 1, 0, 0, 0, 0},  {3, 33, 3, 1, 1, 1, 1, 1},  {20, 16, 2, 1, 0, 1, 1, 0},
                 {1, 16, 9, 1, 0, 0, 0, 0},  {1, 9, 10, 1, 1, 2, 1, 0},  {1, 8, 13, 2, 1, 1, 2, 1},
                 {1, 8, 3, 1, 1, 1, 90, 1}};
  size_t in_place = 0, others = 0, reading = 0;
  uint32_t turn = 0;
  for (const auto& k : kShapes)
    for (const auto& [height, width] : {std::pair<size_t, size_t>{13, 77}, {61, 50}})
      for (const octet_isa isa : tiers_to_test()) {
        octet_conv2d_shape shape = square(height, k.channels, k.outputs, k.kernel, k.stride);
        shape.in_w_max = width, shape.batch_max = 2;
        shape.pad_top = k.top, shape.pad_left = k.left;
        shape.pad_bottom = k.bottom, shape.pad_right = k.right;
        ConvCase c = turned(shape, turn);
        c.lhs_layout = OCTET_NHWC, c.lhs_extra = turn % 9 == 8;
        c.dst_layout = turn % 5 == 4 ? OCTET_NCHW : OCTET_NHWC;
        c.in_w = turn % 4 == 3 ? width - 5 : 0;
        if (k.channels == 1)  // in place on each tier that can
          c.filter_zero_points = FilterZeroPoints::kNone, c.runtime_quant = c.floats = false;
        if (turn % 3 && (c.dst == OCTET_U8 || c.dst == OCTET_S8))
          c.residual = OCTET_U8, c.residual_is_dst = turn % 2;
        ConvHow how;
        how.isa = isa, how.algorithm = OCTET_CONV_DIRECT;
        how.concurrency = 1 + turn % 3;
        // Images of the other sign are flipped as they lie where a cache holds them
        how.cache_bytes = turn++ % 5 == 3 ? 3000 : 0;
        const ConvProblem problem(c);
        check(problem, how);
        if (HasFatalFailure()) return;
        const Conv conv(problem, how);
        const ConvPlan& plan = conv.get()->plan;
        ++(plan.implementation->does_without_borders(plan, c.run_w()) ? in_place : others);
        const octet::Tier& tier = octet::tier_of((octet::TierId)isa);
        reading += tier.costs.gather == 0 && tier.costs.step == 0 &&
                   octet::format_of(tier.s8).layout.kr == 4;
      }
  EXPECT_GT(others, 0u);  // at the very least, those with zero points of weights
  if (reading) {
    EXPECT_GT(in_place, 0u);
  }
}

// The workspace of a larger run is enough for a smaller one, for every height of bands.
TEST(ConvLines, WorkspaceGrowsWithTheRun) {
  std::vector<octet_conv2d_shape> all = shapes();
  for (const size_t stride : {1, 2})  // of short lines some kernels copy more at a time
    all.push_back(square(60, 16, 16, 5, stride, 2, 16));
  for (const octet_conv2d_shape& shape : all)
    for (const size_t cache_bytes : {1, 500, 3000, 40000}) {
      ConvCase c = turned(shape, 0);
      c.lhs_layout = c.dst_layout = OCTET_NCHW;
      c.dst = OCTET_S32, c.residual = kNoResidual;
      ConvHow how;
      how.cache_bytes = cache_bytes;
      const ConvProblem problem(c);
      const Conv conv(problem, how);
      ASSERT_EQ(conv.status(), OCTET_OK) << c;
      size_t before = 0;
      for (size_t w = shape.transposed ? 3 : shape.kernel_w * shape.dilation_w; w <= shape.in_w_max;
           ++w) {
        size_t bytes;
        ASSERT_EQ(octet_conv2d_workspace(conv.get(), 1, 0, w, 1, &bytes, nullptr), OCTET_OK) << c;
        EXPECT_LE(before, bytes) << c << " width " << w << " cache " << cache_bytes;
        before = bytes;
      }
    }
}

// AVX-VNNI copies groups of few channels at some widths only.
TEST(ConvLines, WorkspaceOfGroupsGrowsWithTheRun) {
  for (const size_t stride : {1, 2, 3})
    for (const size_t pad : {0, 1, 2})
      for (const octet_isa isa : tiers_to_test()) {
        ConvCase c;
        c.shape = square(60, 48, 48, 1 + stride, stride, pad, 2);
        c.dst = OCTET_S32;
        ConvHow how;
        how.isa = isa, how.algorithm = OCTET_CONV_DIRECT;
        const ConvProblem problem(c);
        const Conv conv(problem, how);
        ASSERT_EQ(conv.status(), OCTET_OK) << c;
        size_t before = 0;
        for (size_t w = c.shape.kernel_w; w <= c.shape.in_w_max; ++w) {
          size_t bytes;
          ASSERT_EQ(octet_conv2d_workspace(conv.get(), 1, 0, w, 1, &bytes, nullptr), OCTET_OK) << c;
          EXPECT_LE(before, bytes) << c << " width " << w << " tier " << isa;
          before = bytes;
        }
      }
}

// ---- the bytes that stages move

// Stages move the lines that windows reach, by definition. (A transposed convolution's range of
// lines may be wider than that.)
TEST(ConvLines, Traffic) {
  for (const octet_conv2d_shape& shape : shapes()) {
    if (shape.transposed) continue;
    for (const bool nchw : {false, true}) {
      ConvCase c = turned(shape, 0);
      c.lhs_layout = c.dst_layout = nchw ? OCTET_NCHW : OCTET_NHWC;
      c.dst = OCTET_U8, c.residual = OCTET_U8;
      const ConvProblem problem(c);
      const Conv conv(problem, {});
      ASSERT_EQ(conv.status(), OCTET_OK) << c;
      const octet::ConvSchedule& declared = conv.get()->declared;
      const octet::ConvSizes& z = declared.sizes;
      const octet::ConvShape& s = z.shape;
      const octet::Staging& staging = declared.staging;
      uint8_t any;
      octet::Pipeline p = {};
      p.plan = &conv.get()->plan;
      p.staging = staging;
      p.lhs = {&any, nchw, z.in_h, z.in_w, s.in_channels, 1, s.in_channels};
      p.dst = {&any, nchw, z.out_h, z.out_w, s.out_channels, 1, s.out_channels};
      p.residual = p.dst;
      p.run.in_h = staging.borders.h, p.run.out_h = z.out_h, p.run.out_w = z.out_w;
      p.run.pad_top = s.pad_top - staging.borders.top;
      for (size_t y = 0; y < z.out_h; ++y)
        for (size_t end = y + 1; end <= z.out_h; ++end) {
          const ptrdiff_t pad = (ptrdiff_t)s.pad_top, h = z.in_h,
                          first = (ptrdiff_t)(y * s.stride_h) - pad,
                          last = (ptrdiff_t)((end - 1) * s.stride_h +
                                             (s.kernel_h - 1) * s.dilation_h) -
                                 pad;
          const size_t given = std::max<ptrdiff_t>(
                           std::min(last, h - 1) - std::max<ptrdiff_t>(first, 0) + 1, 0),
                       reached = staging.borders.top || staging.borders.h != z.in_h
                                     ? (size_t)(last - first + 1)
                                     : given,
                       lhs = given * z.in_w * s.in_channels,
                       staged = reached * staging.borders.w * s.in_channels,
                       dst = (end - y) * z.out_w * s.out_channels;
          const octet::PipelineTraffic t = traffic(p, {y, end});
          EXPECT_EQ(t.input.read, staging.input ? lhs : 0) << c << " lines " << y << ".." << end;
          EXPECT_EQ(t.input.written, staging.input ? staged : 0) << c;
          EXPECT_EQ(t.convolution.read, (staging.input ? staged : lhs) + dst) << c;
          EXPECT_EQ(t.convolution.written, dst) << c;
          EXPECT_EQ(t.output.read, nchw ? 2 * dst : 0) << c;
          EXPECT_EQ(t.output.written, nchw ? 2 * dst : 0) << c;
        }
    }
  }
}

// ---- runs of some lines

// One convolution whose input is read in place.
class ByLines {
 public:
  ByLines(const ConvProblem& problem, Conv* conv)
      : p_(problem), conv_(*conv->get()), plan_(conv_.plan), args_(conv->args()) {
    const octet::ConvShape& s = plan_.shape;
    zeros_ = Guarded(octet::zero_row_bytes(s) * p_.c.run_batch(), Side::kBack);
    for (size_t i = 0; i < p_.c.run_batch(); ++i)
      std::memset(zeros_.data() + i * octet::zero_row_bytes(s),
                  p_.c.runtime_quant ? p_.lhs_zero_points[i] : p_.c.lhs_zero_point,
                  octet::zero_row_bytes(s));
    whole_.batch = p_.c.run_batch();
    whole_.in_h = p_.c.run_h(), whole_.in_w = p_.c.run_w();
    whole_.out_h = p_.out_h, whole_.out_w = p_.out_w;
    whole_.pad_top = s.pad_top, whole_.pad_left = s.pad_left;
    whole_.lhs = (const uint8_t*)args_.lhs;
    whole_.lhs_pixel = s.in_channels;
    whole_.lhs_row = whole_.in_w * whole_.lhs_pixel;
    whole_.lhs_image = whole_.in_h * whole_.lhs_row;
    whole_.lhs_end = whole_.lhs + whole_.batch * whole_.lhs_image;
    whole_.zero_rows = zeros_.data(), whole_.zero_row_stride = octet::zero_row_bytes(s);
    whole_.lhs_zero_points = args_.lhs_zero_points, whole_.lhs_scales = args_.lhs_scales;
    whole_.to = {(uint8_t*)args_.dst, s.out_channels * plan_.dst_bytes, nullptr, 0};
    workspace_ = Guarded(plan_.implementation->task_workspace(plan_, whole_.in_h, whole_.in_w,
                                                              whole_.out_h, whole_.out_w),
                         Side::kBack, OCTET_ALIGNMENT);
  }

  // Runs lines `out` of an image from a ring with `more` lines than they read, from any first line.
  void run(size_t image, LineRange out, size_t more, Random* random) {
    const LineRange in = octet::input_lines(plan_.shape, whole_.pad_top, whole_.in_h, out);
    ASSERT_LE(in.count(), octet::most_input_lines(plan_.shape, out.count()));
    ConvRun from = whole_;
    from.lhs_ring = std::max<size_t>(in.count() + more, 1);
    from.lhs_first = (*random)() % from.lhs_ring;
    const Guarded ring(from.lhs_ring * whole_.lhs_row, Side::kBack);
    for (size_t y = in.first; y < in.end; ++y)
      std::memcpy(ring.data() + (from.lhs_first + y) % from.lhs_ring * whole_.lhs_row,
                  whole_.line(image, y), whole_.lhs_row);
    from.lhs = ring.data();
    from.lhs_end = ring.data() + ring.bytes();
    ring.read_only();
    ConvRun part = octet::run_of_lines(plan_, whole_, image, 1, out);
    octet::read_lines(from, 0, in, &part);
    part.lhs_end = from.lhs_end;
    octet::run_all(plan_, part, workspace_.data());
  }

 private:
  const ConvProblem& p_;
  const octet_conv2d& conv_;
  const ConvPlan& plan_;
  const octet_conv2d_args& args_;
  ConvRun whole_ = {};
  Guarded zeros_, workspace_;
};

TEST(ConvLines, OutOfRings) {
  Random random(7);
  uint32_t turn = 0;
  size_t runs = 0;
  for (const octet_conv2d_shape& shape : shapes()) {
    ConvCase c = turned(shape, turn++);
    c.lhs_layout = c.dst_layout = OCTET_NHWC;
    c.residual = kNoResidual;
    const ConvProblem problem(c);
    for (const ConvHow& how : ways_of(problem)) {
      Conv conv(problem, how);
      ASSERT_EQ(conv.status(), OCTET_OK) << how << ": " << c;
      const ConvPlan& plan = conv.get()->plan;
      // An algorithm that wants borders reads staged inputs only, and so does one of flipped lines
      if (octet::wants_borders(plan) || plan.staged_flip) continue;
      ByLines lines(problem, &conv);
      for (size_t image = 0; image < c.run_batch(); ++image)
        for (size_t y = 0, end; y < problem.out_h; y = end) {
          end = y + 1 + random() % (problem.out_h - y);
          lines.run(image, {y, end}, random() % 3, &random);
          if (HasFatalFailure()) return;
          ++runs;
        }
      ASSERT_TRUE(conv.as_expected()) << how << ": " << c;
    }
  }
  EXPECT_GT(runs, 100u);
}

// A block of s16 windows that are read in place has more lines where a run has fewer columns.
TEST(ConvLines, ShorterLinesNeedNoLargerWorkspace) {
  octet_conv2d_shape shape = square(20000, 2, 8, 3, 1, 1);
  shape.in_w_max = 100;
  ConvCase c = turned(shape, 0);
  c.lhs = c.dst = OCTET_S16, c.rhs = OCTET_S8;
  c.requant = OCTET_REQUANT_FLOAT, c.bias = false;  // AVX512-VNNI's kernel makes outputs itself
  c.lhs_zero_point = 0, c.runtime_quant = false, c.filter_zero_points = FilterZeroPoints::kNone;
  c.lhs_layout = c.dst_layout = OCTET_NHWC, c.residual = kNoResidual, c.lut = false;
  c.in_h = c.in_w = 1;  // the queries matter, not the run
  const ConvProblem problem(c);
  for (const ConvHow& how : ways_of(problem)) {
    const Conv conv(problem, how);
    ASSERT_EQ(conv.status(), OCTET_OK);
    const auto bytes_of = [&](size_t in_w) {
      size_t bytes = 0;
      EXPECT_EQ(octet_conv2d_workspace(conv.get(), 0, 0, in_w, 1, &bytes, nullptr), OCTET_OK);
      return bytes;
    };
    const size_t declared = bytes_of(shape.in_w_max);
    for (size_t in_w = 1; in_w < shape.in_w_max; ++in_w)
      ASSERT_LE(bytes_of(in_w), declared) << how << ", " << in_w << " columns";
  }
}

}  // namespace
}  // namespace octet_test
