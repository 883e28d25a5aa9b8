// SPDX-License-Identifier: Apache-2.0
// The kernel tables, one row per kernel. Selection, forcing, tests and benchmarks read them.
#pragma once

#include "dispatch/tables/table.h"
#include "kernels/core/depthwise_kernel.h"

namespace octet {

using KernelList = Table<MicroKernel>;
using DepthwiseList = Table<DepthwiseKernel>;

// The compiled-in kernels. Each list has its own file, so products of matrices link only the first,
// and convolutions all but that one.
KernelList int8_kernels();  // and those of int4
KernelList conv_kernels();  // without int4: the kernels that convolutions use, too
KernelList int16_kernels();
// Kernels that read s16 values (kS16) in the place of their tier's int8 kernels, by the same
// weights and in one tap, where sums fit int32; with kRequantizes they make outputs of 16 bits,
// too.
KernelList s16_kernels();
DepthwiseList depthwise_kernels();

}  // namespace octet
