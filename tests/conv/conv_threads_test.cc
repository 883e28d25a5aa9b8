// SPDX-License-Identifier: Apache-2.0
// Checks that any number of threads gives the bytes of one, that one object runs in many threads at
// once, and that run allocates nothing.
#include <malloc.h>

#include <atomic>
#include <random>
#include <thread>

#include "operators/conv/object.h"
#include "operators/conv/schedule.h"
#include "support/conv_case.h"

namespace octet_test {
namespace {

std::vector<octet_conv2d_shape> shapes() {
  octet_conv2d_shape plain = square(9, 10, 70, 3, 1, 1), strided = square(11, 7, 20, 3, 2, 1),
                     depthwise = square(9, 40, 40, 3, 1, 1, 40);
  octet_conv2d_shape transposed = square(5, 6, 20, 3, 2, 1), one_line = square(1, 30, 150, 1),
                     batched = square(5, 9, 17, 3, 1, 1), grouped = square(7, 12, 30, 3, 1, 1, 3);
  transposed.transposed = 1;
  batched.batch_max = 3;
  return {plain, strided, depthwise, transposed, one_line, batched, grouped};
}

TEST(ConvThreads, AnyConcurrencyGivesTheSameBytes) {
  uint32_t turn = 0;
  for (const octet_conv2d_shape& shape : shapes()) {
    ConvCase c = turned(shape, ++turn);
    c.dst = turn % 2 ? OCTET_S8 : OCTET_S32;
    c.runtime_quant = turn % 3 == 0;
    c.lhs_layout = turn % 2 ? OCTET_NCHW : OCTET_NHWC,
    c.dst_layout = turn % 4 == 1 ? OCTET_NCHW : OCTET_NHWC;
    c.filter_zero_points = FilterZeroPoints::kCentre;
    if (c.runtime_quant) c.lhs_zero_point = 0;
    const ConvProblem problem(c);
    for (const octet_isa isa : tiers_to_test())
      for (const octet_conv_algorithm algorithm : possible_algorithms(problem, isa))
        for (const size_t concurrency : {1, 2, 3, 4, 5, 6, 7, 8, 100}) {
          ConvHow how;
          how.isa = isa, how.algorithm = algorithm, how.concurrency = concurrency;
          check(problem, how);
          if (HasFatalFailure()) return;
        }
  }
}

// parallel_for is called once at most, with staged tensors too, and may run the tasks in any order,
// and on one thread.
TEST(ConvThreads, AnyOrderOfTasks) {
  int turn = 0;
  for (const octet_conv2d_shape& shape : shapes()) {
    ConvCase c = turned(shape, 6);
    c.lhs_layout = c.dst_layout = ++turn % 2 ? OCTET_NCHW : OCTET_NHWC;
    const ConvProblem problem(c);
    for (const octet_conv_algorithm algorithm : possible_algorithms(problem, OCTET_ISA_AUTO)) {
      ConvHow how;
      how.algorithm = algorithm, how.concurrency = 7;
      Conv conv(problem, how);
      ASSERT_EQ(conv.status(), OCTET_OK) << conv.error().message;
      int calls = 0;
      conv.args().parallel_context = &calls;
      conv.args().parallel_for = [](void* context, size_t count, void (*fn)(void*, size_t),
                                    void* arg) {
        ++*(int*)context;
        EXPECT_GT(count, 1u);
        for (size_t i = count; i-- > 0;) fn(arg, i);
      };
      ASSERT_EQ(conv.run(), OCTET_OK) << conv.error().message;
      EXPECT_LE(calls, 1) << how << ": " << c;
      ASSERT_TRUE(conv.as_expected()) << how << ": " << c;
    }
  }
}

// The workspace of a large run is enough for a smaller one: fewer images, lines, columns and tasks.
TEST(ConvThreads, WorkspaceForMuchServesLess) {
  std::mt19937 random(3);
  const auto up_to = [&](size_t most) { return 1 + random() % most; };
  for (octet_conv2d_shape shape : shapes()) {
    shape.batch_max = 3;
    ConvCase c = turned(shape, 6);
    c.filter_zero_points = random() % 2 ? FilterZeroPoints::kChannel : FilterZeroPoints::kCentre;
    c.lhs_layout = random() % 2 ? OCTET_NCHW : OCTET_NHWC;
    const ConvProblem problem(c);
    for (const octet_conv_algorithm algorithm : possible_algorithms(problem, OCTET_ISA_AUTO)) {
      ConvHow how;
      how.algorithm = algorithm;
      Conv conv(problem, how);
      ASSERT_EQ(conv.status(), OCTET_OK) << conv.error().message;
      for (int declared = 0; declared < 10; ++declared) {
        const size_t batch = up_to(3), h = up_to(shape.in_h_max), w = up_to(shape.in_w_max),
                     concurrency = up_to(12);
        size_t all = 0;
        ASSERT_EQ(octet_conv2d_workspace(conv.get(), batch, h, w, concurrency, &all, nullptr),
                  OCTET_OK);
        EXPECT_EQ(all % OCTET_ALIGNMENT, 0u);
        for (int run = 0; run < 10; ++run) {
          const size_t b = up_to(batch), y = up_to(h), x = up_to(w), tasks = up_to(concurrency);
          size_t bytes = 0;
          ASSERT_EQ(octet_conv2d_workspace(conv.get(), b, y, x, tasks, &bytes, nullptr), OCTET_OK);
          ASSERT_LE(bytes, all) << how << ": " << b << 'x' << y << 'x' << x << " on " << tasks
                                << " of " << batch << 'x' << h << 'x' << w << " on " << concurrency;
        }
      }
    }
  }
}

// Where lines and channels can be cut equally, each of two tasks reads all of the smaller operand;
// an algorithm that makes something of its inputs keeps their channels together.
TEST(ConvThreads, TasksShareTheSmallerOperand) {
  struct Row {
    octet_conv2d_shape shape;
    octet_conv_algorithm algorithm;
    size_t unit_tasks, channel_tasks;
  };
  for (const Row& row : {Row{square(14, 256, 256, 1), OCTET_CONV_DIRECT, 1, 2},
                         Row{square(28, 64, 128, 1), OCTET_CONV_DIRECT, 2, 1},
                         Row{square(28, 512, 128, 1, 2), OCTET_CONV_DIRECT, 2, 1},
                         Row{square(28, 256, 512, 1, 2), OCTET_CONV_DIRECT, 1, 2},
                         Row{square(14, 64, 256, 3, 1, 1), OCTET_CONV_DIRECT, 1, 2},
                         Row{square(16, 64, 256, 3, 1, 1), OCTET_CONV_WINOGRAD_4X4, 2, 1}}) {
    ConvHow how;
    how.algorithm = row.algorithm;
    ConvCase c;
    c.shape = row.shape;
    const ConvProblem problem(c);
    Conv conv(problem, how);
    ASSERT_EQ(conv.status(), OCTET_OK) << conv.error().message;
    const octet::ConvCut cut = octet::schedule(*conv.get(), conv.get()->declared.sizes, 2).cut;
    EXPECT_EQ(cut.unit_tasks, row.unit_tasks) << row.shape.in_channels;
    EXPECT_EQ(cut.channel_tasks, row.channel_tasks) << row.shape.in_channels;
  }
}

TEST(ConvThreads, OneObjectInManyThreads) {
  for (const octet_conv2d_shape& shape : shapes()) {
    ConvCase c = turned(shape, 6);
    const ConvProblem problem(c);
    for (const octet_conv_algorithm algorithm : possible_algorithms(problem, OCTET_ISA_AUTO)) {
      ConvHow how;
      how.algorithm = algorithm;
      Conv conv(problem, how);
      ASSERT_EQ(conv.status(), OCTET_OK) << conv.error().message;
      ASSERT_EQ(conv.run(), OCTET_OK) << conv.error().message;
      ASSERT_TRUE(conv.as_expected()) << how << ": " << c;
      const std::vector<uint8_t> expected = conv.dst_bytes();
      std::atomic<int> wrong{0};
      std::vector<std::thread> threads;
      for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
          octet_conv2d_args args = conv.args();
          const Guarded workspace(args.workspace_bytes + 1, Side::kFront, OCTET_ALIGNMENT),
              dst(expected.size(), Side::kFront, 4);
          args.workspace = workspace.data();
          args.dst = dst.data();
          for (int repeat = 0; repeat < 5; ++repeat) {
            std::memset(dst.data(), Guarded::kUntouched, dst.bytes());
            if (octet_conv2d_run(conv.get(), &args, nullptr) != OCTET_OK ||
                std::memcmp(dst.data(), expected.data(), expected.size()) != 0)
              ++wrong;
          }
        });
      for (std::thread& thread : threads) thread.join();
      EXPECT_EQ(wrong, 0) << how;
    }
  }
}

