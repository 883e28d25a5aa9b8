// SPDX-License-Identifier: Apache-2.0
// Depthwise on ymm registers, blocks of 32 channels: pixels, accumulators and stores. Sixteen
// registers hold the accumulators of two rows and a new column, but not the two columns before it:
// those live in memory, which costs a load for every two dot products.
//
// One text for two tiers. The including file defines dot_add_int16(acc, a, b), which multiplies
// int16 and adds pairs.
#pragma once

#include <immintrin.h>

#include "kernels/generic/depthwise_5x5.h"
#include "kernels/x86/shared/layouts.h"
#include "kernels/x86/shared/store_ymm.h"
#include "kernels/x86/shared/tflite_dw.h"

namespace octet {
namespace {

// M adds `each`, which visits the vectors of a column, or `each_of`, and the dot product.
template <typename M, int column_bytes>
struct Ymm : ColumnsInMemory<M, column_bytes, 32> {
  static constexpr int kChannels = 32, kPrepared = 4 * (1 + kTfliteRows) * kChannels;
  static constexpr bool kFloats = true;
  using Pixel = __m256i;
  struct Acc {
    __m256i a[4];
  };

  OCTET_INLINE static inline Pixel load(const uint8_t* p) {
    return _mm256_loadu_si256((const __m256i*)p);
  }
  OCTET_INLINE static inline Pixel aligned(const uint8_t* p) {
    return _mm256_load_si256((const __m256i*)p);
  }
  OCTET_INLINE static inline __m256i load_vector(const uint8_t* p) { return aligned(p); }
  OCTET_INLINE static inline void store_vector(__m256i t, uint8_t* to) {
    _mm256_store_si256((__m256i*)to, t);
  }
  OCTET_INLINE static inline Pixel flipped(Pixel bytes, Pixel sign) {
    return _mm256_xor_si256(bytes, sign);
  }
  OCTET_INLINE static inline Pixel sign(bool flip) {
    return _mm256_set1_epi8(flip ? (char)0x80 : 0);
  }

  struct Ends {
    const uint8_t* prepared;
    OCTET_INLINE inline explicit Ends(const uint8_t* p) : prepared(p) {}
    OCTET_INLINE inline Acc start() const {
      return {{aligned(prepared), aligned(prepared + 32), aligned(prepared + 64),
               aligned(prepared + 96)}};
    }
    OCTET_INLINE inline __m256 scale(size_t v) const {
      return _mm256_load_ps((const float*)(prepared + 128 + 32 * v));
    }
  };

  // The packs undo the interleaving, so the bytes are in order.
  struct Requantizing {
    Requantizer<32> requantizer;
    bool floats;  // of kFloatsUp
    explicit Requantizing(const DepthwiseTile& t)
        : requantizer(*t.requantization), floats(t.requantization->tflite_apart) {}

    OCTET_INLINE inline void store(const Acc& acc, const Ends& ends, uint8_t* dst) const {
      __m256i q[4];
      if (floats)
        unroll<4>([&](auto v) OCTET_INLINE {
          const auto row = [&](size_t n) OCTET_INLINE { return ends.scale(4 * n + v); };
          q[v] = by_floats<false>(acc.a[v], row(kTfliteHigh), row(kTfliteLow), row(kTfliteBegin));
        });
      else
        unroll<4>([&](auto v) OCTET_INLINE { q[v] = scaled(acc.a[v], ends.scale(v)); });
      _mm256_storeu_si256((__m256i*)dst,
                          requantizer.bytes(pack_int16(q[0], q[1]), pack_int16(q[2], q[3])));
    }
  };

  // The scales include the lhs's, and a bias is always added.
  struct Floats {
    const uint8_t* scales;
    float lo = 0, hi = 0;
    bool clamps = false;
    explicit Floats(const DepthwiseTile& t) : scales((const uint8_t*)t.prepared + 128) {
      if (!t.requantization) return;
      clamps = t.requantization->clamps;
      lo = t.requantization->lo_f32, hi = t.requantization->hi_f32;
    }

