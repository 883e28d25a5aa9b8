// SPDX-License-Identifier: Apache-2.0
// Grouped convolution, u8 x s8 -> s32 or 8 bits, VPMADDWD, on int16: pixels are widened when lines
// are copied, weights when a block is prepared. A pixel fills one register, and each 128 bits of
// packed weights fill another one:
//
//      groups of 4:  pixel    | g0 g0 g1 g1 | g2 g2 g3 g3 |      pairs of int16
//                    weights  | member j of g0, g1 | g2, g3 |    for j = 0..3
//
// Groups of 8 and 16 channels have as many outputs as one register, or two, have lanes, so their
// weights meet two input channels at a time, and their sums need no additions:
//
//      2 of a pixel's 16    members 0-7  8-15
//      channels, repeated x | 0 1 .. 7 | 8 .. |    6 pixels x 2 accumulators
//
//      2 of each group of 8 x | 0 1 .. 7 | of the one, and the other, group
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/grouped_ymm.h"

namespace octet {
namespace {

struct Machine : GroupedYmm<Machine> {
  using GroupedYmm::GroupedYmm;
  static constexpr int kInputBytes = 2;
  // Of groups of 8, what meets the first accumulator's weights and what the second's
  struct Pixel {
    Vector of[2];
  };
  template <int quads>
  static constexpr int kVectors = 4 * quads;
  template <int quads>
  static constexpr int kAccs = quads == 1 ? 4 : 2;
  template <int quads>
  static constexpr int kWide = quads == 1 ? 2 : 6;
  template <int quads>
  static constexpr int kTail = quads == 1 ? 2 : 4;
  template <int quads>
  static constexpr bool kEven = quads > 1;

  // Groups of 4: the order after an addition of neighbours.
  static constexpr size_t raw_position(size_t quads, size_t channel) {
    return quads > 1 ? channel
                     : channel % 4 / 2 * 8 + channel / 8 * 4 + channel % 2 * 2 + channel / 4 % 2;
  }
  // A 32-bit lane of packed weights becomes two lanes.
  static constexpr size_t init_position(size_t quads, size_t channel) {
    return quads > 1 ? channel : grouped_position(quads, channel, 0) / 2;
  }

