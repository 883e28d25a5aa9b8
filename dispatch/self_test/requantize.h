// SPDX-License-Identifier: Apache-2.0
// Self-test of rounding, against the numeric contract. The thread must round to nearest.
#pragma once

#include "dispatch/self_test/cases.h"
#include "kernels/core/depthwise_kernel.h"
#include "kernels/core/epilogue.h"
#include "kernels/core/micro_kernel.h"
#include "kernels/core/tier_ops.h"

namespace octet {

// cases: kAll.
bool epilogue_is_right(const TierOps& ops, const FloatCases& cases);
// Adds a residual of FloatCases and makes bytes of kRequantizeU8; its scale is not set.
Epilogue residual_epilogue();
bool quantizes(const TierOps& ops);
bool looks_up(const TierOps& ops, Features has);  // by TierOps::look_up
// Tests a walk of a kernel that adds residuals; accumulators start at the cases.
bool adds_residuals(const DepthwiseKernel& kernel, DepthwiseTile tile, const FloatCases& cases);
// Tests a kernel that requantizes its tile.
bool requantizes(const MicroKernel& kernel, size_t rows, size_t columns);
// Tests a kernel that requantizes a whole micro-panel, any number of rows at once.
bool requantizes_micro_panels(const MicroKernel& kernel);

}  // namespace octet
