// SPDX-License-Identifier: Apache-2.0
// s8 or u8 x s4 -> s32 or 8 bits: decodes weights for i8mm_12x64x8.cc and i8mm_1x64x8.cc. A single
// row, and as many as make few tiles, decode them in registers.
#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/i8mm_blocks.h"
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

// Loads the first or the second groups of a panel's 16 depth steps, 16 times. Both loads are of the
// same bytes, for six pairs of rows leave no registers to keep them; the second one advances.
OCTET_INLINE inline void load_sixteenfold(Int<0>, int8x16_t (&to)[4], const uint8_t*& from,
                                          int8x16_t) {
  register int8x16_t a __asm__("v28"), b __asm__("v29"), c __asm__("v30"), d __asm__("v31");
  __asm__ volatile(
      "ld1 {v28.16b-v31.16b}, [%4]\n"
      "shl %0.16b, %0.16b, #4\n shl %1.16b, %1.16b, #4\n"
      "shl %2.16b, %2.16b, #4\n shl %3.16b, %3.16b, #4"
      : "=w"(a), "=w"(b), "=w"(c), "=w"(d)
      : "r"(from));
  to[0] = a, to[1] = b, to[2] = c, to[3] = d;
}
OCTET_INLINE inline void load_sixteenfold(Int<1>, int8x16_t (&to)[4], const uint8_t*& from,
                                          int8x16_t upper) {
  register int8x16_t a __asm__("v28"), b __asm__("v29"), c __asm__("v30"), d __asm__("v31");
  __asm__ volatile(
      "ld1 {v28.16b-v31.16b}, [%4], #64\n"
      "and %0.16b, %0.16b, %5.16b\n and %1.16b, %1.16b, %5.16b\n"
      "and %2.16b, %2.16b, %5.16b\n and %3.16b, %3.16b, %5.16b"
      : "=&w"(a), "=&w"(b), "=&w"(c), "=&w"(d), "+r"(from)
      : "w"(upper));
  to[0] = a, to[1] = b, to[2] = c, to[3] = d;
}

// Multiplies pairs of rows by a panel, as I8mmPanel says, 16 depth steps at a time: two loads of
// rhs, 8 instructions that decode it, a load of lhs for each four pairs of rows (three where six
// pairs leave no more registers), two instructions of loop.
template <typename Types, int pairs>
void multiply_panel(const uint8_t* lhs, const uint8_t* rhs, size_t groups, const int32_t* init,
                    size_t init_step, int32_t* out) {
  int32x4_t acc[pairs][4] = {};
  const int8x16_t upper = vdupq_n_s8(-16);
  size_t left = divide_up(groups, 2);
  do {
    unroll<2>([&](auto second) OCTET_INLINE {
      int8x16_t b[4];
      load_sixteenfold(second, b, rhs, upper);
      const auto multiply = [&](auto p, int8x16_t a) OCTET_INLINE {
        unroll<4>([&](auto j) OCTET_INLINE { Types::mmla(acc[p][j], a, b[j]); });
      };
      if constexpr (pairs == 4 || pairs == 5) {
        const int8x16x4_t a = vld1q_s8_x4((const int8_t*)lhs);
        lhs += 64;
        __asm__ volatile("" : "+r"(lhs));  // else GCC 12 adds to two addresses
        unroll<4>([&](auto p) OCTET_INLINE { multiply(p, a.val[p]); });
        if constexpr (pairs == 5) {
          int8x16_t last;
          load16_step(last, lhs);
          multiply(Int<4>{}, last);
        }
      } else if constexpr (pairs == 6) {
        unroll<2>([&](auto three) OCTET_INLINE {
          int8x16_t a[4];
          load_rows_list<3>(a, lhs);
          unroll<3>([&](auto p) OCTET_INLINE { multiply(Int<3 * three + p>{}, a[p]); });
        });
      } else {
        unroll<(pairs + 1) / 2>([&](auto half) OCTET_INLINE {
          constexpr int p = 2 * half;
          int8x16_t a[2];
          load_rows<pairs, p>(a, lhs);
          multiply(Int<p>{}, a[0]);
          if constexpr (p + 1 < pairs) multiply(Int<p + 1>{}, a[1]);
        });
      }
    });
  } while (--left);
  unroll<pairs>([&](auto p) OCTET_INLINE {
    unroll<2>([&](auto half) OCTET_INLINE {
      int32x4_t first, second;
      load_two<32 * half>(first, second, init);
      vst1q_s32(out + 16 * p + 8 * half, vsraq_n_s32(first, acc[p][2 * half], 4));
      vst1q_s32(out + 16 * p + 8 * half + 4, vsraq_n_s32(second, acc[p][2 * half + 1], 4));
    });
    init += init_step;
  });
}

template <typename Types>
constexpr I8mmPanel kByPairs[6] = {multiply_panel<Types, 1>, multiply_panel<Types, 2>,
                                   multiply_panel<Types, 3>, multiply_panel<Types, 4>,
                                   multiply_panel<Types, 5>, multiply_panel<Types, 6>};

template <const MicroKernel& self, const MicroKernel& operands, typename Types>
void multiply_rows(const Tile& t) {
  if (t.rhs_decoded || t.depth > kMostSixteenfold) return multiply_int4(self, operands, t);
  i8mm_multiply_by(kByPairs<Types>, t);
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
      .lhs_kr = kOne ? 8 : 16,  // the second 8 steps may be beyond the depth, where weights are 0
      .multiply = multiply,
      .decoder = {decode_int4_neon, 2 * kInt4Group, kInt4Group, int4_room(mr * nr), 4},
  };
}

}  // namespace

const MicroKernel i8mm_s8s4_12x64x16 =
    kernel<i8mm_s8s8_12x64x8, 12, 64>("i8mm_s8s4_12x64x16", ElementType::kS8,
                                      multiply_rows<i8mm_s8s4_12x64x16, i8mm_s8s8_12x64x8, S8S8>);
const MicroKernel i8mm_u8s4_12x64x16 =
    kernel<i8mm_u8s8_12x64x8, 12, 64>("i8mm_u8s4_12x64x16", ElementType::kU8,
                                      multiply_rows<i8mm_u8s4_12x64x16, i8mm_u8s8_12x64x8, U8S8>);
const MicroKernel i8mm_s8s4_1x16x16 = kernel<i8mm_s8s8_1x64x8, 1, 16>(
    "i8mm_s8s4_1x16x16", ElementType::kS8, multiply_row<i8mm_s8s4_1x16x16, i8mm_s8s8_1x64x8, true>);
const MicroKernel i8mm_u8s4_1x16x16 =
    kernel<i8mm_u8s8_1x64x8, 1, 16>("i8mm_u8s4_1x16x16", ElementType::kU8,
                                    multiply_row<i8mm_u8s4_1x16x16, i8mm_u8s8_1x64x8, false>);

}  // namespace octet
