// SPDX-License-Identifier: Apache-2.0
// Depthwise, u8 x s8 -> s32 or 8 bits, VPDPBUSD on zmm or ymm, blocks of 64 or 32 channels; and
// u8 x s16, VPDPWSSD: see shared/dw_zmm.h.
#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/x86/kernels.h"

namespace octet {
namespace {

OCTET_INLINE inline __m512i dot_add(__m512i acc, __m512i a, __m512i b) {
  return _mm512_dpbusd_epi32(acc, a, b);
}
OCTET_INLINE inline __m256i dot_add(__m256i acc, __m256i a, __m256i b) {
  return _mm256_dpbusd_epi32(acc, a, b);
}
OCTET_INLINE inline __m512i dot_add_int16(__m512i acc, __m512i a, __m512i b) {
  return _mm512_dpwssd_epi32(acc, a, b);
}
OCTET_INLINE inline __m256i dot_add_int16(__m256i acc, __m256i a, __m256i b) {
  return _mm256_dpwssd_epi32(acc, a, b);
}

}  // namespace
}  // namespace octet

#include "kernels/x86/s16/dw_s16_zmm.h"
#include "kernels/x86/shared/dw_zmm.h"

namespace octet {
namespace {

template <typename M, typename Taps = uint32_t>
constexpr DepthwiseKernel kernel(const char* name, const DepthwiseKernel* tail,
                                 const DepthwiseKernel* s16 = nullptr) {
  return zmm_kernel<M, Taps>(name, TierId::kAvx512Vnni, tail, s16);
}

}  // namespace

const DepthwiseKernel avx512vnni_s16s8_full_dw32 =
    zmm_s16_kernel<32>("avx512vnni_s16s8_full_dw32", TierId::kAvx512Vnni, nullptr);
const DepthwiseKernel avx512vnni_s16s8_full_dw64 = zmm_s16_kernel<64>(
    "avx512vnni_s16s8_full_dw64", TierId::kAvx512Vnni, &avx512vnni_s16s8_full_dw32);
const DepthwiseKernel avx512vnni_u8s8_dw64 =
    kernel<Wide<64>>("avx512vnni_u8s8_dw64", &avx512vnni_u8s8_dw32, &avx512vnni_s16s8_full_dw64);
const DepthwiseKernel avx512vnni_u8s8_dw32 =
    kernel<Wide<32>>("avx512vnni_u8s8_dw32", nullptr, &avx512vnni_s16s8_full_dw32);
const DepthwiseKernel avx512vnni_u8s16_dw64 =
    kernel<WideInt16<64>, uint64_t>("avx512vnni_u8s16_dw64", &avx512vnni_u8s16_dw32);
const DepthwiseKernel avx512vnni_u8s16_dw32 =
    kernel<WideInt16<32>, uint64_t>("avx512vnni_u8s16_dw32", nullptr);

}  // namespace octet
