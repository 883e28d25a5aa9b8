// SPDX-License-Identifier: Apache-2.0
// Depthwise, s16 x s8 or s16 -> s32 or 8 bits, VPMADDWD on zmm or ymm, blocks of 64 or 32 channels:
// see shared/dw_zmm.h. Exact for all inputs: VPMADDUBSW would saturate at 16 bits.
#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/accumulate.h"

namespace octet {
namespace {

OCTET_INLINE inline __m512i dot_add_int16(__m512i acc, __m512i a, __m512i b) {
  accumulate(acc, _mm512_madd_epi16(a, b));
  return acc;
}

}  // namespace
}  // namespace octet

#include "kernels/x86/s16/dw_s16_zmm.h"
#include "kernels/x86/shared/dw_zmm.h"

namespace octet {

// Of a last block of at most 32 channels AVX2's kernels make columns for two lines at a time, which
// is faster than this text on ymm.
const DepthwiseKernel avx512bw_s16s8_full_dw64 =
    zmm_s16_kernel<64>("avx512bw_s16s8_full_dw64", TierId::kAvx512Bw, &avx2_s16s8_full_dw32);
const DepthwiseKernel avx512bw_s16s8_dw64 = zmm_kernel<WideInt16<64>>(
    "avx512bw_s16s8_dw64", TierId::kAvx512Bw, &avx2_s16s8_dw32, &avx512bw_s16s8_full_dw64);
const DepthwiseKernel avx512bw_u8s16_dw64 =
    zmm_kernel<WideInt16<64>, uint64_t>("avx512bw_u8s16_dw64", TierId::kAvx512Bw, &avx2_u8s16_dw32);

}  // namespace octet
