// SPDX-License-Identifier: Apache-2.0
// Detects once which tiers pass the convolution self-test.
#include "operators/conv/machine.h"

#include "dispatch/select/tested_machine.h"
#include "dispatch/self_test/conv.h"

namespace octet {
namespace {

Kept<TierMask> failed;

TierMask find_out(const CpuFeatures& cpu) {
  return failing_transforms(cpu.tiers) | failing_int16_tiers(int16_kernels(), cpu) |
         failing_s16_tiers(s16_kernels(), cpu) | failing_tiers(depthwise_kernels(), cpu);
}

}  // namespace

Machine conv_machine() { return tested_machine(find_out, &failed); }

}  // namespace octet
