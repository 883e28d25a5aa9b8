// SPDX-License-Identifier: Apache-2.0
// Looks up a tier's product by weights in scale blocks.
#pragma once

#include "kernels/core/scale_blocks.h"
#include "kernels/core/tier_id.h"

namespace octet {

// The portable tier's where the tier has none.
const ScaleBlockKernel& scale_block_kernel_of(TierId tier_id);

}  // namespace octet
