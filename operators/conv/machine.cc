#include "operators/conv/machine.h"

#include <atomic>

#include "dispatch/self_test/conv.h"
#include "dispatch/self_test/self_test.h"

namespace octet {
namespace {

// Threads that race compute and store the same.
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
    if (rounds_to_nearest()) {  // else nothing that rounds was tested: the next call looks again
      failed.store(demoted, std::memory_order_relaxed);
      ready.store(true, std::memory_order_release);
    }
  }
  machine.demoted |= demoted;
  machine.cpu.isas &= ~demoted;
  return machine;
}

}  // namespace octet
