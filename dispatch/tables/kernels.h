// The kernel tables, one row per kernel. Selection, forcing, tests and benchmarks read them.
#pragma once

#include "dispatch/tables/table.h"
#include "kernels/core/depthwise_kernel.h"

namespace octet {

using KernelList = Table<MicroKernel>;
using DepthwiseList = Table<DepthwiseKernel>;

// The compiled-in kernels. Each list has its own file, so products of matrices link only the first.
KernelList int8_kernels();
KernelList int16_kernels();
DepthwiseList depthwise_kernels();

}  // namespace octet
