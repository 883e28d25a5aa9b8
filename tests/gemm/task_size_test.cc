// Checks that runs are cut only into tasks that are worth their start. Only this suite has the
// library's own minimum of work per task; the others cut runs of any size (support/small_tasks.cc).
#include "operators/common/task_size.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "octet/network.h"

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

Counted run_product(size_t m, size_t n, size_t k, size_t concurrency, size_t* explained) {
  octet_error error = {};
  const std::vector<int8_t> weights(n * k, 1);
  octet_rhs_desc rhs = OCTET_RHS_DESC_INIT;
  rhs.type = OCTET_S8, rhs.n = n, rhs.k = k, rhs.data = weights.data();
  size_t bytes = 0;
  EXPECT_EQ(octet_pack_size(&rhs, OCTET_ISA_AUTO, &bytes, &error), OCTET_OK) << error.message;
  const Memory blob(bytes);
  EXPECT_EQ(octet_pack(&rhs, OCTET_ISA_AUTO, blob.first, bytes, &error), OCTET_OK);
  octet_gemm_desc desc = OCTET_GEMM_DESC_INIT;
  desc.m_max = m, desc.n = n, desc.k = k;
  desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_S32;
  desc.packed = blob.first, desc.packed_bytes = bytes;
  octet_gemm_explanation explanation = OCTET_GEMM_EXPLANATION_INIT;
  EXPECT_EQ(octet_gemm_explain(&desc, concurrency, &explanation, &error), OCTET_OK);
  *explained = explanation.batch_tasks * explanation.row_tasks * explanation.column_tasks;
  octet_gemm* gemm = nullptr;
  EXPECT_EQ(octet_gemm_create(&desc, &gemm, &error), OCTET_OK) << error.message;
  EXPECT_EQ(octet_gemm_workspace(gemm, m, concurrency, &bytes, &error), OCTET_OK);
  const Memory workspace(bytes);
  const std::vector<uint8_t> lhs(m * k, 1);
  std::vector<int32_t> dst(m * n);
  Counted counted;
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  args.m = m, args.lhs = lhs.data(), args.dst = dst.data();
  args.workspace = workspace.first, args.workspace_bytes = bytes;
  args.parallel_for = count, args.parallel_context = &counted, args.concurrency = concurrency;
  EXPECT_EQ(octet_gemm_run(gemm, &args, &error), OCTET_OK) << error.message;
  for (const int32_t value : dst) EXPECT_EQ(value, (int32_t)k);
  octet_gemm_destroy(gemm);
  return counted;
}

TEST(TaskSize, OfProducts) {
  size_t explained = 0;
  EXPECT_EQ(run_product(8, 8, 8, 2, &explained).calls, 0u);
  EXPECT_EQ(explained, 1u);
  EXPECT_EQ(run_product(1, 64, 64, 64, &explained).calls, 0u);
  EXPECT_EQ(explained, 1u);
  const Counted large = run_product(512, 512, 512, 2, &explained);
  EXPECT_EQ(large.calls, 1u);
  EXPECT_EQ(large.tasks, 2u);
  EXPECT_EQ(explained, 2u);
}

TEST(TaskSize, OfConvolutionsAndFunctions) {
  for (const size_t size : {4, 112}) {
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
    EXPECT_EQ(counted.calls, size == 4 ? 0u : 2u);
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
