// Self-test of kernels and transforms that only convolutions use.
#pragma once

#include "dispatch/cpu/features.h"
#include "dispatch/tables/kernels.h"
#include "kernels/core/winograd_ops.h"

namespace octet {

bool passes_int16(const MicroKernel& kernel);
bool passes(const DepthwiseKernel& kernel);
// requantizing: also test outputs of 8 bits
bool passes(const WinogradOps& transforms, bool requantizing);

// The tiers that failed. failing_transforms: of `tiers`, the ones with wrong transforms. The
// others: of the tiers that `cpu` supports, the ones with a wrong kernel in the list.
IsaMask failing_transforms(IsaMask tiers);
IsaMask failing_int16_isas(const KernelList& kernels, const CpuFeatures& cpu);
IsaMask failing_s16_isas(const KernelList& kernels, const CpuFeatures& cpu);
IsaMask failing_isas(const DepthwiseList& kernels, const CpuFeatures& cpu);

}  // namespace octet
