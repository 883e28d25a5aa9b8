// SPDX-License-Identifier: Apache-2.0
// Draws cases with any combination of features that create accepts, from a seed.
#pragma once

#include "support/conv_case.h"
#include "support/gemm_case.h"

namespace octet_test {

// Types that the kernel takes, sizes around its tile; null: any, and the best kernel.
GemmCase random_gemm(uint32_t seed, const MicroKernel* kernel);
ConvCase random_conv(uint32_t seed);

}  // namespace octet_test
