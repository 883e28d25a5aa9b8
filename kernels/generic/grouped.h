// SPDX-License-Identifier: Apache-2.0
// The loops of grouped kernels, for every ISA that can dot the bytes of a 32-bit lane. They run
// over blocks of 16 channels and, within a block, over some adjacent pixels at a time, so that a
// tap's weights serve all of them.
//
// A Machine M describes the ISA, for groups of 4 * quads channels:
//   kChannels     channels per call, a whole number of blocks
//   kInputBytes   bytes of a pixel's channel: 1, or 2 with `widen`
//   Vector        the type of weights and accumulators
//   kVectors      vectors of weights per tap; kAccs: vectors of accumulators per pixel
//   kWide, kTail  adjacent pixels, and those at the end of a line; kStore: pixels stored together
//   kEven         whether a line is cut evenly instead: kWide, one and two fewer pixels
//   kTwice        or, without kEven, begins with twice kWide while that many, or nearly, are left
//   Pixel, load   the part of a pixel that kAccs vectors of weights multiply
//   dot           adds its products with one of these vectors
//   Raw, sum      a pixel's 16 sums, in M's own order; raw_position: the index of each
//   init_position the index of a channel's init in the accumulators
//   prepare       writes a tap's weights; store, ... store the sums of kStore pixels
//   kFloats       whether floats makes f32 outputs of Raw sums, which store_s32 then stores
//   kSums         whether offsets of weights meet sums of windows, of which a pixel has a lane per
//                 quad: plus_pixels and plus make it, store_sums stores the sum of its group
//                 instead; to_lane makes an offset's lane, and add_offsets adds the products of
//                 both. Otherwise `prepare` adds the offsets to the weights
//   kSumsByTap    with kSums, whether sums are made with the taps instead: plus_pixel adds a pixel,
//                 and add_products adds the products of a window's sums and offsets
#pragma once

#include "kernels/core/compiler.h"
#include "kernels/core/depthwise_kernel.h"

