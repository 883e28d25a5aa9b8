// SPDX-License-Identifier: Apache-2.0
// Starts, wakes and joins the threads of the pool.
#include "bench/machine/thread_pool.h"

#include <chrono>

namespace tool {
namespace {

constexpr std::chrono::microseconds kWatching(200);

template <typename Condition>
void watch(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + kWatching;
  while (!condition() && std::chrono::steady_clock::now() < end) {
  }
}

}  // namespace

ThreadPool::ThreadPool(size_t threads) {
  for (size_t i = 1; i < threads; ++i) workers_.emplace_back([this] { serve(); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
    ++jobs_;
  }
  start_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(size_t count, void (*fn)(void*, size_t), void* arg) {
  std::unique_lock<std::mutex> lock(mutex_);
  job_ = {fn, arg, 0, count};
  unfinished_ = count;
  ++jobs_;
  start_.notify_all();
  work(&lock);
  lock.unlock();
  watch([this] { return unfinished_ == 0; });
  lock.lock();
  end_.wait(lock, [this] { return unfinished_ == 0; });
}

// Takes and runs indices until none is left. The lock is held on entry and on return.
void ThreadPool::work(std::unique_lock<std::mutex>* lock) {
  while (job_.next < job_.count) {
    const size_t index = job_.next++;
    lock->unlock();
    job_.fn(job_.arg, index);
    lock->lock();
    if (--unfinished_ == 0) end_.notify_all();
  }
}

void ThreadPool::serve() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    start_.wait(lock, [this] { return stop_ || job_.next < job_.count; });
    if (stop_) return;
    work(&lock);
    const size_t seen = jobs_;
    lock.unlock();
    watch([&] { return jobs_ != seen; });
    lock.lock();
  }
}

}  // namespace tool
