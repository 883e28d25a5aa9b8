// SPDX-License-Identifier: Apache-2.0
// Depthwise 5x5 of any stride on copied lines with filled borders (DepthwiseLoop::kCopied5x5): all
// addresses but those of the lines are constants, and nothing is kept from output to output. Taps
// are in the order of the packed weights, line by line.
#pragma once

#include "kernels/arm/shared/store_depthwise.h"

namespace octet {
namespace {

// Loads the five pixels of a line by two instructions, and advances by `step` bytes. The lines take
// turns in two sets of registers.
#if defined(__aarch64__)
#define OCTET_LOAD_LINE(set, r0, r1, r2, r3, r4)                                                   \
  OCTET_INLINE inline void load_line(Int<set>, const uint8_t*& from, size_t step, int8x16_t* to) { \
    register int8x16_t x0 __asm__("v" #r0), x1 __asm__("v" #r1), x2 __asm__("v" #r2),              \
        x3 __asm__("v" #r3), x4 __asm__("v" #r4);                                                  \
    __asm__ volatile("ldr %q0, [%1, #64]" : "=w"(x4) : "r"(from));                                 \
    __asm__ volatile("ld1 {%0.16b, %1.16b, %2.16b, %3.16b}, [%4], %5"                              \
                     : "=w"(x0), "=w"(x1), "=w"(x2), "=w"(x3), "+r"(from)                          \
                     : "r"(step));                                                                 \
    to[0] = x0, to[1] = x1, to[2] = x2, to[3] = x3, to[4] = x4;                                    \
  }
OCTET_LOAD_LINE(0, 22, 23, 24, 25, 26)
OCTET_LOAD_LINE(1, 27, 28, 29, 30, 31)
#undef OCTET_LOAD_LINE
#else
template <int set>
OCTET_INLINE inline void load_line(Int<set>, const uint8_t*& from, size_t step, int8x16_t* to) {
  unroll<5>([&](auto i) OCTET_INLINE { to[i] = Sixteen::load(from + 16 * i); });
  from += step;
}
#endif

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
  for (size_t tiles = t.tiles; tiles; --tiles, lines += stride, first_dst += dst_line) {
    unroll<5>([&](auto i) OCTET_INLINE { line[i] = lines[i]; });
    uint8_t* dst = first_dst;
    OCTET_NO_UNROLL
    for (size_t x = columns; x; --x, dst += dst_pixel) {
      typename M::Acc acc = ends.start();
      typename M::Pixel pixel[25];
      load_line(Int<0>{}, line[0], step, pixel);
      unroll<6>([&](auto group) OCTET_INLINE {
        constexpr int next = (4 * group + 3) / 5;
        if constexpr (next > (4 * group - 1) / 5)
          load_line(Int<next % 2>{}, line[next], step, pixel + 5 * next);
        typename M::Pixel p[4];
        unroll<4>([&](auto i) OCTET_INLINE { p[i] = pixel[4 * group + i]; });
        typename M::Column column;
        M::fill(column, p);
        M::template dot<0, 4>(acc, column, weights + group * M::kColumn);
      });
      M::one(acc, pixel[24], weights + 6 * M::kColumn);
      store(acc, ends, dst);
    }
  }
}

// Calls f(OutputOf<kind>) for a tile's kind of outputs.
template <DepthwiseOutput kind>
struct OutputOf {
  static constexpr DepthwiseOutput value = kind;
};
template <typename F>
OCTET_INLINE inline void by_output(const DepthwiseTile& t, const F& f) {
  if (!t.requantization || t.requantization->to_floats)
    return f(OutputOf<DepthwiseOutput::kSumsOrFloats>{});
  if (t.requantization->tflite_apart) return f(OutputOf<DepthwiseOutput::kTflite>{});
  f(OutputOf<DepthwiseOutput::kFloat>{});
}

template <typename M>
void depthwise_multiply_or_copied(const DepthwiseTile& t) {
  if (t.loop != DepthwiseLoop::kCopied5x5) return depthwise_multiply<M>(t);
  by_output(t, [&](auto kind) OCTET_INLINE { multiply_copied<M, kind.value>(t); });
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
