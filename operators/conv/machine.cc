// Detects once which tiers pass the convolution self-test.
#include "operators/conv/machine.h"

#include "dispatch/select/tested_machine.h"
#include "dispatch/self_test/conv.h"

namespace octet {
namespace {

Kept<IsaMask> failed;

IsaMask find_out(const CpuFeatures& cpu) {
  return failing_transforms(cpu.isas) | failing_int16_isas(int16_kernels(), cpu) |
         failing_s16_isas(s16_kernels(), cpu) | failing_isas(depthwise_kernels(), cpu);
}

}  // namespace

Machine conv_machine() { return tested_machine(find_out, &failed); }

}  // namespace octet
