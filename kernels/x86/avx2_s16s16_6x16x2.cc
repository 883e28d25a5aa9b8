// SPDX-License-Identifier: Apache-2.0
// s16 x s16 -> s32, VPMADDWD on ymm, up to 6 rows x 16 columns (shared/s16s16_ymm.h).
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/accumulate.h"

namespace octet {
namespace {
OCTET_INLINE inline void multiply_add(__m256i& acc, __m256i a, __m256i b) {
  accumulate(acc, _mm256_madd_epi16(a, b));
}
}  // namespace
}  // namespace octet

#include "kernels/x86/shared/s16s16_ymm.h"

namespace octet {
const MicroKernel avx2_s16s16_6x16x2 = s16s16_kernel("avx2_s16s16_6x16x2", TierId::kAvx2);
}  // namespace octet
