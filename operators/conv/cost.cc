// Predicts the cost of a created convolution.
#include "operators/conv/cost.h"

#include "dispatch/tables/designs.h"

namespace octet {

ConvCost cost_of(const octet_conv2d& conv, size_t batch, size_t in_h, size_t in_w,
                 const CpuFeatures& cpu) {
  const ConvPlan& plan = conv.plan;
  ConvShape shape = plan.shape;
  shape.batch = batch, shape.in_h = in_h, shape.in_w = in_w;
  const Tier& tier = tier_of(plan.kernel ? plan.kernel->isa : plan.depthwise->isa);
  const TierCosts costs = costs_of(tier, cpu.design);
  const auto estimate = [&](size_t l2) {
    return plan.implementation->estimate({shape, conv.choice.layout, costs, l2, cpu.l3_bytes()});
  };
  return {estimate(cpu.l2_bytes()), estimate(SIZE_MAX / 2)};
}

}  // namespace octet
