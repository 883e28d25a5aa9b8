// SPDX-License-Identifier: Apache-2.0
// Convolutions of few channels as bytes, VPMADDUBSW on ymm: 12 outputs x 8 channels, of six pairs
// of outputs at any places (kernels/core/depthwise_kernel.h):
//
//                         channels 0-7
//                        +------------+      12 accumulators, 1 for weights, 1 for four bytes of a
//   two of a pair's      |   acc[i]   |      pixel, 1 product
//   outputs, six times   +------------+
//
// Per four bytes of a window and output: a broadcast, VPMADDUBSW, VPMADDWD by ones and VPADDD.
#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/accumulate.h"
#include "kernels/x86/shared/epilogue_rows.h"
#include "kernels/x86/shared/quads.h"
#include "kernels/x86/shared/requantize.h"

namespace octet {
namespace {

constexpr int kPairs = ByteWindowsKernel::kPairs, kRows = 2 * kPairs;

inline uint32_t crowded_of(__m256i sums) {
  return (uint32_t)_mm256_movemask_epi8(
      _mm256_cmpgt_epi16(sums, _mm256_set1_epi16(ByteWindowsKernel::kMostOfPair)));
}

size_t copy(const BytePixels& p, uint32_t* crowded) {
  // Copies, which compilers would read again after each store
  const size_t count = p.count, step = p.step, to_step = p.to_step;
  const uint32_t bytes = p.bytes;
  const __m256i flips = _mm256_set1_epi8((char)p.flip);
  const uint8_t* from = p.from;
  uint8_t* to = p.to;
  const auto pixel = [&]() OCTET_INLINE {
    const __m256i x = _mm256_xor_si256(_mm256_loadu_si256((const __m256i*)from), flips);
    _mm256_storeu_si256((__m256i*)to, x);
    from += step, to += to_step;
    return _mm256_maddubs_epi16(x, _mm256_set1_epi8(1));
  };
  size_t i = 0;
  for (; i + 2 <= count; i += 2) {
    const __m256i first = pixel(), second = pixel();
    if (__builtin_expect(crowded_of(_mm256_max_epi16(first, second)) == 0, 1)) continue;
    const uint32_t one = crowded_of(first) & bytes, two = crowded_of(second) & bytes;
    *crowded = one ? one : two;
    if (*crowded) return i + (one ? 1 : 2);
  }
  *crowded = i < count ? crowded_of(pixel()) & bytes : 0;
  return count;
}

void arrange(const uint8_t* from, size_t apart, uint8_t* to) {
  const auto two = [&](size_t channel) OCTET_INLINE {
    const uint8_t* const at = from + channel * apart;
    return _mm_castpd_ps(_mm_loadh_pd(_mm_load_sd((const double*)at), (const double*)(at + apart)));
  };
  const __m256 a = _mm256_set_m128(two(4), two(0)), b = _mm256_set_m128(two(6), two(2));
  _mm256_store_ps((float*)to, _mm256_shuffle_ps(a, b, 0x88));
  _mm256_store_ps((float*)(to + 32), _mm256_shuffle_ps(a, b, 0xdd));
}

void find_most(const uint8_t* weights, size_t taps, size_t quads, int16_t* most) {
  const __m256i ones = _mm256_set1_epi8(1);
  for (size_t q = 0; q < quads; ++q, weights += 32, most += 2) {
    __m256i sums = _mm256_setzero_si256();
    for (size_t tap = 0; tap < taps; ++tap) {
      const __m256i w = _mm256_load_si256((const __m256i*)(weights + tap * quads * 32)),
                    all = _mm256_maddubs_epi16(_mm256_abs_epi8(w), ones),
                    positive =
                        _mm256_maddubs_epi16(_mm256_max_epi8(w, _mm256_setzero_si256()), ones);
      sums = _mm256_max_epi16(sums, _mm256_max_epi16(positive, _mm256_sub_epi16(all, positive)));
    }
    __m128i half = _mm_max_epi16(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    half = _mm_max_epi16(half, _mm_shuffle_epi32(half, 0x4e));
    half = _mm_max_epi16(half, _mm_shuffle_epi32(half, 0xb1));
    int32_t before;
    __builtin_memcpy(&before, most, sizeof before);
    before = _mm_cvtsi128_si32(_mm_max_epi16(half, _mm_cvtsi32_si128(before)));
    __builtin_memcpy(most, &before, sizeof before);
  }
}

void add(uint32_t quad, const uint8_t* weights, int32_t* sums) {
  const __m256i products =
      _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_set1_epi32((int32_t)quad),
                                             _mm256_loadu_si256((const __m256i*)weights)),
                        _mm256_set1_epi16(1));
  _mm256_storeu_si256((__m256i*)sums,
                      _mm256_add_epi32(_mm256_loadu_si256((const __m256i*)sums), products));
}

// Multiplies six pairs.
OCTET_INLINE inline void multiply_pairs(const ByteWindows& t, const WindowPair* pairs,
                                        const uint32_t* rows, const Requantizer<32>& requantizer) {
  __m256i acc[kRows];
  unroll<kRows>([&](auto i) OCTET_INLINE {
    acc[i] = _mm256_loadu_si256((const __m256i*)(t.init + rows[i]));
    pin(acc[i]);
  });
  const uint8_t* window[kPairs];
  unroll<kPairs>([&](auto i) OCTET_INLINE {
    window[i] = t.windows + pairs[i].window;
    __asm__("" : "+r"(window[i]));
  });
  const uint8_t* weights = t.weights;
  const uint32_t* offset = t.offsets;
  const size_t step = t.step;
  OCTET_NO_UNROLL
  for (size_t quads = t.quads; quads; --quads, ++offset, weights += 32) {
    const size_t at = *offset;
    size_t next = at + step;
    __asm__("" : "+r"(next));
    const __m256i w = _mm256_load_si256((const __m256i*)weights);
    unroll<kRows>([&](auto i) OCTET_INLINE {
      __m256i int16 = _mm256_maddubs_epi16(
          _mm256_set1_epi32(load_quad(window[i / 2] + (i % 2 ? next : at))), w);
      // As in avx2_u8s8_rows_6x64x4.cc
      __asm__("vpmaddwd %1, %0, %0" : "+x"(int16) : "m"(*(const __m256i*)kOnes));
      accumulate(acc[i], int16);
    });
  }
  const __m256 scale = _mm256_loadu_ps(t.scale);
  if (t.requantization->to_floats) {
    // As store_floats, of windows' outputs at any places
    const Requantization& r = *t.requantization;
    const __m256 bias = r.bias_apart ? _mm256_loadu_ps(t.scale + r.bias_apart) : all(-0.0f),
                 lo = all(r.lo_f32), hi = all(r.hi_f32);
    const bool clamps = r.clamps;
    uint8_t* const to = t.dst;
    const size_t stride = t.dst_stride;
    unroll<kRows>([&](auto i) OCTET_INLINE {
      __m256 x = to_floats(acc[i]) * scale + bias;
      if (clamps) x = least_of(hi, most_of(lo, x));
      _mm256_storeu_ps((float*)(to + (pairs[i / 2].output + (size_t)i % 2) * stride), x);
    });
    return;
  }
  unroll<kRows / 4>([&](auto four) OCTET_INLINE {
    const auto int16 = [&](int i) OCTET_INLINE {
      return _mm256_packs_epi32(scaled(acc[4 * four + i], scale),
                                scaled(acc[4 * four + i + 1], scale));
    };
    const __m256i bytes = in_order(requantizer.bytes(int16(0), int16(2)));
    const auto store = [&](__m128i pair, size_t output) OCTET_INLINE {
      uint8_t* const to = t.dst + output * t.dst_stride;
      _mm_storel_epi64((__m128i*)to, pair);
      _mm_storeh_pd((double*)(to + t.dst_stride), _mm_castsi128_pd(pair));
    };
    store(_mm256_castsi256_si128(bytes), pairs[2 * four].output);
    store(_mm256_extracti128_si256(bytes, 1), pairs[2 * four + 1].output);
  });
}

void multiply(const ByteWindows& t) {
  const Requantizer<32> requantizer(*t.requantization);
  for (size_t pair = 0;; pair += kPairs) {
    if (pair + kPairs > t.count) pair = t.count - kPairs;  // some a second time
    multiply_pairs(t, t.pairs + pair, t.rows + 2 * pair, requantizer);
    if (pair + kPairs == t.count) return;
  }
}

}  // namespace

const ByteWindowsKernel avx2_byte_windows = {copy, arrange, find_most, add, multiply};

}  // namespace octet
