// SPDX-License-Identifier: Apache-2.0
// The predicted cost of a created convolution, from its algorithm's estimate, and of its tiles.
#pragma once

#include "dispatch/cpu/features.h"
#include "operators/conv/algorithms/estimate.h"
#include "operators/conv/object.h"

namespace octet {

struct ConvCost {
  Estimate far;   // with its tensors in the cache or memory where they fit
  Estimate near;  // with its tensors in L2
};
ConvCost cost_of(const octet_conv2d& conv, size_t batch, size_t in_h, size_t in_w,
                 const CpuFeatures& cpu);
TileCycles tile_cycles_of(const octet_conv2d& conv, const CpuFeatures& cpu);

}  // namespace octet
