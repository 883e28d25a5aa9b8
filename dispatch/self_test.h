#pragma once

#include "dispatch/kernel_table.h"

namespace octet {

// Runs a small product of extreme values through every kernel of the list that `cpu` supports and returns the tiers that got it wrong:
// a CPU, an emulator or a compiler that lies must not cost anybody a wrong byte.
IsaMask failing_isas(const KernelList& kernels, const CpuFeatures& cpu);
IsaMask failing_isas(const DepthwiseList& kernels, const CpuFeatures& cpu);

}  // namespace octet
