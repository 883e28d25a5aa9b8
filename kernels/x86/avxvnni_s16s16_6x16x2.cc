// SPDX-License-Identifier: Apache-2.0
// s16 x s16 -> s32, VPDPWSSD on ymm, up to 6 rows x 16 columns (shared/s16s16_ymm.h).
#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/x86/kernels.h"

namespace octet {
namespace {
OCTET_INLINE inline void multiply_add(__m256i& acc, __m256i a, __m256i b) {
  // See avx512vnni_s16s16_14x32x2.cc
  __asm__("%{vex%} vpdpwssd %2, %1, %0" : "+x"(acc) : "x"(a), "x"(b));
}
}  // namespace
}  // namespace octet

#include "kernels/x86/shared/s16s16_ymm.h"

namespace octet {
const MicroKernel avxvnni_s16s16_6x16x2 = s16s16_kernel("avxvnni_s16s16_6x16x2", TierId::kAvxVnni);
}  // namespace octet