    OCTET_INLINE inline void store(Acc acc, uint8_t* dst) const {
      unroll<4>([&](auto v) OCTET_INLINE {
        const uint8_t* const scale = scales + 32 * v;
        acc.a[v] = floats_of(acc.a[v], aligned(scale), aligned(scale + 128));
      });
      if (clamps)
        unroll<4>([&](auto v) OCTET_INLINE {
          acc.a[v] = lesser_floats(splat_float<__m256i>(hi),
                                   greater_floats(splat_float<__m256i>(lo), acc.a[v]));
        });
      store_s32(acc, dst);
    }
  };

  OCTET_INLINE static inline void store_s32(const Acc& acc, uint8_t* dst) {
    unroll<4>([&](auto v) OCTET_INLINE {
      _mm_storeu_si128((__m128i*)(dst + 16 * v), _mm256_castsi256_si128(acc.a[v]));
      _mm_storeu_si128((__m128i*)(dst + 64 + 16 * v), _mm256_extracti128_si256(acc.a[v], 1));
    });
  }

  OCTET_INLINE static inline void store_raw(const Acc& acc, uint8_t* dst) {
    unroll<4>([&](auto v)
                  OCTET_INLINE { _mm256_storeu_si256((__m256i*)(dst + 32 * v), acc.a[v]); });
  }

  OCTET_INLINE static inline void store_bytes(uint8_t* dst, __m256i bytes, size_t count) {
    octet::store_bytes(dst, bytes, count);
  }
};

// Bytes of four pixels are interleaved in pairs and widened, so that a 32-bit lane holds two pixels
// of one channel: a column is eight vectors.
template <typename M>
struct OfS16 : Ymm<M, 256> {
  using typename Ymm<M, 256>::Acc;
  using typename Ymm<M, 256>::Column;
  using Ymm<M, 256>::aligned;
  using Ymm<M, 256>::kColumn;

  // Keeps the compiler from holding the stored column in registers as well: its eight vectors do
  // not fit beside two rows of accumulators.
  OCTET_INLINE static inline void settle(Column& column) {
    __asm__("" : "+m"(*(uint8_t(*)[kColumn])column.at));
  }

  OCTET_INLINE static inline void dot_vector(Acc& acc, int i, __m256i t, const uint8_t* weights) {
    dot_add_int16(acc.a[i / 2], t, aligned(weights + 32 * i));
  }

  static inline void weights(const uint32_t* from, size_t vector, uint8_t* to) {
    const __m256i taps = _mm256_load_si256((const __m256i*)from);
    const __m256i first = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(-1, 0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13));
    const __m256i second = _mm256_or_si256(first, _mm256_set1_epi8(2));  // -1 stays -1
    _mm256_store_si256((__m256i*)(to + 64 * vector),
                       _mm256_srai_epi16(_mm256_shuffle_epi8(taps, first), 8));
    _mm256_store_si256((__m256i*)(to + 64 * vector + 32),
                       _mm256_srai_epi16(_mm256_shuffle_epi8(taps, second), 8));
  }

  static inline void weights(const uint64_t* from, size_t vector, uint8_t* to) {
    split_pairs<8>(from, to + 64 * vector);
  }
};

struct Int16 : OfS16<Int16> {
  static constexpr bool kWalks5x5 = true;
  struct Pair {
    __m256i low, high;
  };
  OCTET_INLINE static inline Pair pair(Pixel a, Pixel b) {
    return {_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b)};
  }
  // Visits vector 2 v + pair of a column.
  template <typename Use>
  OCTET_INLINE static inline void each(const Pair& top, const Pair& bottom, const Use& use) {
    const __m256i zero = _mm256_setzero_si256();
    unroll<2>([&](auto high) OCTET_INLINE {
      const __m256i a = high ? top.high : top.low, b = high ? bottom.high : bottom.low;
      use(Int<4 * high.value>{}, _mm256_unpacklo_epi8(a, zero));
      use(Int<4 * high.value + 1>{}, _mm256_unpacklo_epi8(b, zero));
      use(Int<4 * high.value + 2>{}, _mm256_unpackhi_epi8(a, zero));
      use(Int<4 * high.value + 3>{}, _mm256_unpackhi_epi8(b, zero));
    });
  }
};

