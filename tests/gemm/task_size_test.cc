// SPDX-License-Identifier: Apache-2.0
// Checks that runs are cut only into tasks that are worth their start. Only this suite has the
// library's own minimum of work per task; the others cut runs of any size (support/small_tasks.cc).
#include "operators/common/task_size.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "dispatch/select/machine.h"
#include "dispatch/select/sparsity.h"
#include "octet/network.h"
#include "operators/gemm/object.h"

namespace octet_test {
namespace {

TEST(TaskSize, AsManyAsHaveEnoughToDo) {
  const double least = octet::least_task_cycles;
  ASSERT_GT(least, 0);
  EXPECT_EQ(octet::tasks_worth(0, 2), 1u);
  EXPECT_EQ(octet::tasks_worth(least, 2), 1u);
  EXPECT_EQ(octet::tasks_worth(1.99 * least, 2), 1u);
  EXPECT_EQ(octet::tasks_worth(2 * least, 2), 2u);
  EXPECT_EQ(octet::tasks_worth(3.5 * least, 2), 2u);
  EXPECT_EQ(octet::tasks_worth(3.5 * least, 64), 3u);
  EXPECT_EQ(octet::tasks_worth(3.5 * least, SIZE_MAX), 3u);
  EXPECT_EQ(octet::tasks_worth(1e300, 64), 64u);
  EXPECT_EQ(octet::tasks_worth(1e300, SIZE_MAX), octet::kMostTasks);
  EXPECT_EQ(octet::tasks_worth(1e300, 1), 1u);
}

// Counts calls of parallel_for and their tasks.
struct Counted {
  size_t calls = 0, tasks = 0;
};
void count(void* context, size_t tasks, void (*run)(void*, size_t), void* argument) {
  Counted& counted = *(Counted*)context;
  ++counted.calls, counted.tasks += tasks;
  for (size_t i = 0; i < tasks; ++i) run(argument, i);
}

struct Memory {
  explicit Memory(size_t bytes) : all(bytes + OCTET_ALIGNMENT) {
    const uintptr_t at = (uintptr_t)all.data();
    first = all.data() + (OCTET_ALIGNMENT - at % OCTET_ALIGNMENT) % OCTET_ALIGNMENT;
  }
  std::vector<uint8_t> all;
  uint8_t* first;
};

// A product of u8 with s8 weights of 1, of which two of four are 0 if they are sparse.
class Product {
 public:
  Product(size_t m, size_t n, size_t k, size_t batch = 1, bool sparse = false) {
    octet_error error = {};
    std::vector<int8_t> weights(n * k, 1);
    for (size_t i = 0; sparse && i < n * k; ++i) weights[i] = i / n % 4 < 2;
    octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
    rhs.type = OCTET_S8, rhs.n = n, rhs.k = k, rhs.data = weights.data();
    rhs.sparsity = sparse ? OCTET_SPARSE_2_4 : OCTET_SPARSE_NONE;
    size_t bytes = 0;
    EXPECT_EQ(octet_pack_size(&rhs, OCTET_ISA_AUTO, &bytes, &error), OCTET_OK) << error.message;
    blob_ = std::make_unique<Memory>(bytes);
    EXPECT_EQ(octet_pack(&rhs, OCTET_ISA_AUTO, blob_->first, bytes, &error), OCTET_OK);
    desc_.m_max = m, desc_.n = n, desc_.k = k, desc_.batch_max = batch;
    desc_.lhs_type = OCTET_U8, desc_.rhs_type = OCTET_S8, desc_.dst_type = OCTET_S32;
    desc_.packed = blob_->first, desc_.packed_bytes = bytes;
    EXPECT_EQ(octet_gemm_create(&desc_, &gemm_, &error), OCTET_OK) << error.message;
  }
  ~Product() { octet_gemm_destroy(gemm_); }
  const octet_gemm& gemm() const { return *gemm_; }

