#include "read_bandwidth.h"

#include <algorithm>
#include <atomic>

namespace tool {
namespace {

using Vector = uint64_t __attribute__((vector_size(64)));  // a cache line
constexpr size_t kStep = 4;                               // lines read together
constexpr size_t kAhead = 4096 / sizeof(Vector);          // lines to prefetch ahead: what the hardware does not do across pages

// The result only keeps the compiler from leaving the reads out.
#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
uint64_t read_lines(const Vector* lines, size_t count) {
  Vector mix[kStep] = {};
  for (size_t i = 0; i + kStep <= count; i += kStep)
    for (size_t j = 0; j < kStep; ++j) {
      __builtin_prefetch(lines + i + j + kAhead);
      mix[j] ^= lines[i + j];
    }
  return mix[0][0] ^ mix[1][0] ^ mix[2][0] ^ mix[3][0];
}

struct Reading {
  const Vector* lines;
  size_t lines_per_thread;
  size_t times;
  std::atomic<uint64_t> sink;
};

void read_part(void* arg, size_t thread) {
  Reading* reading = static_cast<Reading*>(arg);
  for (size_t i = 0; i < reading->times; ++i)
    reading->sink ^= read_lines(reading->lines + thread * reading->lines_per_thread, reading->lines_per_thread);
}

}  // namespace

double sample_read_bandwidth(const Buffer& buffer, ThreadPool* pool, const Clock& clock) {
  const size_t threads = pool->threads();
  Reading reading = {buffer.as<const Vector>(), std::max(buffer.size() / sizeof(Vector) / threads, kStep), 1, {}};
  const auto read = [&] { pool->run(threads, read_part, &reading); };
  const double bytes = static_cast<double>(threads * reading.lines_per_thread * sizeof(Vector));
  read();  // into the cache, as far as it fits
  reading.times = static_cast<size_t>(1 + 64e6 / bytes);
  return bytes * static_cast<double>(reading.times) / clock.time(read) / 1e9;
}

}  // namespace tool
