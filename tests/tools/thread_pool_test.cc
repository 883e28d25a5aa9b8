// SPDX-License-Identifier: Apache-2.0
// Checks that the pool of benches runs each index of a job once, for jobs of unlike sizes, one
// right after the other: a late thread must not take an index of the next job for one of its own.
#include "bench/machine/thread_pool.h"

#include <gtest/gtest.h>

namespace {

TEST(ThreadPool, RunsEachIndexOnce) {
  constexpr size_t kMost = 16;
  // On two loaded CPUs a job takes a turn of the scheduler
  tool::ThreadPool pool(3);
  std::atomic<int> runs[kMost];
  for (size_t job = 0; job < 4000; ++job) {
    const size_t count = 1 + job * 7 % kMost;
    for (std::atomic<int>& r : runs) r = 0;
    pool.run(
        count, [](void* arg, size_t index) { ++((std::atomic<int>*)arg)[index]; }, runs);
    for (size_t i = 0; i < kMost; ++i) ASSERT_EQ(runs[i], i < count) << i << " of job " << job;
  }
}

}  // namespace
