// SPDX-License-Identifier: Apache-2.0
// Depthwise on zmm or ymm registers, blocks of 64 or 32 channels, for AVX-512: pixels, columns,
// accumulators and stores.
//
//        kept columns               new column        accumulators of a row
//      t[0..3] of x-1, t[0..3] of x    t[0..3]             a[0..3]
//
// 16 registers of 32; weights come from memory.
//
// Per column of two rows: 4 pixels, 8 interleavings, 24 dot products. See
// kernels/generic/depthwise.h. A last block of at most 32 channels uses ymm registers.
//
// One text for two tiers. The including file defines dot_add_int16(acc, a, b), which multiplies
// int16, for vectors of both widths; for dot products of bytes dot_add(acc, a, b), too.
#pragma once

#include <immintrin.h>

#include "kernels/generic/depthwise_5x5.h"
#include "kernels/x86/shared/tflite_dw.h"

namespace octet {
namespace {

OCTET_INLINE inline __m512i exclusive_or(__m512i a, __m512i b) { return _mm512_xor_si512(a, b); }
OCTET_INLINE inline __m256i exclusive_or(__m256i a, __m256i b) { return _mm256_xor_si256(a, b); }
OCTET_INLINE inline __m512i scaled(__m512i acc, __m512i scale) {
  return scaled(acc, _mm512_castsi512_ps(scale));
}
OCTET_INLINE inline __m256i scaled(__m256i acc, __m256i scale) {
  return scaled(acc, _mm256_castsi256_ps(scale));
}
OCTET_INLINE inline void store_masked(uint8_t* dst, __mmask64 mask, __m512i v) {
  _mm512_mask_storeu_epi8(dst, mask, v);
}
OCTET_INLINE inline void store_masked(uint8_t* dst, __mmask64 mask, __m256i v) {
  _mm256_mask_storeu_epi8(dst, (__mmask32)mask, v);
}
OCTET_INLINE inline __m512i load_masked(const uint8_t* p, __mmask64 mask, __m512i) {
  return _mm512_maskz_loadu_epi8(mask, p);
}
OCTET_INLINE inline __m256i load_masked(const uint8_t* p, __mmask64 mask, __m256i) {
  return _mm256_maskz_loadu_epi8((__mmask32)mask, p);
}
OCTET_INLINE inline void store_lanes(uint8_t* dst, __mmask16 mask, __m512i v) {
  _mm512_mask_storeu_epi32(dst, mask, v);
}
OCTET_INLINE inline void store_lanes(uint8_t* dst, __mmask16 mask, __m256i v) {
  _mm256_mask_storeu_epi32(dst, (__mmask8)mask, v);
}
// The 128-bit lanes 0, 2, .. or 1, 3, .. of a, then of b.
OCTET_INLINE inline __m512i even_quarters(__m512i a, __m512i b) {
  return _mm512_shuffle_i64x2(a, b, 0x88);
}
OCTET_INLINE inline __m512i odd_quarters(__m512i a, __m512i b) {
  return _mm512_shuffle_i64x2(a, b, 0xdd);
}
OCTET_INLINE inline __m256i even_quarters(__m256i a, __m256i b) {
  return _mm256_shuffle_i64x2(a, b, 0);
}
OCTET_INLINE inline __m256i odd_quarters(__m256i a, __m256i b) {
  return _mm256_shuffle_i64x2(a, b, 3);
}

// A block of 32 channels is no faster so than two pixels at a time from memory.
#ifdef __AVX512VNNI__
constexpr bool kAddsResiduals = true;
#else
constexpr bool kAddsResiduals = false;
#endif

template <typename Vector>
OCTET_INLINE inline Vector load_vector(const void* p) {
  Vector v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <int kInt8>
struct Wide {
  using Vector = typename VectorOf<kInt8>::Type;
  static constexpr int kChannels = kInt8, kPrepared = 4 * (1 + kTfliteRows) * kInt8,
                       kColumn = 4 * kInt8, kWalkSets = 2;
  static constexpr bool kTogether = false, kCopyPerSign = kInt8 == 64, kWholeGroups = false,
                        kAcross = false, kLoadsAndSteps = false, kShuffles = true, kWalks5x5 = true,
                        kFloats = true, kAdds = kAddsResiduals && kInt8 == 64;
  using Pixel = Vector;
  struct Column {
    Vector t[4];
  };
  using Columns = InRegisters<Column>;
  struct Acc {
    Vector a[4];
  };

  OCTET_INLINE static inline Pixel load(const uint8_t* p) { return load_vector<Vector>(p); }
  OCTET_INLINE static inline Pixel flipped(Pixel bytes, Pixel sign) {
    return exclusive_or(bytes, sign);
  }
  OCTET_INLINE static inline Pixel sign(bool flip) {
    return splat<Vector>((uint8_t)(flip ? 0x80 : 0));
  }

  struct Pair {
    Vector low, high;
  };
  OCTET_INLINE static inline Pair pair(Pixel a, Pixel b) {
    return {low_bytes(a, b), high_bytes(a, b)};
  }
  OCTET_INLINE static inline void fill(Column& column, const Pixel (&p)[4]) {
    each(pair(p[0], p[1]), pair(p[2], p[3]),
         [&](auto v, Vector t) OCTET_INLINE { column.t[v] = t; });
  }
  template <typename Use>
  OCTET_INLINE static inline void each(const Pair& top, const Pair& bottom, const Use& use) {
    use(Int<0>{}, low_int16(top.low, bottom.low));
    use(Int<1>{}, high_int16(top.low, bottom.low));
    use(Int<2>{}, low_int16(top.high, bottom.high));
    use(Int<3>{}, high_int16(top.high, bottom.high));
  }
  OCTET_INLINE static inline void dot_vector(Acc& acc, int v, Vector t, const uint8_t* weights) {
    acc.a[v] = dot_add(acc.a[v], t, load_vector<Vector>(weights + kInt8 * v));
  }

  struct Ends {
    Vector init[4], scales[4];
    OCTET_INLINE inline explicit Ends(const uint8_t* prepared) {
      unroll<4>([&](auto v) OCTET_INLINE {
        init[v] = load_vector<Vector>(prepared + kInt8 * v);
        scales[v] = load_vector<Vector>(prepared + 4 * kInt8 + kInt8 * v);
      });
    }
    OCTET_INLINE inline Acc start() const { return {{init[0], init[1], init[2], init[3]}}; }
    OCTET_INLINE inline Vector scale(int v) const { return scales[v]; }
  };

  // Of four pixels, in a loop, GCC 12 would copy each sum twice, and would keep the elements of acc
  // on the stack if they were pinned themselves.
  template <int, int pixels>
  OCTET_INLINE static inline void dot(Acc& acc, const Column& c, const uint8_t* weights) {
    unroll<4>([&](auto v) OCTET_INLINE {
      Vector sum = dot_add(acc.a[v], c.t[v], load_vector<Vector>(weights + kInt8 * v));
      if constexpr (pixels == 4) pin(sum);
      acc.a[v] = sum;
    });
  }

  OCTET_INLINE static inline void weights(const uint32_t* taps, size_t vector, uint8_t* to) {
    __builtin_memcpy(to + kInt8 * vector, taps, kInt8);
  }

  // The packs undo the interleaving, so the bytes are in order.
  struct Requantizing {
    Requantizer<kInt8> requantizer;
    __mmask64 mask;
    const uint8_t* floats;  // kFloatsUp's rows, or null
    explicit Requantizing(const DepthwiseTile& t)
        : requantizer(*t.requantization),
          mask(~(__mmask64)0 >> (64 - t.channels)),
          floats(t.requantization->tflite_apart ? (const uint8_t*)t.prepared + 4 * kInt8
                                                : nullptr) {}

    template <typename E>
    OCTET_INLINE inline void store(const Acc& acc, const E& ends, uint8_t* dst) const {
      Vector q[4];
#ifdef __AVX512VNNI__
      if constexpr (kAdds)
        if (floats) {
          unroll<4>([&](auto v) OCTET_INLINE {
            const uint8_t* const row = floats + kInt8 * v;
            q[v] = by_floats<false>(acc.a[v], (__m512)ends.scale(v),
                                    load_vector<__m512>(row + 4 * kInt8 * kTfliteLow),
                                    load_vector<__m512>(row + 4 * kInt8 * kTfliteBegin));
          });
          return store(q, dst);
        }
#endif
      unroll<4>([&](auto v) OCTET_INLINE { q[v] = scaled(acc.a[v], ends.scale(v)); });
      store(q, dst);
    }
    OCTET_INLINE inline void store(const Vector (&q)[4], uint8_t* dst) const {
      store_masked(dst, mask, requantizer.bytes(pack_int16(q[0], q[1]), pack_int16(q[2], q[3])));
    }
  };

  // The residual's bytes lie as the packs leave the sums'.
  struct Adds {
    Requantizer<kInt8> requantizer;
    FloatAddend<kInt8> addend;
    __mmask64 mask;
    ptrdiff_t residual;
    explicit Adds(const DepthwiseTile& t)
        : requantizer(*t.requantization),
          addend(*t.adds),
          mask(~(__mmask64)0 >> (64 - t.channels)),
          residual(t.residual) {}

    template <typename E>
    OCTET_INLINE inline void operator()(const Acc& acc, const E& ends, uint8_t* dst) const {
      typename FloatAddend<kInt8>::Floats product[4];
      unroll<4>([&](auto v)
                    OCTET_INLINE { product[v] = to_floats(acc.a[v]) * as_floats(ends.scale(v)); });
      Vector q[4];
      addend.template add<false>(load_masked(dst + residual, mask, Vector()), product, q);
      store_masked(dst, mask, requantizer.bytes(pack_int16(q[0], q[1]), pack_int16(q[2], q[3])));
    }
  };

  OCTET_INLINE static inline void store_raw(const Acc& acc, uint8_t* dst) {
    unroll<4>([&](auto v)
                  OCTET_INLINE { __builtin_memcpy(dst + kInt8 * v, &acc.a[v], sizeof acc.a[v]); });
  }

  OCTET_INLINE static inline void store_bytes(uint8_t* dst, Vector bytes, size_t count) {
    store_masked(dst, ~(__mmask64)0 >> (64 - count), bytes);
  }

  // The scales include the lhs's, and a bias is always added.
  struct Floats {
    const uint8_t* scales;
    Vector lo, hi;
    bool clamps = false, lowers = false;
    __mmask16 masks[4];
    explicit Floats(const DepthwiseTile& t) : scales((const uint8_t*)t.prepared + 4 * kInt8) {
      constexpr size_t lanes = kInt8 / 4;
      for (size_t v = 0; v < 4; ++v) {
        const size_t left = t.channels < v * lanes ? 0 : t.channels - v * lanes;
        masks[v] = (__mmask16)(left < lanes ? (1u << left) - 1 : (1u << lanes) - 1);
      }
      if (!t.requantization) return;
      clamps = t.requantization->clamps, lowers = t.requantization->hi_f32 < __builtin_inff();
      lo = splat_float<Vector>(t.requantization->lo_f32);
      hi = splat_float<Vector>(t.requantization->hi_f32);
    }

    OCTET_INLINE inline void store(Acc acc, uint8_t* dst) const {
      unroll<4>([&](auto v) OCTET_INLINE {
        const uint8_t* const scale = scales + kInt8 * v;
        acc.a[v] =
            floats_of(acc.a[v], load_vector<Vector>(scale), load_vector<Vector>(scale + 4 * kInt8));
      });
      if (clamps) {
        unroll<4>([&](auto v) OCTET_INLINE { acc.a[v] = greater_floats(lo, acc.a[v]); });
        if (lowers) unroll<4>([&](auto v) OCTET_INLINE { acc.a[v] = lesser_floats(hi, acc.a[v]); });
      }
      each_in_order(
          acc, [&](int v, Vector x) OCTET_INLINE { store_lanes(dst + kInt8 * v, masks[v], x); });
    }
  };

  OCTET_INLINE static inline void store_s32(const Acc& acc, uint8_t* dst) {
    each_in_order(acc, [dst](int v, Vector sums)
                           OCTET_INLINE { __builtin_memcpy(dst + kInt8 * v, &sums, sizeof sums); });
  }
  // Calls store(v, vector v in the order of channels).
  template <typename Store>
  OCTET_INLINE static inline void each_in_order(const Acc& acc, const Store& store) {
    const Vector even_low = even_quarters(acc.a[0], acc.a[1]),
                 even_high = even_quarters(acc.a[2], acc.a[3]),
                 odd_low = odd_quarters(acc.a[0], acc.a[1]),
                 odd_high = odd_quarters(acc.a[2], acc.a[3]);
    if constexpr (kInt8 == 32) {
      store(0, even_low), store(1, even_high), store(2, odd_low), store(3, odd_high);
    } else {
      store(0, even_quarters(even_low, even_high)), store(1, even_quarters(odd_low, odd_high));
      store(2, odd_quarters(even_low, even_high)), store(3, odd_quarters(odd_low, odd_high));
    }
  }
};

// int16 weights: a column is eight vectors with two pixels in each lane. Three columns fill the
// registers, so init and scale stay in memory.
template <int kInt8>
struct WideInt16 : Wide<kInt8> {
  using typename Wide<kInt8>::Vector;
  using typename Wide<kInt8>::Pixel;
  using typename Wide<kInt8>::Acc;
  static constexpr int kColumn = 8 * kInt8;
  static constexpr bool kCopyPerSign = false, kFloats = false, kAdds = false;
  struct Column {
    Vector t[8];
  };
  using Columns = InRegisters<Column>;

  using typename Wide<kInt8>::Pair;
  template <typename Use>
  OCTET_INLINE static inline void each(const Pair& top, const Pair& bottom, const Use& use) {
    const Vector zero = splat<Vector>(0);
    unroll<2>([&](auto pair) OCTET_INLINE {
      const Pair& from = pair ? bottom : top;
      use(Int<pair.value>{}, low_bytes(from.low, zero));
      use(Int<2 + pair.value>{}, high_bytes(from.low, zero));
      use(Int<4 + pair.value>{}, low_bytes(from.high, zero));
      use(Int<6 + pair.value>{}, high_bytes(from.high, zero));
    });
  }
  OCTET_INLINE static inline void fill(Column& column, const Pixel (&p)[4]) {
    each(Wide<kInt8>::pair(p[0], p[1]), Wide<kInt8>::pair(p[2], p[3]),
         [&](auto i, Vector t) OCTET_INLINE { column.t[i] = t; });
  }
  OCTET_INLINE static inline void dot_vector(Acc& acc, int i, Vector t, const uint8_t* weights) {
    acc.a[i / 2] = dot_add_int16(acc.a[i / 2], t, load_vector<Vector>(weights + kInt8 * i));
  }

  struct Ends {
    const uint8_t* prepared;
    OCTET_INLINE inline explicit Ends(const uint8_t* p) : prepared(p) {}
    OCTET_INLINE inline Vector at(int v) const { return load_vector<Vector>(prepared + kInt8 * v); }
    OCTET_INLINE inline Acc start() const { return {{at(0), at(1), at(2), at(3)}}; }
    OCTET_INLINE inline Vector scale(int v) const { return at(4 + v); }
  };

  template <int, int pixels>
  OCTET_INLINE static inline void dot(Acc& acc, const Column& c, const uint8_t* weights) {
    unroll<8>([&](auto i) OCTET_INLINE {
      Vector sum = dot_add_int16(acc.a[i / 2], c.t[i], load_vector<Vector>(weights + kInt8 * i));
      if constexpr (pixels == 4) pin(sum);
      acc.a[i / 2] = sum;
    });
  }

  static inline void weights(const uint64_t* from, size_t vector, uint8_t* to) {
    split_pairs<kInt8 / 4>(from, to + 2 * kInt8 * vector);
  }
  // int8 weights, widened.
  static inline void weights(const uint32_t* from, size_t vector, uint8_t* to) {
    int8_t taps[kInt8];
    int16_t wide[kInt8];
    __builtin_memcpy(taps, from, sizeof taps);
    for (int i = 0; i < kInt8; ++i) wide[i] = taps[i];
    uint64_t groups[kInt8 / 4];
    __builtin_memcpy(groups, wide, sizeof groups);
    weights(groups, vector, to);
  }
};

// Requantizes blocks of 32 channels from memory, two pixels at a time. The first two vectors of a
// pixel, in the kernel's order, form one zmm register, the other two a second one.
template <typename Scaler, typename After>
__attribute__((noinline)) void store_two(const DepthwiseRaw& raw, const After& steps) {
  constexpr size_t channels = 32;
  const DepthwiseRaw r = raw;  // copies, as in store_line
  const After after = steps;
  // The order of the packed bytes, in fours: from vectors 0 and 2 of a pixel, then of the next
  // pixel; 128 bits further from vectors 1 and 3. And the order of channels in packed bytes
  const __m512i order = _mm512_setr_epi32(0, 8, 1, 9, 4, 12, 5, 13, 2, 10, 3, 11, 6, 14, 7, 15),
                packed = _mm512_setr_epi32(0, 2, 8, 10, 4, 6, 12, 14, 1, 3, 9, 11, 5, 7, 13, 15);
  Scaler scaler[2];
  unroll<2>([&](auto v) OCTET_INLINE {
    scaler[v].load((const int32_t*)r.prepared + channels + 16 * v, channels);
  });
  const int32_t* acc = r.acc;
  const uint8_t* residual = r.residual;
  uint8_t* dst = r.dst;
  for (size_t left = r.pixels;; left -= 2, acc += 2 * channels, dst += 2 * r.dst_pixel) {
    const int32_t* const next = left > 1 ? acc + channels : acc;
    __m512i more = {};
    if constexpr (After::kAdds) {
      more = _mm512_permutexvar_epi32(
          packed, load_rows<channels>(residual, r.residual_pixel, left, r.channels));
      residual += 2 * r.residual_pixel;
    }
    const __m512i q[4] = {scaler[0].scale_at(acc), scaler[1].scale_at(acc + 16),
                          scaler[0].scale_at(next), scaler[1].scale_at(next + 16)};
    store_rows<channels>(dst, r.dst_pixel, _mm512_permutexvar_epi32(order, after.bytes(q, more)),
                         left, r.channels);
    if (left <= 2) return;
  }
}

template <int kInt8>
void requantize(const DepthwiseRaw& r) {
  if constexpr (kInt8 == 64)
    depthwise_output<Wide<64>, __m512i>(r);
  else
    with_mode(r, [&](auto scaler, const auto& after)
                     OCTET_INLINE { store_two<decltype(scaler)>(r, after); });
}

// tail: the kernel of a last block of 32 channels, or null.
template <typename M, typename Taps = uint32_t>
constexpr DepthwiseKernel zmm_kernel(const char* name, TierId tier_id, const DepthwiseKernel* tail,
                                     const DepthwiseKernel* s16 = nullptr) {
  DepthwiseKernel k = depthwise_kernel<M, Taps>(
      name, tier_id, ElementType::kU8, kAnyLhs | kRequantizes | (M::kFloats ? kStoresFloats : 0),
      s16, requantize<M::kChannels>);
  k.partial = true;
  k.tail = tail;
  return k;
}

}  // namespace
}  // namespace octet
