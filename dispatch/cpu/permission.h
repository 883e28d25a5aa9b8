// SPDX-License-Identifier: Apache-2.0
// Features that a process has only after it has asked the operating system for their registers.
#pragma once

#include "kernels/core/feature.h"
#include "kernels/core/tier_id.h"

namespace octet {

// Returns `found` without the features on request if no tier of `wanted` needs them, or the system
// refuses. `ask` is called only where the answer matters: permission is given to the whole process,
// for good.
Features permitted(Features found, TierMask wanted, bool (*ask)());

}  // namespace octet
