// s16 x s16 -> s32, PMADDWD on xmm, up to 3 rows x 16 columns (kernels/xsimd/int16.h): 12
// accumulators, a pair of int16 and a product.
#include "kernels/x86/kernels.h"
#include "kernels/xsimd/int16.h"

namespace octet {
namespace {
void multiply(const Tile& t) { multiply_int16_by_rows<3, 4, kInt16Prefetch>(t); }
}  // namespace

const MicroKernel sse41_s16s16_3x16x2 = {
    .name = "sse41_s16s16_3x16x2",
    .isa = Isa::kSse41,
    .lhs_element_type = ElementType::kS16,
    .mr = 3,
    .nr = 16,
    .flags = kRequantizes,
    .rhs_layout = kX86Int16Layout,
    .lhs_kr = 2,
    .lhs_element_bytes = 2,
    .multiply = multiply,
};
}  // namespace octet
