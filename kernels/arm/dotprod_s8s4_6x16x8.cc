// s8 x s4 -> s32 or 8 bits: decodes weights for dotprod_s8s8_6x16x4.cc.
#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/int4.h"

namespace octet {

const MicroKernel dotprod_s8s4_6x16x8 = {
    .name = "dotprod_s8s4_6x16x8",
    .isa = Isa::kDotprod,
    .lhs_element_type = ElementType::kS8,
    .mr = 6,
    .nr = 16,
    .flags = kAnyLhs | kStores | kRowFactors,
    .rhs_layout = kDotprodInt4Layout,
    .lhs_kr = 4,
    .multiply = multiply_int4_by<dotprod_s8s4_6x16x8, dotprod_s8s8_6x16x4>,
    .decoder = {decode_int4_neon, 2 * kInt4Group, kInt4Group, int4_room(6 * 16), 2},
};

}  // namespace octet
