// SPDX-License-Identifier: Apache-2.0
// Keeps the process's one pthreadpool: the largest share decides its size, and a child process,
// which has no copies of the threads, starts another one.
#include "engines/threads/threads.h"

#include "engines/threads/first_pool.h"

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

  std::atomic<int> in_use{0};       // by a run; not bool: GCC 12 needs libatomic on RISC-V
  pthreadpool_t threads = nullptr;  // of the run that has in_use
  std::atomic<pthreadpool_t> larger{nullptr};  // takes the place of `threads` with the next run
  size_t count = 0;                            // of threads, with the next run
  size_t shares = 0;                           // guarded by `creating`, as count is
  const unsigned born = forks;
};

namespace {

Pool* last = nullptr;  // the process's one, if it has shares

// Another share of the pool, with at least `count` threads; null where the system refuses them.
Pool* pool_of(size_t count) {
  static const int watched = pthread_atfork([] { creating->lock(); }, [] { creating->unlock(); },
                                            [] {
                                              ++forks;
                                              creating->unlock();
                                            });
  (void)watched;
  const std::lock_guard<std::mutex> lock(*creating);
  std::unique_ptr<Pool> made;
  if (!last || !last->alive()) made = std::make_unique<Pool>();
  Pool* const pool = made ? made.get() : last;
  if (pool->count < count) {
    const pthreadpool_t larger = pthreadpool_create(count);
    if (!larger) return nullptr;
    if (pthreadpool_t unused = pool->larger.exchange(larger)) pthreadpool_destroy(unused);
    pool->count = count;
  }
  ++pool->shares;
  made.release();
  return last = pool;
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

namespace {

void* take(size_t count) {
  try {
    return pool_of(count);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void give(void* share) {
  Pool* const pool = (Pool*)share;
  {
    const std::lock_guard<std::mutex> lock(*creating);
    if (--pool->shares > 0) return;
    if (last == pool) last = nullptr;
  }
  delete pool;
}

void run(void* share, size_t count, void (*fn)(void* arg, size_t index), void* arg) {
  Pool& pool = *(Pool*)share;
  if (!pool.alive() || pool.in_use.exchange(1, std::memory_order_acquire)) {
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
  pool.in_use.store(0, std::memory_order_release);
}

}  // namespace

const PoolFunctions* own_pool() {
  static const PoolFunctions functions = {take, give, run};
  return &functions;
}

Threads::Threads(size_t count) : count_(count ? count : usable_cpus()) {
  if (count_ < 2) return;
  from_ = first_pool();
  if (void* const share = from_->take(count_)) pool_.reset(share, from_->give);
}

}  // namespace octet::engines
