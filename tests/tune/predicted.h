// The origin that explain reports for a choice that the built-in costs of a tier predict here.
#pragma once

#include "dispatch/select/machine.h"
#include "dispatch/tables/designs.h"

namespace octet_test {

inline const char* predicted(const octet::Tier& tier) {
  return octet::has_measured_costs(tier, octet::this_microarchitecture().design)
             ? "predicted"
             : "predicted, costs not measured";
}

}  // namespace octet_test
