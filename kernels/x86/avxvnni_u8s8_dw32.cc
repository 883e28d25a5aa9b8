#define OCTET_DPBUSD _mm256_dpbusd_avx_epi32
#include "kernels/x86/dw_dpbusd_ymm.h"

namespace octet {
const DepthwiseKernel avxvnni_u8s8_dw32 = {"avxvnni_u8s8_dw32",
                                           Isa::kAvxVnni,
                                           Domain::kU8,
                                           kAnyLhs | kNarrows,
                                           kDepthwiseLayout,
                                           32,
                                           32,
                                           2,
                                           2,
                                           false,
                                           nullptr,
                                           depthwise_prepare<Dots>,
                                           depthwise_multiply<Dots>,
                                           avx2_finish,
                                           &avx2_row_ops};
}  // namespace octet
