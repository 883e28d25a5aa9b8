// SPDX-License-Identifier: Apache-2.0
// Depthwise, s8 x s8 -> s32 or 8 bits, SDOT on interleaved columns, blocks of 16 channels.
//
//        kept columns               new column        accumulators of a row
//      t[0..3] of x-1, t[0..3] of x    t[0..3]             a[0..3]
//
// 16 registers of 32; weights come from memory.
//
// Per column of two rows: 4 pixels, 8 interleavings, 24 dot products; SMULL and SADDW would take 54
// multiplications and 72 additions.
//
// Weights that have zero points are int8 after a factor per channel, in the walk with stride 1.
#include <arm_neon.h>

#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/copied_5x5.h"
#include "kernels/arm/shared/depthwise_differences.h"
#include "kernels/arm/shared/depthwise_int16.h"
#include "kernels/generic/depthwise.h"
#include "kernels/generic/portable.h"

namespace octet {
namespace {

struct Dotprod : Sixteen {
  static constexpr int kColumn = 64, kWalkSets = 2;
  static constexpr bool kAdds = true;
  struct Column {
    int8x16_t t[4];
  };
  using Columns = InRegisters<Column>;

  OCTET_INLINE static inline void fill(Column& column, const Pixel (&p)[4]) {
    const int16x8_t top_low = vreinterpretq_s16_s8(vzip1q_s8(p[0], p[1])),
                    top_high = vreinterpretq_s16_s8(vzip2q_s8(p[0], p[1]));
    const int16x8_t bottom_low = vreinterpretq_s16_s8(vzip1q_s8(p[2], p[3])),
                    bottom_high = vreinterpretq_s16_s8(vzip2q_s8(p[2], p[3]));
    column = {{vreinterpretq_s8_s16(vzip1q_s16(top_low, bottom_low)),
               vreinterpretq_s8_s16(vzip2q_s16(top_low, bottom_low)),
               vreinterpretq_s8_s16(vzip1q_s16(top_high, bottom_high)),
               vreinterpretq_s8_s16(vzip2q_s16(top_high, bottom_high))}};
  }

  template <int, int>
  OCTET_INLINE static inline void dot(Acc& acc, const Column& c, const uint8_t* weights) {
    const DepthwiseWeights<4> w(weights);
    unroll<4>([&](auto v) OCTET_INLINE { acc.a[v] = vdotq_s32(acc.a[v], c.t[v], w.val[v]); });
  }

  OCTET_INLINE static inline void one(Acc& acc, Pixel p, const uint8_t* weights) {
    Column column;
    fill(column, {p, p, p, p});  // the other weights are 0
    dot<0, 4>(acc, column, weights);
  }

  OCTET_INLINE static inline void weights(const uint32_t* taps, size_t vector, uint8_t* to) {
    __builtin_memcpy(to + 16 * vector, taps, 16);
  }
};

void prepare_differences(const DepthwiseBlock& b, void* prepared) {
  WeightsAs& as = differs_as(prepared);
  const bool by_2 = b.loop == DepthwiseLoop::kWalkBy2;
  if (by_2 || b.loop == DepthwiseLoop::kWalk) {
    const Factors factors(b);
    as = factors.any() ? WeightsAs::kFactored : WeightsAs::kInt8;
    if (!factors.any()) return prepare_int8<Dotprod>(b, prepared);
    if (factors.fit())
      return by_2 ? factors.prepare_by_2<Dotprod>(prepared) : factors.prepare<Dotprod>(prepared);
  } else if (b.loop != DepthwiseLoop::kCopied5x5 && are_int8(b)) {
    as = WeightsAs::kInt8;
    return prepare_int8<Dotprod>(b, prepared);
  }
  as = WeightsAs::kInt16;
  neon_s8s16_dw16.prepare(b, prepared);
}

void multiply_differences(const DepthwiseTile& t) {
  switch (differs_as(t.prepared)) {
    case WeightsAs::kInt8: return depthwise_multiply<Dotprod>(t);
    case WeightsAs::kFactored: return multiply_factored<Dotprod>(t);
    default: return neon_s8s16_dw16.multiply(t);
  }
}

constexpr DepthwiseKernel differences_kernel() {
  DepthwiseKernel k = copied_5x5_kernel<Dotprod>("dotprod_s8s16_dw16", TierId::kDotprod);
  k.layout = kDepthwiseInt16Layout;
  k.widen_5x5 = widen_pixels;
  k.adds = false;
  k.prepare = prepare_differences;
  k.multiply = multiply_differences;
  return k;
}

}  // namespace

const DepthwiseKernel dotprod_s8s8_dw16 =
    copied_5x5_kernel<Dotprod>("dotprod_s8s8_dw16", TierId::kDotprod);

const DepthwiseKernel dotprod_s8s16_dw16 = differences_kernel();

}  // namespace octet
