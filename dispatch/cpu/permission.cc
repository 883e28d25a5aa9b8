// SPDX-License-Identifier: Apache-2.0
// Decides whether this process asks for registers.
#include "dispatch/cpu/permission.h"

#include "dispatch/tables/tiers.h"

namespace octet {

Features permitted(Features found, TierMask wanted, bool (*ask)()) {
  const Features without = found & ~kFeaturesOnRequest;
  if (found == without) return found;
  const bool may_be_used = tiers_of(found) & ~tiers_of(without) & wanted;
  return may_be_used && ask() ? found : without;
}

}  // namespace octet
