// s8 or u8 x s4 -> s32 or 8 bits: decodes weights for i8mm_12x64x8.cc and i8mm_1x16x8.cc.
#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/int4.h"

namespace octet {
namespace {

// Adds the products of `steps` times 16 depth steps of one row, of s8 or u8, by up to two panels of
// 8 columns: a vector has the sums of even and of odd fours of two columns.
template <bool is_signed>
void add_products(const Tile& t, size_t steps, int32_t* sums) {
  for (size_t c = 0; c < t.cols; c += 8) {
    int32x4_t acc[4] = {};
    const uint8_t *lhs = (const uint8_t*)t.lhs, *rhs = t.rhs + c / 8 * t.rhs_panel_stride;
    OCTET_NO_UNROLL
    for (size_t left = steps; left; --left, lhs += 16, rhs += kInt4Group) {
      const uint64x2_t sixteen = vreinterpretq_u64_u8(vld1q_u8(lhs));
      const uint8x16_t a[2] = {vreinterpretq_u8_u64(vdupq_laneq_u64(sixteen, 0)),
                               vreinterpretq_u8_u64(vdupq_laneq_u64(sixteen, 1))};
      unroll<4>([&](auto v) OCTET_INLINE {
        const int8x16_t two = vld1q_s8((const int8_t*)rhs + 16 * v);
        unroll<2>([&](auto half) OCTET_INLINE {
          const int8x16_t weights = sixteenfold<half>(two);
          acc[v] = is_signed ? vdotq_s32(acc[v], weights, vreinterpretq_s8_u8(a[half]))
                             : vusdotq_s32(acc[v], a[half], weights);
        });
      });
    }
    unroll<2>([&](auto four) OCTET_INLINE {
      const int32x4_t sum = vpaddq_s32(acc[2 * four], acc[2 * four + 1]),
                      init = vld1q_s32(t.init + c + 4 * four);
      vst1q_s32(sums + c + 4 * four, vsraq_n_s32(init, sum, 4));
    });
  }
}

template <const MicroKernel& self, const MicroKernel& operands, bool is_signed>
void multiply_row(const Tile& t) {
  if (t.rhs_decoded || t.depth <= 16 || t.depth > kMostSixteenfold)
    return multiply_int4(self, operands, t);
  multiply_few_rows<16>(self, operands, t, [&](size_t steps, int32_t* sums) {
    add_products<is_signed>(t, steps, sums);
  });
}

// Many rows are gathered; a single one is read where it lies.
template <const MicroKernel& operands, uint8_t mr, uint16_t nr>
constexpr MicroKernel kernel(const char* name, ElementType lhs, MultiplyFn multiply) {
  constexpr bool kOne = mr == 1;
  return {
      .name = name,
      .tier_id = TierId::kI8mm,
      .lhs_element_type = lhs,
      .mr = mr,
      .nr = nr,
      .m_max = kOne,
      .flags = kStores | kRowFactors,
      .rhs_layout = kI8mmInt4Layout,
      .gather = kOne ? nullptr : gather_by<operands>,
      .lhs_lanes_step = kOne ? 1 : 2,
      .lhs_kr = 8,
      .multiply = multiply,
      .decoder = {decode_int4_neon, 2 * kInt4Group, kInt4Group, int4_room(mr * nr), 2},
  };
}

}  // namespace

const MicroKernel i8mm_s8s4_12x64x16 =
    kernel<i8mm_s8s8_12x64x8, 12, 64>("i8mm_s8s4_12x64x16", ElementType::kS8,
                                      multiply_int4_by<i8mm_s8s4_12x64x16, i8mm_s8s8_12x64x8>);
const MicroKernel i8mm_u8s4_12x64x16 =
    kernel<i8mm_u8s8_12x64x8, 12, 64>("i8mm_u8s4_12x64x16", ElementType::kU8,
                                      multiply_int4_by<i8mm_u8s4_12x64x16, i8mm_u8s8_12x64x8>);
const MicroKernel i8mm_s8s4_1x16x16 = kernel<i8mm_s8s8_1x16x8, 1, 16>(
    "i8mm_s8s4_1x16x16", ElementType::kS8, multiply_row<i8mm_s8s4_1x16x16, i8mm_s8s8_1x16x8, true>);
const MicroKernel i8mm_u8s4_1x16x16 =
    kernel<i8mm_u8s8_1x16x8, 1, 16>("i8mm_u8s4_1x16x16", ElementType::kU8,
                                    multiply_row<i8mm_u8s4_1x16x16, i8mm_u8s8_1x16x8, false>);

}  // namespace octet
