// The table of each tier's product by weights in scale blocks.
#include "dispatch/tables/scale_block_kernels.h"

#include "kernels/arm/kernels.h"
#include "kernels/core/parts.h"
#include "kernels/scalar/kernels.h"
#include "kernels/x86/kernels.h"

namespace octet {

#define SCALE_BLOCKS(isa, kernel) \
  case Isa::isa: return OCTET_IF(INT4, kernel, scalar_s8u4_blocks_1x16x8);

const ScaleBlockKernel& scale_block_kernel_of(Isa isa) {
  switch (isa) {
#include "dispatch/tables/kernels.def"
    default: return scalar_s8u4_blocks_1x16x8;
  }
}

}  // namespace octet
