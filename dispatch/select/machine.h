// SPDX-License-Identifier: Apache-2.0
// This machine, detected once: the CPU's features minus the tiers that fail the self-test. Caches,
// cores and their design are detected when they are first needed.
#pragma once

#include "dispatch/cpu/features.h"

namespace octet {

struct Machine {
  CpuFeatures cpu;  // the tiers that may be used
  TierMask compiled, detected, demoted;
};

// Detects instructions only: caches, cores and the design stay unknown.
Machine this_machine();
// this_machine() minus the tiers that fail the self-test of what only products of matrices use. The
// test runs once, at the first product.
Machine gemm_machine();
Microarchitecture this_microarchitecture();

// Sets cpu's caches, cores and design to those of this machine.
inline void add_microarchitecture(CpuFeatures* cpu) {
  const Microarchitecture found = this_microarchitecture();
  cpu->caches = found.caches;
  cpu->cores = found.cores;
  cpu->design = found.design;
}

}  // namespace octet