// Pixels that are s16 values already.
struct OfPixels : OfS16<OfPixels> {
  // The lanes of a half are of channels 16 apart: interleaved, they lie as bytes do
  struct Pixel {
    __m256i halves[2];
  };
  OCTET_INLINE static inline Pixel load(const uint8_t* p) {
    // GCC 9 has no _mm256_loadu2_m128i.
    const auto eight = [p](int i) OCTET_INLINE { return _mm_loadu_si128((const __m128i*)p + i); };
    return {{_mm256_set_m128i(eight(2), eight(0)), _mm256_set_m128i(eight(3), eight(1))}};
  }
  template <typename Use>
  OCTET_INLINE static inline void each_of(const Pixel (&p)[4], const Use& use) {
    unroll<2>([&](auto pair) OCTET_INLINE {
      unroll<2>([&](auto high) OCTET_INLINE {
        const __m256i a = p[2 * pair].halves[high], b = p[2 * pair + 1].halves[high];
        use(Int<4 * high.value + pair.value>{}, _mm256_unpacklo_epi16(a, b));
        use(Int<4 * high.value + 2 + pair.value>{}, _mm256_unpackhi_epi16(a, b));
      });
    });
  }

  // Packs scaled sums to s16, in the order of channels.
  struct S16 {
    __m256i lo, hi;
    S16(size_t, const Requantization& n)
        : lo(splat<__m256i>((int16_t)n.lo)), hi(splat<__m256i>((int16_t)n.hi)) {}
    OCTET_INLINE inline void store(const Acc& q, uint8_t* dst) const {
      __m256i halves[2];
      unroll<2>([&](auto i) OCTET_INLINE {
        halves[i] = min_s16(max_s16(pack_int16(q.a[2 * i], q.a[2 * i + 1]), lo), hi);
      });
      _mm256_storeu_si256((__m256i*)dst, _mm256_permute2x128_si256(halves[0], halves[1], 0x20));
      _mm256_storeu_si256((__m256i*)dst + 1, _mm256_permute2x128_si256(halves[0], halves[1], 0x31));
    }
  };
  OCTET_INLINE static inline __m256i scaled_float(__m256i acc, __m256 scale, const S16&) {
    return scaled(acc, scale);
  }
  OCTET_INLINE static inline __m256i scaled_tflite(__m256i acc, __m256 scale, const S16&) {
    return high_halves(acc, _mm256_castps_si256(scale));
  }
};

constexpr DepthwiseKernel ymm_s16_kernel(const char* name, TierId tier_id) {
  return depthwise_s16_kernel<OfPixels, Int16, DepthwiseOutput::kS16>(name, tier_id);
}

template <typename M>
void ymm_multiply(const DepthwiseTile& t) {
  const TowardsZero rounding(t.requantization && t.requantization->tflite_apart);
  depthwise_multiply<M>(t);
}

template <typename M, typename Taps = uint32_t>
constexpr DepthwiseKernel ymm_kernel(const char* name, TierId tier_id,
                                     const DepthwiseKernel* s16 = nullptr) {
  DepthwiseKernel k = depthwise_kernel<M, Taps>(name, tier_id, ElementType::kU8,
                                                kAnyLhs | kRequantizes | kStoresFloats, s16,
                                                depthwise_output<M, __m256i>);
  k.multiply = ymm_multiply<M>;
  k.tflite_floats = true;
  return k;
}

}  // namespace
}  // namespace octet
