// SPDX-License-Identifier: Apache-2.0
// Starts, wakes and joins the threads of the pool. A job changes hands by atomics only while its
// threads are awake, so that the pool costs what the CPU's messages between cores cost.
#include "bench/machine/thread_pool.h"

#include <chrono>

namespace tool {
namespace {

constexpr std::chrono::microseconds kWatching(200);
constexpr int kLooks = 64;  // between two looks at the clock

constexpr uint64_t kIndices = 0xffffffff;
constexpr uint64_t job_of(uint64_t left) { return left & ~kIndices; }

template <typename Condition>
bool watch(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + kWatching;
  do {
    for (int i = 0; i < kLooks; ++i)
      if (condition()) return true;
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace

ThreadPool::ThreadPool(size_t threads) {
  for (size_t i = 1; i < threads; ++i) workers_.emplace_back([this] { serve(); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

// Watches for a while, then sleeps. Whoever makes the condition true looks at sleepers_ after that.
template <typename Condition>
void ThreadPool::wait(std::condition_variable* changed, const Condition& condition) {
  if (watch(condition)) return;
  std::unique_lock<std::mutex> lock(mutex_);
  ++sleepers_;
  changed->wait(lock, condition);
  --sleepers_;
}

void ThreadPool::run(size_t count, void (*fn)(void*, size_t), void* arg) {
  fn_ = fn;
  arg_ = arg;
  count_ = count;
  unfinished_ = count;
  left_ = job_of(left_) + kIndices + 1 + count;
  if (sleepers_) {
    const std::lock_guard<std::mutex> lock(mutex_);
    start_.notify_all();
  }
  work();
  wait(&end_, [this] { return unfinished_ == 0; });
}

// Takes and runs indices of the job that is current, until none is left.
void ThreadPool::work() {
  for (uint64_t left = left_; left & kIndices;) {
    void (*const fn)(void*, size_t) = fn_;
    void* const arg = arg_;
    const size_t index = count_ - (left & kIndices);
    if (!left_.compare_exchange_weak(left, left - 1)) continue;
    fn(arg, index);
    if (--unfinished_ == 0 && sleepers_) {
      const std::lock_guard<std::mutex> lock(mutex_);
      end_.notify_all();
    }
    left = left_;
  }
}

void ThreadPool::serve() {
  for (uint64_t job = 0; !stop_;) {
    wait(&start_, [&] { return stop_ || job_of(left_) != job; });
    job = job_of(left_);
    work();
  }
}

}  // namespace tool
