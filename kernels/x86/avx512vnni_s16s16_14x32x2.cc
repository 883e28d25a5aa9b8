// SPDX-License-Identifier: Apache-2.0
// s16 x s16 -> s32, VPDPWSSD on zmm, for Winograd: see shared/s16s16_zmm.h.
#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/x86/kernels.h"

namespace octet {
namespace {

// Assembly, because Clang replaces the intrinsic by VPMADDWD and VPADDD, which have a shorter
// latency and half the throughput.
OCTET_INLINE inline void multiply_add(__m512i& acc, __m512i a, __m512i b) {
  __asm__("vpdpwssd %2, %1, %0" : "+v"(acc) : "v"(a), "v"(b));
}

}  // namespace
}  // namespace octet

#include "kernels/x86/shared/s16s16_zmm.h"

namespace octet {
const MicroKernel avx512vnni_s16s16_14x32x2 =
    s16s16_kernel("avx512vnni_s16s16_14x32x2", TierId::kAvx512Vnni);
}  // namespace octet