  size_t explained_tasks(size_t concurrency) const {
    octet_error error = {};
    octet_gemm_explanation explanation = OCTET_GEMM_EXPLANATION_INIT;
    EXPECT_EQ(octet_gemm_explain(&desc_, concurrency, &explanation, &error), OCTET_OK);
    return explanation.batch_tasks * explanation.row_tasks * explanation.column_tasks;
  }

  Counted run(size_t concurrency) const {
    octet_error error = {};
    const size_t m = desc_.m_max, n = desc_.n, k = desc_.k, batch = desc_.batch_max;
    size_t bytes = 0;
    EXPECT_EQ(octet_gemm_workspace(gemm_, m, concurrency, &bytes, &error), OCTET_OK);
    const Memory workspace(bytes);
    const std::vector<uint8_t> lhs(batch * m * k, 1);
    std::vector<int32_t> dst(batch * m * n);
    Counted counted;
    octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
    args.m = m, args.batch = batch, args.lhs = lhs.data(), args.dst = dst.data();
    args.workspace = workspace.first, args.workspace_bytes = bytes;
    args.parallel_for = count, args.parallel_context = &counted, args.concurrency = concurrency;
    EXPECT_EQ(octet_gemm_run(gemm_, &args, &error), OCTET_OK) << error.message;
    for (const int32_t value : dst) EXPECT_EQ(value, (int32_t)k);
    return counted;
  }

