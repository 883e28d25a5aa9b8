// SPDX-License-Identifier: Apache-2.0
// The operations and transforms of a tier, compiled for the baseline, for tiers that need no build
// of their own. On aarch64 the baseline includes NEON.
#pragma once

#include "kernels/core/tier_ops.h"
#include "kernels/core/winograd_ops.h"

namespace octet {
extern const TierOps portable_ops;
extern const WinogradOps portable_winograd;
}  // namespace octet
