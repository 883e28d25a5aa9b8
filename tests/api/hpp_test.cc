// SPDX-License-Identifier: Apache-2.0
// Checks the ownership that octet.hpp and functions.hpp add, and nothing else.
#include <octet/functions.hpp>
#include <octet/octet.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
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

TEST(Hpp, LimitsFilters) {
  auto filter = octet::make<octet_filter_desc>();
  filter.shape.in_h_max = filter.shape.in_w_max = 28;
  filter.shape.in_channels = filter.shape.out_channels = 64;
  filter.shape.kernel_h = filter.shape.kernel_w = 3;
  filter.type = OCTET_S8;
  octet_filter_desc* const filters[] = {&filter};
  const octet::Result<size_t> bytes = octet::limit_packed(filters, 1);
  ASSERT_TRUE(bytes) << bytes.error().message;
  size_t packed = 0;
  ASSERT_EQ(octet_conv2d_pack_size(&filter, OCTET_ISA_AUTO, &packed, nullptr), OCTET_OK);
  EXPECT_EQ(*bytes, packed);
  const octet::Result<size_t> within = octet::limit_packed(filters, 1, 64 * 64 * 9 * 5 / 2);
  ASSERT_TRUE(within) << within.error().message;
  EXPECT_LE(*within, size_t{64 * 64 * 9 * 5 / 2});
  filter.packed_bytes_max = 0;
  const octet::Result<size_t> none = octet::limit_packed(filters, 1, 1);
  EXPECT_EQ(none.status(), OCTET_BAD_SIZE);
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

TEST(Hpp, RunsANetwork) {
  const std::vector<int8_t> data = {2};
  auto weights = octet::PackedWeights::pack(weights_of(data, 1, 1));
  ASSERT_TRUE(weights) << weights.error().message;
  auto product = octet::make<octet_gemm_desc>();
  product.m_max = 3, product.n = product.k = 1, product.lhs_type = OCTET_U8,
  product.rhs_type = OCTET_S8, product.dst_type = OCTET_U8;
  const float scale = 1;
  product.epilogue.scales = &scale, product.epilogue.scale_count = 1;
  weights->attach(product);
  auto gemm = octet::Gemm::create(product);
  ASSERT_TRUE(gemm) << gemm.error().message;

  octet_network_tensor tensors[3] = {};
  for (octet_network_tensor& t : tensors)
    t.batch = t.h = t.channels = 1, t.w = 3, t.type = OCTET_U8, t.keep = 1;
  tensors[1].keep = 0;
  octet_network_op ops[2] = {};
  for (size_t i = 0; i < 2; ++i)
    ops[i].gemm = gemm->get(), ops[i].inputs[0] = i, ops[i].input_count = 1, ops[i].output = i + 1;
  auto desc = octet::make<octet_network_desc>();
  desc.tensors = tensors, desc.tensor_count = 3, desc.ops = ops, desc.op_count = 2;
  desc.concurrency = 2;
  auto made = octet::Network::create(desc);
  ASSERT_TRUE(made) << made.error().message;
  const octet::Network network = std::move(*made);
  EXPECT_EQ(made->get(), nullptr);
  auto workspace = network.workspace(2);
  ASSERT_TRUE(workspace) << workspace.error().message;
  uint8_t in[] = {1, 7, 100}, out[3] = {};
  void* const memory[] = {in, nullptr, out};
  auto args = octet::make<octet_network_args>();
  args.tensors = memory;
  workspace->attach(args);
  EXPECT_EQ(args.concurrency, 2u);
  octet_error error = {};
  ASSERT_EQ(network.run(args, &error), OCTET_OK) << error.message;
  EXPECT_EQ(std::vector<int>(out, out + 3), (std::vector<int>{4, 28, 255}));
  size_t parts = 0;
  while (network.explain(parts)) ++parts;
  EXPECT_EQ(network.explain(parts).status(), OCTET_BAD_SIZE);
  EXPECT_GE(parts, 1u);
  EXPECT_FALSE(octet::Network().workspace());
  desc.op_count = 0;
  EXPECT_EQ(octet::Network::create(desc).status(), OCTET_BAD_SIZE);
}

octet_max_pool_desc pool_2x2() {
  auto desc = octet::make<octet_max_pool_desc>();
  desc.input.size = {2, 2, 1}, desc.input.values.type = OCTET_U8;
  desc.window.kernel_h = desc.window.kernel_w = desc.window.stride_h = desc.window.stride_w = 2;
  return desc;
}

TEST(Hpp, RunsAFunctionByItselfAndInANetwork) {
  auto made = octet::Function::create(octet_max_pool_create, pool_2x2());
  ASSERT_TRUE(made) << made.error().message;
  const octet::Function pool = std::move(*made);
  EXPECT_EQ(made->get(), nullptr);
  uint8_t in[] = {3, 9, 7, 1}, out = 0;
  auto args = octet::make<octet_function_args>();
  args.inputs[0] = {in, 2, 2, 1, 0, 0, 0}, args.output = {&out, 1, 1, 1, 0, 0, 0};
  octet_error error = {};
  ASSERT_EQ(pool.run(args, &error), OCTET_OK) << error.message;
  EXPECT_EQ(out, 9);

  const auto function = pool.for_network();
  ASSERT_TRUE(function) << function.error().message;
  octet_network_tensor tensors[2] = {{1, 2, 2, 1, OCTET_U8, 1, 0, 0, 0, 0},
                                     {1, 1, 1, 1, OCTET_U8, 1, 0, 0, 0, 0}};
  octet_network_op op = {};
  op.function = &*function, op.input_count = 1, op.output = 1;
  auto desc = octet::make<octet_network_desc>();
  desc.tensors = tensors, desc.tensor_count = 2, desc.ops = &op, desc.op_count = 1;
  const auto network = octet::Network::create(desc);
  ASSERT_TRUE(network) << network.error().message;
  auto workspace = network->workspace();
  ASSERT_TRUE(workspace) << workspace.error().message;
  in[1] = 2;
  void* const memory[] = {in, &out};
  auto run = octet::make<octet_network_args>();
  run.tensors = memory;
  workspace->attach(run);
  ASSERT_EQ(network->run(run, &error), OCTET_OK) << error.message;
  EXPECT_EQ(out, 7);
}

TEST(Hpp, RefusesFunctions) {
  auto desc = pool_2x2();
  desc.window.kernel_h = 0;
  const auto refused = octet::Function::create(octet_max_pool_create, desc);
  EXPECT_FALSE(refused);
  EXPECT_STRNE(refused.error().message, "");
  EXPECT_EQ(octet::Function().for_network().status(), OCTET_NULL_POINTER);
  EXPECT_EQ(octet::Function().run(octet::make<octet_function_args>()), OCTET_NULL_POINTER);
}

// The same bytes as pack makes, in the caller's memory, and none behind them.
template <class Weights>
void expect_packs_into(const Weights& weights) {
  alignas(OCTET_ALIGNMENT) static unsigned char memory[1 << 14];
  const auto bytes = octet::PackedWeights::packed_bytes(weights);
  ASSERT_TRUE(bytes) << bytes.error().message;
  ASSERT_LT(*bytes, sizeof memory);
  std::memset(memory, 0xa5, sizeof memory);
  const auto own = octet::PackedWeights::pack(weights);
  ASSERT_TRUE(own) << own.error().message;
  const auto into = octet::PackedWeights::pack_into(memory, *bytes, weights);
  ASSERT_TRUE(into) << into.error().message;
  EXPECT_EQ(into->data(), memory);
  ASSERT_EQ(into->size(), own->size());
  EXPECT_EQ(std::memcmp(memory, own->data(), own->size()), 0);
  EXPECT_EQ(memory[*bytes], 0xa5);
  EXPECT_FALSE(octet::PackedWeights::pack_into(memory, *bytes - 1, weights));
  EXPECT_EQ(octet::PackedWeights::pack_into(memory + 1, *bytes, weights).status(),
            OCTET_MISALIGNED);
  EXPECT_EQ(octet::PackedWeights::pack_into(nullptr, *bytes, weights).status(), OCTET_NULL_POINTER);
}

TEST(Hpp, PacksIntoMemoryOfTheCallers) {
  const std::vector<int8_t> data = {-3};
  expect_packs_into(weights_of(data, 1, 1));
  auto filter = octet::make<octet_filter_desc>();
  filter.shape.in_h_max = filter.shape.in_w_max = filter.shape.in_channels =
      filter.shape.out_channels = filter.shape.kernel_h = filter.shape.kernel_w = 1;
  filter.type = OCTET_S8, filter.data = data.data();
  expect_packs_into(filter);
  filter.type = static_cast<octet_type>(99);
  EXPECT_FALSE(octet::PackedWeights::packed_bytes(filter));
}

// Weights and workspace in one piece of the caller's memory.
TEST(Hpp, BorrowsMemory) {
  const std::vector<int8_t> data = {-3};
  auto packed = octet::PackedWeights::pack(weights_of(data, 1, 1));
  ASSERT_TRUE(packed) << packed.error().message;
  alignas(OCTET_ALIGNMENT) static char memory[1 << 16];
  ASSERT_LE(packed->size(), sizeof memory / 2);
  std::memcpy(memory, packed->data(), packed->size());
  auto weights = octet::PackedWeights::borrow(memory, sizeof memory / 2);
  ASSERT_TRUE(weights) << weights.error().message;
  EXPECT_EQ(weights->data(), memory);
  EXPECT_EQ(weights->size(), packed->size());
  EXPECT_EQ(octet::PackedWeights::borrow(memory + sizeof memory / 2, 64).status(), OCTET_BAD_BLOB);
  EXPECT_EQ(octet::PackedWeights::borrow(nullptr, 64).status(), OCTET_NULL_POINTER);

  auto desc = octet::make<octet_gemm_desc>();
  desc.m_max = desc.n = desc.k = 1, desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8,
  desc.dst_type = OCTET_S32;
  weights->attach(desc);
  auto gemm = octet::Gemm::create(desc);
  ASSERT_TRUE(gemm) << gemm.error().message;
  auto bytes = gemm->workspace_bytes(1, 2);
  ASSERT_TRUE(bytes) << bytes.error().message;
  ASSERT_LE(*bytes, sizeof memory / 2);
  EXPECT_EQ(gemm->workspace_bytes(2).status(), OCTET_SIZE_ABOVE_MAXIMUM);
  auto workspace = octet::Workspace::borrow(memory + sizeof memory / 2, *bytes, 2);
  EXPECT_EQ(workspace.size(), *bytes);
  const uint8_t lhs = 7;
  int32_t dst = 0;
  auto args = octet::make<octet_gemm_args>();
  args.m = 1, args.lhs = &lhs, args.dst = &dst;
  workspace.attach(args);
  EXPECT_EQ(args.workspace, memory + sizeof memory / 2);
  EXPECT_EQ(args.concurrency, 2u);
  EXPECT_EQ(gemm->run(args), OCTET_OK);
  EXPECT_EQ(dst, -21);
}

TEST(Hpp, SaysTheSizeOfAnOutput) {
  auto shape = octet::make<octet_filter_desc>().shape;
  shape.kernel_h = shape.kernel_w = 3;
  auto out = octet::output_size(shape, 5, 7);
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->h, 3u);
  EXPECT_EQ(out->w, 5u);
  EXPECT_FALSE(octet::output_size(shape, 2, 7));
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
  EXPECT_EQ((uintptr_t)memory % OCTET_ALIGNMENT, 0u);
  octet::PackedWeights second = std::move(*first);
  EXPECT_EQ(second.data(), memory);
  EXPECT_EQ(first->data(), nullptr);
  EXPECT_EQ(first->size(), 0u);
  second = octet::PackedWeights();
}

