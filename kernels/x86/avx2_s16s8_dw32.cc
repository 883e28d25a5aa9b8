// SPDX-License-Identifier: Apache-2.0
// Depthwise, s16 x s8 or s16 -> s32 or 8 bits, VPMADDWD on ymm, blocks of 32 channels. Exact for
// all inputs: VPMADDUBSW would saturate at 16 bits. A dot product of four pixels takes two
// multiply-adds and two additions: see shared/dw_ymm.h.
#include <immintrin.h>

#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/accumulate.h"

namespace octet {
namespace {

OCTET_INLINE inline void dot_add_int16(__m256i& acc, __m256i a, __m256i b) {
  accumulate(acc, _mm256_madd_epi16(a, b));
}

}  // namespace
}  // namespace octet

#include "kernels/x86/shared/dw_ymm.h"

namespace octet {

const DepthwiseKernel avx2_s16s8_full_dw32 = ymm_s16_kernel("avx2_s16s8_full_dw32", TierId::kAvx2);

const DepthwiseKernel avx2_s16s8_dw32 =
    ymm_kernel<Int16>("avx2_s16s8_dw32", TierId::kAvx2, &avx2_s16s8_full_dw32);

// The same loops for weights that are int16 already.
const DepthwiseKernel avx2_u8s16_dw32 =
    ymm_kernel<Int16, uint64_t>("avx2_u8s16_dw32", TierId::kAvx2);

}  // namespace octet
