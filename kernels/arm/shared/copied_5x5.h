// SPDX-License-Identifier: Apache-2.0
// Depthwise 5x5 of any stride on copied lines with filled borders (DepthwiseLoop::kCopied5x5): all
// addresses but those of the lines are constants, and nothing is kept from output to output. Taps
// are in the order of the packed weights, line by line.
#pragma once

#include "kernels/arm/shared/store_depthwise.h"

namespace octet {
namespace {

template <typename M, DepthwiseOutput kind>
__attribute__((noinline)) void multiply_copied(const DepthwiseTile& t) {
  const DepthwiseStore<M, kind> store(t);
  const typename M::Ends ends((const uint8_t*)t.prepared);
  const uint8_t* const weights = (const uint8_t*)t.prepared + M::kPrepared;
  const uint8_t* line[5];
  const uint8_t* const* lines = t.pixels;
  const size_t step = t.steps[0], stride = t.steps[1], dst_pixel = t.dst_pixel,
               dst_line = t.dst_line, columns = t.columns;
  uint8_t* first_dst = t.dst;
  const auto pixel = [&](int tap)
                         OCTET_INLINE { return M::load(line[tap / 5] + M::kChannels * (tap % 5)); };
  for (size_t tiles = t.tiles; tiles; --tiles, lines += stride, first_dst += dst_line) {
    unroll<5>([&](auto i) OCTET_INLINE { line[i] = lines[i]; });
    uint8_t* dst = first_dst;
    OCTET_NO_UNROLL
    for (size_t x = columns; x; --x, dst += dst_pixel) {
      typename M::Acc acc = ends.start();
      unroll<6>([&](auto group) OCTET_INLINE {
        typename M::Pixel p[4];
        unroll<4>([&](auto i) OCTET_INLINE { p[i] = pixel(4 * group + i); });
        typename M::Column column;
        M::fill(column, p);
        M::template dot<0, 4>(acc, column, weights + group * M::kColumn);
      });
      M::one(acc, pixel(24), weights + 6 * M::kColumn);
      store(acc, ends, dst);
      unroll<5>([&](auto i) OCTET_INLINE { line[i] += step; });
    }
  }
}

template <typename M>
void depthwise_multiply_or_copied(const DepthwiseTile& t) {
  if (t.loop != DepthwiseLoop::kCopied5x5) return depthwise_multiply<M>(t);
  if (!t.requantization || t.requantization->to_floats)
    return multiply_copied<M, DepthwiseOutput::kSumsOrFloats>(t);
  t.requantization->tflite_apart ? multiply_copied<M, DepthwiseOutput::kTflite>(t)
                                 : multiply_copied<M, DepthwiseOutput::kFloat>(t);
}

// Prepared: the M that prepares the weights
template <typename M, typename Prepared = M, typename Taps = uint32_t>
constexpr DepthwiseKernel copied_5x5_kernel(const char* name, TierId tier_id,
                                            const DepthwiseKernel* s16 = nullptr) {
  DepthwiseKernel k = sixteen_kernel<Prepared, Taps>(name, tier_id, s16);
  k.copied_5x5 = true;
  k.multiply = depthwise_multiply_or_copied<M>;
  return k;
}

}  // namespace
}  // namespace octet
