// SPDX-License-Identifier: Apache-2.0
// The walk of a 5x5 depthwise kernel, stride 1 or 2, along one output line.
//
// As in depthwise.h, four pixels of a column make a 32-bit lane per channel: the first four lines.
// The fifth line's taps are four pixels side by side, and a last one. Each group of pixels is
// interleaved once and multiplied for all outputs that read it, whose accumulators wait in
// registers: five with stride 1, three with stride 2. With stride 1, the newest column is c:
//
//      lines 0-3, column c           weights of columns 0, 1, 2, 3, 4, for outputs c, c-1, .. c-4
//      line 4, columns c-3 .. c      weights 0 .. 3 of line 4, for output c-3
//      the same                      weight 4 of line 4 at c, for output c-4
//
// A machine M that has this walk (kWalks5x5) adds Pair, two interleaved pixels; pair(p, q), which
// makes one; each(top, bottom, use), which calls use(i, vector) for the vectors of a column of two
// pairs; and dot_vector(acc, i, vector, weights).
#pragma once

#include "kernels/generic/depthwise.h"

namespace octet {
namespace {

// The columns of the prepared weights: of lines 0 to 3, kx = 0 .. 4; then line 4, four taps, and
// its last tap, whose pixel is the group's last (stride 1) or third (stride 2).
constexpr int kFifthLine = 5, kLastTap = 6, kColumns5x5 = 7;

template <typename M, int stride, bool flip, DepthwiseOutput kind>
__attribute__((noinline)) void depthwise_walk_5x5(const DepthwiseTile& t) {
  constexpr int open = stride == 1 ? 5 : 3, last = open - 1;
  const DepthwiseStore<M, kind> store(t);
  const typename M::Ends ends((const uint8_t*)t.prepared);
  const uint8_t* const weights = (const uint8_t*)t.prepared + M::kPrepared;
  const uint8_t* pixel[5];
  size_t step[5], column;
  const size_t in_w = t.in_w, dst_pixel = t.dst_pixel;
  const Loads<M, flip> load(t);
  // Takes the pixels of the next column.
  const auto next = [&](typename M::Pixel(&p)[5]) OCTET_INLINE {
    if (__builtin_expect(column < in_w, 1))
      unroll<5>([&](auto i) OCTET_INLINE { p[i] = load.next(pixel[i], step[i]); });
    else
      p[0] = p[1] = p[2] = p[3] = p[4] = load(t.zero);
    ++column;
  };
  typename M::Acc acc[open];
  // Multiplies a group for `count` outputs by every `apart`-th column of weights.
  const auto add = [&](const typename M::Pair& top, const typename M::Pair& bottom, auto first,
                       auto count, int at, int apart) OCTET_INLINE {
    M::each(top, bottom, [&](auto i, auto vector) OCTET_INLINE {
      unroll<count>([&](auto o) OCTET_INLINE {
        M::dot_vector(acc[first + o], i, vector, weights + (at + apart * o) * M::kColumn);
      });
    });
  };
  const auto add_column = [&](const typename M::Pixel(&p)[5], auto count, int at) OCTET_INLINE {
    add(M::pair(p[0], p[1]), M::pair(p[2], p[3]), Int<0>{}, count, at, stride);
  };
  const Int<last - 1> first{};  // not named within the lambda: GCC 9 ends there
  const auto add_fifth = [&](const typename M::Pair& top, const typename M::Pair& bottom)
                             OCTET_INLINE { add(top, bottom, first, Int<2>{}, kFifthLine, 1); };
  const uint8_t* const* pixels = t.pixels;
  const size_t* steps = t.steps;
  for (size_t tile = 0; tile < t.tiles; ++tile, pixels += stride, steps += stride) {
    unroll<5>([&](auto i) OCTET_INLINE { pixel[i] = pixels[i], step[i] = steps[i]; });
    column = t.first_column;
    uint8_t* dst = t.dst + tile * t.dst_line;
    unroll<open>([&](auto i) OCTET_INLINE { acc[i] = ends.start(); });
    typename M::Pixel p[5];
    typename M::Pixel newest = load(t.zero);  // of the fifth line
    typename M::Pair before[2];               // of the fifth line, the older one first
    before[0] = before[1] = M::pair(newest, newest);
    OCTET_NO_UNROLL
    for (size_t x = 0; x < t.columns + last; ++x) {
      next(p);
      add_column(p, Int<open>{}, 0);
      if constexpr (stride == 1) {
        const typename M::Pair pair = M::pair(newest, p[4]);
        add_fifth(before[0], pair);
        newest = p[4];
        before[0] = before[1];
        before[1] = pair;
      } else {
        newest = p[4];
        next(p);
        add_column(p, Int<2>{}, 1);
        const typename M::Pair pair = M::pair(newest, p[4]);
        add_fifth(before[0], pair);
        before[0] = pair;
      }
      if (x >= last) {
        store(acc[last], ends, dst);
        dst += dst_pixel;
      }
      unroll<last>([&](auto i) OCTET_INLINE { acc[last - i] = acc[last - i - 1]; });
      acc[0] = ends.start();
    }
  }
}

// Writes the weights of the walk; those of the payload lie line by line.
template <typename M, typename Taps>
void write_weights_5x5(const DepthwiseBlock& b, uint8_t* out) {
  constexpr size_t lanes = M::kChannels / 4, group_bytes = kDepthwiseGroup * sizeof(Taps) / 4;
  constexpr int bits = 2 * sizeof(Taps);
  constexpr Taps one_tap = ((Taps)1 << bits) - 1;
  const int last_place = stride_of(b.loop) == 1 ? 3 : 2;
  OCTET_NO_UNROLL
  for (size_t v = 0; v < 4; ++v) {
    alignas(64) Taps groups[kColumns5x5][lanes], taps[lanes];
    for (size_t g = 0; g < kColumns5x5; ++g)
      __builtin_memcpy(groups[g], b.weights + g * group_bytes + 16 * sizeof(Taps) * v,
                       sizeof groups[g]);
    unroll<5>([&](auto kx) OCTET_INLINE {
      for (size_t i = 0; i < lanes; ++i) {
        taps[i] = 0;
        unroll<4>([&](auto ky) OCTET_INLINE {
          constexpr size_t slot = 5 * ky.value + kx.value;
          taps[i] |= (groups[slot / 4][i] >> bits * (slot % 4) & one_tap) << bits * ky.value;
        });
      }
      M::weights(taps, v, out + kx * M::kColumn);
    });
    M::weights(groups[5], v, out + kFifthLine * M::kColumn);
    for (size_t i = 0; i < lanes; ++i) taps[i] = (groups[6][i] & one_tap) << bits * last_place;
    M::weights(taps, v, out + kLastTap * M::kColumn);
  }
}

}  // namespace
}  // namespace octet
