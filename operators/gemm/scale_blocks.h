// SPDX-License-Identifier: Apache-2.0
// Products by packed weights in scale blocks: the plan's part, and the loops of a task.
#pragma once

#include "kernels/core/sections.h"
#include "operators/gemm/loops.h"

namespace octet {

// Bytes of a task's workspace for such a product, besides quantized rows.
void lay_out_scale_blocks(const GemmPlan& plan, size_t k, Sections* sections, GemmSections* at);

// Multiplies a block of rows, which read_lhs prepared as s8, by columns of the task. index: of the
// matrix of weights.
void multiply_scale_blocks(const GemmRun& run, size_t index, const GemmTask& task,
                           const Block& block, uint8_t* workspace);

}  // namespace octet
