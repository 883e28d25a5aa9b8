// SPDX-License-Identifier: Apache-2.0
// s16 x s16 -> s32, PMADDWD on xmm, up to 3 rows x 16 columns (kernels/xsimd/int16.h): 12
// accumulators, a pair of int16 and a product.
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/layouts.h"
#include "kernels/xsimd/int16.h"

namespace octet {
namespace {
void multiply(const Tile& t) { multiply_int16_by_rows<3, 4, kInt16Prefetch>(t); }
}  // namespace

const MicroKernel sse41_s16s16_3x16x2 =
    int16_kernel("sse41_s16s16_3x16x2", TierId::kSse41, 3, 16, multiply);
}  // namespace octet
