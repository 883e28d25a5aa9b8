// How the other programs of this build cover each tier here, in a line for scripts/test. They skip
// the tiers that this one calls not covered. argv[1]: what to call a tier that the CPU has.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "dispatch/kernel_table.h"
#include "dispatch/machine.h"

int main(int, char** argv) {
  const octet::Machine machine = octet::this_machine();
  const char* variable = std::getenv("OCTET_EMULATE");
  const std::string emulated = variable ? variable : "";
  for (int i = 31; i >= 0; --i) {
    if (!(octet::kArchitecture >> i & 1)) continue;
    const std::string name = octet::isa_name(static_cast<octet::Isa>(i));
    const bool covered = machine.cpu.isas >> i & 1;
    const char* how = !covered ? "not at all" : name == emulated ? "emulated" : argv[1];
    std::printf("tier %s: %s\n", name.c_str(), how);
  }
  if (machine.demoted) std::printf("A tier of this CPU fails its self-test.\n");
  return machine.demoted != 0;
}
