// s8 x s8 -> s32 or 8 bits on AArch32, up to 2 rows x 64 columns (shared/neon_int8.h).
#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/neon_int8.h"

namespace octet {

const MicroKernel neon_s8s8_2x64x16 = int8_kernel_of<false>("neon_s8s8_2x64x16");
const MicroKernel neon_s8s8_int8min_2x64x16 = int8_kernel_of<true>("neon_s8s8_int8min_2x64x16");

}  // namespace octet
