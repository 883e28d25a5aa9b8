// Depthwise, s16 x s8 or s16 -> s32 or 8 bits, VPMADDWD on ymm, blocks of 32 channels. Exact for
// all inputs: VPMADDUBSW would saturate at 16 bits.
//
// Bytes of four pixels are interleaved in pairs and widened, so that a 32-bit lane holds two pixels
// of one channel: a column is eight vectors, and a dot product of four pixels two multiply-adds and
// two additions.
#include <immintrin.h>

#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/accumulate.h"
#include "kernels/x86/shared/dw_ymm.h"

namespace octet {
namespace {

struct Int16 : Ymm<Int16, 256> {
  // Keeps the compiler from holding the stored column in registers as well: its eight vectors do
  // not fit beside two rows of accumulators.
  OCTET_INLINE static inline void settle(Column& column) {
    __asm__("" : "+m"(*(uint8_t(*)[kColumn])column.at));
  }

  // Visits vector 2 v + pair of a column.
  template <typename Use>
  OCTET_INLINE static inline void each(const Pixel (&p)[4], const Use& use) {
    const __m256i zero = _mm256_setzero_si256();
    unroll<2>([&](auto pair) OCTET_INLINE {
      unroll<2>([&](auto high) OCTET_INLINE {
        const __m256i bytes = high ? _mm256_unpackhi_epi8(p[2 * pair], p[2 * pair + 1])
                                   : _mm256_unpacklo_epi8(p[2 * pair], p[2 * pair + 1]);
        use(Int<4 * high.value + pair.value>{}, _mm256_unpacklo_epi8(bytes, zero));
        use(Int<4 * high.value + 2 + pair.value>{}, _mm256_unpackhi_epi8(bytes, zero));
      });
    });
  }

  template <int rows>
  OCTET_INLINE static inline void dot_vector(Acc (&acc)[rows], int i, __m256i t,
                                             const uint8_t* weights, size_t set) {
    unroll<rows>([&](auto r) OCTET_INLINE {
      accumulate(acc[r].a[i / 2], _mm256_madd_epi16(t, aligned(weights + r * set + 32 * i)));
    });
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

}  // namespace

const DepthwiseKernel avx2_s16s8_dw32 = ymm_kernel<Int16>("avx2_s16s8_dw32", Isa::kAvx2);

// The same loops for weights that are int16 already.
const DepthwiseKernel avx2_u8s16_dw32 = ymm_kernel<Int16, uint64_t>("avx2_u8s16_dw32", Isa::kAvx2);

}  // namespace octet
