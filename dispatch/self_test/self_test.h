// A CPU, an emulator or a compiler that lies must not cost anybody a wrong byte: small products of
// extreme values, and accumulators that are hard to round, are known beforehand.
#pragma once

#include "dispatch/cpu/features.h"
#include "dispatch/tables/kernels.h"
#include "kernels/core/tier_ops.h"

namespace octet {

// This thread. Where it does not, nothing that rounds is looked at.
bool rounds_to_nearest();

bool passes(const TierOps& ops);
bool passes(const MicroKernel& kernel);  // of bytes

// The tiers that `cpu` supports and that got something wrong: their operations or these kernels.
IsaMask failing_isas(const KernelList& kernels, const CpuFeatures& cpu);
// Whether those that no tier depends on (kOptional) are right.
bool passes_optional(const KernelList& kernels, const CpuFeatures& cpu);

}  // namespace octet
