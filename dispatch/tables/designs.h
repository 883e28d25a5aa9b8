// SPDX-License-Identifier: Apache-2.0
// CPU core designs (microarchitectures): how a design is recognized, and its tiers' costs.
#pragma once

#include "dispatch/tables/tiers.h"
#include "octet/octet.h"

namespace octet {

struct CpuDesign {
  octet_cpu_design design;
  const char* name;  // pytorch/cpuinfo's spelling, where it knows the design
  // the design whose costs are used: itself, or one with the same throughput
  octet_cpu_design like;
  TierMask measured;  // tiers whose costs were fitted to measurements on this design
};

const CpuDesign* nth_design(size_t index);  // null past the last
const CpuDesign* find_design(int design);   // null if no design has this value

// Recognizes a design by CPUID or MIDR_EL1. vendor: "AuthenticAMD", "GenuineIntel". features:
// decide which known design stands in for one that is newer than the table.
octet_cpu_design x86_design(const char* vendor, uint32_t family, uint32_t model, Features features);
octet_cpu_design arm_design(uint32_t midr);

// The tier's costs on this design.
TierCosts costs_of(const Tier& tier, octet_cpu_design design);
bool has_measured_costs(const Tier& tier, octet_cpu_design design);

}  // namespace octet
