// This machine, found out once: detected features, minus the tiers that fail the self-test.
#pragma once

#include "dispatch/cpu_features.h"

namespace octet {

struct Machine {
  CpuFeatures cpu;  // what may be used
  IsaMask compiled, detected, demoted;
};

Machine this_machine();

}  // namespace octet
