// SPDX-License-Identifier: Apache-2.0
// The table of each tier's product by weights in scale blocks.
#include "dispatch/tables/scale_block_kernels.h"

#include "kernels/arm/kernels.h"
#include "kernels/core/parts.h"
#include "kernels/scalar/kernels.h"
#include "kernels/x86/kernels.h"

namespace octet {

#define SCALE_BLOCKS(tier_id, kernel) \
  case TierId::tier_id: return OCTET_IF(INT4, kernel, scalar_s8u4_blocks_1x16x8);

const ScaleBlockKernel& scale_block_kernel_of(TierId tier_id) {
  switch (tier_id) {
#include "dispatch/tables/kernels.def"
    default: return scalar_s8u4_blocks_1x16x8;
  }
}

}  // namespace octet
