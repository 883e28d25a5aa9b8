// SPDX-License-Identifier: Apache-2.0
// s16 x s4 -> s32 or 8 bits: decodes weights to int16 for sse41_s16s8_6x8x4.cc.
#include "kernels/core/compiler.h"
#include "kernels/generic/int4.h"
#include "kernels/x86/kernels.h"

namespace octet {
namespace {

constexpr size_t kOperands = 64;  // bytes of 8 columns, 4 depth steps

// Of 16 bits, which are 4 steps of a column, shifts extend each: first the even steps of 8 columns,
// then the odd ones, as the operands have them.
void decode(const uint8_t* rhs, size_t rhs_stride, size_t groups, uint8_t* to) {
  typedef int16_t Words __attribute__((vector_size(16)));
  typedef uint16_t Fours __attribute__((vector_size(16)));
  OCTET_NO_UNROLL
  for (; groups; --groups, rhs += rhs_stride, to += 2 * kOperands)
    unroll<2>([&](auto v) OCTET_INLINE {
      Fours four;
      __builtin_memcpy(&four, rhs + 16 * v, sizeof four);
      unroll<4>([&](auto step) OCTET_INLINE {
        // Steps 0 and 2, 4 and 6, 1 and 3, 5 and 7
        constexpr int kUp[] = {12, 8, 4, 0}, group = step % 2, odd = step / 2;
        const Words one = (Words)(four << kUp[step]) >> 12;
        __builtin_memcpy(to + kOperands * group + 32 * odd + 16 * v, &one, sizeof one);
      });
    });
}

}  // namespace

const MicroKernel sse41_s16s4_6x8x8 = {
    .name = "sse41_s16s4_6x8x8",
    .tier_id = TierId::kSse41,
    .lhs_element_type = ElementType::kU8,
    .mr = 6,
    .nr = 8,
    .flags = kAnyLhs | kRequantizes | kGathersEvenStepsFirst | kRowInit,
    .rhs_layout = kX86Int4Layout,
    .gather = gather_by<sse41_s16s8_6x8x4>,
    .lhs_kr = 4,
    .lhs_element_bytes = 4,
    .multiply = multiply_int4_by<sse41_s16s4_6x8x8, sse41_s16s8_6x8x4>,
    .decoder = {decode, 2 * kOperands, kOperands, int4_room(6 * 8), 2},
};

}  // namespace octet
