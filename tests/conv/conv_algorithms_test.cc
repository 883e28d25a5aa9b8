// SPDX-License-Identifier: Apache-2.0
// Checks that a choice never changes the output: every algorithm, tier, kernel and layout of packed
// weights gives the same bytes, and a choice that is forced is the one that runs.
#include <algorithm>
#include <set>

#include "operators/conv/layouts.h"
#include "operators/conv/object.h"
#include "support/random_case.h"
#include "support/tiers.h"

namespace octet_test {
namespace {

TEST(ConvAlgorithms, AnyCombinationGivesTheSameBytesEveryWay) {
  for (uint32_t seed = 1; seed <= 250; ++seed) {
    check_every_way(random_conv(seed));
    if (HasFatalFailure()) return;
  }
}

// Of 1x1 convolutions the pixels may be copied first in an order of the kernel's own.
TEST(ConvAlgorithms, PixelsOfManyChannels) {
  uint32_t turn = 0;
  for (const size_t groups : {1, 2})
    for (const size_t channels : {23, 24, 33, 72})
      for (const size_t out : {39, 40, 67, 257}) {
        octet_conv2d_shape s = square(7, groups * channels, groups * out, 1);
        s.groups = groups;
        check_every_way(turned(s, turn++));
        if (HasFatalFailure()) return;
      }
}

// Runs are cut by threads, and into blocks and bands of a small cache; some bring their own pads.
TEST(ConvAlgorithms, AnyCombinationInPieces) {
  for (uint32_t seed = 1001; seed <= 1150; ++seed) {
    const ConvProblem problem(random_conv(seed));
    const octet_conv2d_shape& s = problem.c.shape;
    const octet_conv2d_pads others = {s.pad_bottom, s.pad_top, s.pad_right, s.pad_left};
    for (const octet_conv_algorithm algorithm : possible_algorithms(problem, OCTET_ISA_AUTO)) {
      ConvHow how;
      how.algorithm = algorithm, how.concurrency = 1 + seed % 7;
      how.cache_bytes = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 1 : 3000;
      if (seed % 2) how.declared_pads = &others;
      check(problem, how);
      if (HasFatalFailure()) return;
    }
  }
}

// Restates the header's promises for each algorithm.
TEST(ConvAlgorithms, EachIsPossibleWhereItsNameSays) {
  octet_conv2d_shape dilated = square(9, 16, 18, 3, 1, 2), rectangle = square(9, 16, 18, 3, 1, 1),
                     transposed = square(9, 16, 18, 3, 1, 1);
  octet_conv2d_shape strided_once = square(9, 16, 18, 3, 1, 1),
                     multiplied = square(9, 16, 32, 3, 1, 1, 16);
  dilated.dilation_h = dilated.dilation_w = 2;
  rectangle.kernel_w = 5;
  transposed.transposed = 1;
  strided_once.stride_w = 2;
  using Set = std::set<octet_conv_algorithm>;
  const Set any = {OCTET_CONV_DIRECT, OCTET_CONV_IM2COL},
            grouped = {OCTET_CONV_DIRECT, OCTET_CONV_IM2COL, OCTET_CONV_GROUPED},
            sums = {OCTET_CONV_DIRECT, OCTET_CONV_IM2COL, OCTET_CONV_WINOGRAD_4X4};
  const struct {
    octet_conv2d_shape shape;
    Set possible;
    FilterZeroPoints zero_points;
  } kTable[] = {
      {square(9, 16, 18, 3, 1, 1),
       {OCTET_CONV_DIRECT, OCTET_CONV_IM2COL, OCTET_CONV_WINOGRAD_2X2, OCTET_CONV_WINOGRAD_4X4},
       FilterZeroPoints::kCentre},
      {square(9, 16, 18, 3, 1, 1),
       {OCTET_CONV_DIRECT, OCTET_CONV_IM2COL, OCTET_CONV_WINOGRAD_2X2},
       FilterZeroPoints::kLeast},
      {square(9, 16, 18, 3, 2, 1),
       {OCTET_CONV_DIRECT, OCTET_CONV_IM2COL, OCTET_CONV_WINOGRAD_4X4, OCTET_CONV_WINOGRAD_2X2_S2},
       FilterZeroPoints::kCentre},
      {square(9, 12, 18, 3, 2, 1),
       {OCTET_CONV_DIRECT, OCTET_CONV_IM2COL, OCTET_CONV_WINOGRAD_2X2_S2},
       FilterZeroPoints::kCentre},
      {square(9, 16, 18, 3, 3, 1), any, FilterZeroPoints::kCentre},
      {square(9, 16, 18, 5, 1, 1), sums, FilterZeroPoints::kCentre},
      {square(9, 16, 18, 7, 2, 1), sums, FilterZeroPoints::kCentre},
      {square(9, 16, 18, 5, 1, 1), any, FilterZeroPoints::kLeast},
      {square(9, 12, 18, 5, 1, 1), any, FilterZeroPoints::kCentre},
      {square(9, 16, 18, 8, 2, 1), any, FilterZeroPoints::kCentre},
      {square(9, 16, 18, 1), any, FilterZeroPoints::kCentre},
      {dilated, any, FilterZeroPoints::kCentre},
      {rectangle, any, FilterZeroPoints::kCentre},
      {strided_once, any, FilterZeroPoints::kCentre},
      {square(9, 16, 16, 3, 3, 1, 16),
       {OCTET_CONV_DIRECT, OCTET_CONV_IM2COL, OCTET_CONV_DEPTHWISE},
       FilterZeroPoints::kCentre},
      {square(9, 16, 16, 3, 1, 1, 16),
       {OCTET_CONV_DIRECT, OCTET_CONV_IM2COL, OCTET_CONV_DEPTHWISE},
       FilterZeroPoints::kChannel},
      {multiplied,
       {OCTET_CONV_DIRECT, OCTET_CONV_IM2COL, OCTET_CONV_DEPTHWISE},
       FilterZeroPoints::kCentre},
      {square(9, 16, 16, 3, 1, 1, 8), grouped, FilterZeroPoints::kCentre},
      {square(9, 40, 40, 5, 3, 1, 10), grouped, FilterZeroPoints::kCentre},
      {square(9, 24, 24, 1, 2, 0, 3), grouped, FilterZeroPoints::kCentre},
      {square(9, 32, 32, 3, 1, 1, 2), grouped, FilterZeroPoints::kCentre},
      {transposed, {OCTET_CONV_DIRECT}, FilterZeroPoints::kCentre},
  };
  for (const octet_isa isa : tiers_to_test())
    for (const auto& row : kTable) {
      ConvCase c;
      c.shape = row.shape;
      c.filter_zero_points = row.zero_points;
      const ConvProblem problem(c);
      const std::vector<octet_conv_algorithm> list = possible_algorithms(problem, isa);
      const Set got(list.begin(), list.end());
      for (const octet_conv_algorithm algorithm : row.possible)
        EXPECT_TRUE(got.count(algorithm))
            << octet_conv_algorithm_name(algorithm) << " on " << octet_isa_name(isa) << ": " << c;
      if (row.shape.groups > 1 || row.shape.transposed) continue;
      for (const octet_conv_algorithm algorithm : got)
        EXPECT_TRUE(algorithm == OCTET_CONV_AUTO || row.possible.count(algorithm))
            << octet_conv_algorithm_name(algorithm) << " on " << octet_isa_name(isa) << ": " << c;
    }
}

// Weights that were packed for one tier run on every tier that reads their layout, with the same
// bytes.
TEST(ConvAlgorithms, PackedForAnyTierRunsOnEveryTierThatReadsIt) {
  for (const octet_conv2d_shape& shape :
       {square(7, 9, 20, 3, 1, 1), square(7, 18, 18, 3, 1, 1, 18), square(5, 30, 33, 1)}) {
    const ConvProblem problem(turned(shape, 6));
    for (const octet_isa packed : tiers_to_test())
      for (const octet_conv_algorithm algorithm : possible_algorithms(problem, packed)) {
        ConvHow how;
        how.isa = packed, how.algorithm = algorithm;
        Conv conv(problem, how);
        ASSERT_EQ(conv.status(), OCTET_OK) << conv.error().message;
        octet_blob_info info = OCTET_BLOB_INFO_INIT;
        ASSERT_EQ(octet_blob_get_info(conv.blob().data(), conv.blob().bytes(), &info, nullptr),
                  OCTET_OK);
        EXPECT_TRUE(is_allowed(info.isa, packed)) << octet_isa_name(info.isa);
        EXPECT_EQ(info.type, problem.c.rhs);
        EXPECT_EQ(info.bytes, conv.blob().bytes());
        if (algorithm != OCTET_CONV_AUTO) {
          EXPECT_EQ(info.algorithm, algorithm);
        }
        size_t i = 0;
        while (octet::nth_format(i) && std::string(octet::nth_format(i)->name) != info.form) ++i;
        ASSERT_NE(octet::nth_format(i), nullptr) << info.form;
        EXPECT_EQ(octet::nth_format(i)->kind,
                  octet::algorithm_of((uint8_t)info.algorithm)->operands)
            << info.form;
        for (const octet_isa limit : tiers_to_test()) {
          octet_conv2d_desc d = OCTET_CONV2D_DESC_INIT;
          d.shape = shape;
          d.lhs_type = problem.c.lhs, d.rhs_type = problem.c.rhs;
          d.lhs_zero_point = problem.c.lhs_zero_point;
          d.packed = conv.blob().data(), d.packed_bytes = conv.blob().bytes();
          d.max_isa = limit;
          const EpilogueArrays arrays = problem.epilogue.describe(Side::kBack, &d);
          octet_conv2d* other = nullptr;
          octet_error error = {};
          const octet_status status = octet_conv2d_create(&d, &other, &error);
          if (!is_allowed(info.isa, limit)) {
            EXPECT_EQ(status, OCTET_WRONG_TIER) << error.message;
            continue;
          }
          ASSERT_EQ(status, OCTET_OK)
              << how << ", limit " << octet_isa_name(limit) << ": " << error.message;
          EXPECT_TRUE(is_allowed(tier_of(octet_conv2d_kernel(other)), limit));
          EXPECT_EQ(octet_conv2d_algorithm(other), octet_conv2d_algorithm(conv.get()));
          size_t bytes = 0;
          ASSERT_EQ(octet_conv2d_workspace(other, 0, 0, 0, 1, &bytes, &error), OCTET_OK)
              << error.message;
          const Guarded workspace(bytes + 1, Side::kFront, OCTET_ALIGNMENT);
          octet_conv2d_args args = conv.args();
          args.workspace = workspace.data(), args.workspace_bytes = bytes;
          conv.clear_dst();
          EXPECT_EQ(octet_conv2d_run(other, &args, &error), OCTET_OK) << error.message;
          EXPECT_TRUE(conv.as_expected()) << how << ", limit " << octet_isa_name(limit);
          octet_conv2d_destroy(other);
        }
      }
  }
}

TEST(ConvAlgorithms, SameInputSameBlob) {
  for (const octet_conv2d_shape& shape :
       {square(7, 9, 20, 3, 1, 1), square(7, 9, 20, 3, 2, 1), square(7, 18, 18, 3, 1, 1, 18)}) {
    const ConvProblem problem(turned(shape, 6));
    for (const ConvHow& how : ways_of(problem)) {
      const Conv a(problem, how, Side::kBack), b(problem, how, Side::kFront);
      ASSERT_EQ(a.blob().bytes(), b.blob().bytes());
      EXPECT_EQ(std::memcmp(a.blob().data(), b.blob().data(), a.blob().bytes()), 0) << how;
    }
  }
}

// A network packed once is used for other sizes of images: the blob does not depend on them while
// the algorithm is the same.
TEST(ConvAlgorithms, TheBlobServesOtherSizes) {
  octet_conv2d_shape shape = square(9, 9, 20, 3, 1, 1), other = shape;
  other.in_h_max = 4, other.in_w_max = 23, other.batch_max = 2;
  ConvCase c = turned(shape, 6);
  const ConvProblem packed_for(c);
  c.shape = other;
  const ConvProblem used_for(c);
  for (const octet_isa isa : tiers_to_test())
    for (const octet_conv_algorithm algorithm : possible_algorithms(packed_for, isa)) {
      if (algorithm == OCTET_CONV_AUTO) continue;
      ConvHow how;
      how.isa = isa, how.algorithm = algorithm;
      const Conv a(packed_for, how), b(used_for, how);
      ASSERT_EQ(a.status(), OCTET_OK);
      ASSERT_EQ(b.status(), OCTET_OK);
      ASSERT_EQ(a.blob().bytes(), b.blob().bytes()) << how;
      EXPECT_EQ(std::memcmp(a.blob().data(), b.blob().data(), a.blob().bytes()), 0) << how;
    }
}

// Each int8 kernel of the table, through both algorithms that multiply int8.
class ConvKernel : public EachKernel {};
OCTET_FOR_EACH_KERNEL(ConvKernel);

TEST_P(ConvKernel, Forced) {
  if (kernel().rhs_layout.is_4bit()) GTEST_SKIP() << kernel().name << " multiplies matrices only";
  octet_conv2d_shape grouped = square(6, 10, 34, 3, 2, 1, 2),
                     transposed = square(4, 7, 18, 3, 2, 1), phases = square(4, 7, 18, 4, 2, 1);
  transposed.transposed = phases.transposed = 1;
  uint32_t turn = 0;
  for (octet_conv2d_shape shape : {square(7, 9, 2u * kernel().nr + 3u, 3, 1, 1),
                                   square(9, 5, kernel().nr - 1u + kernel().nr % 2, 2, 1, 0),
                                   grouped, square(8, 33, 7, 1), transposed, phases})
    for (const Types types : types_of(kernel()))
      for (const octet_type dst : {OCTET_S32, OCTET_S8}) {
        shape.in_w_max = kernel().mr + 2u;
        ConvCase c = turned(shape, ++turn);
        c.lhs = types.lhs, c.rhs = types.rhs, c.dst = dst;
        if (!c.runtime_quant) c.lhs_zero_point = 5;
        if (kernel().is(octet::kNoInt8Min)) {
          // Neither may a zero point be -128: it fills the taps that a phase lacks
          c.filter_fill = Fill::kMost;
          if (c.filter_zero_points != FilterZeroPoints::kCentre)
            c.filter_zero_points = FilterZeroPoints::kFar;
        }
        c.sparse = kernel().rhs_layout.sparse();
        const ConvProblem problem(c);
        for (const octet_conv_algorithm algorithm : {OCTET_CONV_DIRECT, OCTET_CONV_IM2COL}) {
          const std::vector<octet_conv_algorithm> possible =
              possible_algorithms(problem, OCTET_ISA_AUTO);
          if (std::find(possible.begin(), possible.end(), algorithm) == possible.end()) continue;
          ConvHow how;
          how.algorithm = algorithm, how.kernel = kernel().name;
          if (c.sparse) how.sparsity = OCTET_SPARSE_2_4;
          check(problem, how);
          if (HasFatalFailure()) return;
        }
      }
}

TEST(ConvAlgorithms, TheEnvironmentForcesToo) {
  const ConvProblem problem(turned(square(7, 9, 20, 3, 1, 1), 6));
  for (const octet_conv_algorithm algorithm : possible_algorithms(problem, OCTET_ISA_AUTO)) {
    const ScopedEnvironment environment("OCTET_CONV", octet_conv_algorithm_name(algorithm));
    Conv by_environment(problem);
    ASSERT_EQ(by_environment.status(), OCTET_OK) << by_environment.error().message;
    EXPECT_EQ(octet_conv2d_algorithm(by_environment.get()),
              algorithm ? algorithm : octet_conv2d_algorithm(Conv(problem).get()));
    ASSERT_EQ(by_environment.run(), OCTET_OK);
    EXPECT_TRUE(by_environment.as_expected());
    ConvHow how;  // the caller's choice beats it
    how.algorithm = OCTET_CONV_DIRECT;
    Conv by_caller(problem, how);
    ASSERT_EQ(by_caller.status(), OCTET_OK) << by_caller.error().message;
    EXPECT_EQ(octet_conv2d_algorithm(by_caller.get()), OCTET_CONV_DIRECT);
  }
  for (const octet_isa isa : tiers_to_test()) {
    const ScopedEnvironment environment("OCTET_MAX_ISA", octet_isa_name(isa));
    Conv limited(problem);
    ASSERT_EQ(limited.status(), OCTET_OK) << limited.error().message;
    EXPECT_TRUE(is_allowed(tier_of(octet_conv2d_kernel(limited.get())), isa));
    ASSERT_EQ(limited.run(), OCTET_OK);
    EXPECT_TRUE(limited.as_expected());
  }
}

TEST(ConvAlgorithms, Names) {
  const char* const kNames[] = {"auto",           "direct",           "im2col",
                                "depthwise",      "winograd2x2",      "winograd4x4",
                                "winograd2x2_s2", "winograd2x2_int8", "grouped"};
  for (int i = 0; i < 9; ++i)
    EXPECT_STREQ(octet_conv_algorithm_name((octet_conv_algorithm)i), kNames[i]);
  for (const int value : {-1, 9, 256, INT32_MAX, INT32_MIN}) {
    octet_conv_algorithm algorithm;
    std::memcpy(&algorithm, &value, sizeof algorithm);
    EXPECT_STREQ(octet_conv_algorithm_name(algorithm), "unknown");
  }
  EXPECT_EQ(octet_conv2d_algorithm(nullptr), OCTET_CONV_AUTO);
  EXPECT_EQ(octet_conv2d_kernel(nullptr), nullptr);
  octet_conv2d_destroy(nullptr);
}

}  // namespace
}  // namespace octet_test
