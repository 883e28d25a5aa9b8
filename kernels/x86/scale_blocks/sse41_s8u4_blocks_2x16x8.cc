// SPDX-License-Identifier: Apache-2.0
// s8 x u4 in scale blocks -> f32 sums, for SSE4.1: see tile.h.
#include "kernels/x86/kernels.h"
#include "kernels/x86/scale_blocks/tile.h"

namespace octet {
const ScaleBlockKernel sse41_s8u4_blocks_2x16x8 =
    scale_block_kernel("sse41_s8u4_blocks_2x16x8", TierId::kSse41);
}  // namespace octet
