// Detects once which tiers pass the convolution self-test.
#include "operators/conv/machine.h"

#include <atomic>

#include "dispatch/self_test/conv.h"
#include "dispatch/self_test/self_test.h"

namespace octet {
namespace {

// Racing threads compute and store the same values.
std::atomic<bool> ready;
std::atomic<IsaMask> failed;

IsaMask find_out(const CpuFeatures& cpu) {
  return failing_transforms(cpu.isas) | failing_int16_isas(int16_kernels(), cpu) |
         failing_isas(depthwise_kernels(), cpu);
}

}  // namespace

Machine conv_machine() {
  Machine machine = this_machine();
  IsaMask demoted;
  if (ready.load(std::memory_order_acquire)) {
    demoted = failed.load(std::memory_order_relaxed);
  } else {
    demoted = find_out(machine.cpu);
    // in another rounding mode nothing that rounds was tested, so the next call tests again
    if (rounds_to_nearest()) {
      failed.store(demoted, std::memory_order_relaxed);
      ready.store(true, std::memory_order_release);
    }
  }
  machine.demoted |= demoted;
  machine.cpu.isas &= ~demoted;
  return machine;
}

}  // namespace octet
