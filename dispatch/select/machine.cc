// SPDX-License-Identifier: Apache-2.0
// Detects this machine once.
#include "dispatch/select/machine.h"

#include "dispatch/select/kept.h"
#include "dispatch/self_test/self_test.h"
#include "dispatch/tables/kernel_names.h"

namespace octet {
namespace {

struct Found {
  CpuFeatures cpu;
  TierMask demoted;
};

Kept<Found> kept_machine;
Kept<Microarchitecture> kept_microarchitecture;

Found find_out() {
  CpuFeatures cpu = detect_cpu();
  cpu.trusts_optional = passes_optional(conv_kernels(), cpu);
  return {cpu, demoted_tiers(cpu)};
}

}  // namespace

Machine this_machine() {
  Found found;
  if (!kept_machine.read(&found)) {
    found = find_out();
    // In another rounding mode the rounding tests did not run, so the result is not kept
    if (rounds_to_nearest()) kept_machine.keep(found);
  }
  Machine machine = {};
  machine.compiled = compiled_tiers();
  machine.detected = found.cpu.tiers & machine.compiled;
  machine.demoted = found.demoted;
  machine.cpu = found.cpu;
  machine.cpu.tiers = machine.detected & ~machine.demoted;
  return machine;
}

Microarchitecture this_microarchitecture() {
  Microarchitecture found;
  if (kept_microarchitecture.read(&found)) return found;
  found = detect_microarchitecture();
  kept_microarchitecture.keep(found);
  return found;
}

}  // namespace octet
