// SPDX-License-Identifier: Apache-2.0
// s8 x s4 -> s32 or 8 bits: decodes weights for dotprod_s8s8_6x16x4.cc; up to four rows decode them
// in registers.
#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/int4.h"

namespace octet {
namespace {

constexpr int kVectors = 4, kFewRows = 4;

// Adds the products of `steps` times 16 depth steps.
template <int rows>
void add_products(const Tile& t, size_t steps, int32_t* sums) {
  int32x4_t acc[rows][kVectors] = {};
  const uint8_t* lhs[rows];
  unroll<rows>([&](auto i) OCTET_INLINE { lhs[i] = (const uint8_t*)t.lhs + i * t.lhs_stride; });
  const uint8_t* rhs = t.rhs;
  const int8x16_t flip = vdupq_n_s8(t.lhs_flip ? -128 : 0);
  OCTET_NO_UNROLL
  for (size_t k = 0; k < 16 * steps; k += 16, rhs += 2 * kInt4Group) {
    int8x16_t a[rows];
    unroll<rows>([&](auto i) OCTET_INLINE {
      a[i] = veorq_s8(vreinterpretq_s8_u8(vld1q_u8(lhs[i] + k)), flip);
    });
    unroll<2>([&](auto group) OCTET_INLINE {
      unroll<kVectors>([&](auto v) OCTET_INLINE {
        const int8x16_t two = vld1q_s8((const int8_t*)rhs + kInt4Group * group + 16 * v),
                        first = sixteenfold<0>(two), second = sixteenfold<1>(two);
        unroll<rows>([&](auto i) OCTET_INLINE {
          acc[i][v] = vdotq_laneq_s32(acc[i][v], first, a[i], 2 * group);
          acc[i][v] = vdotq_laneq_s32(acc[i][v], second, a[i], 2 * group + 1);
        });
      });
    });
  }
  unroll<rows>([&](auto i) OCTET_INLINE {
    unroll<kVectors>([&](auto v) OCTET_INLINE {
      const int32x4_t init = vld1q_s32(t.init + i * t.init_stride + 4 * v);
      vst1q_s32(sums + 4 * (kVectors * i + v), vsraq_n_s32(init, acc[i][v], 4));
    });
  });
}

void multiply(const Tile& t) {
  if (t.rhs_decoded) return dotprod_multiply_s8s8(t);
  if (t.rows > kFewRows || t.rhs_stride != kInt4Group || t.depth <= 16 ||
      t.depth > kMostSixteenfold)
    return multiply_int4(dotprod_s8s4_6x16x8, dotprod_s8s8_6x16x4, t);
  constexpr void (*kByRows[])(const Tile&, size_t, int32_t*) = {add_products<1>, add_products<2>,
                                                                add_products<3>, add_products<4>};
  multiply_few_rows<16>(dotprod_s8s4_6x16x8, dotprod_s8s8_6x16x4, t,
                        [&](size_t steps, int32_t* sums) { kByRows[t.rows - 1](t, steps, sums); });
}

}  // namespace

const MicroKernel dotprod_s8s4_6x16x8 = {
    .name = "dotprod_s8s4_6x16x8",
    .tier_id = TierId::kDotprod,
    .lhs_element_type = ElementType::kS8,
    .mr = 6,
    .nr = 16,
    .flags = kAnyLhs | kStores | kRowFactors,
    .rhs_layout = kDotprodInt4Layout,
    .lhs_kr = 4,
    .multiply = multiply,
    .decoder = {decode_int4_neon, 2 * kInt4Group, kInt4Group, int4_room(6 * 16), 2},
};

}  // namespace octet
