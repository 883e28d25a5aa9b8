// octet.hpp: ownership, and nothing else.
#include <octet/octet.hpp>

#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

namespace octet_test {
namespace {

octet_rhs_desc weights_of(const std::vector<int8_t>& data, size_t n, size_t k) {
  auto rhs = octet::make<octet_rhs_desc>();
  rhs.type = OCTET_S8, rhs.n = n, rhs.k = k, rhs.data = data.data();
  return rhs;
}

TEST(Hpp, MultipliesOneByOne) {
  const std::vector<int8_t> data = {-3};
  auto weights = octet::PackedWeights::pack(weights_of(data, 1, 1));
  ASSERT_TRUE(weights) << weights.error().message;
  auto desc = octet::make<octet_gemm_desc>();
  desc.m_max = desc.n = desc.k = 1, desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8,
  desc.dst_type = OCTET_S32;
  weights->attach(desc);
  auto gemm = octet::Gemm::create(desc);
  ASSERT_TRUE(gemm) << gemm.error().message;
  auto workspace = gemm->workspace(1, 2);
  ASSERT_TRUE(workspace) << workspace.error().message;
  const uint8_t lhs = 7;
  int32_t dst = 0;
  auto args = octet::make<octet_gemm_args>();
  args.m = 1, args.lhs = &lhs, args.dst = &dst;
  workspace->attach(args);
  EXPECT_EQ(args.concurrency, 2u);
  octet_error error = {};
  EXPECT_EQ(gemm->run(args, &error), OCTET_OK) << error.message;
  EXPECT_EQ(dst, -21);
  EXPECT_NE(gemm->kernel(1), nullptr);
}

TEST(Hpp, ConvolvesOneByOne) {
  const std::vector<int8_t> data = {-3};
  auto filter = octet::make<octet_filter_desc>();
  filter.shape.in_h_max = filter.shape.in_w_max = filter.shape.in_channels =
      filter.shape.out_channels = filter.shape.kernel_h = filter.shape.kernel_w = 1;
  filter.type = OCTET_S8, filter.data = data.data();
  auto weights = octet::PackedWeights::pack(filter);
  ASSERT_TRUE(weights) << weights.error().message;
  auto desc = octet::make<octet_conv2d_desc>();
  desc.shape = filter.shape, desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8,
  desc.dst_type = OCTET_S32;
  weights->attach(desc);
  auto conv = octet::Conv2d::create(desc);
  ASSERT_TRUE(conv) << conv.error().message;
  auto workspace = conv->workspace(2);
  ASSERT_TRUE(workspace) << workspace.error().message;
  const uint8_t lhs = 7;
  int32_t dst = 0;
  auto args = octet::make<octet_conv2d_args>();
  args.lhs = &lhs, args.dst = &dst;
  workspace->attach(args);
  octet_error error = {};
  EXPECT_EQ(conv->run(args, &error), OCTET_OK) << error.message;
  EXPECT_EQ(dst, -21);
  EXPECT_NE(conv->algorithm(), OCTET_CONV_AUTO);
  EXPECT_NE(conv->kernel(), nullptr);
  EXPECT_FALSE(octet::Conv2d().workspace());
}

TEST(Hpp, FailureIsAValue) {
  const std::vector<int8_t> data = {1};
  auto weights = octet::PackedWeights::pack(weights_of(data, 0, 1));
  EXPECT_FALSE(weights);
  EXPECT_EQ(weights.status(), OCTET_BAD_SIZE);
  auto gemm = octet::Gemm::create(octet::make<octet_gemm_desc>());
  EXPECT_FALSE(gemm);
  EXPECT_NE(gemm.status(), OCTET_OK);
  EXPECT_NE(gemm.error().message[0], '\0');
  EXPECT_FALSE(octet::Gemm().workspace(1));
}

TEST(Hpp, MovesAndDoesNotCopy) {
  static_assert(!std::is_copy_constructible_v<octet::Gemm> &&
                !std::is_copy_assignable_v<octet::Gemm>);
  static_assert(!std::is_copy_constructible_v<octet::PackedWeights> &&
                std::is_nothrow_move_constructible_v<octet::PackedWeights>);
  const std::vector<int8_t> data(12, 1);
  auto first = octet::PackedWeights::pack(weights_of(data, 3, 4));
  ASSERT_TRUE(first);
  const void* const memory = first->data();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % OCTET_ALIGNMENT, 0u);
  octet::PackedWeights second = std::move(*first);
  EXPECT_EQ(second.data(), memory);
  EXPECT_EQ(first->data(), nullptr);
  second = octet::PackedWeights();
}

}  // namespace
}  // namespace octet_test
