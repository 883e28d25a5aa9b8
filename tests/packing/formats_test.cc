// SPDX-License-Identifier: Apache-2.0
// Checks the packing of each weight format of the table: kernels read the packed weights back, and
// sizes that leave size_t are refused. Checks the formula of the bytes that weights take.
#include <vector>

#include "operators/conv/algorithms/filter_blob.h"
#include "operators/conv/algorithms/table.h"
#include "packing/matrix_blob.h"
#include "support/guarded.h"
#include "support/kernels.h"

namespace octet_test {
namespace {

using octet::WeightFormat;

std::vector<const WeightFormat*> formats() {
  std::vector<const WeightFormat*> all;
  for (size_t i = 0; const WeightFormat* format = octet::nth_format(i); ++i) all.push_back(format);
  return all;
}

// Packing writes exactly the announced bytes, and kernels read them: each row of the lhs picks a
// row of the weights.
TEST(Formats, OfMatricesAreReadBackAsTheyWerePacked) {
  constexpr size_t kN = 37, kK = 21;
  for (const WeightFormat* format : formats()) {
    if (!format->packing) continue;
    SCOPED_TRACE(format->name);
    const bool is_u8 = format->layout.element_type == octet::ElementType::kU8;
    std::vector<uint8_t> weights(kN * kK);
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = (uint8_t)(i * 7 + i / 11);
    // A kernel may want weights without -128
    for (uint8_t& w : weights) w = !is_u8 && w == 0x80 ? 1 : w;
    // Bytes, as many bits of which as the format keeps
    const bool is_4bit = format->layout.is_4bit();
    for (uint8_t& w : weights) w = is_4bit ? (uint8_t)(w % 16 - 8) : w;
    const octet_type type = is_4bit ? OCTET_S4 : is_u8 ? OCTET_U8 : OCTET_S8;
    for (size_t i = 0; format->layout.sparse() && i < weights.size(); ++i)
      if (i / kN % 4 == i % kN % 4 || i / kN % 4 == (i % kN + 1) % 4) weights[i] = 0;
    const octet::RhsView rhs = {weights.data(), kN, kK, kN, 1, format->layout.element_type,
                                nullptr,        0};
    octet::Container plan;
    ASSERT_TRUE(octet::plan_matrices(*format, (uint8_t)type, kN, kK, 1, false, &plan));
    EXPECT_EQ(plan.find(octet::SectionId::kWeights)->bytes % octet::kAlignment, 0u);
    const Guarded blob((size_t)plan.header.bytes, Side::kBack, OCTET_ALIGNMENT);
    octet::write_matrices(&plan, rhs, 0, blob.data());
    ASSERT_EQ(octet_blob_verify(blob.data(), blob.bytes(), nullptr), OCTET_OK);
    for (const MicroKernel* kernel : table()) {
      if (!(kernel->rhs_layout == format->layout) || !usable(*kernel)) continue;
      for (const octet_type lhs : {OCTET_U8, OCTET_S8}) {
        if (!serves(*kernel, {lhs, type})) continue;
        SCOPED_TRACE(kernel->name);
        octet_gemm_desc d = OCTET_GEMM_DESC_INIT;
        d.m_max = kK, d.n = kN, d.k = kK, d.lhs_type = lhs, d.dst_type = OCTET_S32;
        d.rhs_type = type;
        d.packed = blob.data(), d.packed_bytes = blob.bytes(), d.kernel = kernel->name;
        octet_error error = {};
        octet_gemm* gemm = nullptr;
        ASSERT_EQ(octet_gemm_create(&d, &gemm, &error), OCTET_OK) << error.message;
        size_t bytes = 0;
        EXPECT_EQ(octet_gemm_workspace(gemm, kK, 1, &bytes, &error), OCTET_OK) << error.message;
        const Guarded workspace(bytes + 1, Side::kFront, OCTET_ALIGNMENT);
        std::vector<uint8_t> one(kK * kK);
        for (size_t k = 0; k < kK; ++k) one[k * kK + k] = 1;
        std::vector<int32_t> dst(kK * kN);
        octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
        args.m = kK, args.lhs = one.data(), args.dst = dst.data();
        args.workspace = workspace.data(), args.workspace_bytes = bytes;
        EXPECT_EQ(octet_gemm_run(gemm, &args, &error), OCTET_OK) << error.message;
        octet_gemm_destroy(gemm);
        for (size_t i = 0; i < dst.size(); ++i)
          ASSERT_EQ(dst[i], is_u8 ? weights[i] : (int8_t)weights[i]) << i;
      }
    }
  }
}

// Bits that no format of the table has, too: a layout is made for weights of any.
TEST(Layouts, BytesFollowFromBitsAndTables) {
  using octet::ElementType;
  const octet::RhsLayout bytes = {16, 8, 4, ElementType::kS8},
                         words = {16, 16, 2, ElementType::kS16, 16},
                         nibbles = {16, 16, 8, ElementType::kS8, 4},
                         scaled = {16, 16, 8, ElementType::kS8, 4, octet::Density::kAll, {{32, 2}}};
  EXPECT_EQ(bytes.group_bytes(), 4u);
  EXPECT_EQ(words.group_bytes(), 4u);
  EXPECT_EQ(nibbles.group_bytes(), 4u);
  EXPECT_EQ(scaled.group_bytes(), 4u);
  for (size_t k = 1; k < 200; ++k) {
    EXPECT_EQ(bytes.lane_bytes(k), octet::round_up(k, 4));
    EXPECT_EQ(words.lane_bytes(k), 2 * octet::round_up(k, 2));
    EXPECT_EQ(nibbles.lane_bytes(k), octet::round_up(k, 8) / 2);
    EXPECT_EQ(scaled.lane_bytes(k), octet::round_up(k, 8) / 2 + (k + 31) / 32 * 2);
  }
  // 20 columns: a panel of 16, and one of 8 or of 16
  EXPECT_EQ(bytes.bytes(20, 5), 24u * 8);
  EXPECT_EQ(bytes.panel_offset(16, 5), 16u * 8);
  EXPECT_EQ(scaled.bytes(20, 33), 32u * (20 + 4));
  EXPECT_EQ(scaled.panel_offset(16, 33), 16u * (20 + 4));
  EXPECT_FALSE(nibbles == scaled);
  EXPECT_FALSE(nibbles == (octet::RhsLayout{16, 16, 8, ElementType::kS8}));
  EXPECT_EQ(words.lane_bytes(SIZE_MAX - 1), SIZE_MAX);
  EXPECT_EQ(nibbles.lane_bytes(SIZE_MAX - 7), SIZE_MAX / 2 - 3);
}

// Nor is a forged blob of a filter of 4 bits a filter.
TEST(Formats, OfFourBitsAreOfMatrices) {
  octet::ConvShape shape = {};
  shape.in_channels = shape.out_channels = 16, shape.groups = 1;
  shape.kernel_h = shape.kernel_w = shape.stride_h = shape.stride_w = 1;
  shape.dilation_h = shape.dilation_w = 1;
  for (const octet_conv_algorithm algorithm : {OCTET_CONV_DIRECT, OCTET_CONV_IM2COL})
    for (const WeightFormat* format : formats()) {
      if (format->kind != octet::KernelKind::kInt8 || format->layout.sparse()) continue;
      octet::Container plan;
      EXPECT_EQ(octet::plan_filter(*format, *octet::algorithm_of((uint8_t)algorithm),
                                   (uint8_t)algorithm, OCTET_S8, shape, false, &plan),
                !format->layout.is_4bit())
          << format->name;
    }
}

TEST(Formats, SizesThatLeaveSizeAreNone) {
  for (const WeightFormat* format : formats()) {
    if (!format->packing) continue;
    SCOPED_TRACE(format->name);
    const auto bytes = [&](size_t n, size_t k) { return octet::panel_bytes(format->layout, n, k); };
    EXPECT_GT(bytes(1, 1), 0u);
    for (const size_t huge : {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 70}) {
      EXPECT_EQ(bytes(huge, 1000), 0u);
      EXPECT_EQ(bytes(1000, huge), 0u);
      EXPECT_EQ(bytes(huge, huge), 0u);
    }
    EXPECT_EQ(bytes(SIZE_MAX / 2, 64), 0u);
    octet::Container plan;
    for (const size_t huge : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 8}) {
      EXPECT_FALSE(octet::plan_matrices(*format, OCTET_S8, huge, 64, 1, true, &plan));
      EXPECT_FALSE(octet::plan_matrices(*format, OCTET_S8, 64, huge, 1, true, &plan));
      EXPECT_FALSE(octet::plan_matrices(*format, OCTET_S8, 64, 64, huge, true, &plan));
    }
    // Only the arrays over columns leave size_t, or only the weights, or only the sum
    for (const size_t part : {4, 8, 16})
      EXPECT_FALSE(
          octet::plan_matrices(*format, OCTET_S8, SIZE_MAX / part + 1, 1, 1, false, &plan));
    const size_t halves = format->layout.is_4bit() ? 2 : 1;
    EXPECT_FALSE(
        octet::plan_matrices(*format, OCTET_S8, 64 * halves, SIZE_MAX / 80, 1, false, &plan));
    EXPECT_FALSE(octet::plan_matrices(*format, OCTET_S8, 64, 64 * halves, SIZE_MAX / 6144 + 1,
                                      false, &plan));
  }
}

}  // namespace
}  // namespace octet_test
