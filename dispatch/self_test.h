#pragma once

#include "dispatch/kernel_table.h"

namespace octet {

// Runs a small product of extreme values through every kernel of the list that `cpu` supports, and
// accumulators that are hard to round through all that turns them into outputs; returns the tiers
// that got any of it wrong: a CPU, an emulator or a compiler that lies must not cost anybody a
// wrong byte. Where this thread does not round to nearest, nothing that rounds is looked at.
IsaMask failing_isas(const KernelList& kernels, const CpuFeatures& cpu);
IsaMask failing_isas(const DepthwiseList& kernels, const CpuFeatures& cpu);

bool rounds_to_nearest();  // this thread

}  // namespace octet
