// SPDX-License-Identifier: Apache-2.0
// Fails every program of tests at its end if the self-test demoted a tier: suites skip that tier,
// and its wrong kernels would pass.
#pragma once

#include <cstdio>

#include "dispatch/tables/tiers.h"
#include "operators/conv/machine.h"

namespace octet_test {

inline bool is_anything_demoted() {
  const octet::Machine machine = octet::conv_machine();
  for (size_t i = 0; const octet::Tier* tier = octet::nth_tier(i); ++i)
    if (octet::has(machine.demoted, *tier))
      std::fprintf(stderr, "The self-test demoted %s: nothing else of it was tested.\n",
                   tier->name);
  if (!machine.cpu.trusts_optional)
    std::fprintf(stderr, "A kernel that is only tried failed: nothing else of it was tested.\n");
  return machine.demoted || !machine.cpu.trusts_optional;
}

}  // namespace octet_test
