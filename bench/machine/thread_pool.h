// SPDX-License-Identifier: Apache-2.0
// Runs tasks on a small pool of threads, by a function for octet_gemm_args. Before they sleep,
// threads spin for a moment, as OpenMP's do: waking one takes longer than many layers.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace tool {

class ThreadPool {
 public:
  explicit ThreadPool(size_t threads);  // the caller's own included
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  size_t threads() const { return workers_.size() + 1; }
  void run(size_t count, void (*fn)(void*, size_t), void* arg);
  static void parallel_for(void* pool, size_t count, void (*fn)(void*, size_t), void* arg) {
    ((ThreadPool*)pool)->run(count, fn, arg);
  }

  // Makes a run of the library use the pool, unless it is null.
  template <typename Args>  // octet_gemm_args, octet_conv2d_args
  static void attach(ThreadPool* pool, Args* args) {
    if (!pool || pool->threads() == 1) return;
    args->parallel_for = parallel_for;
    args->parallel_context = pool;
    args->concurrency = pool->threads();
  }

 private:
  void work();
  void serve();
  template <typename Condition>
  void wait(std::condition_variable* changed, const Condition& condition);

  // The job's number in the upper half, how many of its indices nobody has taken in the lower one.
  // While that is 0, the other members may change; a thread that takes an index by an exchange
  // knows that it has read this job's.
  std::atomic<uint64_t> left_{0};
  std::atomic<void (*)(void*, size_t)> fn_{nullptr};
  std::atomic<void*> arg_{nullptr};
  std::atomic<size_t> count_{0}, unfinished_{0};
  std::atomic<int> sleepers_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable start_, end_;
  std::vector<std::thread> workers_;
};

}  // namespace tool
