#include "dispatch/machine.h"

#include <atomic>

#include "dispatch/kernel_table.h"
#include "dispatch/self_test.h"

namespace octet {
namespace {

// Filled at first use without a lock: threads that race compute and store the same values. All zero at start, no initialiser to run.
struct Cache {
  std::atomic<bool> ready;
  std::atomic<IsaMask> detected, demoted;
  std::atomic<size_t> l1d, l2, l3;
};
Cache cache;

constexpr auto relaxed = std::memory_order_relaxed;

}  // namespace

Machine this_machine() {
  if (!cache.ready.load(std::memory_order_acquire)) {
    const CpuFeatures cpu = detect_cpu();
    cache.detected.store(cpu.isas, relaxed);
    cache.demoted.store(failing_isas(all_kernels(), cpu) | failing_isas(word_kernels(), cpu) | failing_isas(depthwise_kernels(), cpu), relaxed);
    cache.l1d.store(cpu.l1d_bytes, relaxed);
    cache.l2.store(cpu.l2_bytes, relaxed);
    cache.l3.store(cpu.l3_bytes, relaxed);
    cache.ready.store(true, std::memory_order_release);
  }
  Machine machine = {};
  for (const MicroKernel* kernel : all_kernels())
    if (!kernel->is(kTestsOnly)) machine.compiled |= mask_of(kernel->isa);
  machine.detected = cache.detected.load(relaxed) & machine.compiled;
  machine.demoted = cache.demoted.load(relaxed);
  machine.cpu = {machine.detected & ~machine.demoted, cache.l1d.load(relaxed), cache.l2.load(relaxed), cache.l3.load(relaxed)};
  return machine;
}

}  // namespace octet
