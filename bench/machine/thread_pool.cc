// SPDX-License-Identifier: Apache-2.0
// Starts, wakes and joins the threads of the pool. A job changes hands by atomics only while its
// threads are awake, so that the pool costs what the CPU's messages between cores cost.
#include "bench/machine/thread_pool.h"

#include <chrono>

namespace tool {
namespace {

constexpr std::chrono::microseconds kWatching(200);
constexpr int kLooks = 64;  // between two looks at the clock

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
  for (size_t i = 1; i < threads; ++i) workers_.emplace_back();
  for (size_t i = 1; i < threads; ++i) workers_[i - 1].thread = std::thread([=] { serve(i); });
}

ThreadPool::~ThreadPool() {
  stop_ = true;
  tell(&start_);
  for (Worker& worker : workers_) worker.thread.join();
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

void ThreadPool::tell(std::condition_variable* changed) {
  if (!sleepers_) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  changed->notify_all();
}

void ThreadPool::run(size_t count, void (*fn)(void*, size_t), void* arg) {
  job_.fn = fn;
  job_.arg = arg;
  job_.count = count;
  const uint64_t number = ++job_.number;
  tell(&start_);
  work(0);
  for (Worker& worker : workers_) wait(&end_, [&] { return worker.done == number; });
}

// Runs every threads()th index from the first on.
void ThreadPool::work(size_t first) {
  for (size_t i = first; i < job_.count; i += threads()) job_.fn(job_.arg, i);
}

void ThreadPool::serve(size_t index) {
  for (uint64_t job = 0;;) {
    wait(&start_, [&] { return stop_ || job_.number != job; });
    if (stop_) return;
    work(index);
    workers_[index - 1].done = ++job;
    tell(&end_);
  }
}

}  // namespace tool
