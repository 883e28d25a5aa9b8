// SPDX-License-Identifier: Apache-2.0
// Predicts the cost of a created convolution.
#include "operators/conv/cost.h"

#include "dispatch/tables/designs.h"

namespace octet {

ConvCost cost_of(const octet_conv2d& conv, size_t batch, size_t in_h, size_t in_w,
                 const CpuFeatures& cpu) {
  const ConvPlan& plan = conv.plan;
  ConvShape shape = plan.shape;
  shape.batch = batch, shape.in_h = in_h, shape.in_w = in_w;
  const Tier& tier = tier_of(plan.kernel ? plan.kernel->tier_id : plan.depthwise->tier_id);
  const TierCosts costs = costs_of(tier, cpu.design);
  const auto estimate = [&](size_t l2) {
    return plan.implementation->estimate({shape, conv.choice.layout, costs, l2, cpu.l3_bytes()});
  };
  return {estimate(cpu.l2_bytes()), estimate(SIZE_MAX / 2)};
}

constexpr double kAnyRowBytes = TierCosts{}.row_bytes;

TileCycles tile_cycles_of(const octet_conv2d& conv, const CpuFeatures& cpu) {
  const ConvPlan& plan = conv.plan;
  if (!plan.kernel) return {};
  const TierCosts costs = costs_of(tier_of(plan.kernel->tier_id), cpu.design);
  const ConvWork work(plan.shape, conv.choice.layout, costs, cpu.l2_bytes(), cpu.l3_bytes());
  const size_t columns = conv.choice.layout.lanes(plan.shape.group_out());
  const double weights = (double)(plan.shape.group_in() * columns),
               tiles = (double)divide_up(columns, costs.nr),
               bandwidth = work.bandwidth(work.weights),
               // Unmeasured, no less than a stream's
      least = costs.row_bytes == kAnyRowBytes ? bandwidth : 0,
               near = work.weights <= work.l2 ? larger(least, costs.row_bytes) : bandwidth;
  return {weights / costs.macs, weights / near, tiles * costs.tile_tap, tiles * costs.tile};
}

}  // namespace octet
