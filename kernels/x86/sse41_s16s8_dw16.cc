// Depthwise, s16 x s8 or s16 -> s32 or 8 bits, PMADDWD on xmm (kernels/xsimd/depthwise.h).
#include "kernels/x86/kernels.h"
#include "kernels/xsimd/depthwise.h"

namespace octet {
const DepthwiseKernel sse41_s16s8_dw16 = {
    .name = "sse41_s16s8_dw16",
    .isa = Isa::kSse41,
    .lhs_element_type = ElementType::kU8,
    .flags = kAnyLhs | kRequantizes,
    .layout = kDepthwiseLayout,
    .channels = DepthwiseBatches::kChannels,
    .reach = DepthwiseBatches::kChannels,
    .rows = 2,
    .walk_rows = 2,
    .prepare = depthwise_prepare<DepthwiseBatches>,
    .multiply = depthwise_multiply<DepthwiseBatches>,
};

// The same loops for weights that are int16 already.
const DepthwiseKernel sse41_u8s16_dw16 = {
    .name = "sse41_u8s16_dw16",
    .isa = Isa::kSse41,
    .lhs_element_type = ElementType::kU8,
    .flags = kAnyLhs | kRequantizes,
    .layout = kDepthwiseInt16Layout,
    .channels = DepthwiseBatches::kChannels,
    .reach = DepthwiseBatches::kChannels,
    .rows = 2,
    .walk_rows = 2,
    .prepare = depthwise_prepare<DepthwiseBatches, uint64_t>,
    .multiply = depthwise_multiply<DepthwiseBatches>,
};
}  // namespace octet
