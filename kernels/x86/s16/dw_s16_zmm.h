// SPDX-License-Identifier: Apache-2.0
// Depthwise of s16 values by int8 on zmm: 16 channels to a register, the s16 values of two pixels
// in each lane. The including file defines dot_add_int16(acc, a, b) for zmm.
//
// A walk along a line takes 16 channels of its block at a time, so that the weights of all taps, 12
// registers, the last three columns, 6, and the scales stay in registers: loads of weights would
// take longer than the products. A pixel's 32 bytes are half a cache line; the next walk finds the
// other half in the L1 cache.
#pragma once

#include <immintrin.h>

#include "kernels/generic/depthwise.h"
#include "kernels/x86/s16/s16_end.h"

namespace octet {
namespace {

constexpr size_t kS16Group = 16;  // channels to a register

OCTET_INLINE inline __m512i load_sums(const void* p) { return _mm512_loadu_si512(p); }

// The s16 values of 16 channels of two pixels, channel by channel.
struct PairsOfS16 {
  // s16 values i of a and i of b, whose first one is 32
  const __m512i order = _mm512_add_epi32(_mm512_set1_epi32(32 << 16),
                                         _mm512_mullo_epi32(_mm512_set1_epi32(0x10001), lanes()));
  static __m512i lanes() {
    return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  }
  OCTET_INLINE inline __m512i of(const uint8_t* a, const uint8_t* b) const {
    return _mm512_permutex2var_epi16(_mm512_castsi256_si512(_mm256_loadu_si256((const __m256i*)a)),
                                     order,
                                     _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i*)b)));
  }
};

// Outputs of two rows or two groups of channels, or their sums.
struct ChannelsEnd : S16End {
  bool sums;
  explicit ChannelsEnd(const DepthwiseTile& t)
      : S16End(t.requantization ? *t.requantization : Requantization{}), sums(!t.requantization) {}
};

// Where block, weights and scales of a tile lie: `channels` of each vector.
struct S16Block {
  const uint8_t* prepared;
  size_t channels;  // of the kernel
  size_t column() const { return 8 * channels; }
  const uint8_t* init(size_t group) const { return prepared + 64 * group; }
  const uint8_t* scale(size_t group) const { return init(group) + 4 * channels; }
  const uint8_t* weights() const { return prepared + 8 * channels; }
};

template <int rows, int stride>
__attribute__((noinline)) void s16_walk(const DepthwiseTile& t, const S16Block& block,
                                        size_t group) {
  constexpr int lines = rows + 2;
  struct Column {
    __m512i t[2];
  };
  const ChannelsEnd end(t);
  const PairsOfS16 pairs;
  const size_t left = t.channels - kS16Group * group;
  const __mmask16 mask = (__mmask16)(left < kS16Group ? (1u << left) - 1 : 0xffff);
  const __m512i init = load_sums(block.init(group)), scale = load_sums(block.scale(group));
  __m512i weights[rows][3][2];
  unroll<rows>([&](auto r) OCTET_INLINE {
    unroll<3>([&](auto c) OCTET_INLINE {
      const uint8_t* const from =
          block.weights() + (3 * r.value + c.value) * block.column() + 128 * group;
      weights[r][c][0] = load_sums(from), weights[r][c][1] = load_sums(from + 64);
    });
  });
  const uint8_t* pixel[lines];
  unroll<lines>([&](auto i) OCTET_INLINE { pixel[i] = t.pixels[i] + 32 * group; });
  const uint8_t* const zero = t.zero + 32 * group;
  size_t column = t.first_column;
  const auto next = [&]() OCTET_INLINE {
    const uint8_t* p[4] = {zero, zero, zero, zero};
    if (__builtin_expect(column < t.in_w, 1)) {
      unroll<lines>([&](auto i) OCTET_INLINE {
        p[i] = pixel[i];
        pixel[i] += t.steps[i];
      });
      if constexpr (lines == 3) p[3] = p[2];  // its weight is 0
    }
    ++column;
    return Column{{pairs.of(p[0], p[1]), pairs.of(p[2], p[3])}};
  };
  uint8_t* dst = t.dst + (end.sums ? 64 : 32) * group;
  Column a = next(), b = {};
  if constexpr (stride == 1) b = next();
  OCTET_NO_UNROLL
  for (size_t x = t.columns; x; --x, dst += t.dst_pixel) {
    if constexpr (stride == 2) b = next();
    const Column c = next();
    __m512i acc[rows];
    unroll<rows>([&](auto r) OCTET_INLINE {
      __m512i sum = init;
      unroll<2>([&](auto i) OCTET_INLINE {
        sum = dot_add_int16(sum, a.t[i], weights[r][0][i]);
        sum = dot_add_int16(sum, b.t[i], weights[r][1][i]);
        sum = dot_add_int16(sum, c.t[i], weights[r][2][i]);
      });
      acc[r] = sum;
    });
    if constexpr (stride == 1) {
      a = b;
      b = c;
    } else {
      a = c;
    }
    if (end.sums) {
      unroll<rows>([&](auto r) OCTET_INLINE { _mm512_storeu_si512(dst + r * t.dst_line, acc[r]); });
      continue;
    }
    unroll<rows>([&](auto r) OCTET_INLINE { acc[r] = end.scaled_by(acc[r], scale); });
    const __m512i s16 = end.s16(acc[0], acc[rows - 1]);
    _mm256_mask_storeu_epi16(dst, mask, _mm512_castsi512_si256(s16));
    if constexpr (rows == 2)
      _mm256_mask_storeu_epi16(dst + t.dst_line, mask, _mm512_extracti64x4_epi64(s16, 1));
  }
}

