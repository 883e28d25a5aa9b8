// SPDX-License-Identifier: Apache-2.0
// s8 x u4 in scale blocks -> f32 sums, for DOTPROD: see shared/neon_scale_blocks.h.
#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/neon_scale_blocks.h"

namespace octet {
const ScaleBlockKernel dotprod_s8u4_blocks_4x16x8 =
    scale_block_kernel("dotprod_s8u4_blocks_4x16x8", TierId::kDotprod);
}  // namespace octet
