// SPDX-License-Identifier: Apache-2.0
// The table of each tier's operations besides multiplying (row work, epilogue).
#include "dispatch/tables/tier_ops.h"

#include "kernels/arm/kernels.h"
#include "kernels/generic/portable.h"
#include "kernels/scalar/kernels.h"
#include "kernels/x86/kernels.h"

namespace octet {

#define TIER(tier_id, operations, transforms) \
  case TierId::tier_id: return operations;

const TierOps& ops_of(TierId tier_id) {
  switch (tier_id) {
#include "dispatch/tables/kernels.def"
    default: return portable_ops;
  }
}

}  // namespace octet