namespace octet {
namespace {

// Calls f with quads as a constant, for groups of 4, 8 and 16 channels.
template <typename F>
OCTET_INLINE inline void for_quads(size_t quads, F f) {
  switch (quads) {
    case 1: return f(Int<1>{});
    case 2: return f(Int<2>{});
    default: return f(Int<4>{});
  }
}

// Addresses within the prepared data: scales or TFLite's rows, in the order of raw sums; then for
// each block its init and its weights, tap by tap.
template <typename M, int quads>
struct GroupedBlock {
  static constexpr size_t kScales = 4 * (kTfliteRows + 1) * M::kChannels,
                          kInit = sizeof(typename M::Vector) * M::template kAccs<quads>,
                          kHead = (M::kSums ? 2 : 1) * kInit,
                          kTap = sizeof(typename M::Vector) * M::template kVectors<quads>;
  const uint8_t *scale, *init, *weights;  // kSums: the offsets follow init
  OCTET_INLINE inline GroupedBlock(const void* prepared, size_t block, size_t taps)
      : scale((const uint8_t*)prepared + 4 * M::kChannels + 64 * block),
        init((const uint8_t*)prepared + kScales + block * (kHead + taps * kTap)),
        weights(init + kHead) {}
};

// Stores the sums of so many pixels as s32 or f32. A function of its own for all numbers of
// adjacent pixels, because kernels would be a fifth larger.
template <typename M, int quads>
__attribute__((noinline)) void store_whole(const DepthwiseTile& t, const typename M::Raw* sums,
                                           size_t pixels, size_t x, const uint8_t* scale,
                                           size_t channel) {
  const size_t apart = t.dst_pixel;
  uint8_t* dst = t.dst + x * apart + 4 * channel;
  if (pixels > t.columns) pixels = t.columns;
  const Requantization* const r = t.floats;
  OCTET_NO_UNROLL
  for (; pixels; --pixels, ++sums, dst += apart) {
    typename M::Raw whole = *sums;
    if constexpr (M::kFloats)
      if (r) whole = M::floats(whole, (const float*)scale, *r);
    M::template store_s32<quads>(whole, dst);
  }
}

// Adds the products of all taps of some adjacent pixels of one block, from column x on, and their
// windows' sums if `summed`.
template <bool summed, typename M, int quads, int pixels, int accs>
OCTET_INLINE inline void add_taps(const DepthwiseTile& t, const GroupedBlock<M, quads>& block,
                                  size_t channel, size_t x, typename M::Vector (&acc)[pixels][accs],
                                  [[maybe_unused]] typename M::Vector (&sums)[pixels]) {
  constexpr int vectors = M::template kVectors<quads>;
  const size_t step = t.steps[0], offset = x * step + channel * M::kInputBytes;
  const uint8_t* weights = block.weights;
  const uint8_t* const* slot = t.pixels;
  OCTET_NO_UNROLL
  for (size_t taps = t.groups; taps; --taps, weights += GroupedBlock<M, quads>::kTap) {
    const uint8_t* pixel[(pixels + 3) / 4];
    unroll<(pixels + 3) / 4>([&](auto four)
                                 OCTET_INLINE { pixel[four] = *slot + offset + 4 * four * step; });
    ++slot;
    unroll<vectors / accs>([&](auto part) OCTET_INLINE {
      if constexpr (pixels > accs) {  // the fewer vectors stay in registers
        typename M::Vector w[accs];
        unroll<accs>([&](auto a) OCTET_INLINE { w[a] = M::at(weights, part * accs + a); });
        unroll<pixels>([&](auto i) OCTET_INLINE {
          const typename M::Pixel p = M::template load<quads>(pixel[i / 4] + i % 4 * step, part);
          unroll<accs>([&](auto a) OCTET_INLINE {
            acc[i][a] = M::template dot<quads>(acc[i][a], p, w[a], Int<part * accs + a>{});
            pin(acc[i][a]);
          });
        });
        return;
      }
      typename M::Pixel p[pixels];
      unroll<pixels>([&](auto i) OCTET_INLINE {
        p[i] = M::template load<quads>(pixel[i / 4] + i % 4 * step, part);
        if constexpr (summed) {  // by itself: Clang looks at what a lambda's constants leave out
          if constexpr (part == 0) {
            sums[i] = M::plus_pixel(sums[i], p[i]);
            pin(sums[i]);
          }
        }
      });
      unroll<accs>([&](auto a) OCTET_INLINE {
        const typename M::Vector w = M::at(weights, part * accs + a);
        unroll<pixels>([&](auto i) OCTET_INLINE {
          acc[i][a] = M::template dot<quads>(acc[i][a], p[i], w, Int<part * accs + a>{});
          pin(acc[i][a]);
        });
      });
    });
  }
}

// Multiplies some adjacent pixels of one block, from column x on.
template <typename M, int quads, int pixels>
OCTET_INLINE inline void grouped_pixels(const DepthwiseTile& t, const M& machine,
                                        const GroupedBlock<M, quads>& block, size_t channel,
                                        size_t x) {
  constexpr int accs = M::template kAccs<quads>;
  typename M::Vector acc[pixels][accs];
  unroll<accs>([&](auto a) OCTET_INLINE {
    const typename M::Vector start = M::at(block.init, a);
    unroll<pixels>([&](auto i) OCTET_INLINE { acc[i][a] = start; });
  });
  typename M::Vector window[pixels] = {};
  if constexpr (M::template kSumsByTap<quads>) {
    if (__builtin_expect(t.sums != nullptr, 0)) {
      add_taps<true>(t, block, channel, x, acc, window);
      unroll<pixels>([&](auto i) OCTET_INLINE {
        M::template add_products<quads>(acc[i], window[i],
                                        block.init + GroupedBlock<M, quads>::kInit);
      });
    } else {
      add_taps<false>(t, block, channel, x, acc, window);
    }
  } else {
    add_taps<false>(t, block, channel, x, acc, window);
  }
  if constexpr (M::kSums && !M::template kSumsByTap<quads>)
    if (t.sums) {
      const uint8_t* const sums = t.sums + x * M::kChannels + channel;
      unroll<pixels>([&](auto i) OCTET_INLINE {
        M::template add_offsets<accs>(acc[i], sums + i * M::kChannels,
                                      block.init + GroupedBlock<M, quads>::kInit);
      });
    }
  if (__builtin_expect(!t.requantization && !t.raw, 0)) {
    typename M::Raw sums[pixels];
    unroll<pixels>([&](auto i) OCTET_INLINE {
      pin(acc[i][accs - 1]);  // else sums are made before the branch
      sums[i] = M::template sum<quads>(acc[i]);
    });
    return store_whole<M, quads>(t, sums, pixels, x, block.scale, channel);
  }
  uint8_t* dst = t.dst + x * t.dst_pixel;
  const size_t columns = t.columns;  // fewer than `pixels` in a short line
  unroll<(pixels + M::kStore - 1) / M::kStore>([&](auto part) OCTET_INLINE {
    constexpr int first = part * M::kStore,
                  here = pixels - first < M::kStore ? pixels - first : M::kStore;
    typename M::Raw raw[M::kStore];
    unroll<M::kStore>([&](auto i) OCTET_INLINE {
      raw[i] = M::template sum<quads>(acc[i < here ? first + i : 0]);
    });
    const size_t left = columns < first ? 0 : columns - first, wanted = left < here ? left : here;
    if (__builtin_expect(t.requantization != nullptr, 1))
      machine.template store<quads>(raw, block.scale, dst + channel, t.dst_pixel, wanted,
                                    t.channels - channel);
    else
      unroll<here>([&](auto i) OCTET_INLINE {
        if (i < wanted) M::store_raw(raw[i], dst + i * t.dst_pixel + 4 * channel);
      });
    dst += M::kStore * t.dst_pixel;
  });
}

// Cuts a line into nearly equal parts of kTail to kWide pixels.
template <typename M, int quads>
OCTET_INLINE inline void grouped_parts(const DepthwiseTile& t, const M& machine,
                                       const GroupedBlock<M, quads>& block, size_t channel) {
  constexpr int wide = M::template kWide<quads>, tail = M::template kTail<quads>;
  static_assert(wide == tail + 2, "three sizes");
  const size_t columns = t.columns;
  size_t parts = (columns + wide - 1) / wide;
  for (size_t x = 0; parts; --parts) {
    const size_t pixels = (columns - x + parts - 1) / parts;
    if (pixels == wide) {
      grouped_pixels<M, quads, wide>(t, machine, block, channel, x);
    } else if (pixels == wide - 1) {
      grouped_pixels<M, quads, wide - 1>(t, machine, block, channel, x);
    } else {
      const size_t last = columns < tail ? 0 : columns - tail;
      grouped_pixels<M, quads, tail>(t, machine, block, channel, x < last ? x : last);
    }
    x += pixels;
  }
}

// The last step begins early enough to be a full one, so some pixels are computed twice.
template <typename M, int quads>
__attribute__((noinline)) void grouped_line(const DepthwiseTile& t) {
  constexpr size_t wide = M::template kWide<quads>, tail = M::template kTail<quads>;
  const M machine(t);
  const size_t columns = t.columns;
  for (size_t channel = 0; channel < t.channels; channel += kGroupedBlock) {
    const GroupedBlock<M, quads> block(t.prepared, channel / kGroupedBlock, t.groups);
    if constexpr (M::template kEven<quads>) {
      grouped_parts<M, quads>(t, machine, block, channel);
      continue;
    }
    size_t x = 0;
    const auto step = [&](auto pixels) OCTET_INLINE {
      const size_t from = x + pixels <= columns ? x : columns < pixels ? 0 : columns - pixels;
      grouped_pixels<M, quads, pixels>(t, machine, block, channel, from);
      x += pixels;
    };
    if constexpr (M::template kTwice<quads>) OCTET_NO_UNROLL
    while (x + 2 * wide <= columns + 2) step(Int<2 * wide>{});
    size_t whole =
        wide == tail || columns < wide || x >= columns ? 0 : (columns - x + wide - tail - 1) / wide;
    OCTET_NO_UNROLL
    for (; whole; --whole) step(Int<wide>{});
    OCTET_NO_UNROLL
    while (x < columns) step(Int<tail>{});
  }
}

// Sums the pixels of each column, over the window's lines, then the columns of each window in the
// place of those; four vectors at a time, perhaps behind the line's end.
template <typename M>
__attribute__((noinline)) void sum_windows(const DepthwiseTile& t) {
  using Vector = typename M::Vector;
  constexpr size_t kPixel = M::kChannels, kVector = sizeof(Vector), kFour = 4 * kVector;
  const uint8_t* const* const slots = t.pixels;
  const size_t step = t.steps[0], columns = t.kernel_w, lines = t.groups,
               across = columns > 1 ? (size_t)(slots[1] - slots[0]) : 0,
               width = (t.columns - 1) * step + (columns - 1) * across + kPixel;
  uint8_t* const sums = t.sums;
  Vector four[4];
  for (size_t at = 0; at < width; at += kFour) {
    unroll<4>([&](auto i) OCTET_INLINE { four[i] = Vector{}; });
    for (size_t line = 0; line < lines; line += columns) {
      const uint8_t* const pixels = slots[line] + at;
      unroll<4>([&](auto i)
                    OCTET_INLINE { four[i] = M::plus_pixels(four[i], pixels + i * kVector); });
    }
    unroll<4>([&](auto i)
                  OCTET_INLINE { __builtin_memcpy(sums + at + i * kVector, &four[i], kVector); });
  }
  const size_t quads = t.quads, pixels = t.columns;  // copies, because sums may alias them
  for (size_t x = 0; x < pixels; x += kFour / kPixel) {
    const uint8_t* from = sums + x * step;
    const auto at = [&](size_t i) OCTET_INLINE {
      return M::at(from + i * kVector / kPixel * step + i * kVector % kPixel, 0);
    };
    unroll<4>([&](auto i) OCTET_INLINE { four[i] = at(i); });
    for (size_t left = columns - 1; left; --left) {
      from += across;
      unroll<4>([&](auto i) OCTET_INLINE { four[i] = M::plus(four[i], at(i)); });
    }
    unroll<4>([&](auto i)
                  OCTET_INLINE { M::store_sums(four[i], quads, sums + x * kPixel + i * kVector); });
  }
}

template <typename M>
void grouped_multiply(const DepthwiseTile& t) {
  const auto multiply = [](const DepthwiseTile& tile) {
    for_quads(tile.quads, [&](auto quads) OCTET_INLINE {
      if constexpr (M::kSums && !M::template kSumsByTap<quads>)
        if (tile.sums) sum_windows<M>(tile);
      grouped_line<M, quads>(tile);
    });
  };
  if (!t.requantization || !t.requantization->to_floats) return multiply(t);
  DepthwiseTile tile = t;
  tile.floats = t.requantization, tile.requantization = nullptr;
  multiply(tile);
}

template <typename M, int quads>
void grouped_prepare_quads(const DepthwiseBlock& b, uint8_t* prepared) {
  using Block = GroupedBlock<M, quads>;
  uint8_t* out = prepared + 4 * M::kChannels;
  const auto place = [&](size_t c) {
    return out + 64 * (c / 16) + 4 * M::raw_position(quads, c % 16);
  };
  const int32_t* row = (const int32_t*)b.scale;
  for (size_t rows = !b.scale || b.to_floats ? 0
                     : b.tflite_apart        ? kTfliteRows
                                             : 1;
       rows; --rows, row += b.tflite_apart, out += 4 * M::kChannels)
    for (size_t c = 0; c < M::kChannels; ++c) __builtin_memcpy(place(c), row + c, 4);
  if (b.to_floats)
    for (size_t c = 0; c < M::kChannels; ++c) {
      const bool inside = c < b.channels;
      const float scale = inside ? b.lhs_scale * b.scale[c] : 0,
                  bias = inside && b.bias_f32 ? b.bias_f32[c] : -0.0f;  // which changes no float
      __builtin_memcpy(place(c), &scale, 4);
      __builtin_memcpy(place(c) + 4 * M::kChannels, &bias, 4);
    }

  const uint8_t* weights = b.weights;
  out = prepared + Block::kScales;
  for (size_t channel = 0; channel < b.channels; channel += kGroupedBlock) {
    const int16_t* const offsets = b.offsets ? b.offsets + channel : nullptr;
    __builtin_memset(out, 0, Block::kHead);
    for (size_t c = 0; c < kGroupedBlock; ++c) {
      uint8_t* const init = out + 4 * M::init_position(quads, c);
      __builtin_memcpy(init, b.init + channel + c, 4);
      if constexpr (M::kSums) {
        if (!offsets) continue;
        const uint32_t lane = M::to_lane(offsets[c]);
        __builtin_memcpy(init + Block::kInit, &lane, 4);
      }
    }
    out += Block::kHead;
    for (size_t tap = 0; tap < b.groups; ++tap, out += Block::kTap, weights += 64 * quads)
      if constexpr (M::kSums) {
        M::template prepare<quads>(weights, out);
      } else {
        M::template prepare<quads>(weights, offsets, out);
      }
  }
}

template <typename M>
void grouped_prepare(const DepthwiseBlock& b, void* prepared) {
  for_quads(b.quads, [&](auto quads)
                         OCTET_INLINE { grouped_prepare_quads<M, quads>(b, (uint8_t*)prepared); });
}

// Makes the kernel constant of M.
template <typename M>
constexpr DepthwiseKernel grouped_kernel(const char* name, TierId tier_id, ElementType lhs,
                                         const RhsLayout& layout,
                                         void (*requantize)(const DepthwiseRaw&) = nullptr,
                                         const ByteWindowsKernel* byte_windows = nullptr) {
  DepthwiseKernel k = {};
  k.name = name;
  k.tier_id = tier_id;
  k.lhs_element_type = lhs;
  k.flags = kAnyLhs | kRequantizes | (M::kFloats ? kStoresFloats : 0);
  k.layout = layout;
  k.channels = k.reach = M::kChannels;
  k.rows = 1;
  if constexpr (M::kInputBytes > 1) k.widen = M::widen;
  k.partial = true;
  k.byte_windows = byte_windows;
  k.prepare = grouped_prepare<M>;
  k.multiply = grouped_multiply<M>;
  k.requantize = requantize;
  return k;
}

}  // namespace
}  // namespace octet
