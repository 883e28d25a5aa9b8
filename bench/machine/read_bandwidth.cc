// SPDX-License-Identifier: Apache-2.0
// Times threads that read a buffer again and again.
#include "bench/machine/read_bandwidth.h"

#include <algorithm>
#include <atomic>

namespace tool {
namespace {

using Vector = uint64_t __attribute__((vector_size(64)));  // a cache line
constexpr size_t kStep = 4;                                // lines read together

// The result only keeps the compiler from leaving the reads out.
template <size_t ahead>
inline __attribute__((always_inline)) uint64_t read_lines(const Vector* lines, size_t count) {
  Vector mix[kStep] = {};
  for (size_t i = 0; i + kStep <= count; i += kStep)
    for (size_t j = 0; j < kStep; ++j) {
      if (ahead > 0) __builtin_prefetch(lines + i + j + ahead);
      mix[j] ^= lines[i + j];
    }
  return mix[0][0] ^ mix[1][0] ^ mix[2][0] ^ mix[3][0];
}

// The hardware prefetches best from caches, two pages ahead by hand is best from memory.
#if defined(__x86_64__) && defined(__GLIBC__)  // which resolves them by ifunc
#define WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDEST
#endif
WIDEST uint64_t read_plainly(const Vector* lines, size_t count) {
  return read_lines<0>(lines, count);
}
WIDEST uint64_t read_with_prefetch(const Vector* lines, size_t count) {
  return read_lines<8192 / sizeof(Vector)>(lines, count);
}

struct Reading {
  uint64_t (*read)(const Vector*, size_t);
  const Vector* lines;
  size_t lines_per_thread;
  size_t times;
  std::atomic<uint64_t> sum;
};

void read_part(void* arg, size_t thread) {
  Reading* reading = (Reading*)arg;
  for (size_t i = 0; i < reading->times; ++i)
    reading->sum ^= reading->read(reading->lines + thread * reading->lines_per_thread,
                                  reading->lines_per_thread);
}

}  // namespace

double sample_read_bandwidth(const Buffer& buffer, ThreadPool* pool, const Clock& clock) {
  const size_t threads = pool->threads();
  const size_t lines = std::max(buffer.size() / sizeof(Vector) / threads, kStep);
  const double bytes = (double)(threads * lines * sizeof(Vector));
  double best = 0;
  for (const auto read : {read_plainly, read_with_prefetch}) {
    Reading reading = {read, buffer.as<const Vector>(), lines, 1, {}};
    const auto run = [&] { pool->run(threads, read_part, &reading); };
    run();  // into the cache, as far as it fits
    reading.times = (size_t)(1 + 64e6 / bytes);
    best = std::max(best, bytes * (double)reading.times / clock.time(run) / 1e9);
  }
  return best;
}

}  // namespace tool
