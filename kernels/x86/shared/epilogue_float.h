// Float mode's exit from a tile of accumulators in memory, to which a residual may be added.
#pragma once

#include "kernels/core/epilogue.h"
#include "kernels/x86/shared/epilogue_rows.h"

namespace octet {
namespace {

#ifdef __AVX512BW__
using ExitFloats = __m512;
OCTET_INLINE inline __m512 to_floats(__m512i x) { return _mm512_cvtepi32_ps(x); }
OCTET_INLINE inline __m512 as_floats(__m512i x) { return _mm512_castsi512_ps(x); }
OCTET_INLINE inline __m512 least_of(__m512 a, __m512 b) { return _mm512_min_ps(a, b); }
OCTET_INLINE inline __m512 most_of(__m512 a, __m512 b) { return _mm512_max_ps(a, b); }
OCTET_INLINE inline __m512i rounded(__m512 x) {
  return _mm512_cvt_roundps_epi32(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
#else
using ExitFloats = __m256;
OCTET_INLINE inline __m256 to_floats(__m256i x) { return _mm256_cvtepi32_ps(x); }
OCTET_INLINE inline __m256 as_floats(__m256i x) { return _mm256_castsi256_ps(x); }
OCTET_INLINE inline __m256 least_of(__m256 a, __m256 b) { return _mm256_min_ps(a, b); }
OCTET_INLINE inline __m256 most_of(__m256 a, __m256 b) { return _mm256_max_ps(a, b); }
// By MXCSR, which is the caller's duty
OCTET_INLINE inline __m256i rounded(__m256 x) { return _mm256_cvtps_epi32(x); }
#endif

OCTET_INLINE inline ExitFloats all(float value) { return as_floats(splat<ExitVector>(value)); }

// 2^23 with the byte as its last bits: a float is made of a byte by putting these words above it.
constexpr float kByteBase = 8388608.0f;
constexpr uint16_t kByteBaseWord = 0x4b00;

// Columns of one vector or of two, as in kernels/x86/shared/epilogue_tflite.h.
template <int vectors, bool adds>
OCTET_INLINE inline void exit_floats(const Finish& f, const FinishTile& t, size_t column,
                                     size_t count) {
  constexpr int width = vectors * (int)kExitLanes;
  constexpr size_t together = 4 / vectors;
  const Narrower<kExitBytes> narrower(Narrow{f.zero_point, f.lo, f.hi, f.dst_u8});
  const ExitVector zero = splat<ExitVector>(0), base = splat<ExitVector>(kByteBaseWord),
                   flip = splat<ExitVector>((uint8_t)(f.residual_u8 ? 0 : 0x80));
  const ExitFloats residual_scale = all(f.residual_scale), most = all(32767.0f),
                   residual_zero =
                       all(kByteBase + (float)(f.residual_zero_point + (f.residual_u8 ? 0 : 128))),
                   product_lo = all(f.product_lo_f32), product_hi = all(f.product_hi_f32);
  const bool limits = !f.fits_int32, limits_product = adds && f.clamps_product;
  ExitFloats scale[vectors];
  unroll<vectors>([&](auto v) OCTET_INLINE {
    scale[v] = as_floats(exit_vector(f.scale + t.column + column + v * kExitLanes));
  });
  const int32_t* acc = t.acc + column;
  const uint8_t* residual = t.to.residual + (adds ? column : 0);
  uint8_t* dst = t.to.dst + column;
  for (size_t rows = t.rows;;) {
    ExitVector r[4];
    if (adds) {
      const ExitVector bytes =
          as_packed(load_rows<width>(residual, t.to.residual_stride, rows, count) ^ flip);
      const ExitVector low = low_bytes(bytes, zero), high = high_bytes(bytes, zero);
      r[0] = low_words(low, base);
      r[1] = high_words(low, base);
      r[2] = low_words(high, base);
      r[3] = high_words(high, base);
    }
    ExitVector q[4];
    unroll<4>([&](auto at) OCTET_INLINE {
      constexpr int v = at.value % vectors;
      constexpr size_t row = at.value / vectors;
      const int32_t* const from = acc + (row < rows ? row * t.acc_stride : 0) + v * kExitLanes;
      ExitFloats value = to_floats(exit_vector(from)) * scale[v];
      if (adds) {
        if (limits_product) value = least_of(most_of(value, product_lo), product_hi);
        value = value + (as_floats(r[at]) - residual_zero) * residual_scale;
      }
      // A conversion that overflows is negative
      if (limits) value = least_of(value, most);
      q[at] = rounded(value);
    });
    const ExitVector bytes =
        in_order(narrower.bytes(pack_words(q[0], q[1]), pack_words(q[2], q[3])));
    store_rows<width>(dst, t.to.stride, bytes, rows, count);
    if (rows <= together) return;
    rows -= together;
    acc += together * t.acc_stride;
    if (adds) residual += together * t.to.residual_stride;
    dst += together * t.to.stride;
  }
}

// Accumulators: as for tflite_exit.
template <bool adds>
void float_exit(const Finish& f, const FinishTile& t) {
  size_t column = 0;
  for (; column + kExitLanes < t.cols; column += 2 * kExitLanes) {
    const size_t left = t.cols - column;
    exit_floats<2, adds>(f, t, column, left < 2 * kExitLanes ? left : 2 * kExitLanes);
  }
  if (column < t.cols) exit_floats<1, adds>(f, t, column, t.cols - column);
}

}  // namespace
}  // namespace octet
