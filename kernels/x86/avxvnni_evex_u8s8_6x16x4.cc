#define OCTET_DPBUSD _mm256_dpbusd_epi32
#include "kernels/x86/avxvnni.h"

namespace octet {
const MicroKernel avxvnni_evex_u8s8_6x16x4 = {"avxvnni_evex_u8s8_6x16x4",
                                              Isa::kAvx512Vnni,
                                              Domain::kU8,
                                              kMr,
                                              16,
                                              0,
                                              kAnyLhs | kNarrows | kTestsOnly,
                                              kX86Layout,
                                              nullptr,
                                              1,
                                              4,
                                              1,
                                              dispatch,
                                              avx512_finish,
                                              &avx512_row_ops,
                                              &avx512_winograd};
}  // namespace octet
