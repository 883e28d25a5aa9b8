// SPDX-License-Identifier: Apache-2.0
// The table of each tier's functions over elements.
#include "dispatch/tables/elementwise.h"

#include "kernels/generic/functions/portable.h"
#include "kernels/x86/kernels.h"

namespace octet {

#define ELEMENTWISE(tier_id, operations) \
  case TierId::tier_id: return operations;

const ElementwiseOps& elementwise_of(TierId tier_id) {
  switch (tier_id) {
#include "dispatch/tables/kernels.def"
    default: return portable_elementwise;
  }
}

#define FAST_SUM(tier, body) \
  if (tier_id == TierId::tier) return body;

PairsBody add_fixed_of(TierId tier_id) {
#include "dispatch/tables/kernels.def"
  return elementwise_of(tier_id).add_fixed;
}

#define FAST_LOOK_UP(tier, body, needs) \
  if (tier_id == TierId::tier && !((needs) & ~has)) return body;

FunctionBody look_up_of(TierId tier_id, Features has) {
#include "dispatch/tables/kernels.def"
  (void)has;  // no tier of this architecture may have such a row
  return elementwise_of(tier_id).look_up;
}

}  // namespace octet
