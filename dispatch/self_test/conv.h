// SPDX-License-Identifier: Apache-2.0
// Self-test of kernels and transforms that only convolutions use.
#pragma once

#include "dispatch/cpu/features.h"
#include "dispatch/tables/kernels.h"
#include "kernels/core/winograd_ops.h"

namespace octet {

bool passes_int16(const MicroKernel& kernel);
bool passes(const DepthwiseKernel& kernel);
bool passes(const ByteWindowsKernel& kernel);
// kernel_flags: of the kernels whose outputs these transforms requantize
bool passes(const WinogradOps& transforms, uint16_t kernel_flags);

// The tiers that failed. failing_transforms: of `tiers`, the ones with wrong transforms. The
// others: of the tiers that `cpu` supports, the ones with a wrong kernel in the list.
TierMask failing_transforms(TierMask tiers);
TierMask failing_int16_tiers(const KernelList& kernels, const CpuFeatures& cpu);
TierMask failing_s16_tiers(const KernelList& kernels, const CpuFeatures& cpu);
TierMask failing_tiers(const DepthwiseList& kernels, const CpuFeatures& cpu);

}  // namespace octet
