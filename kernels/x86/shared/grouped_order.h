// SPDX-License-Identifier: Apache-2.0
// The order in which grouped x86 kernels hold the sums of a block's 16 channels, and the shuffles
// back into the order of channels.
#pragma once

#include <immintrin.h>

#include "kernels/generic/grouped.h"
#include "kernels/x86/shared/epilogue_rows.h"
#include "kernels/x86/shared/requantize.h"

namespace octet {
namespace {

// Adds neighbours; the sums of a are in the lower half of each lane.
OCTET_INLINE inline __m256i add_neighbours(__m256i a, __m256i b) {
  const __m256 x = _mm256_castsi256_ps(a), y = _mm256_castsi256_ps(b);
  return _mm256_add_epi32(_mm256_castps_si256(_mm256_shuffle_ps(x, y, 0x88)),
                          _mm256_castps_si256(_mm256_shuffle_ps(x, y, 0xdd)));
}
#ifdef __AVX512BW__
OCTET_INLINE inline __m512i add_neighbours(__m512i a, __m512i b) {
  const __m512 x = _mm512_castsi512_ps(a), y = _mm512_castsi512_ps(b);
  return _mm512_add_epi32(_mm512_castps_si512(_mm512_shuffle_ps(x, y, 0x88)),
                          _mm512_castps_si512(_mm512_shuffle_ps(x, y, 0xdd)));
}
#endif

// Loads the eight bytes of a pixel that meet half of a 16-channel group's weights.
OCTET_INLINE inline int64_t half_of(const uint8_t* p, int part) {
  int64_t half;
  __builtin_memcpy(&half, p + 8 * part, sizeof half);
  return half;
}

// f32 of sums: scale is followed, `apart` further, by the bias.
OCTET_INLINE inline EpilogueVector grouped_floats(EpilogueVector sums, const float* scale,
                                                  size_t apart, const Requantization& r) {
  EpilogueFloats x = to_floats(sums) * as_floats(epilogue_vector(scale)) +
                     as_floats(epilogue_vector(scale + apart));
  if (r.clamps) x = least_of(all(r.hi_f32), most_of(all(r.lo_f32), x));
  return as_bits(x);
}

// A byte's place after the packs, which swap the second and the third four.
constexpr size_t packed_place(size_t place) {
  constexpr size_t kFour[] = {0, 2, 1, 3};
  return kFour[place / 4] * 4 + place % 4;
}

// The shuffle indices of the channels, for M's sums or for its packed bytes.
template <typename M, typename Lane, int quads>
struct ChannelOrder {
  Lane lane[16];
  constexpr ChannelOrder() : lane() {
    for (size_t c = 0; c < 16; ++c) {
      const size_t place = M::raw_position(quads, c);
      lane[c] = (Lane)(M::kPacksSwap && sizeof(Lane) == 1 ? packed_place(place) : place);
    }
  }
};
template <typename M, typename Lane, int quads>
alignas(64) constexpr ChannelOrder<M, Lane, quads> kChannelOrder;

template <typename M>
OCTET_INLINE inline __m128i channel_order_of(size_t quads) {
  __m128i order = _mm_setzero_si128();
  for_quads(quads, [&](auto q) OCTET_INLINE {
    order = _mm_load_si128((const __m128i*)&kChannelOrder<M, uint8_t, q>);
  });
  return order;
}

// The order of VPDPBUSD's sums: a channel's position after neighbouring lanes were added.
struct DottedOrder {
  static constexpr size_t raw_position(size_t quads, size_t channel) {
    constexpr size_t kTurn[] = {0, 2, 1, 3};
    return quads == 4   ? channel % 8 / 2 * 4 + channel / 8 * 2 + channel % 2
           : quads == 2 ? channel % 4 * 4 + kTurn[channel / 4]
                        : channel % 4 * 4 + channel / 4;
  }
  static constexpr size_t init_position(size_t quads, size_t channel) {
    return grouped_position(quads, channel, 0) / 4;
  }
  template <int quads>
  static void prepare(const uint8_t* tap, uint8_t* out) {
    __builtin_memcpy(out, tap, 64 * quads);
  }

  // Lanes of sums and offsets are two int16, for VPDPWSSD: sum % 128 and sum / 128; the offset, and
  // 128 times it.
  static constexpr bool kSums = true;
  template <int quads>
  static constexpr bool kSumsByTap = false;
  static uint32_t to_lane(int16_t offset) {
    return (uint16_t)offset | (uint32_t)offset * 128 << 16;
  }
};

}  // namespace
}  // namespace octet
