// SPDX-License-Identifier: Apache-2.0
// Checks that any number of threads gives the bytes of one, that one object runs in many threads at
// once, and that run allocates nothing.
#include <malloc.h>

#include <atomic>
#include <thread>

#include "dispatch/os/os.h"
#include "support/gemm_case.h"

namespace octet_test {
namespace {

TEST(Threads, TwoOnTheSmallestProduct) {
  GemmCase c;
  c.concurrency = 2;
  check(c);
}

class ThreadsKernel : public EachKernel {};
OCTET_FOR_EACH_KERNEL(ThreadsKernel);

TEST_P(ThreadsKernel, AnyConcurrencyGivesTheSameBytes) {
  for (const size_t concurrency : {1, 2, 3, 4, 5, 6, 7, 8, 100})
    for (const size_t batch : {1, 3})
      for (const bool runtime_rhs : {false, true})
        for (const octet_lhs_quant quant : {OCTET_LHS_STATIC, OCTET_LHS_PER_ROW}) {
          if (runtime_rhs && !takes_any_weights(kernel())) continue;
          GemmCase c;
          c.kernel = kernel().name;
          c.m = 4u * kernel().mr + 1, c.n = 3u * kernel().rhs_layout.width + 1, c.k = 21,
          c.batch = batch;
          c.lhs = types_of(kernel()).front().lhs, c.rhs = types_of(kernel()).front().rhs,
          c.dst = OCTET_S8;
          c.lhs_quant = quant, c.runtime_rhs = runtime_rhs, c.concurrency = concurrency;
          c.rhs_zero_points = ZeroPoints::kChannel;
          check(c);
          if (HasFatalFailure()) return;
        }
}

// The workspace of a large run is enough for a smaller one: fewer rows, fewer tasks. Bytes beyond
// the need are not touched.
TEST_P(ThreadsKernel, WorkspaceForMuchServesLess) {
  GemmCase c;
  c.kernel = kernel().name;
  c.m = 5u * kernel().mr, c.n = 2u * kernel().rhs_layout.width + 3, c.k = 33, c.batch = 3;
  c.lhs = types_of(kernel()).front().lhs, c.rhs = types_of(kernel()).front().rhs;
  c.lhs_quant = OCTET_LHS_PER_ROW;
  c.rhs_zero_points = ZeroPoints::kChannel;
  c.concurrency = 8;
  Gemm gemm(c);
  ASSERT_EQ(gemm.status(), OCTET_OK) << gemm.error().message;
  const size_t all = gemm.args().workspace_bytes;
  for (size_t concurrency = 1; concurrency <= 8; ++concurrency)
    for (size_t m = 1; m <= c.m; m += kernel().mr / 2 + 1) {
      size_t bytes = 0;
      ASSERT_EQ(octet_gemm_workspace(gemm.get(), m, concurrency, &bytes, nullptr), OCTET_OK);
      ASSERT_LE(bytes, all) << "more for m = " << m << " than for m = " << c.m;
      gemm.args().concurrency = concurrency;
      ASSERT_EQ(gemm.run(), OCTET_OK) << gemm.error().message;
      ASSERT_TRUE(gemm.as_expected(c.m)) << concurrency;
    }
}

TEST_P(ThreadsKernel, OneObjectInManyThreads) {
  GemmCase c;
  c.kernel = kernel().name;
  c.m = 2u * kernel().mr + 1, c.n = kernel().nr + 1u, c.k = 40;
  c.lhs = types_of(kernel()).front().lhs, c.rhs = types_of(kernel()).front().rhs, c.dst = OCTET_U8;
  c.rhs_zero_points = ZeroPoints::kChannel;
  Gemm gemm(c);
  ASSERT_EQ(gemm.status(), OCTET_OK) << gemm.error().message;
  ASSERT_EQ(gemm.run(), OCTET_OK);
  ASSERT_TRUE(gemm.as_expected(c.m));
  const std::vector<uint8_t> expected = gemm.dst_bytes();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&] {
      octet_gemm_args args = gemm.args();
      const Guarded workspace(args.workspace_bytes + 1, Side::kFront, OCTET_ALIGNMENT);
      std::vector<uint8_t> dst(expected.size());
      args.workspace = workspace.data();
      args.dst = dst.data();
      for (int repeat = 0; repeat < 20; ++repeat) {
        std::fill(dst.begin(), dst.end(), 0);
        if (octet_gemm_run(gemm.get(), &args, nullptr) != OCTET_OK || dst != expected) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// First use from several threads: detection and self-test race, and must agree.
TEST(Threads, FirstUseFromManyThreads) {
  std::atomic<uint32_t> seen[2] = {{0}, {~0u}};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      octet_cpu_info info = {};
      info.struct_size = sizeof info;
      EXPECT_EQ(octet_get_cpu_info(&info, nullptr), OCTET_OK);
      seen[0] |= info.detected_isas;
      seen[1] &= info.detected_isas;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(seen[0], seen[1]);
}

// ---- memory

struct Counted {
  int allocations = 0, releases = 0;
  octet_allocator hooks() {
    return {[](void* context, size_t bytes, size_t alignment) -> void* {
              ++((Counted*)context)->allocations;
              return octet::os::allocate(bytes, alignment);
            },
            [](void* context, void* memory) {
              ++((Counted*)context)->releases;
              octet::os::release(memory);
            },
            this};
  }
};

TEST(Memory, HooksAreUsedAndBalanced) {
  for (const bool runtime_rhs : {false, true}) {
    GemmCase c;
    c.m = 9, c.n = 70, c.k = 30, c.dst = OCTET_U8, c.lut = true;
    c.runtime_rhs = runtime_rhs;
    Counted counted;
    {
      Gemm gemm(c, Side::kBack, counted.hooks());
      ASSERT_EQ(gemm.status(), OCTET_OK) << gemm.error().message;
      EXPECT_EQ(counted.allocations, 1);
      ASSERT_EQ(gemm.run(), OCTET_OK);
      ASSERT_TRUE(gemm.as_expected(c.m));
      EXPECT_EQ(counted.releases, 0);
    }
    EXPECT_EQ(counted.allocations, 1);
    EXPECT_EQ(counted.releases, 1);
  }
}

// The object may sit at the end of its memory: nothing of it is read beyond, at any width.
TEST(Memory, TheObjectEndsAtItsLastByte) {
  struct Guards {
    Guarded memory;
    static void* allocate(void* context, size_t bytes, size_t alignment) {
      Guarded& memory = ((Guards*)context)->memory;
      memory = Guarded(bytes, Side::kBack, alignment);
      return memory.data();
    }
    static void release(void*, void*) {}
  };
  for (const MicroKernel* kernel : table()) {
    if (!usable(*kernel)) continue;
    for (const size_t n : {1, 5, 63, 64, 65, 128, 130})
      for (const octet_type dst : {OCTET_S32, OCTET_U8, OCTET_F32})
        for (const octet_lhs_quant quant :
             {OCTET_LHS_STATIC, OCTET_LHS_PER_TENSOR, OCTET_LHS_PER_ROW}) {
          for (const ZeroPoints zero_points : {ZeroPoints::kNone, ZeroPoints::kChannel}) {
            GemmCase c;
            c.kernel = kernel->name;
            c.m = 3, c.n = n, c.k = 9, c.dst = dst, c.lhs_quant = quant,
            c.rhs_zero_points = zero_points;
            c.lhs = types_of(*kernel).front().lhs, c.rhs = types_of(*kernel).front().rhs;
            Guards guards;
            Gemm gemm(c, Side::kBack, {Guards::allocate, Guards::release, &guards});
            ASSERT_EQ(gemm.status(), OCTET_OK) << gemm.error().message;
            ASSERT_EQ(gemm.run(), OCTET_OK) << gemm.error().message;
            ASSERT_TRUE(gemm.as_expected(c.m));
          }
        }
  }
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Memory, RunAllocatesNothing) {
  for (const bool runtime_rhs : {false, true})
    for (const size_t batch : {1, 4}) {
      GemmCase c;
      c.m = 50, c.n = 100, c.k = 300, c.batch = batch, c.lhs = c.dst = OCTET_F32,
      c.lhs_quant = OCTET_LHS_ASYMMETRIC, c.runtime_rhs = runtime_rhs;
      Gemm gemm(c);
      ASSERT_EQ(gemm.status(), OCTET_OK) << gemm.error().message;
      // Sequential, so that no thread of the test allocates either.
      gemm.prepare_workspace(c.m, 4);
      gemm.args().concurrency = 4;
      gemm.args().parallel_for = [](void*, size_t count, void (*fn)(void*, size_t), void* arg) {
        for (size_t i = count; i-- > 0;) fn(arg, i);
      };
      ASSERT_EQ(gemm.run(), OCTET_OK) << gemm.error().message;
      const auto before = mallinfo2();
      for (int i = 0; i < 10; ++i) gemm.run();
      const auto after = mallinfo2();
      EXPECT_EQ(before.uordblks, after.uordblks);
      EXPECT_EQ(before.hblks, after.hblks);
      ASSERT_TRUE(gemm.as_expected(c.m));
    }
}
#endif

}  // namespace
}  // namespace octet_test
