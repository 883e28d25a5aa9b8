// Whether what rounds does it as the numeric contract says, in a thread that rounds to nearest.
#pragma once

#include "kernels/core/micro_kernel.h"
#include "kernels/core/tier_ops.h"

namespace octet {

bool finishes(const TierOps& ops);
bool quantizes(const TierOps& ops);
// The narrow exit of a kernel that has one.
bool narrows(const MicroKernel& kernel, size_t rows, size_t columns);
// Of one that takes strips, there.
bool narrows_strips(const MicroKernel& kernel);

}  // namespace octet
