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
// Weights that have zero points are the same after a factor per channel, or two int8 each.
#include <arm_neon.h>

#include "kernels/arm/kernels.h"
#include "kernels/arm/shared/copied_5x5.h"
#include "kernels/arm/shared/depthwise_differences.h"
#include "kernels/generic/depthwise.h"
#include "kernels/generic/portable.h"

namespace octet {
namespace {

struct Dotprod : Sixteen {
  static constexpr int kColumn = 64, kWalkSets = 2;
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

// Differences that fit int8 after a factor.
struct DotprodFactored : Dotprod {
  static constexpr bool kFactorsBy2 = false;
  OCTET_INLINE static inline void settle(Column& column) {
    unroll<4>([&](auto i) OCTET_INLINE { pin(column.t[i]); });
  }
};

// Differences as sums of two int8: from -256 to 254.
template <int groups>
struct DotprodSplit : Dotprod {
  template <int first, int count>
  OCTET_INLINE static inline void dot(Acc& acc, const Column& c, const uint8_t* weights) {
    Dotprod::dot<first, count>(acc, c, weights);
    Dotprod::dot<first, count>(acc, c, weights + groups * kColumn);
  }
  OCTET_INLINE static inline void one(Acc& acc, Pixel p, const uint8_t* weights) {
    Column column;
    fill(column, {p, p, p, p});
    dot<0, 4>(acc, column, weights);
  }
};

// Walks with stride 2 and copied 5x5; other shapes are NEON's.
bool splits(DepthwiseLoop loop) {
  return loop == DepthwiseLoop::kWalkBy2 || loop == DepthwiseLoop::kCopied5x5;
}
template <DepthwiseOutput kind>
OCTET_INLINE inline void split_form(const DepthwiseTile& t) {
  t.loop == DepthwiseLoop::kWalkBy2 ? depthwise_walk<DotprodSplit<3>, 1, 2, true, kind>(t)
                                    : multiply_copied<DotprodSplit<7>, kind>(t);
}

void prepare_differences(const DepthwiseBlock& b, void* prepared) {
  const Differences differences(b, -128);
  WeightsAs as = WeightsAs::kOther;
  if (differences.fit() && !differences.factored())
    as = WeightsAs::kInt8;
  else if (stores_bytes(b) && differences.fit() && b.loop == DepthwiseLoop::kWalk)
    as = WeightsAs::kFactored;
  else if (stores_bytes(b) && differences.split() && splits(b.loop))
    as = WeightsAs::kSplit;
  if (as == WeightsAs::kOther)
    neon_s8s16_dw16.prepare(b, prepared);
  else
    as == WeightsAs::kSplit ? differences.prepare_split<Dotprod>(prepared)
                            : differences.prepare<Dotprod>(prepared);
  differs_as(prepared) = as;
}

void multiply_differences(const DepthwiseTile& t) {
  switch (differs_as(t.prepared)) {
    case WeightsAs::kFactored: return multiply_factored<DotprodFactored>(t);
    case WeightsAs::kSplit:
      return in_tflite_mode(t) ? split_form<DepthwiseOutput::kTflite>(t)
                               : split_form<DepthwiseOutput::kFloat>(t);
    case WeightsAs::kOther: return neon_s8s16_dw16.multiply(t);
    default: return depthwise_multiply_or_copied<Dotprod>(t);
  }
}

constexpr DepthwiseKernel differences_kernel() {
  DepthwiseKernel k = copied_5x5_kernel<Dotprod>("dotprod_s8s16_dw16", TierId::kDotprod);
  k.layout = kDepthwiseInt16Layout;
  k.prepare = prepare_differences;
  k.multiply = multiply_differences;
  return k;
}

}  // namespace

const DepthwiseKernel dotprod_s8s8_dw16 =
    copied_5x5_kernel<Dotprod>("dotprod_s8s8_dw16", TierId::kDotprod);

const DepthwiseKernel dotprod_s8s16_dw16 = differences_kernel();

}  // namespace octet
