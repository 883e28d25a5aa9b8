// SPDX-License-Identifier: Apache-2.0
// Kernel names. This file refers to no kernel, so a lookup links none.
#pragma once

#include <stddef.h>

#include "kernels/core/feature.h"
#include "kernels/core/tier_id.h"

namespace octet {

TierMask compiled_tiers();

struct KernelName {
  const char* name;
  TierId tier_id;
  bool forced_only;    // chosen only if OCTET_KERNEL names it
  Features needs = 0;  // beyond its tier's
};
const KernelName* kernel_name(size_t index);           // null past the last
const KernelName* find_kernel_name(const char* name);  // null if no kernel has this name
inline bool kernel_exists(const char* name) { return find_kernel_name(name); }

}  // namespace octet
