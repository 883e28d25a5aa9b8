// SPDX-License-Identifier: Apache-2.0
// Tests the process's pool of threads: its size, runs that find it busy, runs within runs, growth
// while runs are in progress, and a child process.
#include "engines/threads/threads.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace octet::engines {
namespace {

// Calls fn(index) for all indices below count on the share.
template <typename Function>
void run(const Threads& threads, size_t count, Function fn) {
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  threads.lend(&args);
  const auto call = [](void* function, size_t index) { (*(Function*)function)(index); };
  if (!args.parallel_for) {
    for (size_t i = 0; i < count; ++i) fn(i);
    return;
  }
  args.parallel_for(args.parallel_context, count, call, &fn);
}

// Whether each of `count` tasks runs exactly once.
bool each_once(const Threads& threads, size_t count) {
  std::vector<std::atomic<int>> calls(count);
  run(threads, count, [&](size_t i) { ++calls[i]; });
  for (const auto& times : calls)
    if (times != 1) return false;
  return true;
}

// Blocks tasks until as many as the gate waits for are inside at once.
struct Gate {
  explicit Gate(size_t tasks) : wanted(tasks) {}
  void pass() {
    std::unique_lock<std::mutex> lock(mutex);
    ids.insert(std::this_thread::get_id());
    if (++inside == wanted) all.notify_all();
    all.wait(lock, [&] { return inside >= wanted; });
  }
  std::mutex mutex;
  std::condition_variable all;
  const size_t wanted;
  size_t inside = 0;
  std::set<std::thread::id> ids;
};

TEST(Threads, OneThreadLendsNothing) {
  const Threads one(1);
  octet_gemm_args args = OCTET_GEMM_ARGS_INIT;
  one.lend(&args);
  EXPECT_EQ(one.count(), 1u);
  EXPECT_EQ(args.parallel_for, nullptr);
  EXPECT_EQ(args.concurrency, 0u);
}

TEST(Threads, ZeroMeansTheUsableCpus) {
  EXPECT_GE(usable_cpus(), 1u);
  EXPECT_EQ(Threads(0).count(), usable_cpus());
}

TEST(Threads, EveryTaskRunsOnce) {
  for (const size_t threads : {1, 2, 3, 8}) {
    const Threads share(threads);
    EXPECT_EQ(share.count(), threads);
    for (const size_t tasks : {0, 1, 2, 7, 1000}) EXPECT_TRUE(each_once(share, tasks)) << tasks;
  }
}

TEST(Threads, TasksRunAtOnceOnDifferentThreads) {
  const Threads share(3);
  Gate gate(3);  // a run on fewer threads would never end
  run(share, 3, [&](size_t) { gate.pass(); });
  EXPECT_EQ(gate.ids.size(), 3u);
}

// The later share makes the pool larger for the earlier one, too: both have the same pool.
TEST(Threads, AProcessHasOnePool) {
  const Threads small(2);
  const Threads large(4), copy = large;
  Gate gate(4);
  run(small, 4, [&](size_t) { gate.pass(); });
  EXPECT_EQ(gate.ids.size(), 4u);
  octet_gemm_args a = OCTET_GEMM_ARGS_INIT, b = OCTET_GEMM_ARGS_INIT;
  small.lend(&a);
  copy.lend(&b);
  EXPECT_EQ(a.parallel_context, b.parallel_context);
  EXPECT_EQ(a.concurrency, 2u);
  EXPECT_EQ(b.concurrency, 4u);
}

TEST(Threads, ARunWithinATaskStaysOnItsThread) {
  const Threads share(2);
  std::atomic<size_t> inner{0}, elsewhere{0};
  run(share, 2, [&](size_t) {
    const auto outer = std::this_thread::get_id();
    run(share, 5, [&](size_t) {
      ++inner;
      elsewhere += std::this_thread::get_id() != outer;
    });
  });
  EXPECT_EQ(inner, 10u);
  EXPECT_EQ(elsewhere, 0u);
}

TEST(Threads, ATaskMayAskForALargerPool) {
  const Threads share(2);
  std::vector<Threads> larger(2);
  run(share, 2, [&](size_t task) { larger[task] = Threads(5 + task); });
  Gate gate(6);
  run(share, 6, [&](size_t) { gate.pass(); });
  EXPECT_EQ(gate.ids.size(), 6u);
}

TEST(Threads, ARunThatFindsThePoolBusyStaysOnItsThread) {
  const Threads share(2);
  Gate both(2), end(3);
  std::thread first([&] {
    run(share, 2, [&](size_t) {
      both.pass();
      end.pass();
    });
  });
  {
    std::unique_lock<std::mutex> lock(both.mutex);
    both.all.wait(lock, [&] { return both.inside >= 2; });
  }
  std::set<std::thread::id> ids;
  run(share, 5, [&](size_t) { ids.insert(std::this_thread::get_id()); });
  EXPECT_EQ(ids, std::set<std::thread::id>{std::this_thread::get_id()});
  end.pass();
  first.join();
}

TEST(Threads, SharesComeAndGoWhileRunsAreInProgress) {
  std::atomic<size_t> wrong{0};
  std::vector<std::thread> callers;
  for (size_t caller = 0; caller < 16; ++caller)
    callers.emplace_back([&wrong, caller] {
      for (size_t round = 0; round < 20; ++round)
        wrong += !each_once(Threads(2 + (caller + round) % 5), 33);
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0u);
}

TEST(Threads, AChildProcessDoesNotWaitForItsParentsThreads) {
  const Threads share(2);
  ASSERT_TRUE(each_once(share, 10));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    bool good = each_once(share, 10);
    {
      const Threads own(2);
      good = good && each_once(own, 10);
    }
    _exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(each_once(share, 10));
}

}  // namespace
}  // namespace octet::engines
