// On AArch32.
#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/neon_int8.h"

namespace octet {

const MicroKernel neon_s8s8_2x64x16 = bytes_kernel<false>("neon_s8s8_2x64x16");
const MicroKernel neon_s8s8_least_2x64x16 = bytes_kernel<true>("neon_s8s8_least_2x64x16");

}  // namespace octet
