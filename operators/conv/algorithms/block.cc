// Sizes of a block of output pixels, and the weights of a channel group.
#include "operators/conv/algorithms/block.h"

namespace octet {

size_t conv_block_rows(const ConvPlan& plan, size_t bytes_per_row) {
  const size_t mr = plan.kernel->mr;
  return larger(plan.cache_bytes / 2 / bytes_per_row / mr, 1) * mr;
}

Weights weights_of(const ConvPlan& plan, const Taps& taps, size_t group) {
  const ConvPanels p = read_panels(plan.kernel->rhs_layout, plan.shape, taps, plan.payload);
  const size_t first = group * plan.shape.group_out();
  return {p.of_group(group),
          p.lanes,
          p.lane_bytes,
          first,
          plan.columns.from(first),
          p.group_sums + first,
          p.group_sums_stride};
}

}  // namespace octet
