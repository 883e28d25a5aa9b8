// On AArch64.
#include "kernels/arm/neon_bytes.h"

namespace octet {

const MicroKernel neon_s8s8_4x64x16 = bytes_kernel<false>("neon_s8s8_4x64x16");
const MicroKernel neon_s8s8_least_4x64x16 = bytes_kernel<true>("neon_s8s8_least_4x64x16");

}  // namespace octet
