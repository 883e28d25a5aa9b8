// Depthwise, s16 x s8 -> s32 or 8 bits, VPMADDWD on ymm, blocks of 32 channels in two passes. Exact for all inputs: VPMADDUBSW would saturate at 16 bits.
//
// Bytes of four pixels are interleaved in pairs and widened, so that a 32-bit lane holds two pixels of one channel; one output line at a time, because
// two would need twice the kept columns:
//
//      kept columns, pairs 01 and 2    new column     accumulators
//          t[2][2]  t[2][2]             t[2][2]           a[2]            14 of 16
#include <immintrin.h>

#include "kernels/simd/depthwise.h"
#include "kernels/x86/dw_exit_ymm.h"
#include "kernels/x86/kernels.h"

namespace octet {
namespace {

// See avx2_s16s8_6x8x4.cc.
OCTET_INLINE inline void accumulate(__m256i& acc, __m256i product) { __asm__("vpaddd %1, %0, %0" : "+x"(acc) : "x"(product)); }

struct Words : PassesYmm {
  static constexpr int kColumn = 128, kWalkRows = 1, kWalkSets = 1;
  struct Column {
    __m256i t[2][2];  // [pair of pixels][four channels of each eight]
  };

  OCTET_INLINE static inline Column column(const Pixel (&p)[4]) {
    const __m256i zero = _mm256_setzero_si256();
    const __m256i top = _mm256_unpacklo_epi8(p[0], p[1]), bottom = _mm256_unpacklo_epi8(p[2], p[3]);
    return {{{_mm256_unpacklo_epi8(top, zero), _mm256_unpackhi_epi8(top, zero)}, {_mm256_unpacklo_epi8(bottom, zero), _mm256_unpackhi_epi8(bottom, zero)}}};
  }

  template <int, int>
  OCTET_INLINE static inline void dot(Acc& acc, const Column& c, const uint8_t* weights) {
    unroll<2>([&](auto v) OCTET_INLINE {
      unroll<2>([&](auto pair) OCTET_INLINE {
        const __m256i w = _mm256_load_si256((const __m256i*)(weights + 64 * v + 32 * pair));
        accumulate(acc.a[v], _mm256_madd_epi16(c.t[pair][v], w));
      });
    });
  }

  static inline void weights(const uint8_t* from, size_t vector, uint8_t* to) {
    const __m256i taps = _mm256_load_si256((const __m256i*)from);
    const __m256i first = _mm256_broadcastsi128_si256(_mm_setr_epi8(-1, 0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13));
    const __m256i second = _mm256_or_si256(first, _mm256_set1_epi8(2));  // -1 stays -1
    _mm256_store_si256((__m256i*)(to + 64 * vector), _mm256_srai_epi16(_mm256_shuffle_epi8(taps, first), 8));
    _mm256_store_si256((__m256i*)(to + 64 * vector + 32), _mm256_srai_epi16(_mm256_shuffle_epi8(taps, second), 8));
  }
};

}  // namespace

const DepthwiseKernel avx2_s16s8_dw32 = {
    "avx2_s16s8_dw32", Isa::kAvx2, Domain::kU8, kAnyLhs | kNarrows, kDepthwiseLayout, 32, 40, 2, 1, false, nullptr,
    depthwise_prepare<Words>, depthwise_multiply<Words>, avx2_finish, &avx2_row_ops};

}  // namespace octet
