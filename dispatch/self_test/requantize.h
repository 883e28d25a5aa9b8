// Whether what rounds does it as the numeric contract says, in a thread that rounds to nearest.
#pragma once

#include "kernels/core/micro_kernel.h"
#include "kernels/core/tier_ops.h"

namespace octet {

bool epilogue_is_right(const TierOps& ops);
bool quantizes(const TierOps& ops);
// The narrow exit of a kernel that has one.
bool requantizes(const MicroKernel& kernel, size_t rows, size_t columns);
// Of one that takes strips, there.
bool requantizes_micro_panels(const MicroKernel& kernel);

}  // namespace octet
