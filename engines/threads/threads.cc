// Keeps the process's one pthreadpool: the largest share decides its size, and a child process,
// which has no copies of the threads, starts another one.
#include "engines/threads/threads.h"

#include <pthread.h>
#include <pthreadpool.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

namespace octet::engines {
namespace {

std::mutex* const creating = new std::mutex;  // never destroyed: shares may outlive static objects
unsigned forks = 0;                           // how often a parent became this process

}  // namespace

struct Pool {
  ~Pool() {
    if (!alive()) return;
    if (threads) pthreadpool_destroy(threads);
    if (pthreadpool_t next = larger) pthreadpool_destroy(next);
  }
  // Whether the threads belong to this process. A child has a copy of the object only.
  bool alive() const { return born == forks; }

  std::atomic<bool> in_use{false};             // by a run
  pthreadpool_t threads = nullptr;             // of the run that has in_use
  std::atomic<pthreadpool_t> larger{nullptr};  // takes the place of `threads` with the next run
  size_t count = 0;                            // of threads, with the next run
  const unsigned born = forks;
};

namespace {

// The pool, with at least `count` threads; null where the system refuses them.
std::shared_ptr<Pool> pool_of(size_t count) {
  static std::weak_ptr<Pool>* const last = new std::weak_ptr<Pool>;
  static const int watched = pthread_atfork([] { creating->lock(); }, [] { creating->unlock(); },
                                            [] {
                                              ++forks;
                                              creating->unlock();
                                            });
  (void)watched;
  const std::lock_guard<std::mutex> lock(*creating);
  std::shared_ptr<Pool> pool = last->lock();
  if (!pool || !pool->alive()) pool = std::make_shared<Pool>();
  if (pool->count < count) {
    const pthreadpool_t larger = pthreadpool_create(count);
    if (!larger) return nullptr;
    if (pthreadpool_t unused = pool->larger.exchange(larger)) pthreadpool_destroy(unused);
    pool->count = count;
  }
  *last = pool;
  return pool;
}

}  // namespace

size_t usable_cpus() {
  // The kernel refuses a set that is smaller than its own
  for (size_t cpus = 1024; cpus <= (1u << 20); cpus *= 2) {
    std::vector<cpu_set_t> set(CPU_ALLOC_SIZE(cpus) / sizeof(cpu_set_t));
    const size_t bytes = set.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, set.data()) == 0)
      return (size_t)std::max(1, CPU_COUNT_S(bytes, set.data()));
  }
  return 1;
}

Threads::Threads(size_t count) : count_(count ? count : usable_cpus()) {
  if (count_ > 1) pool_ = pool_of(count_);
}

void Threads::parallel_for(void* context, size_t count, void (*fn)(void* arg, size_t index),
                           void* arg) {
  Pool& pool = *(Pool*)context;
  if (!pool.alive() || pool.in_use.exchange(true, std::memory_order_acquire)) {
    for (size_t i = 0; i < count; ++i) fn(arg, i);
    return;
  }
  if (pthreadpool_t larger = pool.larger.exchange(nullptr)) {
    if (pool.threads) pthreadpool_destroy(pool.threads);
    pool.threads = larger;
  }
  // Without a flag idle workers spin for a moment, as the pools of engines do: operators of a small
  // network follow each other within microseconds, sooner than a sleeping worker wakes up
  pthreadpool_parallelize_1d(pool.threads, fn, arg, count, 0);
  pool.in_use.store(false, std::memory_order_release);
}

}  // namespace octet::engines
