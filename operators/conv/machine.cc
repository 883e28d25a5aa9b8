// Detects once which tiers pass the convolution self-test.
#include "operators/conv/machine.h"

#include "dispatch/select/kept.h"
#include "dispatch/self_test/conv.h"
#include "dispatch/self_test/self_test.h"

namespace octet {
namespace {

Kept<IsaMask> failed;

IsaMask find_out(const CpuFeatures& cpu) {
  return failing_transforms(cpu.isas) | failing_int16_isas(int16_kernels(), cpu) |
         failing_isas(depthwise_kernels(), cpu);
}

}  // namespace

Machine conv_machine() {
  Machine machine = this_machine();
  IsaMask demoted;
  if (!failed.read(&demoted)) {
    demoted = find_out(machine.cpu);
    // in another rounding mode nothing that rounds was tested, so the next call tests again
    if (rounds_to_nearest()) failed.keep(demoted);
  }
  machine.demoted |= demoted;
  machine.cpu.isas &= ~demoted;
  return machine;
}

}  // namespace octet
