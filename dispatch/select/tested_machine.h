// SPDX-License-Identifier: Apache-2.0
// This machine minus the tiers that fail a part's own self-test, which runs once, when the part is
// first used.
#pragma once

#include "dispatch/select/kept.h"
#include "dispatch/select/machine.h"
#include "dispatch/self_test/self_test.h"

namespace octet {

// failing: the tiers of a CPU that fail the test. failed: keeps them.
inline Machine tested_machine(TierMask (*failing)(const CpuFeatures& cpu), Kept<TierMask>* failed) {
  Machine machine = this_machine();
  TierMask demoted;
  if (!failed->read(&demoted)) {
    demoted = failing(machine.cpu);
    // In another rounding mode nothing that rounds was tested, so the next call tests again
    if (rounds_to_nearest()) failed->keep(demoted);
  }
  machine.demoted |= demoted;
  machine.cpu.tiers &= ~demoted;
  return machine;
}

}  // namespace octet
