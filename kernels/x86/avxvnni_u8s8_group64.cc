// SPDX-License-Identifier: Apache-2.0
// Grouped convolution, u8 x s8 -> s32 or 8 bits, VPDPBUSD on ymm: a zmm register of
// avx512vnni_u8s8_group64.cc is two registers here. Groups of 16 channels have as many outputs as
// two registers have lanes, so their weights meet four input channels at a time, and their sums
// need no additions:
//
//      4 of a pixel's 16    members 0-7  8-15
//      channels, repeated x | 0 1 .. 7 | 8 .. |    6 pixels x 2 accumulators
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/grouped_ymm.h"

namespace octet {
namespace {

struct Machine : GroupedYmm<Machine> {
  using GroupedYmm::GroupedYmm;
  static constexpr int kInputBytes = 1;
  template <int quads>
  static constexpr int kVectors = 2 * quads;
  template <int quads>
  static constexpr int kAccs = quads == 2 ? 4 : 2;
  template <int quads>
  static constexpr int kWide = quads == 1   ? 4
                               : quads == 2 ? 3
                                            : 6;
  template <int quads>
  static constexpr int kTail = quads == 2 ? 2 : 4;
  template <int quads>
  static constexpr bool kEven = quads == 4;

  static constexpr size_t raw_position(size_t quads, size_t channel) {
    return quads == 4 ? channel : DottedOrder::raw_position(quads, channel);
  }
  static constexpr size_t init_position(size_t quads, size_t channel) {
    return quads == 4 ? channel : DottedOrder::init_position(quads, channel);
  }
  static constexpr bool kSums = DottedOrder::kSums;
  template <int quads>
  static constexpr bool kSumsByTap = DottedOrder::kSumsByTap<quads>;
  static uint32_t to_lane(int16_t offset) { return DottedOrder::to_lane(offset); }
  // Weights are packed in pairs of quads.
  template <int quads>
  static void prepare(const uint8_t* tap, uint8_t* out) {
    if (quads < 4) return DottedOrder::prepare<quads>(tap, out);
    for (size_t half = 0; half < 2; ++half, tap += 128, out += 128)
      unroll<2>([&](auto v) OCTET_INLINE {
        const auto eight = [&](size_t at) OCTET_INLINE {
          return _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i*)(tap + at)),
                                             _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
        };
        const __m256i low = eight(64 * v), high = eight(64 * v + 32);
        _mm256_store_si256((__m256i*)(out + 32 * v), _mm256_permute2x128_si256(low, high, 0x20));
        _mm256_store_si256((__m256i*)(out + 64 + 32 * v),
                           _mm256_permute2x128_si256(low, high, 0x31));
      });
  }

  template <int quads>
  OCTET_INLINE static inline Vector load(const uint8_t* p, int part) {
    if (quads < 4) return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i*)p));
    int32_t quad;
    __builtin_memcpy(&quad, p + 4 * part, sizeof quad);
    return _mm256_set1_epi32(quad);
  }
  template <int quads, typename Index>
  OCTET_INLINE static inline Vector dot(Vector acc, Vector pixel, Vector weights, Index) {
    return _mm256_dpbusd_avx_epi32(acc, pixel, weights);
  }
  OCTET_INLINE static inline Vector plus(Vector a, Vector b) { return _mm256_add_epi32(a, b); }
  OCTET_INLINE static inline Vector plus_pixels(Vector sums, const uint8_t* pixels) {
    return _mm256_dpbusd_avx_epi32(sums, _mm256_loadu_si256((const __m256i*)pixels),
                                   _mm256_set1_epi8(1));
  }
  OCTET_INLINE static inline void store_sums(Vector s, size_t quads, uint8_t* to) {
    if (quads > 1) s = plus(s, _mm256_shuffle_epi32(s, 0xb1));
    if (quads > 2) s = plus(s, _mm256_shuffle_epi32(s, 0x4e));
    const Vector low = _mm256_and_si256(s, _mm256_set1_epi32(127));
    _mm256_store_si256((__m256i*)to, _mm256_blend_epi16(low, _mm256_slli_epi32(s, 9), 0xaa));
  }
  template <int accs>
  OCTET_INLINE static inline void add_offsets(Vector (&acc)[accs], const uint8_t* sums,
                                              const uint8_t* offsets) {
    const Vector s = _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i*)sums));
    unroll<accs>([&](auto a)
                     OCTET_INLINE { acc[a] = _mm256_dpwssd_avx_epi32(acc[a], s, at(offsets, a)); });
  }
  template <int quads, int accs>
  OCTET_INLINE static inline Raw sum(const Vector (&acc)[accs]) {
    if constexpr (accs == 2) return {{acc[0], acc[1]}};
    if constexpr (accs == 4)
      return {{add_neighbours(acc[0], acc[2]), add_neighbours(acc[1], acc[3])}};
  }
};

}  // namespace

const DepthwiseKernel avxvnni_u8s8_group64 =
    grouped_kernel<Machine>("avxvnni_u8s8_group64", TierId::kAvxVnni, ElementType::kU8,
                            kGroupedLayout, grouped_output<Machine, __m256i>);

}  // namespace octet
