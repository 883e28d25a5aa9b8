// SPDX-License-Identifier: Apache-2.0
// s8 x u4 in scale blocks -> f32 sums, for NEON: see shared/neon_scale_blocks.h.
#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/neon_scale_blocks.h"

namespace octet {
const ScaleBlockKernel neon_s8u4_blocks_2x16x8 =
    scale_block_kernel("neon_s8u4_blocks_2x16x8", TierId::kNeon);
}  // namespace octet
