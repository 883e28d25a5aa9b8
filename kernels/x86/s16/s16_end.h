// SPDX-License-Identifier: Apache-2.0
// Makes outputs of 16 bits of sums on zmm: 16 columns or channels to a register.
#pragma once

#include <immintrin.h>

#include "kernels/core/micro_kernel.h"
#include "kernels/x86/shared/requantize.h"

namespace octet {
namespace {

struct S16End {
  __m512i lo, hi;
  bool tflite;

  explicit S16End(const Requantization& n)
      : lo(splat<__m512i>((int16_t)n.lo)),
        hi(splat<__m512i>((int16_t)n.hi)),
        tflite(n.tflite_apart) {}

  OCTET_INLINE inline __m512i scaled_by(__m512i acc, __m512i scale) const {
    return tflite ? high_halves(acc, scale) : scaled(acc, _mm512_castsi512_ps(scale));
  }
  // The outputs of a, then those of b.
  OCTET_INLINE inline __m512i s16(__m512i a, __m512i b) const {
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7),
                                    min_s16(max_s16(pack_int16(a, b), lo), hi));
  }
};

}  // namespace
}  // namespace octet
