// Decides whether this process asks for AMX's tile registers.
#include "dispatch/cpu/permission.h"

#include "dispatch/tables/tiers.h"

namespace octet {

Features permitted(Features found, IsaMask wanted, bool (*ask)()) {
  constexpr Features kAsked = kHasAmxInt8;
  if (!(found & kAsked)) return found;
  const bool may_be_used = tiers_of(found) & ~tiers_of(found & ~kAsked) & wanted;
  return may_be_used && ask() ? found : found & ~kAsked;
}

}  // namespace octet