 private:
  std::unique_ptr<Memory> blob_;
  octet_gemm_desc desc_ = OCTET_GEMM_DESC_INIT;
  octet_gemm* gemm_ = nullptr;
};

TEST(TaskSize, OfSmallProducts) {
  const struct {
    size_t m, n, k, batch;
  } problems[] = {{8, 8, 8, 1}, {16, 16, 16, 1}, {1, 64, 64, 1}, {8, 8, 8, 8}, {64, 8, 8, 1}};
  for (const auto& p : problems)
    for (const size_t concurrency : {1, 2, 64}) {
      const Product product(p.m, p.n, p.k, p.batch);
      EXPECT_EQ(product.run(concurrency).calls, 0u) << p.m << 'x' << p.n << 'x' << p.k;
      EXPECT_EQ(product.explained_tasks(concurrency), 1u);
    }
}

TEST(TaskSize, OfLargeProducts) {
  const Product product(512, 512, 512);
  for (const size_t concurrency : {2, 4, 8}) {
    const Counted counted = product.run(concurrency);
    EXPECT_EQ(counted.calls, 1u);
    EXPECT_EQ(counted.tasks, concurrency);
    EXPECT_EQ(product.explained_tasks(concurrency), concurrency);
  }
}

// The tasks of a run that is cut have at least the least work each, in the mean.
TEST(TaskSize, OfEveryProduct) {
  size_t most = 1;
  for (size_t m = 1; m <= 256; m *= 4)
    for (size_t n = 16; n <= 1024; n *= 4)
      for (size_t k = 64; k <= 1024; k *= 4) {
        const Product product(m, n, k);
        const double cycles = (double)m * product.gemm().row_cycles;
        const size_t tasks = product.explained_tasks(64);
        EXPECT_LE(tasks, 64u);
        if (tasks > 1) {
          EXPECT_GE(cycles, (double)tasks * octet::least_task_cycles)
              << tasks << " tasks of " << m << 'x' << n << 'x' << k;
        }
        most = std::max(most, tasks);
      }
  EXPECT_GT(most, 32u);
}

// Sparse weights take fewer cycles where the tier says so, and more where not.
TEST(TaskSize, OfSparseProducts) {
  const size_t n = 256, k = 256;
  const Product dense(64, n, k), sparse(64, n, k, 1, true);
  const octet::CpuFeatures cpu = octet::this_machine().cpu;
  const octet::TierCosts costs = octet::costs_of(octet::tier_of(sparse.gemm().plan.kernel->tier_id),
                                                 octet::this_microarchitecture().design);
  const double saved = dense.gemm().row_cycles - sparse.gemm().row_cycles,
               macs = octet::sparse_macs(costs, cpu);
  EXPECT_EQ(saved > 0, macs > costs.macs);
  EXPECT_EQ(saved < 0, macs < costs.macs);
}

TEST(TaskSize, OfConvolutionsAndFunctions) {
  for (const size_t size : {2, 112}) {
    octet_error error = {};
    const std::vector<int8_t> weights(16 * 16 * 9, 1);
    octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
    octet_conv2d_shape& s = filter.shape;
    s.in_h_max = s.in_w_max = size, s.in_channels = s.out_channels = 16;
    s.kernel_h = s.kernel_w = 3, s.pad_top = s.pad_bottom = s.pad_left = s.pad_right = 1;
    filter.type = OCTET_S8, filter.data = weights.data();
    size_t bytes = 0;
    ASSERT_EQ(octet_conv2d_pack_size(&filter, OCTET_ISA_AUTO, &bytes, &error), OCTET_OK);
    const Memory blob(bytes);
    ASSERT_EQ(octet_conv2d_pack(&filter, OCTET_ISA_AUTO, blob.first, bytes, &error), OCTET_OK);
    octet_conv2d_desc desc = OCTET_CONV2D_DESC_INIT;
    desc.shape = s, desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_U8;
    const float scale = 0.001f;
    desc.epilogue.scales = &scale, desc.epilogue.scale_count = 1;
    desc.packed = blob.first, desc.packed_bytes = bytes;
    octet_conv2d* conv = nullptr;
    ASSERT_EQ(octet_conv2d_create(&desc, &conv, &error), OCTET_OK) << error.message;

    // The product is an op, before a function that copies
    const auto copy = [](void*, const octet_network_call* call) {
      for (size_t y = call->first; y < call->end; ++y) {
        const auto* from = (const uint8_t*)octet_network_line(&call->inputs[0], y);
        auto* to = (uint8_t*)octet_network_line(&call->output, y);
        for (size_t i = 0; i < call->output.w * call->output.channels; ++i) to[i] = from[i];
      }
    };
    const octet_network_function function = {copy, nullptr, 1, 1, 1, 0};
    octet_network_tensor tensor = {1, size, size, 16, OCTET_U8, 1, 0, 0, 0, 0};
    const octet_network_tensor tensors[] = {tensor, tensor, tensor};
    octet_network_op ops[2] = {};
    ops[0].conv2d = conv, ops[0].input_count = 1, ops[0].output = 1;
    ops[1].function = &function, ops[1].inputs[0] = 1, ops[1].input_count = 1, ops[1].output = 2;
    octet_network_desc network_desc = OCTET_NETWORK_DESC_INIT;
    network_desc.tensors = tensors, network_desc.tensor_count = 3;
    network_desc.ops = ops, network_desc.op_count = 2;
    network_desc.concurrency = 2, network_desc.goal = OCTET_NETWORK_LAYERS;
    octet_network* network = nullptr;
    ASSERT_EQ(octet_network_create(&network_desc, &network, &error), OCTET_OK) << error.message;
    ASSERT_EQ(octet_network_workspace(network, &bytes, &error), OCTET_OK);
    const Memory workspace(bytes), in(size * size * 16), between(size * size * 16),
        out(size * size * 16);
    void* const memory[] = {in.first, between.first, out.first};
    Counted counted;
    octet_network_args args = OCTET_NETWORK_ARGS_INIT;
    args.tensors = memory, args.workspace = workspace.first, args.workspace_bytes = bytes;
    args.parallel_for = count, args.parallel_context = &counted, args.concurrency = 2;
    ASSERT_EQ(octet_network_run(network, &args, &error), OCTET_OK) << error.message;
    EXPECT_EQ(counted.calls, size == 2 ? 0u : 2u);
    EXPECT_EQ(counted.tasks, 2 * counted.calls);
    octet_network_destroy(network);
    octet_conv2d_destroy(conv);
  }
}

}  // namespace
}  // namespace octet_test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
