// s8 or u8 x s4 -> s32 or 8 bits: decodes weights for i8mm_12x64x8.cc and i8mm_1x16x8.cc.
#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/int4.h"

namespace octet {
namespace {

// Many rows are gathered; a single one is read where it lies.
template <const MicroKernel& self, const MicroKernel& operands, uint8_t mr, uint16_t nr>
constexpr MicroKernel kernel(const char* name, ElementType lhs) {
  constexpr bool kOne = mr == 1;
  return {
      .name = name,
      .isa = Isa::kI8mm,
      .lhs_element_type = lhs,
      .mr = mr,
      .nr = nr,
      .m_max = kOne,
      .flags = kStores | kRowFactors,
      .rhs_layout = kI8mmInt4Layout,
      .gather = kOne ? nullptr : gather_by<operands>,
      .lhs_lanes_step = kOne ? 1 : 2,
      .lhs_kr = 8,
      .multiply = multiply_int4_by<self, operands>,
      .decoder = {decode_int4_neon, 2 * kInt4Group, kInt4Group, int4_room(mr * nr), 2},
  };
}

}  // namespace

const MicroKernel i8mm_s8s4_12x64x16 =
    kernel<i8mm_s8s4_12x64x16, i8mm_s8s8_12x64x8, 12, 64>("i8mm_s8s4_12x64x16", ElementType::kS8);
const MicroKernel i8mm_u8s4_12x64x16 =
    kernel<i8mm_u8s4_12x64x16, i8mm_u8s8_12x64x8, 12, 64>("i8mm_u8s4_12x64x16", ElementType::kU8);
const MicroKernel i8mm_s8s4_1x16x16 =
    kernel<i8mm_s8s4_1x16x16, i8mm_s8s8_1x16x8, 1, 16>("i8mm_s8s4_1x16x16", ElementType::kS8);
const MicroKernel i8mm_u8s4_1x16x16 =
    kernel<i8mm_u8s4_1x16x16, i8mm_u8s8_1x16x8, 1, 16>("i8mm_u8s4_1x16x16", ElementType::kU8);

}  // namespace octet
