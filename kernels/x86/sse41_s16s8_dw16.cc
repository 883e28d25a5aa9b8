// SPDX-License-Identifier: Apache-2.0
// Depthwise, s16 x s8 or s16 -> s32 or 8 bits, PMADDWD on xmm (kernels/xsimd/depthwise.h).
#include "kernels/x86/kernels.h"
#include "kernels/xsimd/depthwise.h"

namespace octet {
const DepthwiseKernel sse41_s16s8_full_dw16 =
    depthwise_s16_kernel<DepthwiseS16, DepthwiseBatches>("sse41_s16s8_full_dw16", TierId::kSse41);

const DepthwiseKernel sse41_s16s8_dw16 =
    depthwise_kernel<DepthwiseBatches>("sse41_s16s8_dw16", TierId::kSse41, ElementType::kU8,
                                       kAnyLhs | kRequantizes, &sse41_s16s8_full_dw16);

// The same loops for weights that are int16 already.
const DepthwiseKernel sse41_u8s16_dw16 = depthwise_kernel<DepthwiseBatches, uint64_t>(
    "sse41_u8s16_dw16", TierId::kSse41, ElementType::kU8, kAnyLhs | kRequantizes, nullptr);
}  // namespace octet