TEST(Hpp, PackedWeightsSayWhatTheyTake) {
  const std::vector<int8_t> data(64 * 256);  // zeros are sparse
  octet_rhs_desc rhs = weights_of(data, 64, 256);
  const auto dense = octet::PackedWeights::pack(rhs);
  ASSERT_TRUE(dense);
  rhs.sparsity = OCTET_SPARSE_2_4;
  const auto sparse = octet::PackedWeights::pack(rhs);
  ASSERT_TRUE(sparse || sparse.status() == OCTET_UNSUPPORTED) << sparse.error().message;
  if (sparse) {
    EXPECT_LT(sparse->size(), dense->size());
  }
}

TEST(Hpp, PackedWeightsAreCopiedAndChecked) {
  const std::vector<int8_t> data(12, 1);
  const auto packed = octet::PackedWeights::pack(weights_of(data, 3, 4));
  ASSERT_TRUE(packed);
  // A file's bytes may have any alignment.
  std::vector<uint8_t> file(packed->size() + 1);
  std::copy_n((const uint8_t*)packed->data(), packed->size(), file.begin() + 1);
  const auto copy = octet::PackedWeights::copy_of(file.data() + 1, packed->size());
  ASSERT_TRUE(copy) << copy.error().message;
  EXPECT_EQ(copy->size(), packed->size());
  EXPECT_EQ((uintptr_t)copy->data() % OCTET_ALIGNMENT, 0u);
  EXPECT_EQ(memcmp(copy->data(), packed->data(), packed->size()), 0);
  EXPECT_EQ(octet::PackedWeights::copy_of(file.data() + 1, packed->size() - 1).status(),
            OCTET_BAD_BLOB);
  file.back() ^= 1;
  EXPECT_EQ(octet::PackedWeights::copy_of(file.data() + 1, packed->size()).status(),
            OCTET_BAD_BLOB);
  EXPECT_EQ(octet::PackedWeights::copy_of(nullptr, 9).status(), OCTET_NULL_POINTER);
  EXPECT_FALSE(octet::PackedWeights::copy_of(file.data(), 0));
}

