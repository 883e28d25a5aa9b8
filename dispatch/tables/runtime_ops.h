// SPDX-License-Identifier: Apache-2.0
// Looks up a tier's work on weights that come with a run.
#pragma once

#include "kernels/core/runtime_weights.h"
#include "kernels/core/tier_id.h"

namespace octet {

// Null for a tier that has none of its own.
const RuntimeOps* runtime_ops_of(TierId tier_id);

}  // namespace octet
