// s8 x s8 -> s32 or 8 bits on AArch64, up to 4 rows x 64 columns (shared/neon_int8.h).
#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/neon_flipped.h"
#include "kernels/arm/shared/neon_shallow.h"

namespace octet {
namespace {

template <bool int8_min>
void multiply_any(const Tile& t) {
  if (Shallow::takes(t)) return multiply_shallow<int8_min>(t);
  Flipped::takes(t) ? multiply_flipped<int8_min>(t) : dispatch<int8_min>(t);
}

}  // namespace

const MicroKernel neon_s8s8_4x64x16 =
    int8_kernel_of<false, multiply_any<false>>("neon_s8s8_4x64x16");
const MicroKernel neon_s8s8_int8min_4x64x16 =
    int8_kernel_of<true, multiply_any<true>>("neon_s8s8_int8min_4x64x16");

}  // namespace octet
