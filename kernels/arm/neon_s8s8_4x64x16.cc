// SPDX-License-Identifier: Apache-2.0
// s8 x s8 -> s32 or 8 bits on AArch64, up to 4 rows x 64 columns (shared/neon_int8.h).
#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/neon_flipped.h"
#include "kernels/arm/shared/neon_shallow.h"

namespace octet {
namespace {

template <bool int8_min, bool in_order>
void multiply_any(const Tile& t) {
  if (Shallow::takes(t)) return multiply_shallow<int8_min>(t);
  if ((in_order || t.rows < 4) && Flipped::takes(t)) return multiply_flipped<int8_min>(t, in_order);
  if (t.rows == 4 && (!in_order || t.taps > 1) && Sixteens::pay(t))
    return multiply_sixteens<int8_min>(t, false);
  dispatch<int8_min, in_order>(t);
}

template <bool int8_min, bool in_order = false>
constexpr MicroKernel kernel(const char* name) {
  MicroKernel k = int8_kernel_of<int8_min, multiply_any<int8_min, in_order>>(name);
  if (in_order) {
    k.flags |= kInOrder;
    k.flip_rows = flip_rows;
    k.flip_columns = 16;
  }
  return k;
}

}  // namespace

// For in-order cores, for example Cortex-A53.
const MicroKernel neon_s8s8_inorder_4x64x16 = kernel<false, true>("neon_s8s8_inorder_4x64x16");
const MicroKernel neon_s8s8_4x64x16 = kernel<false>("neon_s8s8_4x64x16");
const MicroKernel neon_s8s8_int8min_4x64x16 = kernel<true>("neon_s8s8_int8min_4x64x16");

}  // namespace octet
