// SPDX-License-Identifier: Apache-2.0
// Which tiers the tuner measures.
#pragma once

#include "dispatch/tables/kernel_names.h"
#include "dispatch/tables/tiers.h"

namespace octet {

// Portable kernels are many times slower than any other tier's.
inline bool worth_a_try(const CpuFeatures& cpu, TierId tier_id) {
  return tier_id != kPortableTier || !(cpu.tiers & ~mask_of(kPortableTier) & compiled_tiers());
}

}  // namespace octet
