// SPDX-License-Identifier: Apache-2.0
// Runs tasks on a small pool of threads, by a function for octet_gemm_args. Before they sleep,
// threads spin for a moment, as OpenMP's do: waking one takes longer than many layers.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
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
  struct Job {
    void (*fn)(void*, size_t);
    void* arg;
    size_t next, count;
  };
  void work(std::unique_lock<std::mutex>* lock);
  void serve();

  std::mutex mutex_;
  std::condition_variable start_, end_;
  Job job_ = {};
  bool stop_ = false;
  std::atomic<size_t> jobs_{0}, unfinished_{0};  // changed under the mutex; read without it
  std::vector<std::thread> workers_;
};

}  // namespace tool
