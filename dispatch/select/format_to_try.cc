// SPDX-License-Identifier: Apache-2.0
// Decides by sizes whether packing tries a format that suits some weights only.
#include "dispatch/select/format_to_try.h"

#include "dispatch/tables/kernel_names.h"
#include "dispatch/tables/kernels.h"
#include "dispatch/tables/tiers.h"

namespace octet {

const WeightFormat* format_to_try(TierMask tiers, size_t lanes, size_t columns, size_t depth) {
  const Tier& tier = tier_of(best_of(tiers & compiled_tiers()));
  if (tier.try_first == FormatId::kNone || lanes < tier.try_lanes ||
      depth < (columns <= 4 ? tier.try_few : tier.try_depth))
    return nullptr;
  const WeightFormat& format = format_of(tier.try_first);
  for (const MicroKernel* kernel : conv_kernels())
    if (tiers & mask_of(kernel->tier_id) && kernel->rhs_layout == format.layout) return &format;
  return nullptr;
}

}  // namespace octet
