// Kernels, one row each: they drive selection, forcing, tests and benches.
#pragma once

#include "dispatch/tables/table.h"
#include "kernels/core/depthwise_kernel.h"

namespace octet {

using KernelList = Table<MicroKernel>;
using DepthwiseList = Table<DepthwiseKernel>;

// Those compiled in, each list in a file of its own: products of matrices need only the first.
KernelList int8_kernels();
KernelList int16_kernels();
DepthwiseList depthwise_kernels();

}  // namespace octet
