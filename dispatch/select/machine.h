// This machine, found out once: detected features, minus the tiers that fail the self-test; and, at
// the first time that they are needed, caches, cores and their design.
#pragma once

#include "dispatch/cpu/features.h"

namespace octet {

struct Machine {
  CpuFeatures cpu;  // what may be used
  IsaMask compiled, detected, demoted;
};

// Its instructions: caches, cores and design are left unknown.
Machine this_machine();
Microarchitecture this_microarchitecture();

// This machine's, in place of what is known there.
inline void add_microarchitecture(CpuFeatures* cpu) {
  const Microarchitecture found = this_microarchitecture();
  cpu->caches = found.caches;
  cpu->cores = found.cores;
  cpu->design = found.design;
}

}  // namespace octet
