// SPDX-License-Identifier: Apache-2.0
// s8 x u4 in scale blocks -> f32 sums, for AVX2: see tile.h.
#include "kernels/x86/kernels.h"
#include "kernels/x86/scale_blocks/tile.h"

namespace octet {
const ScaleBlockKernel avx2_s8u4_blocks_4x16x8 =
    scale_block_kernel("avx2_s8u4_blocks_4x16x8", TierId::kAvx2);
}  // namespace octet
