// SPDX-License-Identifier: Apache-2.0
// s16 x s16 -> s32 on AArch32, up to 4 rows x 8 columns (shared/neon_int16.h).
#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/neon_int16.h"

namespace octet {

const MicroKernel neon_s16s16_4x8x1 = int16_kernel_of("neon_s16s16_4x8x1");

}  // namespace octet