// ---- memory

struct Counted {
  int allocations = 0, releases = 0;
  Guarded memory;
  octet_allocator hooks() {
    return {[](void* context, size_t bytes, size_t alignment) -> void* {
              Counted& self = *(Counted*)context;
              ++self.allocations;
              self.memory = Guarded(bytes, Side::kBack, alignment);
              return self.memory.data();
            },
            [](void* context, void*) { ++((Counted*)context)->releases; }, this};
  }
};

// One allocation, released once. It ends at a guard page: nothing of the object is read beyond it,
// at any width.
TEST(ConvMemory, TheObjectIsOneAllocation) {
  for (octet_conv2d_shape shape : shapes())
    for (const size_t channels : {1, 5, 63, 64, 66})
      for (const octet_type dst : {OCTET_S32, OCTET_U8, OCTET_F32})
        for (const bool runtime_quant : {false, true}) {
          const bool depthwise = shape.groups == shape.in_channels && shape.groups > 1;
          shape.out_channels = channels * shape.groups / (shape.groups > 3 ? shape.groups : 1);
          if (depthwise) shape.in_channels = shape.groups = shape.out_channels = channels;
          ConvCase c = turned(shape, (uint32_t)channels);
          c.dst = dst, c.runtime_quant = runtime_quant, c.lhs_zero_point = runtime_quant ? 0 : 3;
          c.residual = dst == OCTET_U8 ? OCTET_S8 : kNoResidual;
          c.filter_zero_points =
              channels % 2 ? FilterZeroPoints::kCentre : FilterZeroPoints::kChannel;
          const ConvProblem problem(c);
          for (const ConvHow& how : ways_of(problem)) {
            Counted counted;
            {
              Conv conv(problem, how, Side::kBack, counted.hooks());
              ASSERT_EQ(conv.status(), OCTET_OK) << conv.error().message;
              EXPECT_EQ(counted.allocations, 1);
              ASSERT_EQ(conv.run(), OCTET_OK) << conv.error().message;
              ASSERT_TRUE(conv.as_expected()) << how << ": " << c;
              EXPECT_EQ(counted.releases, 0);
            }
            EXPECT_EQ(counted.allocations, 1);
            EXPECT_EQ(counted.releases, 1);
          }
          if (depthwise) shape.in_channels = shape.groups = shape.out_channels = 40;
        }
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(ConvMemory, RunAllocatesNothing) {
  for (const octet_conv2d_shape& shape : shapes()) {
    ConvCase c = turned(shape, 6);
    c.lhs_layout = c.dst_layout = OCTET_NCHW;
    const ConvProblem problem(c);
    for (const octet_conv_algorithm algorithm : possible_algorithms(problem, OCTET_ISA_AUTO)) {
      ConvHow how;
      how.algorithm = algorithm, how.concurrency = 4;
      Conv conv(problem, how);
      ASSERT_EQ(conv.status(), OCTET_OK) << conv.error().message;
      // Sequential, so that no thread of the test allocates either.
      conv.args().parallel_for = [](void*, size_t count, void (*fn)(void*, size_t), void* arg) {
        for (size_t i = 0; i < count; ++i) fn(arg, i);
      };
      ASSERT_EQ(conv.run(), OCTET_OK) << conv.error().message;
      const auto before = mallinfo2();
      for (int i = 0; i < 10; ++i) conv.run();
      const auto after = mallinfo2();
      EXPECT_EQ(before.uordblks, after.uordblks) << how;
      EXPECT_EQ(before.hblks, after.hblks) << how;
      ASSERT_TRUE(conv.as_expected()) << how;
    }
  }
}
#endif

}  // namespace
}  // namespace octet_test
