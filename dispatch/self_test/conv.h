// The self-test of what only convolutions use.
#pragma once

#include "dispatch/cpu/features.h"
#include "dispatch/tables/kernels.h"
#include "kernels/core/winograd_ops.h"

namespace octet {

bool passes_int16(const MicroKernel& kernel);
bool passes(const DepthwiseKernel& kernel);
bool passes(const WinogradOps& transforms, bool requantizing);  // narrowing: also to 8 bits

// The tiers that got something wrong: of those whose transforms are asked for, or that `cpu`
// supports and that have kernels in the list.
IsaMask failing_transforms(IsaMask tiers);
IsaMask failing_int16_isas(const KernelList& kernels, const CpuFeatures& cpu);
IsaMask failing_isas(const DepthwiseList& kernels, const CpuFeatures& cpu);

}  // namespace octet
