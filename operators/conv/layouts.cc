// SPDX-License-Identifier: Apache-2.0
// Chooses the layout of an algorithm's weights on a tier.
#include "operators/conv/layouts.h"

#include "dispatch/tables/formats.h"
#include "dispatch/tables/tiers.h"

namespace octet {

RhsLayout conv_layout(const ConvAlgorithm& implementation, TierId tier_id, ElementType rhs_type,
                      bool weight_zero_points) {
  const Tier& tier = tier_of(tier_id);
  switch (implementation.operands) {
    case KernelKind::kInt8: break;
    case KernelKind::kInt16: return format_of(tier.s16).layout;
    case KernelKind::kDepthwise:
      return format_of(weight_zero_points ? tier.depthwise_int16 : tier.depthwise).layout;
    case KernelKind::kGrouped:
      return format_of(weight_zero_points ? tier.grouped_int16 : tier.grouped).layout;
  }
  return layout_of(tier_id, implementation.keeps_u8 ? rhs_type : ElementType::kS8);
}

}  // namespace octet
