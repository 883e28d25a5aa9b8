// On AArch64.
#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/neon_shallow.h"

namespace octet {

const MicroKernel neon_s8s8_4x64x16 = bytes_kernel<false, multiply_any<false>>("neon_s8s8_4x64x16");
const MicroKernel neon_s8s8_least_4x64x16 =
    bytes_kernel<true, multiply_any<true>>("neon_s8s8_least_4x64x16");

}  // namespace octet
