#include <immintrin.h>

#include "kernels/core/unroll.h"

namespace octet {
namespace {
OCTET_INLINE inline void multiply_add(__m256i& acc, __m256i a, __m256i b) {
  __asm__("%{evex%} vpdpwssd %2, %1, %0" : "+v"(acc) : "v"(a), "v"(b));
}
}  // namespace
}  // namespace octet

#include "kernels/x86/s16s16_ymm.h"

namespace octet {
const MicroKernel avxvnni_evex_s16s16_6x16x2 = {"avxvnni_evex_s16s16_6x16x2",
                                                Isa::kAvx512Vnni,
                                                Domain::kS16,
                                                kMr,
                                                16,
                                                0,
                                                kNarrows | kTestsOnly,
                                                kX86WordLayout,
                                                nullptr,
                                                1,
                                                2,
                                                2,
                                                dispatch,
                                                avx512_finish,
                                                &avx512_row_ops,
                                                &avx512_winograd};
}  // namespace octet
