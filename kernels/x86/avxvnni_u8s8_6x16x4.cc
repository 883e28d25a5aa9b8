#define OCTET_DPBUSD _mm256_dpbusd_avx_epi32
#include "kernels/x86/avxvnni.h"

namespace octet {
const MicroKernel avxvnni_u8s8_6x16x4 = {"avxvnni_u8s8_6x16x4",
                                         Isa::kAvxVnni,
                                         Domain::kU8,
                                         kMr,
                                         16,
                                         0,
                                         kAnyLhs | kNarrows,
                                         kX86Layout,
                                         nullptr,
                                         1,
                                         4,
                                         1,
                                         dispatch,
                                         avx2_finish,
                                         &avx2_row_ops,
                                         &avx2_winograd};
}  // namespace octet
