// SPDX-License-Identifier: Apache-2.0
// Octet on threads of the program's own: a small pool of std::thread runs the tasks of a product,
// and so does a pthreadpool, where the build has it. Plain loops check every value.
#include <octet/octet.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

#ifdef WITH_PTHREADPOOL
#include <octet/pthreadpool.h>
#endif

namespace {

// Threads that sleep until there are tasks; the caller of parallel_for works, too.
class Pool {
 public:
  explicit Pool(size_t threads) {
    for (size_t i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
  }
  ~Pool() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  // An octet_parallel_for: returns when fn(arg, 0) ... fn(arg, count - 1) have returned. Several
  // threads may call it; their runs take turns.
  static void parallel_for(void* context, size_t count, void (*fn)(void* arg, size_t index),
                           void* arg) {
    Pool& pool = *static_cast<Pool*>(context);
    const std::lock_guard<std::mutex> turn(pool.turn_);
    std::unique_lock<std::mutex> lock(pool.mutex_);
    pool.fn_ = fn, pool.arg_ = arg, pool.next_ = 0, pool.count_ = pool.unfinished_ = count;
    pool.wake_.notify_all();
    pool.take_tasks(lock);
    pool.done_.wait(lock, [&pool] { return pool.unfinished_ == 0; });
    pool.most_tasks_ = std::max(pool.most_tasks_, count);
  }
  size_t most_tasks() const { return most_tasks_; }

 private:
  void work() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return stop_ || next_ < count_; });
      if (stop_) return;
      take_tasks(lock);
    }
  }

  // Takes tasks one by one, so that a fast core takes more of them. No task runs under the lock.
  void take_tasks(std::unique_lock<std::mutex>& lock) {
    while (next_ < count_) {
      const size_t index = next_++;
      lock.unlock();
      fn_(arg_, index);
      lock.lock();
      if (--unfinished_ == 0) done_.notify_one();
    }
  }

  std::vector<std::thread> workers_;
  std::mutex turn_, mutex_;
  std::condition_variable wake_, done_;
  void (*fn_)(void* arg, size_t index) = nullptr;
  void* arg_ = nullptr;
  size_t next_ = 0, count_ = 0, unfinished_ = 0, most_tasks_ = 0;
  bool stop_ = false;
};

int fail(const octet_error& error) {
  std::fprintf(stderr, "%s: %s\n", octet_status_name(error.status), error.message);
  return 1;
}

constexpr size_t kM = 256, kN = 192, kK = 256, kThreads = 4;

// One product by this parallel_for, compared with plain loops.
int multiply(const octet::Gemm& gemm, const std::vector<uint8_t>& lhs,
             const std::vector<int8_t>& rhs, const char* name, octet_parallel_for parallel_for,
             void* context) {
  auto workspace = gemm.workspace(kM, kThreads);  // a part for each task
  if (!workspace) return fail(workspace.error());
  std::vector<int32_t> dst(kM * kN);
  auto args = octet::make<octet_gemm_args>();
  args.m = kM, args.lhs = lhs.data(), args.dst = dst.data();
  args.parallel_for = parallel_for, args.parallel_context = context;
  workspace->attach(args);  // sets the concurrency, too
  octet_error error;
  if (gemm.run(args, &error)) return fail(error);

  size_t wrong = 0;
  for (size_t m = 0; m < kM; ++m)
    for (size_t n = 0; n < kN; ++n) {
      int32_t sum = 0;
      for (size_t k = 0; k < kK; ++k) sum += lhs[m * kK + k] * rhs[k * kN + n];
      wrong += dst[m * kN + n] != sum;
    }
  std::printf("%s: %zu threads, %s: %zu of %zu values are wrong\n", name, kThreads, gemm.kernel(kM),
              wrong, dst.size());
  return wrong != 0;
}

}  // namespace

int main() {
  std::vector<uint8_t> lhs(kM * kK);
  std::vector<int8_t> rhs(kK * kN);
  for (size_t i = 0; i < lhs.size(); ++i) lhs[i] = static_cast<uint8_t>(i * 37 + i / 11);
  for (size_t i = 0; i < rhs.size(); ++i) rhs[i] = static_cast<int8_t>(i * 53 + i / 7);

  auto weights = octet::make<octet_rhs_desc>();
  weights.type = OCTET_S8, weights.order = OCTET_KN, weights.n = kN, weights.k = kK;
  weights.data = rhs.data();
  const auto packed = octet::PackedWeights::pack(weights);
  if (!packed) return fail(packed.error());
  auto desc = octet::make<octet_gemm_desc>();
  desc.m_max = kM, desc.n = kN, desc.k = kK;
  desc.lhs_type = OCTET_U8, desc.rhs_type = OCTET_S8, desc.dst_type = OCTET_S32;
  packed->attach(desc);
  const auto gemm = octet::Gemm::create(desc);
  if (!gemm) return fail(gemm.error());

  Pool pool(kThreads);
  int failed = multiply(*gemm, lhs, rhs, "std::thread", Pool::parallel_for, &pool);
  std::printf("at most %zu tasks a run\n", pool.most_tasks());
  failed |= pool.most_tasks() < 2;
#ifdef WITH_PTHREADPOOL
  const pthreadpool_t threads = pthreadpool_create(kThreads);
  failed |= multiply(*gemm, lhs, rhs, "pthreadpool", octet_pthreadpool_parallel_for, threads);
  pthreadpool_destroy(threads);
#endif
  return failed;
}
