// Looks up a tier's product by weights in scale blocks.
#pragma once

#include "kernels/core/isa.h"
#include "kernels/core/scale_blocks.h"

namespace octet {

const ScaleBlockKernel& scale_block_kernel_of(Isa isa);  // the portable one's where isa has none

}  // namespace octet
