// SPDX-License-Identifier: Apache-2.0
// Runs tasks on a small pool of threads, by a function for octet_gemm_args. Before they sleep,
// threads spin for a moment, as OpenMP's do: waking one takes longer than many layers. Which thread
// runs an index is fixed: a run has as many tasks as threads at most.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>

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
  // What the others wait for lies in a line of its own, so that a job costs two messages between
  // cores: that it begins, and that a worker is done.
  struct alignas(64) Worker {
    std::atomic<uint64_t> done{0};  // the number of its last job
    std::thread thread;
  };
  struct alignas(64) Job {
    void (*fn)(void*, size_t) = nullptr;
    void* arg = nullptr;
    size_t count = 0;
    std::atomic<uint64_t> number{0};
  };

  void serve(size_t index);
  void work(size_t first);
  template <typename Condition>
  void wait(std::condition_variable* changed, const Condition& condition);
  void tell(std::condition_variable* changed);

  Job job_;
  alignas(64) std::atomic<int> sleepers_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable start_, end_;
  std::deque<Worker> workers_;
};

}  // namespace tool
