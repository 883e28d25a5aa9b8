#include <immintrin.h>

#include "kernels/core/unroll.h"

namespace octet {
namespace {
OCTET_INLINE inline void multiply_add(__m256i& acc, __m256i a, __m256i b) {
  const __m256i products = _mm256_madd_epi16(a, b);
  __asm__("vpaddd %1, %0, %0" : "+x"(acc) : "x"(products));  // see avx2_s16s8_6x16x4.cc
}
}  // namespace
}  // namespace octet

#include "kernels/x86/s16s16_ymm.h"

namespace octet {
const MicroKernel avx2_s16s16_6x16x2 = {
    .name = "avx2_s16s16_6x16x2",
    .isa = Isa::kAvx2,
    .lhs_domain = Domain::kS16,
    .mr = kMr,
    .nr = 16,
    .flags = kNarrows,
    .rhs_layout = kX86WordLayout,
    .lhs_kr = 2,
    .lhs_element_bytes = 2,
    .multiply = dispatch,
};
}  // namespace octet
