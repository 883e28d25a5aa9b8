// u8 x s4 -> s32 or 8 bits: decodes weights for avxvnni_u8s8_6x16x4.cc.
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/int4.h"

namespace octet {
namespace {

void multiply(const Tile& t) { multiply_int4(avxvnni_u8s4_6x16x8, avxvnni_u8s8_6x16x4, t); }

}  // namespace

const MicroKernel avxvnni_u8s4_6x16x8 = {
    .name = "avxvnni_u8s4_6x16x8",
    .isa = Isa::kAvxVnni,
    .lhs_element_type = ElementType::kU8,
    .mr = 6,
    .nr = 16,
    .flags = kAnyLhs | kRequantizes | kRequantizesTflite | kStoresFloats | kRowInit,
    .rhs_layout = kX86Int4Layout,
    .lhs_kr = 4,
    .multiply = multiply,
    .decoder = {decode_int4_ymm, 2 * kInt4Group, kInt4Group, int4_room(6 * 16)},
};

}  // namespace octet
