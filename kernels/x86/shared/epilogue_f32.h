// SPDX-License-Identifier: Apache-2.0
// The epilogue to floats from a tile of accumulators in memory: one or two vectors of columns at a
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
      const EpilogueFloats x = to_floats(epilogue_vector(acc + first)) * (by * scale[v]) + bias[v];
      // Of a NaN and a bound, these return the NaN: their second operand.
      store_some((float*)dst + first, where_nan(least_of(hi, most_of(lo, x)), nan), count - first);
    });
  }
}

void epilogue_f32_rows(const Epilogue& f, const EpilogueTile& t) {
  constexpr size_t two = 2 * kEpilogueLanes;
  for (size_t column = 0; column < t.cols; column += two) {
    const size_t left = t.cols - column;
    if (left <= kEpilogueLanes)
      f32_columns<1>(f, t, column, left);
    else
      f32_columns<2>(f, t, column, left < two ? left : two);
  }
}

}  // namespace
}  // namespace octet
