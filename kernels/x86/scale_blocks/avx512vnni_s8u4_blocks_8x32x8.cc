// SPDX-License-Identifier: Apache-2.0
// s8 x u4 in scale blocks -> f32 sums, for AVX512-VNNI: see tile.h.
#include "kernels/x86/kernels.h"
#include "kernels/x86/scale_blocks/tile.h"

namespace octet {
const ScaleBlockKernel avx512vnni_s8u4_blocks_8x32x8 =
    scale_block_kernel("avx512vnni_s8u4_blocks_8x32x8", TierId::kAvx512Vnni);
}  // namespace octet
