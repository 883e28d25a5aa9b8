// SPDX-License-Identifier: Apache-2.0
// Checks the model of memory traffic: its caches, line by line; walks, which must report exactly
// the reads and writes of a run, and leave the object unchanged.
#include "octet/traffic.h"

#include <algorithm>
#include <memory>
#include <string>

#include "operators/conv/object.h"
#include "support/conv_case.h"
#include "support/gemm_case.h"

namespace octet_test {
namespace {

constexpr size_t kLine = 64, kLeast = 4096, kLarge = (size_t)1 << 24;

struct Destroy {
  void operator()(octet_traffic* traffic) const { octet_traffic_destroy(traffic); }
};
using Traffic = std::unique_ptr<octet_traffic, Destroy>;

Traffic create(size_t cache_bytes, size_t layers = 0, size_t l1_bytes = 1024) {
  octet_traffic_options options = OCTET_TRAFFIC_OPTIONS_INIT;
  options.cache_bytes = cache_bytes;
  options.layers = layers;
  options.l1_bytes = l1_bytes;
  octet_traffic* traffic = nullptr;
  octet_error error = {};
  EXPECT_EQ(octet_traffic_create(&options, &traffic, &error), OCTET_OK) << error.message;
  return Traffic(traffic);
}

octet_layer_traffic layer_of(const Traffic& traffic, size_t index = 0) {
  octet_layer_traffic layer = OCTET_LAYER_TRAFFIC_INIT;
  EXPECT_EQ(octet_traffic_get(traffic.get(), index, &layer, nullptr), OCTET_OK);
  return layer;
}

// Nothing is read through the address.
const void* at(size_t line) { return (const void*)(uintptr_t)(line * kLine); }

void touch(const Traffic& traffic, size_t line, size_t lines, octet_operand operand, int write) {
  ASSERT_EQ(octet_traffic_touch(traffic.get(), at(line), lines * kLine, operand, write, nullptr),
            OCTET_OK);
}

// ---- the caches

TEST(Traffic, LinesStayAsLongAsThereIsRoom) {
  const Traffic traffic = create(kLeast);
  constexpr size_t kLines = kLeast / kLine;
  for (int turn = 0; turn < 3; ++turn) touch(traffic, 0, kLines, OCTET_OPERAND_INPUT, 0);
  EXPECT_EQ(layer_of(traffic).read_bytes[OCTET_OPERAND_INPUT], kLeast);
  // With one more line per set, in the same order, every line has just left when its turn comes.
  for (int turn = 0; turn < 3; ++turn)
    touch(traffic, 0, kLines + kLines / 16, OCTET_OPERAND_WEIGHTS, 0);
  EXPECT_EQ(layer_of(traffic).read_bytes[OCTET_OPERAND_WEIGHTS],
            kLeast / 16 + 2 * (kLeast + kLeast / 16));
}

TEST(Traffic, TheLeastRecentlyUsedLineLeaves) {
  const Traffic traffic = create(kLeast, 0, 1024);
  constexpr size_t kSets = kLeast / kLine / 16;
  for (size_t way = 0; way < 16; ++way) touch(traffic, way * kSets, 1, OCTET_OPERAND_INPUT, 1);
  touch(traffic, 0, 1, OCTET_OPERAND_INPUT, 1);           // again: now line kSets is the oldest
  touch(traffic, 16 * kSets, 1, OCTET_OPERAND_INPUT, 1);  // line kSets leaves
  const uint64_t before = layer_of(traffic).read_bytes[OCTET_OPERAND_INPUT];
  EXPECT_EQ(before, 17 * kLine);
  EXPECT_EQ(layer_of(traffic).write_bytes[OCTET_OPERAND_INPUT], kLine);
  touch(traffic, 0, 1, OCTET_OPERAND_INPUT, 1);
  EXPECT_EQ(layer_of(traffic).read_bytes[OCTET_OPERAND_INPUT], before);
  touch(traffic, kSets, 1, OCTET_OPERAND_INPUT, 1);
  EXPECT_EQ(layer_of(traffic).read_bytes[OCTET_OPERAND_INPUT], before + kLine);
}

// A hit in the first level does not refresh the line in the last level.
TEST(Traffic, ReadsThatTheFirstLevelHasAreNone) {
  constexpr size_t kSets = kLeast / kLine / 16;
  for (const int write : {0, 1}) {
    const Traffic traffic = create(kLeast);
    touch(traffic, 0, 1, OCTET_OPERAND_INPUT, 1);
    for (size_t way = 1; way <= 16; ++way) {
      touch(traffic, 0, 1, OCTET_OPERAND_INPUT, write);
      touch(traffic, way * kSets, 1, OCTET_OPERAND_WEIGHTS, 0);
    }
    EXPECT_EQ(layer_of(traffic).write_bytes[OCTET_OPERAND_INPUT], write ? 0 : kLine);
  }
}

TEST(Traffic, WritesCountForTheLayerThatWrote) {
  const Traffic traffic = create(kLeast, 3);
  touch(traffic, 0, 8, OCTET_OPERAND_OUTPUT, 1);
  ASSERT_EQ(octet_traffic_begin(traffic.get(), 1, nullptr), OCTET_OK);
  touch(traffic, 0, 4, OCTET_OPERAND_WORKSPACE, 1);  // the layer's own lines from now on
  ASSERT_EQ(octet_traffic_begin(traffic.get(), 2, nullptr), OCTET_OK);
  touch(traffic, 1000, 2 * kLeast / kLine, OCTET_OPERAND_INPUT, 0);
  EXPECT_EQ(layer_of(traffic, 0).write_bytes[OCTET_OPERAND_OUTPUT], 4 * kLine);
  EXPECT_EQ(layer_of(traffic, 1).write_bytes[OCTET_OPERAND_WORKSPACE], 4 * kLine);
  EXPECT_EQ(layer_of(traffic, 1).read_bytes[OCTET_OPERAND_WORKSPACE], 0u);
  EXPECT_EQ(layer_of(traffic, 2).write_bytes[OCTET_OPERAND_INPUT], 0u);
  touch(traffic, 0, 1, OCTET_OPERAND_OUTPUT, 1);
  ASSERT_EQ(octet_traffic_flush(traffic.get(), nullptr), OCTET_OK);
  ASSERT_EQ(octet_traffic_flush(traffic.get(), nullptr), OCTET_OK);
  EXPECT_EQ(layer_of(traffic, 2).write_bytes[OCTET_OPERAND_OUTPUT], kLine);
}

// A line stays dirty when it is read again after it left the first level.
TEST(Traffic, WhatIsReadAgainIsStillToBeWritten) {
  const Traffic traffic = create(kLeast);
  touch(traffic, 0, 1, OCTET_OPERAND_OUTPUT, 1);
  touch(traffic, 1, kLeast / kLine / 2, OCTET_OPERAND_WEIGHTS, 0);
  touch(traffic, 0, 1, OCTET_OPERAND_INPUT, 0);
  ASSERT_EQ(octet_traffic_flush(traffic.get(), nullptr), OCTET_OK);
  EXPECT_EQ(layer_of(traffic).write_bytes[OCTET_OPERAND_OUTPUT], kLine);
  EXPECT_EQ(layer_of(traffic).read_bytes[OCTET_OPERAND_INPUT], 0u);
}

TEST(Traffic, BytesAreWholeLines) {
  const Traffic traffic = create(kLeast);
  const uint8_t* const first = (const uint8_t*)at(100);
  ASSERT_EQ(octet_traffic_touch(traffic.get(), first + 63, 2, OCTET_OPERAND_INPUT, 0, nullptr),
            OCTET_OK);
  EXPECT_EQ(layer_of(traffic).read_bytes[OCTET_OPERAND_INPUT], 2 * kLine);
  ASSERT_EQ(octet_traffic_touch(traffic.get(), first + 200, 0, OCTET_OPERAND_INPUT, 0, nullptr),
            OCTET_OK);
  EXPECT_EQ(layer_of(traffic).read_bytes[OCTET_OPERAND_INPUT], 2 * kLine);
}

// ---- walks

size_t lines_of(const void* data, size_t bytes) {
  const uintptr_t first = (uintptr_t)data / kLine, last = ((uintptr_t)data + bytes - 1) / kLine;
  return (last - first + 1) * kLine;
}

// In a cache that holds all, each line of the operands is read once.
void check_walk(const ConvProblem& problem, const ConvHow& how, const Traffic& traffic) {
  Conv conv(problem, how);
  ASSERT_EQ(conv.status(), OCTET_OK) << problem.c << how;
  const std::string where = testing::PrintToString(problem.c) + testing::PrintToString(how);
  const octet_conv2d_shape& s = problem.c.shape;
  const octet_conv2d_args& a = conv.args();
  const octet_layer_traffic before = layer_of(traffic);
  octet_error error = {};
  ASSERT_EQ(octet_traffic_conv2d(traffic.get(), conv.get(), &a, &error), OCTET_OK)
      << error.message << where;
  ASSERT_EQ(octet_traffic_flush(traffic.get(), nullptr), OCTET_OK);
  const octet_layer_traffic after = layer_of(traffic);
  const auto read = [&](int i) { return after.read_bytes[i] - before.read_bytes[i]; };
  const auto written = [&](int i) { return after.write_bytes[i] - before.write_bytes[i]; };
  const size_t lhs = problem.c.run_batch() * problem.c.run_h() * problem.c.run_w() * s.in_channels,
               dst = problem.expected.size() *
                     (problem.c.dst == OCTET_S32 || problem.c.dst == OCTET_F32 ? 4 : 1);
  EXPECT_LE(read(OCTET_OPERAND_INPUT), lines_of(a.lhs, lhs)) << where;
  // Lines that two operands share count for the one that comes first.
  const bool every_pixel = s.stride_h == 1 && s.stride_w == 1;
  if (every_pixel) {
    EXPECT_GE(read(OCTET_OPERAND_INPUT) + kLine, lines_of(a.lhs, lhs)) << where;
  }
  EXPECT_EQ(written(OCTET_OPERAND_OUTPUT), read(OCTET_OPERAND_OUTPUT)) << where;
  EXPECT_LE(written(OCTET_OPERAND_OUTPUT), lines_of(a.dst, dst)) << where;
  EXPECT_GE(written(OCTET_OPERAND_OUTPUT) + kLine, lines_of(a.dst, dst)) << where;
  EXPECT_EQ(written(OCTET_OPERAND_INPUT), 0u) << where;
  EXPECT_EQ(written(OCTET_OPERAND_WEIGHTS), 0u) << where;
  // Weights are the blob but for its head, zero points and sums, and the object's biases and
  // scales.
  octet_blob_info blob = OCTET_BLOB_INFO_INIT;
  ASSERT_EQ(octet_blob_get_info(conv.blob().data(), conv.blob().bytes(), &blob, nullptr), OCTET_OK);
  const size_t around = 1024 + 32 * (s.out_channels + 64);
  EXPECT_LE(read(OCTET_OPERAND_WEIGHTS), blob.bytes + around) << where;
  EXPECT_GE(read(OCTET_OPERAND_WEIGHTS) + around, blob.bytes) << where;
  EXPECT_LE(read(OCTET_OPERAND_WORKSPACE), a.workspace_bytes + kLine) << where;
  conv.clear_dst();
  EXPECT_EQ(conv.run(), OCTET_OK) << where;
  EXPECT_TRUE(conv.as_expected()) << where;
}

std::vector<octet_conv2d_shape> shapes() {
  std::vector<octet_conv2d_shape> shapes = {square(13, 6, 17, 3, 1, 1),
                                            square(12, 3, 20, 3, 2, 1),
                                            square(17, 64, 70, 3, 1, 1),
                                            square(15, 40, 33, 1),
                                            square(9, 16, 16, 1, 2),
                                            square(14, 36, 36, 3, 1, 1, 36),
                                            square(15, 130, 130, 3, 2, 1, 130),
                                            square(15, 20, 20, 5, 1, 2, 20),
                                            square(9, 24, 48, 3, 1, 1, 24),
                                            square(12, 64, 64, 3, 1, 1, 16),
                                            square(16, 24, 36, 3, 1, 1, 6),
                                            square(12, 64, 64, 3, 2, 1)};
  octet_conv2d_shape transposed = square(8, 40, 12, 2, 2);
  transposed.transposed = 1;
  shapes.push_back(transposed);
  return shapes;
}

TEST(Traffic, WalksTouchWhatRunsReadAndWrite) {
  const Traffic traffic = create(kLarge);
  uint32_t turn = 0;
  for (const octet_conv2d_shape& shape : shapes())
    for (const octet_layout layout : {OCTET_NHWC, OCTET_NCHW}) {
      ConvCase c = turned(shape, turn++);
      c.lhs_extra = c.dst_extra = 0;
      c.residual = kNoResidual;
      c.floats = false;
      c.lhs_layout = c.dst_layout = layout;
      const ConvProblem problem(c);
      for (const ConvHow& how : ways_of(problem)) {
        check_walk(problem, how, traffic);
        if (HasFatalFailure()) return;
      }
    }
}

// Depthwise weights that are multiplied as int8, some as int16, and grouped weights.
TEST(Traffic, WalksOfWeightsWithZeroPoints) {
  const Traffic traffic = create(kLarge);
  std::vector<Channel> small(150);
  for (size_t n = 0; n < small.size(); ++n) small[n] = {90, -45, 3, 1 << 30, -6, 0.01f};
  std::vector<Channel> mixed = small;
  mixed[70].positive = 5 * 127;  // beyond int8, with a zero point of -2
  for (const std::vector<Channel>* channels : {&small, &mixed})
    for (const size_t groups : {150, 30})
      for (const octet_isa isa : tiers_to_test()) {
        ConvCase c;
        c.shape =
            groups == 150 ? square(12, 150, 150, 3, 1, 1, 150) : square(12, 240, 240, 3, 1, 1, 30);
        c.filter_zero_points = FilterZeroPoints::kNear;
        c.channels = channels;
        c.dst = OCTET_U8;
        ConvHow how;
        how.isa = isa, how.algorithm = groups == 150 ? OCTET_CONV_DEPTHWISE : OCTET_CONV_GROUPED;
        check_walk(ConvProblem(c), how, traffic);
        if (HasFatalFailure()) return;
      }
}

// No kernel of a walk computes, whatever the weights are.
TEST(Traffic, WalksComputeNothing) {
  const Traffic traffic = create(kLarge);
  for (const octet_conv2d_shape& shape : shapes())
    for (const bool lut : {false, true})
      for (const FilterZeroPoints zero_points :
           {FilterZeroPoints::kCentre, FilterZeroPoints::kNear}) {
        ConvCase c;
        c.shape = shape;
        c.dst = OCTET_U8, c.lut = lut;
        c.filter_zero_points = zero_points;
        const ConvProblem problem(c);
        for (const ConvHow& how : ways_of(problem)) {
          Conv conv(problem, how);
          ASSERT_EQ(conv.status(), OCTET_OK) << c << how;
          std::fill_n((uint8_t*)conv.args().dst, problem.expected.size(), 0x55);
          ASSERT_EQ(octet_traffic_conv2d(traffic.get(), conv.get(), &conv.args(), nullptr),
                    OCTET_OK);
          EXPECT_FALSE(conv.as_expected()) << c << how;
        }
      }
}

TEST(Traffic, ProductsTouchWhatRunsReadAndWrite) {
  const Traffic traffic = create(kLarge);
  constexpr size_t kSizes[][3] = {{1, 200, 300}, {7, 33, 64}, {50, 100, 129}, {130, 64, 33}};
  for (const auto& [m, n, k] : kSizes)
    for (const octet_type dst : {OCTET_U8, OCTET_S32, OCTET_F32})
      for (const bool runtime : {false, true}) {
        GemmCase c;
        c.m = m, c.n = n, c.k = k, c.dst = dst, c.runtime_rhs = runtime;
        Gemm gemm(c);
        ASSERT_EQ(gemm.status(), OCTET_OK) << c;
        const octet_layer_traffic before = layer_of(traffic);
        const octet_gemm_args& a = gemm.args();
        octet_error error = {};
        ASSERT_EQ(octet_traffic_gemm(traffic.get(), gemm.get(), &a, &error), OCTET_OK)
            << error.message << c;
        ASSERT_EQ(octet_traffic_flush(traffic.get(), nullptr), OCTET_OK);
        const octet_layer_traffic after = layer_of(traffic);
        const auto read = [&](int i) { return after.read_bytes[i] - before.read_bytes[i]; };
        const size_t outputs = lines_of(a.dst, m * n * (dst == OCTET_U8 ? 1 : 4));
        // Operands may share a line at their ends.
        EXPECT_NEAR((double)read(OCTET_OPERAND_INPUT), (double)lines_of(a.lhs, m * k), kLine) << c;
        EXPECT_NEAR((double)read(OCTET_OPERAND_OUTPUT), (double)outputs, kLine) << c;
        EXPECT_GE(read(OCTET_OPERAND_WEIGHTS), n * k) << c;
        EXPECT_LE(read(OCTET_OPERAND_WEIGHTS), (n + 64) * (k + 64) + 32 * (n + 64)) << c;
        gemm.clear_dst();
        EXPECT_EQ(gemm.run(), OCTET_OK) << c;
        EXPECT_TRUE(gemm.as_expected(m)) << c;
      }
}

// ---- what is refused

testing::AssertionResult refused(octet_status status, octet_status wanted, const octet_error& error,
                                 const char* text) {
  if (status == wanted && std::string(error.message).find(text) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << octet_status_name(status) << ": " << error.message;
}

TEST(Traffic, BadOptions) {
  octet_traffic* traffic = nullptr;
  octet_error error = {};
  octet_traffic_options options = OCTET_TRAFFIC_OPTIONS_INIT;
  const auto create = [&] { return octet_traffic_create(&options, &traffic, &error); };
  for (const size_t bytes : {(size_t)0, kLeast - 1, kLeast + 64, ((size_t)1 << 31) + 4096}) {
    options.cache_bytes = bytes;
    EXPECT_TRUE(refused(create(), OCTET_BAD_SIZE, error, "options.cache_bytes"));
    EXPECT_EQ(traffic, nullptr);
  }
  options.cache_bytes = kLeast;
  options.layers = ((size_t)1 << 20) + 1;
  EXPECT_TRUE(refused(create(), OCTET_BAD_SIZE, error, "options.layers"));
  options.layers = 0;
  for (const size_t bytes : {(size_t)1, (size_t)1023, (size_t)1500}) {
    options.l1_bytes = bytes;
    EXPECT_TRUE(refused(create(), OCTET_BAD_SIZE, error, "options.l1_bytes"));
  }
  options.struct_size = 3;
  EXPECT_TRUE(refused(create(), OCTET_BAD_STRUCT_SIZE, error, "options"));
  EXPECT_TRUE(refused(octet_traffic_create(nullptr, &traffic, &error), OCTET_NULL_POINTER, error,
                      "options is null"));
  EXPECT_TRUE(refused(octet_traffic_create(&options, nullptr, &error), OCTET_NULL_POINTER, error,
                      "traffic is null"));
  octet_traffic_destroy(nullptr);
}

TEST(Traffic, BadArguments) {
  const Traffic traffic = create(kLeast, 2);
  octet_traffic* const t = traffic.get();
  octet_error error = {};
  octet_layer_traffic layer = OCTET_LAYER_TRAFFIC_INIT;
  EXPECT_TRUE(refused(octet_traffic_begin(t, 2, &error), OCTET_BAD_SIZE, error, "index is 2"));
  EXPECT_TRUE(refused(octet_traffic_begin(nullptr, 0, &error), OCTET_NULL_POINTER, error,
                      "traffic is null"));
  EXPECT_TRUE(
      refused(octet_traffic_get(t, 2, &layer, &error), OCTET_BAD_SIZE, error, "index is 2"));
  EXPECT_TRUE(refused(octet_traffic_get(t, 0, nullptr, &error), OCTET_NULL_POINTER, error,
                      "layer is null"));
  EXPECT_TRUE(refused(octet_traffic_touch(t, at(1), 1, (octet_operand)4, 0, &error),
                      OCTET_UNKNOWN_ENUM, error, "operand is 4"));
  EXPECT_TRUE(refused(octet_traffic_touch(t, at(1), 1, (octet_operand)-1, 0, &error),
                      OCTET_UNKNOWN_ENUM, error, "operand is -1"));
  EXPECT_TRUE(refused(octet_traffic_touch(t, at(1), 1, OCTET_OPERAND_INPUT, 2, &error),
                      OCTET_UNKNOWN_ENUM, error, "write is 2"));
  EXPECT_TRUE(refused(octet_traffic_touch(t, at(1), SIZE_MAX, OCTET_OPERAND_INPUT, 0, &error),
                      OCTET_BAD_SIZE, error, "address space"));
  EXPECT_TRUE(refused(octet_traffic_touch(t, nullptr, SIZE_MAX, OCTET_OPERAND_INPUT, 0, &error),
                      OCTET_BAD_SIZE, error, "it ends at"));
  EXPECT_TRUE(refused(octet_traffic_flush(nullptr, &error), OCTET_NULL_POINTER, error, "traffic"));

  // A walk refuses bad arguments with the same message as a run.
  GemmCase product;
  product.m = 3, product.n = 5, product.k = 7;
  Gemm gemm(product);
  octet_gemm_args args = gemm.args();
  args.m = 4;
  EXPECT_TRUE(refused(octet_traffic_gemm(t, gemm.get(), &args, &error), OCTET_SIZE_ABOVE_MAXIMUM,
                      error, "m = 4"));
  args = gemm.args();
  args.lhs_array = &args.lhs;
  EXPECT_TRUE(refused(octet_traffic_gemm(t, gemm.get(), &args, &error), OCTET_UNSUPPORTED, error,
                      "pointer arrays"));
  EXPECT_TRUE(refused(octet_traffic_gemm(t, nullptr, &args, &error), OCTET_NULL_POINTER, error,
                      "gemm is null"));
  EXPECT_TRUE(refused(octet_traffic_gemm(t, gemm.get(), nullptr, &error), OCTET_NULL_POINTER, error,
                      "args is null"));
  const ConvProblem problem(turned(square(5, 4, 4, 3, 1, 1), 0));
  Conv conv(problem);
  conv.args().dst = nullptr;
  EXPECT_TRUE(refused(octet_traffic_conv2d(t, conv.get(), &conv.args(), &error), OCTET_NULL_POINTER,
                      error, "args.dst"));
  EXPECT_TRUE(refused(octet_traffic_conv2d(nullptr, conv.get(), &conv.args(), &error),
                      OCTET_NULL_POINTER, error, "traffic is null"));
  EXPECT_EQ(layer_of(traffic).read_bytes[OCTET_OPERAND_INPUT], 0u);
}

}  // namespace
}  // namespace octet_test
