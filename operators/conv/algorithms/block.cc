// SPDX-License-Identifier: Apache-2.0
// Multiplies a block of output pixels whose lhs an algorithm has prepared.
#include "operators/conv/algorithms/block.h"

namespace octet {

void multiply_block(const ConvPlan& plan, const Taps& taps, const ConvTask& task, size_t group,
                    const Prepared& prepared, Block* block) {
  const MacroKernel macro_kernel = macro_kernel_of(plan, taps);
  const size_t group_out = plan.shape.group_out(), first = group * group_out;
  if (plan.touch && block->tiles)
    plan.touch(block->tiles, block->tile_count * sizeof *block->tiles, true);
  prepare(macro_kernel, plan.columns, prepared.at, prepared.workspace, block);
  multiply(macro_kernel, weights_of(plan, taps, group), *block, larger(task.n0, first) - first,
           smaller(task.n1, first + group_out) - first);
}

}  // namespace octet
