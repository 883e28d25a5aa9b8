#define OCTET_DPBUSD _mm256_dpbusd_epi32
#include "kernels/x86/dw_dpbusd_ymm.h"

namespace octet {
const DepthwiseKernel avxvnni_evex_u8s8_dw32 = {"avxvnni_evex_u8s8_dw32",
                                                Isa::kAvx512Vnni,
                                                Domain::kU8,
                                                kAnyLhs | kNarrows | kTestsOnly,
                                                kDepthwiseLayout,
                                                32,
                                                32,
                                                2,
                                                2,
                                                false,
                                                nullptr,
                                                depthwise_prepare<Dots>,
                                                depthwise_multiply<Dots>,
                                                avx512_finish,
                                                &avx512_row_ops};
}  // namespace octet
