// SPDX-License-Identifier: Apache-2.0
// s16 x s16 -> s32, VPMADDWD on zmm, for Winograd: see shared/s16s16_zmm.h.
#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/accumulate.h"

namespace octet {
namespace {

OCTET_INLINE inline void multiply_add(__m512i& acc, __m512i a, __m512i b) {
  accumulate(acc, _mm512_madd_epi16(a, b));
}

}  // namespace
}  // namespace octet

#include "kernels/x86/shared/s16s16_zmm.h"

namespace octet {
const MicroKernel avx512bw_s16s16_14x32x2 =
    s16s16_kernel("avx512bw_s16s16_14x32x2", TierId::kAvx512Bw);
}  // namespace octet