  // Stores eight channels' weights of eight inputs, which come as two channels per register, as one
  // vector per pair of inputs, 64 bytes apart.
  static inline void store_pairs(const __m128i (&two)[4], uint8_t* out) {
    const __m128i order = _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
    __m128i x[4];
    unroll<4>([&](auto i) OCTET_INLINE { x[i] = _mm_shuffle_epi8(two[i], order); });
    const __m128i a = _mm_unpacklo_epi32(x[0], x[1]), b = _mm_unpacklo_epi32(x[2], x[3]),
                  c = _mm_unpackhi_epi32(x[0], x[1]), d = _mm_unpackhi_epi32(x[2], x[3]);
    const auto store = [&](int pair, __m128i bytes) OCTET_INLINE {
      _mm256_store_si256((__m256i*)(out + 64 * pair), _mm256_cvtepi8_epi16(bytes));
    };
    store(0, _mm_unpacklo_epi64(a, b));
    store(1, _mm_unpackhi_epi64(a, b));
    store(2, _mm_unpacklo_epi64(c, d));
    store(3, _mm_unpackhi_epi64(c, d));
  }
  static constexpr bool kSums = false;
  template <int quads>
  static constexpr bool kSumsByTap = false;
  template <int quads>
  static void prepare(const uint8_t* tap, const int16_t* offsets, uint8_t* out) {
    widen_weights<quads>(tap, out);
    for (size_t c = 0; offsets && c < kGroupedBlock; ++c)
      for (size_t i = 0; i < 4 * quads; i += quads == 1 ? 4 : 2) {
        // Groups of 8 and 16: two inputs of a channel in a lane
        uint8_t* const lanes =
            quads == 1 ? out + 2 * grouped_position(quads, c, i / 4) : out + 32 * i + 4 * c;
        uint64_t four = 0;
        __builtin_memcpy(&four, lanes, quads == 1 ? 8 : 4);
        const __m128i sum =
            _mm_add_epi16(_mm_cvtsi64_si128((int64_t)four), _mm_set1_epi16(offsets[c]));
        four = (uint64_t)_mm_cvtsi128_si64(sum);
        __builtin_memcpy(lanes, &four, quads == 1 ? 8 : 4);
      }
  }
  template <int quads>
  static void widen_weights(const uint8_t* tap, uint8_t* out) {
    const auto at = [&](size_t i)
                        OCTET_INLINE { return _mm_loadu_si128((const __m128i*)(tap + 16 * i)); };
    if (quads == 4) {
      for (size_t i = 0; i < 4; ++i)
        store_pairs({at(4 * i), at(4 * i + 1), at(4 * i + 2), at(4 * i + 3)},
                    out + i / 2 * 256 + i % 2 * 32);
      return;
    }
    if (quads == 2) {  // a register holds a member of each group
      store_pairs({_mm_unpacklo_epi64(at(0), at(1)), _mm_unpacklo_epi64(at(2), at(3)),
                   _mm_unpacklo_epi64(at(4), at(5)), _mm_unpacklo_epi64(at(6), at(7))},
                  out);
      store_pairs({_mm_unpackhi_epi64(at(0), at(1)), _mm_unpackhi_epi64(at(2), at(3)),
                   _mm_unpackhi_epi64(at(4), at(5)), _mm_unpackhi_epi64(at(6), at(7))},
                  out + 32);
      return;
    }
    for (size_t i = 0; i < 4 * quads; ++i)
      _mm256_store_si256((__m256i*)(out + 32 * i), _mm256_cvtepi8_epi16(at(i)));
  }

  static void widen(const uint8_t* from, size_t step, size_t pixels, size_t channels, uint8_t flip,
                    uint16_t* to) {
    const __m128i flips = _mm_set1_epi8((char)flip);
    for (; pixels; --pixels, from += step, to += kChannels) {
      size_t i = 0;
      for (; i + 16 <= channels; i += 16)
        _mm256_store_si256((__m256i*)(to + i),
                           _mm256_cvtepu8_epi16(
                               _mm_xor_si128(_mm_loadu_si128((const __m128i*)(from + i)), flips)));
      for (; i < channels; ++i) to[i] = (uint8_t)(from[i] ^ flip);
    }
  }

  template <int quads>
  OCTET_INLINE static inline Pixel load(const uint8_t* p, int part) {
    if (quads == 1) return {{_mm256_loadu_si256((const __m256i*)p)}};
    const auto pair = [p](int at) OCTET_INLINE {
      int32_t two;
      __builtin_memcpy(&two, p + 4 * at, sizeof two);
      return _mm256_set1_epi32(two);
    };
    if (quads == 2) return {{pair(part), pair(4 + part)}};
    return {{pair(part)}};
  }
  template <int quads, typename Index>
  OCTET_INLINE static inline Vector dot(Vector acc, const Pixel& pixel, Vector weights, Index) {
    return _mm256_add_epi32(
        acc, _mm256_madd_epi16(pixel.of[quads == 2 ? Index::value % 2 : 0], weights));
  }
  template <int quads, int accs>
  OCTET_INLINE static inline Raw sum(const Vector (&acc)[accs]) {
    if constexpr (accs == 2) return {{acc[0], acc[1]}};
    if constexpr (accs == 4)
      return {{add_neighbours(acc[0], acc[1]), add_neighbours(acc[2], acc[3])}};
  }
};

}  // namespace

const DepthwiseKernel avx2_s16s8_group64 =
    grouped_kernel<Machine>("avx2_s16s8_group64", TierId::kAvx2, ElementType::kU8, kGroupedLayout,
                            grouped_output<Machine, __m256i>, &avx2_byte_windows);

}  // namespace octet
