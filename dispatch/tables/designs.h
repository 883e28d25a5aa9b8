// Designs of CPU cores (microarchitectures): how one is recognized, and the costs that its tiers
// have on it.
#pragma once

#include "dispatch/tables/tiers.h"
#include "octet/octet.h"

namespace octet {

struct CpuDesign {
  octet_cpu_design design;
  const char* name;       // as pytorch/cpuinfo spells it, where that knows it
  octet_cpu_design like;  // whose costs it has: itself, or one that does as much in a cycle
  IsaMask measured;       // tiers whose costs were fitted to measurements of this design
};

const CpuDesign* nth_design(size_t index);  // null past the last
const CpuDesign* find_design(int design);   // null if there is none of this value

// What CPUID and MIDR_EL1 say. vendor: "AuthenticAMD", "GenuineIntel". features: what a design that
// is newer than the table is taken for the nearest one by.
octet_cpu_design x86_design(const char* vendor, uint32_t family, uint32_t model, Features features);
octet_cpu_design arm_design(uint32_t midr);

// The tier's costs, with those that the design has otherwise.
TierCosts costs_of(const Tier& tier, octet_cpu_design design);
bool has_measured_costs(const Tier& tier, octet_cpu_design design);

}  // namespace octet