template <int channels, int rows>
__attribute__((noinline)) void s16_taps(const DepthwiseTile& t, const S16Block& block) {
  constexpr int groups = channels / kS16Group;
  const ChannelsEnd end(t);
  const PairsOfS16 pairs;
  const size_t column = block.column(), set = t.set_groups * column;
  uint8_t* dst = t.dst;
  OCTET_NO_UNROLL
  for (size_t x = 0; x < t.columns; ++x, dst += t.dst_pixel) {
    __m512i acc[rows][groups];
    unroll<rows>([&](auto r) OCTET_INLINE {
      unroll<groups>([&](auto g) OCTET_INLINE { acc[r][g] = load_sums(block.init(g)); });
    });
    const uint8_t* weights = block.weights();
    const uint8_t* const* pixel = t.pixels;
    const size_t* step = t.steps;
    OCTET_NO_UNROLL
    for (size_t left = t.groups; left; --left, pixel += 4, step += 4, weights += column) {
      const uint8_t* p[4];
      unroll<4>([&](auto i) OCTET_INLINE { p[i] = pixel[i] + x * step[i]; });
      unroll<groups>([&](auto g) OCTET_INLINE {
        unroll<2>([&](auto i) OCTET_INLINE {
          const __m512i s16 = pairs.of(p[2 * i] + 32 * g, p[2 * i + 1] + 32 * g);
          unroll<rows>([&](auto r) OCTET_INLINE {
            acc[r][g] =
                dot_add_int16(acc[r][g], s16, load_sums(weights + r * set + 64 * (2 * g + i)));
          });
        });
      });
    }
    unroll<rows>([&](auto r) OCTET_INLINE {
      uint8_t* const to = dst + r * t.dst_line;
      unroll<groups / 2>([&](auto i) OCTET_INLINE {
        const __m512i low = acc[r][2 * i], high = acc[r][2 * i + 1];
        if (end.sums) {
          _mm512_storeu_si512(to + 128 * i, low);
          _mm512_storeu_si512(to + 128 * i + 64, high);
        } else {
          const __m512i s16 = end.s16(end.scaled_by(low, load_sums(block.scale(2 * i))),
                                      end.scaled_by(high, load_sums(block.scale(2 * i + 1))));
          _mm512_mask_storeu_epi16(
              to + 64 * i, (__mmask32)((~(uint64_t)0 >> (64 - t.channels)) >> (32 * i)), s16);
        }
      });
    });
  }
}

template <int channels>
void multiply_s16(const DepthwiseTile& t) {
  const S16Block block = {(const uint8_t*)t.prepared, channels};
  const bool two = t.rows > 1;
  if (t.loop == DepthwiseLoop::kTaps)
    return two ? s16_taps<channels, 2>(t, block) : s16_taps<channels, 1>(t, block);
  const auto walk = t.loop == DepthwiseLoop::kWalkBy2 ? s16_walk<1, 2>
                    : two                             ? s16_walk<2, 1>
                                                      : s16_walk<1, 1>;
  for (size_t group = 0; kS16Group * group < t.channels; ++group) walk(t, block, group);
}

// Weights of a group of taps: for each 16 channels the first two taps, then the other two.
template <int channels>
struct S16Weights {
  static constexpr int kChannels = channels, kColumn = 8 * channels, kWalkSets = 2;
  static constexpr bool kWholeGroups = false;
  OCTET_INLINE static inline void weights(const uint32_t* from, size_t vector, uint8_t* to) {
    for (size_t lane = 0; lane < channels / kS16Group; ++lane) {
      int8_t taps[16];
      int16_t pairs[2][8];
      __builtin_memcpy(taps, from + 4 * lane, sizeof taps);
      for (size_t i = 0; i < 16; ++i) pairs[i % 4 / 2][i / 4 * 2 + i % 2] = taps[i];
      for (size_t pair = 0; pair < 2; ++pair)
        __builtin_memcpy(to + 64 * (2 * lane + pair) + 16 * vector, pairs[pair], 16);
    }
  }
};

// Init and scale are in the order of channels.
template <int channels>
void prepare_s16(const DepthwiseBlock& b, void* prepared) {
  uint8_t* const out = (uint8_t*)prepared;
  __builtin_memcpy(out, b.init, 4 * channels);
  __builtin_memcpy(out + 4 * channels, b.scale ? (const void*)b.scale : b.init, 4 * channels);
  write_weights<S16Weights<channels>, uint32_t>(b, out + 8 * channels);
}

template <int channels>
constexpr DepthwiseKernel zmm_s16_kernel(const char* name, TierId tier_id,
                                         const DepthwiseKernel* tail) {
  DepthwiseKernel k = {};
  k.name = name;
  k.tier_id = tier_id;
  k.lhs_element_type = ElementType::kS16;
  k.flags = kRequantizes;
  k.layout = depthwise_layout(1);
  k.channels = channels;
  k.reach = 2 * channels;
  k.rows = k.walk_rows = 2;
  k.partial = true;
  k.tail = tail;
  k.prepare = prepare_s16<channels>;
  k.multiply = multiply_s16<channels>;
  return k;
}

}  // namespace
}  // namespace octet
