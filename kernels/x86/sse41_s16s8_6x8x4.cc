// SPDX-License-Identifier: Apache-2.0
// s16 x s8 -> s32 or 8 bits, PMADDWD on xmm, up to 6 rows x 8 columns (kernels/xsimd/int8_6x2.h).
#include "kernels/generic/gather.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/s16/gather_s16.h"
#include "kernels/xsimd/int8_6x2.h"

namespace octet {
const MicroKernel sse41_s16s8_6x8x4 = {
    .name = "sse41_s16s8_6x8x4",
    .tier_id = TierId::kSse41,
    .lhs_element_type = ElementType::kU8,
    .mr = kMr,
    .nr = kNr,
    .flags = kAnyLhs | kRequantizes | kGathersEvenStepsFirst | kRowInit,
    .rhs_layout = kX86Layout,
    .gather = gather,
    .gather_s16 = gather_s16<2>,
    .lhs_kr = 4,
    .lhs_element_bytes = 4,
    .multiply = dispatch,
    .decoder = {decode, kDecodedGroup},
};
}  // namespace octet
