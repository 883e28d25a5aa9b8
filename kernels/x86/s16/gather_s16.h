// SPDX-License-Identifier: Apache-2.0
// Gathers s16 values for kernels of kGathersEvenStepsFirst, eight of a row at a time: see
// kernels/generic/gather.h.
#pragma once

#include <immintrin.h>

#include "kernels/generic/gather.h"

namespace octet {
namespace {

template <size_t times>
void gather_s16(const Rows& r, size_t lanes, void* panel) {
  const __m128i even_first = _mm_setr_epi8(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15);
  const size_t step = 8 * times * lanes;
  for (size_t lane = 0; lane < lanes; ++lane) {
    const uint8_t* from = r.row(lane);
    uint8_t* to = (uint8_t*)panel + 8 * times * lane;
    for (size_t left = r.depth / 8; left; --left, from += 16, to += 2 * step) {
      const __m128i s16 = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i*)from), even_first);
      if constexpr (times == 1) {
        _mm_storel_epi64((__m128i*)to, s16);
        _mm_storeh_pd((double*)(to + step), _mm_castsi128_pd(s16));
      } else {
        _mm_storeu_si128((__m128i*)to, _mm_unpacklo_epi32(s16, s16));
        _mm_storeu_si128((__m128i*)(to + step), _mm_unpackhi_epi32(s16, s16));
      }
    }
    gather_row_of_s16<times>(from, r.depth % 8, step, to);
  }
}

}  // namespace
}  // namespace octet
