// SPDX-License-Identifier: Apache-2.0
// The origin that explain reports for a choice that the built-in costs of a tier predict here.
#pragma once

#include "dispatch/select/machine.h"
#include "dispatch/tables/designs.h"
#include "dispatch/tuning/tuning.h"

namespace octet_test {

inline const char* predicted(const octet::Tier& tier) {
  const bool measured = octet::has_measured_costs(tier, octet::this_microarchitecture().design);
  return octet::origin_of(
      false, measured ? octet::CostsOrigin::kBuiltIn : octet::CostsOrigin::kNotMeasured);
}

}  // namespace octet_test
