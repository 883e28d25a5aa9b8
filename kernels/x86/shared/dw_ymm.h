// Depthwise on ymm registers, blocks of 32 channels: pixels, accumulators and stores. Sixteen
// registers hold the accumulators of two rows and a new column, but not the two columns before it:
// those live in memory, which costs a load for every two dot products.
#pragma once

#include <immintrin.h>

#include "kernels/generic/depthwise.h"
#include "kernels/x86/shared/layouts.h"
#include "kernels/x86/shared/store_ymm.h"
#include "kernels/x86/shared/tflite_dw.h"

namespace octet {
namespace {

// M adds `each`, which visits the vectors of a column, and the dot product.
template <typename M, int column_bytes>
struct Ymm : ColumnsInMemory<M, column_bytes, 32> {
  static constexpr int kChannels = 32, kPrepared = 4 * (1 + kTfliteRows) * kChannels;
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
    OCTET_INLINE inline __m256 scale(int v) const {
      return _mm256_load_ps((const float*)(prepared + 128 + 32 * v));
    }
  };

  // The packs undo the interleaving, so the bytes are in order.
  struct Requantizing {
    Requantizer<32> requantizer;
    explicit Requantizing(const DepthwiseTile& t) : requantizer(*t.requantization) {}

    OCTET_INLINE inline void store(const Acc& acc, const Ends& ends, uint8_t* dst) const {
      __m256i q[4];
      unroll<4>([&](auto v) OCTET_INLINE { q[v] = scaled(acc.a[v], ends.scale(v)); });
      _mm256_storeu_si256((__m256i*)dst,
                          requantizer.bytes(pack_int16(q[0], q[1]), pack_int16(q[2], q[3])));
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

template <typename M, typename Taps = uint32_t>
constexpr DepthwiseKernel ymm_kernel(const char* name, Isa isa) {
  return depthwise_kernel<M, Taps>(name, isa, ElementType::kU8, kAnyLhs | kRequantizes,
                                   depthwise_output<M, __m256i>);
}

}  // namespace
}  // namespace octet
