// SPDX-License-Identifier: Apache-2.0
// The epilogue to floats from a tile of accumulators in memory: up to four vectors of columns at a
// time, whose scales and bias are in registers.
#pragma once

#include "kernels/core/epilogue.h"
#include "kernels/x86/shared/epilogue_float.h"

namespace octet {
namespace {

#ifdef __AVX512BW__
OCTET_INLINE inline __m512 where_nan(__m512 x, __m512 nan) {
  return _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), nan);
}
#else
OCTET_INLINE inline __m256 where_nan(__m256 x, __m256 nan) {
  return _mm256_blendv_ps(x, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}
#endif

// Stores complete in order, and rows of outputs that L2 cannot hold miss it: they are prefetched so
// many rows ahead. Measured on Golden Cove (2026-11-29): 4 and 16 are slower.
constexpr size_t kRowsAhead = 8;

// Does `count` columns.
template <int vectors>
OCTET_INLINE inline void f32_columns(const Epilogue& f, const EpilogueTile& t, size_t column,
                                     size_t count) {
  // -0 changes no float when it is added. CPUs disagree on the sign of a computed NaN.
  const EpilogueFloats lo = all(f.lo_f32), hi = all(f.hi_f32), nan = all(__builtin_nanf(""));
  EpilogueFloats scale[vectors], bias[vectors];
  unroll<vectors>([&](auto v) OCTET_INLINE {
    const size_t n = t.column + column + v * kEpilogueLanes;
    scale[v] = as_floats(epilogue_vector(f.scale + n));
    bias[v] = f.bias_f32 ? as_floats(epilogue_vector(f.bias_f32 + n)) : all(-0.0f);
  });
  const int32_t* acc = t.acc + column;
  uint8_t* dst = t.to.dst + column * sizeof(float);
  OCTET_NO_UNROLL
  for (size_t i = 0; i < t.rows; ++i, acc += t.acc_stride, dst += t.to.stride) {
    const EpilogueFloats by = all(t.row_scale ? t.row_scale[i] : 1.0f);
    unroll<vectors>([&](auto v) OCTET_INLINE {
      const size_t first = v * kEpilogueLanes;
      _mm_prefetch((const char*)(dst + kRowsAhead * t.to.stride) + first * sizeof(float),
                   _MM_HINT_T0);
      const EpilogueFloats x = to_floats(epilogue_vector(acc + first)) * (by * scale[v]) + bias[v];
      // Of a NaN and a bound, these return the NaN: their second operand.
      store_some((float*)dst + first, where_nan(least_of(hi, most_of(lo, x)), nan), count - first);
    });
  }
}

void epilogue_f32_rows(const Epilogue& f, const EpilogueTile& t) {
  constexpr size_t most = 4 * kEpilogueLanes;
  for (size_t column = 0; column < t.cols; column += most) {
    const size_t left = t.cols - column;
    if (left <= kEpilogueLanes)
      f32_columns<1>(f, t, column, left);
    else if (left <= 2 * kEpilogueLanes)
      f32_columns<2>(f, t, column, left);
    else if (left <= 3 * kEpilogueLanes)
      f32_columns<3>(f, t, column, left);
    else
      f32_columns<4>(f, t, column, left < most ? left : most);
  }
}

}  // namespace
}  // namespace octet
