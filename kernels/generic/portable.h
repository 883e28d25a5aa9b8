// What a tier needs besides its kernels, compiled for the baseline: for ISAs that need no build of
// their own. On aarch64 the baseline is NEON already.
#pragma once

#include "kernels/core/tier_ops.h"
#include "kernels/core/winograd_ops.h"

namespace octet {
extern const TierOps portable_ops;
extern const WinogradOps portable_winograd;
}  // namespace octet
