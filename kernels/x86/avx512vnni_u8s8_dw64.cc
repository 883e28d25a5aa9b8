// Depthwise, u8 x s8 -> s32 or 8 bits, VPDPBUSD on zmm, blocks of 64 channels.
//
//        kept columns               new column        accumulators of a row
//      t[0..3] of x-1, t[0..3] of x    t[0..3]             a[0..3]             16 of 32; weights come from memory
//
// Per column of two rows: 4 pixels, 8 interleavings, 24 dot products. See kernels/simd/depthwise.h. A last block of at most 32 channels goes to the ymm code.
#define OCTET_DPBUSD _mm256_dpbusd_epi32
#include <immintrin.h>

#include "kernels/simd/depthwise.h"
#include "kernels/x86/dw_ymm.h"
#include "kernels/x86/kernels.h"

namespace octet {
namespace {

struct Zmm {
  static constexpr int kChannels = 64, kPasses = 1, kPrepared = 512, kColumn = 256, kWalkRows = 2, kWalkSets = 2;
  using Pixel = __m512i;
  struct Column {
    __m512i t[4];
  };
  struct Acc {
    __m512i a[4];
  };

  template <bool flip>
  OCTET_INLINE static inline Pixel load(const uint8_t* p) {
    const __m512i bytes = _mm512_loadu_si512(p);
    return flip ? _mm512_xor_si512(bytes, _mm512_set1_epi8((char)0x80)) : bytes;
  }

  OCTET_INLINE static inline Column column(const Pixel (&p)[4]) {
    const __m512i top_low = _mm512_unpacklo_epi8(p[0], p[1]), top_high = _mm512_unpackhi_epi8(p[0], p[1]);
    const __m512i bottom_low = _mm512_unpacklo_epi8(p[2], p[3]), bottom_high = _mm512_unpackhi_epi8(p[2], p[3]);
    return {{_mm512_unpacklo_epi16(top_low, bottom_low), _mm512_unpackhi_epi16(top_low, bottom_low), _mm512_unpacklo_epi16(top_high, bottom_high),
             _mm512_unpackhi_epi16(top_high, bottom_high)}};
  }

  OCTET_INLINE static inline Acc init(const uint8_t* prepared) {
    Acc acc;
    unroll<4>([&](auto v) OCTET_INLINE { acc.a[v] = _mm512_load_si512(prepared + 64 * v); });
    return acc;
  }

  template <int, int>
  OCTET_INLINE static inline void dot(Acc& acc, const Column& c, const uint8_t* weights) {
    unroll<4>([&](auto v) OCTET_INLINE { acc.a[v] = _mm512_dpbusd_epi32(acc.a[v], c.t[v], _mm512_load_si512(weights + 64 * v)); });
  }

  static inline void weights(const uint8_t* from, int row, size_t vector, uint8_t* to) {
    _mm512_store_si512(to + 64 * vector, _mm512_sll_epi32(_mm512_loadu_si512(from), _mm_cvtsi32_si128(8 * row)));
  }

  // See avx512vnni_u8s8_6x64x4.cc. The packs undo the interleaving: the bytes come out in order.
  struct Narrowing {
    __m512i zero_point, lo, hi;
    __mmask64 mask;
    bool dst_u8;
    explicit Narrowing(const DepthwiseTile& t)
        : zero_point(_mm512_set1_epi16((short)t.narrow->zero_point)), lo(_mm512_set1_epi8((char)t.narrow->lo)), hi(_mm512_set1_epi8((char)t.narrow->hi)),
          mask(~(__mmask64)0 >> (64 - t.channels)), dst_u8(t.narrow->dst_u8) {}

    OCTET_INLINE inline void store(const Acc& acc, uint8_t* dst, int, const uint8_t* prepared) const {
      __m512i q[4];
      unroll<4>([&](auto v) OCTET_INLINE {
        q[v] = _mm512_cvt_roundps_epi32(_mm512_mul_ps(_mm512_cvtepi32_ps(acc.a[v]), _mm512_load_ps(prepared + 256 + 64 * v)),
                                        _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
      });
      const __m512i low = _mm512_adds_epi16(_mm512_packs_epi32(q[0], q[1]), zero_point);
      const __m512i high = _mm512_adds_epi16(_mm512_packs_epi32(q[2], q[3]), zero_point);
      const __m512i out = dst_u8 ? _mm512_min_epu8(_mm512_max_epu8(_mm512_packus_epi16(low, high), lo), hi)
                                 : _mm512_min_epi8(_mm512_max_epi8(_mm512_packs_epi16(low, high), lo), hi);
      _mm512_mask_storeu_epi8(dst, mask, out);
    }
  };

  OCTET_INLINE static inline void store_s32(const Acc& acc, uint8_t* dst, int) {
    unroll<4>([&](auto v) OCTET_INLINE {
      unroll<4>([&](auto lane) OCTET_INLINE { _mm_storeu_si128((__m128i*)(dst + 64 * lane + 16 * v), _mm512_extracti32x4_epi32(acc.a[v], lane)); });
    });
  }
};

}  // namespace

const DepthwiseKernel avx512vnni_u8s8_dw64 = {
    "avx512vnni_u8s8_dw64", Isa::kAvx512Vnni, Domain::kU8, kAnyLhs | kNarrows, kDepthwiseLayout, 64, 64, 2, &avxvnni_evex_u8s8_dw32,
    depthwise_prepare<Zmm>, depthwise_multiply<Zmm>, avx512_finish, &avx512_row_ops};

// The AVX-VNNI kernel in EVEX encoding, so that it can be tested on CPUs that lack it. Its text also does narrow last blocks.
const DepthwiseKernel avxvnni_evex_u8s8_dw32 = {
    "avxvnni_evex_u8s8_dw32", Isa::kAvx512Vnni, Domain::kU8, kAnyLhs | kNarrows | kTestsOnly, kDepthwiseLayout, 32, 40, 2, nullptr,
    depthwise_prepare<Ymm>, depthwise_multiply<Ymm>, avx512_finish, &avx512_row_ops};

}  // namespace octet
