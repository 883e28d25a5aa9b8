// SPDX-License-Identifier: Apache-2.0
// Depthwise on xsimd's batches, s16 x s8 or s16 -> s32 or 8 bits, in blocks of as many channels as
// a batch has bytes. Exact for all inputs.
//
// Bytes of four pixels are interleaved in pairs and widened, so that a 32-bit lane holds two pixels
// of one channel: a column is eight vectors, and a dot product of four pixels two multiplications
// of pairs. Zipping halves leaves channels in order. Sixteen registers hold the accumulators of two
// rows and a new column, but not the two columns before it: those live in memory.
#pragma once

#include "kernels/generic/depthwise_5x5.h"
#include "kernels/xsimd/store.h"

namespace octet {
namespace {

template <typename M>
struct OfS16 : ColumnsInMemory<M, 8 * sizeof(Sums), sizeof(Sums)> {
  using Memory = ColumnsInMemory<M, 8 * sizeof(Sums), sizeof(Sums)>;
  using Memory::kColumn;
  using typename Memory::Column;
  static constexpr int kChannels = 4 * kLanes, kPrepared = 4 * (1 + kTfliteRows) * kChannels,
                       kVector = sizeof(Sums);
  static_assert(kVector == 16, "wider zips part channels");
  using Pixel = Batch<uint8_t>;
  struct Acc {
    Sums a[4];
  };

  OCTET_INLINE static inline Pixel load(const uint8_t* p) { return octet::load<uint8_t>(p); }
  OCTET_INLINE static inline Pixel flipped(Pixel bytes, Pixel sign) { return bytes ^ sign; }
  OCTET_INLINE static inline Pixel sign(bool flip) { return Pixel((uint8_t)(flip ? 0x80 : 0)); }

  struct Ends {
    const uint8_t* prepared;
    OCTET_INLINE inline explicit Ends(const uint8_t* p) : prepared(p) {}
    OCTET_INLINE inline Acc start() const {
      Acc acc;
      unroll<4>([&](auto v) OCTET_INLINE {
        acc.a[v] = Sums::load_aligned((const int32_t*)(prepared + kVector * v));
      });
      return acc;
    }
    OCTET_INLINE inline Floats scale(int v) const {
      return Floats::load_aligned((const float*)(prepared + kVector * (4 + v)));
    }
  };

  struct Requantizing {
    Requantizer requantizer;
    explicit Requantizing(const DepthwiseTile& t) : requantizer(*t.requantization) {}

    OCTET_INLINE inline void store(const Acc& acc, const Ends& ends, uint8_t* dst) const {
      Sums q[4];
      unroll<4>([&](auto v) OCTET_INLINE { q[v] = scaled(acc.a[v], ends.scale(v)); });
      requantizer.bytes(to_int16(q[0], q[1]), to_int16(q[2], q[3])).store_unaligned(dst);
    }
  };

  OCTET_INLINE static inline void store_s32(const Acc& acc, uint8_t* dst) {
    unroll<4>([&](auto v)
                  OCTET_INLINE { acc.a[v].store_unaligned((int32_t*)(dst + kVector * v)); });
  }
  OCTET_INLINE static inline void store_raw(const Acc& acc, uint8_t* dst) { store_s32(acc, dst); }

  OCTET_INLINE static inline Int16 load_vector(const uint8_t* from) {
    return Int16::load_aligned((const int16_t*)from);
  }
  OCTET_INLINE static inline void store_vector(Int16 t, uint8_t* to) {
    t.store_aligned((int16_t*)to);
  }
  // Keeps the compiler from holding the stored column in registers as well.
  OCTET_INLINE static inline void settle(Column& column) {
    __asm__("" : "+m"(*(uint8_t(*)[kColumn])column.at));
  }

  OCTET_INLINE static inline void dot_vector(Acc& acc, int i, Int16 t, const uint8_t* weights) {
    add_pairs(acc.a[i / 2], t, Int16::load_aligned((const int16_t*)(weights + kVector * i)));
  }

  // Splits four taps per channel: two taps of all channels, then the other two.
  template <typename Taps>
  static inline void weights(const Taps* from, size_t vector, uint8_t* to) {
    using Tap = std::conditional_t<sizeof(Taps) == 4, int8_t, int16_t>;
    int16_t* const out = (int16_t*)(to + 2 * kVector * vector);
    OCTET_NO_UNROLL
    for (int i = 0; i < 4 * kLanes; ++i)
      out[i % 4 / 2 * 2 * kLanes + i / 4 * 2 + i % 2] =
          (Tap)(from[i / 4] >> i % 4 * 8 * sizeof(Tap));
  }
};

struct DepthwiseBatches : OfS16<DepthwiseBatches> {
  static constexpr bool kWalks5x5 = true;
  struct Pair {
    Pixel halves[2];
  };
  OCTET_INLINE static inline Pair pair(Pixel a, Pixel b) {
    return {{xsimd::zip_lo(a, b), xsimd::zip_hi(a, b)}};
  }
  // Vector 2 v + pair of a column belongs to accumulator v.
  template <typename Use>
  OCTET_INLINE static inline void each(const Pair& top, const Pair& bottom, const Use& use) {
    const Pixel zero((uint8_t)0);
    unroll<2>([&](auto high) OCTET_INLINE {
      const Pixel a = top.halves[high], b = bottom.halves[high];
      use(Int<4 * high.value>{}, as<Int16>(xsimd::zip_lo(a, zero)));
      use(Int<4 * high.value + 1>{}, as<Int16>(xsimd::zip_lo(b, zero)));
      use(Int<4 * high.value + 2>{}, as<Int16>(xsimd::zip_hi(a, zero)));
      use(Int<4 * high.value + 3>{}, as<Int16>(xsimd::zip_hi(b, zero)));
    });
  }
};

// Pixels that are s16 values already.
struct DepthwiseS16 : OfS16<DepthwiseS16> {
  struct Pixel {
    Int16 halves[2];
  };
  OCTET_INLINE static inline Pixel load(const uint8_t* p) {
    return {{octet::load<int16_t>(p), octet::load<int16_t>(p + kVector)}};
  }
  template <typename Use>
  OCTET_INLINE static inline void each_of(const Pixel (&p)[4], const Use& use) {
    unroll<2>([&](auto pair) OCTET_INLINE {
      unroll<2>([&](auto high) OCTET_INLINE {
        const Int16 a = p[2 * pair].halves[high], b = p[2 * pair + 1].halves[high];
        use(Int<4 * high.value + pair.value>{}, xsimd::zip_lo(a, b));
        use(Int<4 * high.value + 2 + pair.value>{}, xsimd::zip_hi(a, b));
      });
    });
  }
};

}  // namespace
}  // namespace octet
