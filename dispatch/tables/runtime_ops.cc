// SPDX-License-Identifier: Apache-2.0
// The table of each tier's work on weights that come with a run.
#include "dispatch/tables/runtime_ops.h"

#include "kernels/core/parts.h"
#include "kernels/x86/kernels.h"

namespace octet {

#define RUNTIME(tier_id, operations) \
  case TierId::tier_id: return OCTET_IF(RUNTIME_WEIGHTS, &operations, nullptr);

const RuntimeOps* runtime_ops_of(TierId tier_id) {
  switch (tier_id) {
#include "dispatch/tables/kernels.def"
    default: return nullptr;
  }
}

}  // namespace octet
