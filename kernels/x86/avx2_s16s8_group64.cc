// Grouped convolution, u8 x s8 -> s32 or 8 bits, VPMADDWD: pixels and weights are widened to words,
// so a pixel fills a register by itself, and each 128 bits of packed weights another one.
//
//      groups of 4:  pixel    | g0 g0 g1 g1 | g2 g2 g3 g3 |      pairs of words
//                    weights  | member j of g0, g1 | g2, g3 |    for j = 0..3
#include "kernels/x86/grouped_ymm.h"

namespace octet {
namespace {

struct Machine : GroupedYmm<Machine> {
  using GroupedYmm::GroupedYmm;
  template <int quads>
  static constexpr int kVectors = 4 * quads;
  template <int quads>
  static constexpr int kAccs = quads == 1 ? 4 : 8;
  template <int quads>
  static constexpr int kWide = quads == 1 ? 2 : 1;
  template <int quads>
  static constexpr int kTail = kWide<quads>;
  template <int>
  static constexpr bool kEven = false;

  // After two additions of neighbours, or one in groups of 4.
  static constexpr size_t raw_position(size_t quads, size_t channel) {
    return quads == 4   ? channel / 8 * 8 + channel % 2 * 4 + channel % 8 / 2
           : quads == 2 ? channel % 8 / 4 * 8 + channel / 8 * 4 + channel % 4
                        : channel % 4 / 2 * 8 + channel / 8 * 4 + channel % 2 * 2 + channel / 4 % 2;
  }
  // A 32-bit lane of packed weights becomes two.
  static constexpr size_t init_position(size_t quads, size_t channel) {
    return grouped_position(quads, channel, 0) / 2;
  }
  template <int quads>
  static void prepare(const uint8_t* tap, uint8_t* out) {
    for (size_t i = 0; i < 64 * quads; i += 16)
      _mm256_store_si256((__m256i*)(out + 2 * i),
                         _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i*)(tap + i))));
  }

  template <int quads>
  OCTET_INLINE static inline Vector load(const uint8_t* p, int part) {
    if (quads < 4) return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i*)p));
    return _mm256_cvtepu8_epi16(_mm_set1_epi64x(half_of(p, part)));
  }
  template <int quads, typename Index>
  OCTET_INLINE static inline Vector dot(Vector acc, Vector pixel, Vector weights, Index) {
    return _mm256_add_epi32(acc, _mm256_madd_epi16(pixel, weights));
  }
  template <int quads, int accs>
  OCTET_INLINE static inline Raw sum(const Vector (&acc)[accs]) {
    if constexpr (accs == 4)
      return {{add_neighbours(acc[0], acc[1]), add_neighbours(acc[2], acc[3])}};
    if constexpr (accs == 8) {
      const auto four = [&](int a) OCTET_INLINE {
        return add_neighbours(add_neighbours(acc[a], acc[a + 1]),
                              add_neighbours(acc[a + 2], acc[a + 3]));
      };
      return {{four(0), four(4)}};
    }
  }
};

}  // namespace

const DepthwiseKernel avx2_s16s8_group64 = grouped_kernel<Machine>(
    "avx2_s16s8_group64", Isa::kAvx2, Domain::kU8, kGroupedLayout, Machine::leave);

}  // namespace octet
