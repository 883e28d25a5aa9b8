#include "operators/conv/layouts.h"

#include "dispatch/tables/formats.h"
#include "dispatch/tables/tiers.h"

namespace octet {

RhsLayout conv_layout(const ConvMethod& method, Isa isa, bool rhs_u8, bool weight_zero_points) {
  const Tier& tier = tier_of(isa);
  switch (method.operands) {
    case KernelKind::kBytes: break;
    case KernelKind::kWords: return form_of(tier.words).layout;
    case KernelKind::kDepthwise:
      return form_of(weight_zero_points ? tier.depthwise_words : tier.depthwise).layout;
    case KernelKind::kGrouped: return form_of(tier.grouped).layout;
  }
  return layout_of(isa, rhs_u8 && method.keeps_u8);
}

}  // namespace octet
