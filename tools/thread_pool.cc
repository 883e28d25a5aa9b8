#include "thread_pool.h"

namespace tool {

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

void ThreadPool::run(size_t count, void (*fn)(void*, size_t), void* arg) {
  std::unique_lock<std::mutex> lock(mutex_);
  job_ = {fn, arg, 0, count, count};
  start_.notify_all();
  work(&lock);
  end_.wait(lock, [this] { return job_.unfinished == 0; });
}

// Takes indices while there are any. The lock is held on entry and on return.
void ThreadPool::work(std::unique_lock<std::mutex>* lock) {
  while (job_.next < job_.count) {
    const size_t index = job_.next++;
    lock->unlock();
    job_.fn(job_.arg, index);
    lock->lock();
    if (--job_.unfinished == 0) end_.notify_all();
  }
}

void ThreadPool::serve() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    start_.wait(lock, [this] { return stop_ || job_.next < job_.count; });
    if (stop_) return;
    work(&lock);
  }
}

}  // namespace tool
