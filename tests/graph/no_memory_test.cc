// SPDX-License-Identifier: Apache-2.0
// Checks that programs without memory fail with a status, by themselves, and change no state.
#include <cstdlib>
#include <functional>
#include <new>
#include <thread>

#include "graph/good_graph.h"
#include "graph/state_case.h"

// The allocation of this thread that fails, counted down; 0: none.
static thread_local size_t allocation_that_fails = 0;

// Out of line, lest the compiler take new and free for a pair that does not match.
__attribute__((noinline)) void* operator new(size_t bytes) {
  if (allocation_that_fails && --allocation_that_fails == 0) throw std::bad_alloc();
  if (void* const memory = std::malloc(bytes ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
// A sanitizer's own would not match the deletes below.
__attribute__((noinline)) void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  if (allocation_that_fails && --allocation_that_fails == 0) return nullptr;
  return std::malloc(bytes ? bytes : 1);
}
#ifndef _WIN32  // whose aligned_alloc is another function, with a free of its own
__attribute__((noinline)) void* operator new(size_t bytes, std::align_val_t alignment) {
  if (allocation_that_fails && --allocation_that_fails == 0) throw std::bad_alloc();
  const auto unit = (size_t)alignment;
  if (void* const memory = std::aligned_alloc(unit, (bytes / unit + 1) * unit)) return memory;
  throw std::bad_alloc();
}
__attribute__((noinline)) void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
__attribute__((noinline)) void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}
#endif
__attribute__((noinline)) void operator delete(void* memory) noexcept { std::free(memory); }
__attribute__((noinline)) void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace octet_test {
namespace {

// Calls what(), once for each of its allocations, which fails then, and once without a failure.
void each_allocation(const std::function<void()>& what) {
  for (size_t n = 1;; ++n) {
    allocation_that_fails = n;
    what();
    const bool failed = allocation_that_fails == 0;
    allocation_that_fails = 0;
    if (!failed) return;
    ASSERT_LT(n, 100000u);
  }
}

TEST(NoMemory, OfAGraph) {
  Good good;
  const Bytes in = good.draw(64), expected = run(*created(good.g), good.g, {in});
  size_t thrown = 0, refused = 0, kept = 0;
  each_allocation([&] {
    std::vector<std::string> why;
    try {
      why = would(good.g);
    } catch (const std::bad_alloc&) {
      ++thrown;
    }
    for (const std::string& answer : why) EXPECT_EQ(answer, "");
  });
  EXPECT_GT(thrown, 10u);
  each_allocation([&] {
    std::unique_ptr<Program> program;
    octet_error error = {};
    const octet_status status = Program::create(good.g, {}, nullptr, &program, &error);
    EXPECT_EQ(program == nullptr, status == OCTET_OUT_OF_MEMORY) << error.message;
    refused += status == OCTET_OUT_OF_MEMORY;
  });
  EXPECT_GT(refused, 10u);
  // A run fails before it writes, or succeeds, whether its workspace is kept or not.
  each_allocation([&] {
    const size_t failing = allocation_that_fails;
    allocation_that_fails = 0;
    const auto program = created(good.g);
    Bytes out(expected.size(), 0x5a);
    const void* const from = in.data();
    void* const to = out.data();
    ProgramArguments a;
    a.inputs = &from, a.outputs = &to;
    octet_error error = {};
    allocation_that_fails = failing;
    const octet_status status = program->run(a, &error);
    const size_t left = allocation_that_fails;
    allocation_that_fails = 0;
    if (status == OCTET_OK) kept += left == 0;
    EXPECT_EQ(out, status == OCTET_OK ? expected : Bytes(out.size(), 0x5a)) << error.message;
    allocation_that_fails = left;
  });
  EXPECT_GT(kept, 0u);
}

// A run fails before the first layer changes its state, or succeeds.
TEST(NoMemory, StatesStay) {
  size_t refused = 0;
  each_allocation([&] {
    const size_t failing = allocation_that_fails;
    allocation_that_fails = 0;
    SvdfCase c({1, 5, 3, 2, 4, {}, {}, 1, 1, {}, {}, {}});
    std::vector<int> second = c.g.ops[0].inputs;
    second[4] = c.variable({1, 24}, OCTET_S16, c.m.state_scale);
    const int y = c.tensor({1, 3}, OCTET_S8, c.m.y.scale, c.m.y.zero);
    c.g.outputs.push_back(y);
    c.g.ops.push_back(c.g.ops[0]), c.g.ops[1].inputs = second, c.g.ops[1].outputs = {y};
    const auto program = created(c.g);
    const Bytes x = c.draw(5), before(48);
    Bytes states[] = {before, before}, outs[] = {Bytes(3), Bytes(3)};
    const void* const in[] = {x.data(), states[0].data(), states[1].data()};
    void* const out[] = {outs[0].data(), outs[1].data()};
    ProgramArguments a;
    a.inputs = in, a.outputs = out;
    allocation_that_fails = failing;
    const octet_status status = program->run(a, nullptr);
    const size_t left = allocation_that_fails;
    allocation_that_fails = 0;
    refused += status == OCTET_OUT_OF_MEMORY;
    for (const Bytes& state : states) EXPECT_EQ(state == before, status != OCTET_OK);
    allocation_that_fails = left;
  });
  EXPECT_GT(refused, 3u);
}

// Two runs at the same time: one finds no memory for a product of two activations, which is no
// matter of the other one's.
TEST(NoMemory, OneRunFailsAlone) {
  constexpr size_t kRows = 300, kDepth = 64;  // so many that a run makes two tasks
  GraphCase c;
  const int x = c.input({kRows, kDepth}, OCTET_S8, 0.02f, -3);
  const int w = c.input({kRows, kDepth}, OCTET_S8, 0.01f, 2);
  const int y = c.tensor({kRows, kRows}, OCTET_S8, 0.05f, 1);
  c.op(Kind::kProduct, {x, w}, y);
  c.g.outputs = {y};
  const std::vector<Bytes> in = {c.draw(kRows * kDepth), c.draw(kRows * kDepth)};
  const Bytes expected = run(*created(c.g), c.g, in);

  ProgramOptions options;
  options.concurrency = 2;
  const auto program = created(c.g, options);
  struct Arguments : ProgramArguments {
    Arguments(const std::vector<Bytes>& from, size_t bytes)
        : in{from[0].data(), from[1].data()}, made(bytes), out(made.data()) {
      inputs = in, outputs = &out;
    }
    const void* in[2];
    Bytes made;
    void* out;
  };
  size_t refused = 0;
  bool called = false;
  std::function<void()> other = [&] {
    called = true;
    each_allocation([&] {
      const size_t failing = allocation_that_fails;
      allocation_that_fails = 0;
      Arguments a(in, expected.size());
      allocation_that_fails = failing;
      const octet_status status = program->run(a, nullptr);
      const size_t left = allocation_that_fails;
      allocation_that_fails = 0;
      refused += status == OCTET_OUT_OF_MEMORY;
      EXPECT_EQ(a.made == expected, status == OCTET_OK);
      allocation_that_fails = left;
    });
  };
  Arguments a(in, expected.size());
  a.concurrency = 2, a.parallel_context = &other;
  a.parallel_for = [](void* context, size_t count, void (*task)(void*, size_t), void* argument) {
    std::thread(*(std::function<void()>*)context).join();
    for (size_t i = 0; i < count; ++i) task(argument, i);
  };
  octet_error error = {};
  EXPECT_EQ(program->run(a, &error), OCTET_OK) << error.message;
  EXPECT_EQ(a.made, expected);
  EXPECT_TRUE(called);
  EXPECT_GT(refused, 2u);
}

}  // namespace
}  // namespace octet_test
