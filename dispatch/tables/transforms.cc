// SPDX-License-Identifier: Apache-2.0
// The table of each tier's Winograd transforms.
#include "dispatch/tables/transforms.h"

#include "kernels/arm/kernels.h"
#include "kernels/core/parts.h"
#include "kernels/generic/portable.h"
#include "kernels/scalar/kernels.h"
#include "kernels/x86/kernels.h"

namespace octet {

#define TIER(tier_id, operations, transforms) \
  case TierId::tier_id: return OCTET_IF(WINOGRAD, transforms, kNone);

const WinogradOps& transforms_of(TierId tier_id) {
  [[maybe_unused]] static constexpr WinogradOps kNone = {};
  switch (tier_id) {
#include "dispatch/tables/kernels.def"
    default: return OCTET_IF(WINOGRAD, portable_winograd, kNone);
  }
}

}  // namespace octet
