// Detects this machine once and keeps the result in atomics.
#include "dispatch/select/machine.h"

#include <atomic>

#include "dispatch/self_test/self_test.h"
#include "dispatch/tables/kernel_names.h"

namespace octet {
namespace {

// Filled at first use without a lock: racing threads compute and store the same values. All zero at
// start, so no initialiser runs.
struct Cache {
  std::atomic<bool> ready, wide_shuffles, trusts_optional;
  std::atomic<IsaMask> detected, demoted;
  std::atomic<Features> features;
};
Cache cache;

struct MicroarchitectureCache {
  std::atomic<bool> ready;
  std::atomic<size_t> l1d, l2, l3;
  std::atomic<uint32_t> cores, in_order_cores;
  std::atomic<octet_cpu_design> design;
};
MicroarchitectureCache microarchitecture_cache;

constexpr auto relaxed = std::memory_order_relaxed;

struct Found {
  CpuFeatures cpu;
  IsaMask demoted;
};

Found find_out() {
  CpuFeatures cpu = detect_cpu();
  cpu.trusts_optional = passes_optional(int8_kernels(), cpu);
  return {cpu, demoted_isas(cpu)};
}

void keep(const Found& found) {
  cache.detected.store(found.cpu.isas, relaxed);
  cache.demoted.store(found.demoted, relaxed);
  cache.features.store(found.cpu.features, relaxed);
  cache.wide_shuffles.store(found.cpu.wide_shuffles, relaxed);
  cache.trusts_optional.store(found.cpu.trusts_optional, relaxed);
  cache.ready.store(true, std::memory_order_release);
}

Found kept() {
  Found found = {};
  found.cpu.isas = cache.detected.load(relaxed);
  found.cpu.features = cache.features.load(relaxed);
  found.cpu.wide_shuffles = cache.wide_shuffles.load(relaxed);
  found.cpu.trusts_optional = cache.trusts_optional.load(relaxed);
  found.demoted = cache.demoted.load(relaxed);
  return found;
}

}  // namespace

Machine this_machine() {
  const bool ready = cache.ready.load(std::memory_order_acquire);
  const Found found = ready ? kept() : find_out();
  // In another rounding mode the rounding tests did not run, so the result is not kept
  if (!ready && rounds_to_nearest()) keep(found);
  Machine machine = {};
  machine.compiled = compiled_tiers();
  machine.detected = found.cpu.isas & machine.compiled;
  machine.demoted = found.demoted;
  machine.cpu = found.cpu;
  machine.cpu.isas = machine.detected & ~machine.demoted;
  return machine;
}

Microarchitecture this_microarchitecture() {
  MicroarchitectureCache& c = microarchitecture_cache;
  if (c.ready.load(std::memory_order_acquire))
    return {{c.l1d.load(relaxed), c.l2.load(relaxed), c.l3.load(relaxed)},
            {c.cores.load(relaxed), c.in_order_cores.load(relaxed)},
            c.design.load(relaxed)};
  const Microarchitecture found = detect_microarchitecture();
  c.l1d.store(found.caches.l1d_bytes, relaxed);
  c.l2.store(found.caches.l2_bytes, relaxed);
  c.l3.store(found.caches.l3_bytes, relaxed);
  c.cores.store(found.cores.known, relaxed);
  c.in_order_cores.store(found.cores.in_order, relaxed);
  c.design.store(found.design, relaxed);
  c.ready.store(true, std::memory_order_release);
  return found;
}

}  // namespace octet
