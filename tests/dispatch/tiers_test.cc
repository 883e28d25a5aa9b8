// SPDX-License-Identifier: Apache-2.0
// Prints how the other programs of this build cover each tier here, in a line for scripts/test.
// They skip the tiers that this one calls not covered. argv[1] is the word for a tier that the CPU
// has.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "dispatch/select/machine.h"
#include "dispatch/tables/tiers.h"

int main(int, char** argv) {
  const octet::Machine machine = octet::this_machine();
  const char* variable = std::getenv("OCTET_EMULATE");
  const std::string emulated = variable ? variable : "";
  for (size_t i = 0; const octet::Tier* tier = octet::nth_tier(i); ++i) {
    if (!octet::has(octet::tiers_of_this_architecture(), *tier)) continue;
    const std::string name = tier->name;
    const bool covered = octet::has(machine.cpu.tiers, *tier);
    const char* how = !covered ? "not at all" : name == emulated ? "emulated" : argv[1];
    std::printf("tier %s: %s\n", name.c_str(), how);
  }
  if (machine.demoted) std::printf("A tier of this CPU fails its self-test.\n");
  return machine.demoted != 0;
}