TEST(Hpp, OwnsATuning) {
  static_assert(!std::is_copy_constructible_v<octet::Tuning> &&
                std::is_nothrow_move_constructible_v<octet::Tuning>);
  auto made = octet::Tuning::create();
  if (made.status() == OCTET_UNSUPPORTED) GTEST_SKIP() << "a library without measured choices";
  ASSERT_TRUE(made) << made.error().message;
  octet::Tuning tuning = std::move(*made);
  EXPECT_EQ(made->get(), nullptr);
  auto report = octet::make<octet_tuning_report>();
  octet_error error = {};
  EXPECT_EQ(tuning.load("/no/such/file", &report, &error), OCTET_OK) << error.message;
  EXPECT_EQ(tuning.save("/no/such/folder/file", &error), OCTET_BAD_FILE);
  EXPECT_EQ(tuning.machine().tuning, tuning.get());
  const std::vector<int8_t> data(12, 1);
  const auto weights = octet::PackedWeights::pack(weights_of(data, 3, 4));
  auto desc = octet::make<octet_gemm_desc>();
  desc.m_max = 2, desc.n = 3, desc.k = 4;
  desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_S32;
  weights->attach(desc);
  auto options = octet::make<octet_tune_options>();
  options.seconds = 0.001;
  auto result = octet::make<octet_tune_result>();
  ASSERT_EQ(tuning.tune(desc, &options, &result, &error), OCTET_OK) << error.message;
  const octet_machine machine = tuning.machine();
  desc.machine = &machine;
  EXPECT_TRUE(octet::Gemm::create(desc));
  EXPECT_EQ(tuning.tune(octet::make<octet_filter_desc>(), octet::make<octet_conv2d_desc>()),
            OCTET_NULL_POINTER);
}

}  // namespace
}  // namespace octet_test
