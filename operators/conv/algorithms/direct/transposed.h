// SPDX-License-Identifier: Apache-2.0
// Transposed convolution without wasted products. Output pixels of the same phase (y % stride_h, x
// % stride_w, counted from the padding) use the same kernel positions, so each phase is a direct
// convolution of stride 1 that writes every stride_w-th pixel of every stride_h-th line. Phases
// along a line may be columns of one product instead (taps.h).
#pragma once

#include "operators/conv/algorithms/taps.h"

namespace octet {

size_t transposed_block(const ConvPlan& plan, const Taps& taps);
size_t transposed_workspace(const ConvPlan& plan, const Taps& taps, size_t out_h, size_t out_w);
void run_transposed(const ConvPlan& plan, const ConvRun& run, const Taps& taps,
                    const ConvTask& task, uint8_t* workspace);

}  // namespace octet
