// SPDX-License-Identifier: Apache-2.0
// s8 x s4 -> s32 or 8 bits: decodes weights for neon_s8s8_4x64x16.cc.
#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/neon_int4.h"

namespace octet {

const MicroKernel neon_s8s4_4x64x32 =
    int4_kernel_of<neon_s8s4_4x64x32, neon_s8s8_4x64x16, 4>("neon_s8s4_4x64x32");

}  // namespace octet
