// Requantizes a tile of accumulators in memory in float mode, with or without a residual.
#pragma once

#include "kernels/core/epilogue.h"
#include "kernels/x86/shared/epilogue_rows.h"

namespace octet {
namespace {

#ifdef __AVX512BW__
OCTET_INLINE inline __m512 all(float value) { return _mm512_set1_ps(value); }
OCTET_INLINE inline __m512 to_floats(__m512i x) { return _mm512_cvtepi32_ps(x); }
OCTET_INLINE inline __m512 least_of(__m512 a, __m512 b) { return _mm512_min_ps(a, b); }
OCTET_INLINE inline __m512 most_of(__m512 a, __m512 b) { return _mm512_max_ps(a, b); }
OCTET_INLINE inline __m512i rounded(__m512 x) {
  return _mm512_cvt_roundps_epi32(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
#else
OCTET_INLINE inline __m256 all(float value) { return _mm256_set1_ps(value); }
OCTET_INLINE inline __m256 to_floats(__m256i x) { return _mm256_cvtepi32_ps(x); }
OCTET_INLINE inline __m256 least_of(__m256 a, __m256 b) { return _mm256_min_ps(a, b); }
OCTET_INLINE inline __m256 most_of(__m256 a, __m256 b) { return _mm256_max_ps(a, b); }
// Rounds by MXCSR, which the caller has set
OCTET_INLINE inline __m256i rounded(__m256 x) { return _mm256_cvtps_epi32(x); }
#endif

// 2^23: a byte in the lowest bits of its representation makes the float 2^23 + byte.
constexpr float kByteBase = 8388608.0f;
constexpr uint16_t kByteBaseWord = 0x4b00;

// Does one or two vectors of columns, as in kernels/x86/shared/requantize_tile.h.
template <int vectors, bool adds>
OCTET_INLINE inline void epilogue_float_rows(const Epilogue& f, const EpilogueTile& t,
                                             size_t column, size_t count) {
  constexpr int width = vectors * (int)kEpilogueLanes;
  constexpr size_t together = 4 / vectors;
  const Requantizer<kEpilogueBytes> requantizer(
      Requantization{f.zero_point, f.lo, f.hi, f.dst_type});
  const EpilogueVector zero = splat<EpilogueVector>(0), base = splat<EpilogueVector>(kByteBaseWord),
                       flip = splat<EpilogueVector>(
                           (uint8_t)(f.residual_type == ElementType::kU8 ? 0 : 0x80));
  const EpilogueFloats residual_scale = all(f.residual_scale), most = all(32767.0f),
                       residual_zero = all(
                           kByteBase + (float)(f.residual_zero_point +
                                               (f.residual_type == ElementType::kU8 ? 0 : 128))),
                       product_lo = all(f.product_lo_f32), product_hi = all(f.product_hi_f32);
  const bool limits = !f.fits_int32, limits_product = adds && f.clamps_product;
  EpilogueFloats scale[vectors];
  unroll<vectors>([&](auto v) OCTET_INLINE {
    scale[v] = as_floats(epilogue_vector(f.scale + t.column + column + v * kEpilogueLanes));
  });
  const int32_t* acc = t.acc + column;
  const uint8_t* residual = t.to.residual + (adds ? column : 0);
  uint8_t* dst = t.to.dst + column;
  for (size_t rows = t.rows;;) {
    EpilogueVector r[4];
    if (adds) {
      const EpilogueVector bytes =
          as_packed(load_rows<width>(residual, t.to.residual_stride, rows, count) ^ flip);
      const EpilogueVector low = low_bytes(bytes, zero), high = high_bytes(bytes, zero);
      r[0] = low_int16(low, base);
      r[1] = high_int16(low, base);
      r[2] = low_int16(high, base);
      r[3] = high_int16(high, base);
    }
    EpilogueVector q[4];
    unroll<4>([&](auto at) OCTET_INLINE {
      constexpr int v = at.value % vectors;
      constexpr size_t row = at.value / vectors;
      const int32_t* const from = acc + (row < rows ? row * t.acc_stride : 0) + v * kEpilogueLanes;
      EpilogueFloats value = to_floats(epilogue_vector(from)) * scale[v];
      if (adds) {
        if (limits_product) value = least_of(most_of(value, product_lo), product_hi);
        value = value + (as_floats(r[at]) - residual_zero) * residual_scale;
      }
      // A conversion that overflows is negative
      if (limits) value = least_of(value, most);
      q[at] = rounded(value);
    });
    const EpilogueVector bytes =
        in_order(requantizer.bytes(pack_int16(q[0], q[1]), pack_int16(q[2], q[3])));
    store_rows<width>(dst, t.to.stride, bytes, rows, count);
    if (rows <= together) return;
    rows -= together;
    acc += together * t.acc_stride;
    if (adds) residual += together * t.to.residual_stride;
    dst += together * t.to.stride;
  }
}

// The accumulators are as in StoredTile.
template <bool adds>
void float_epilogue(const Epilogue& f, const EpilogueTile& t) {
  size_t column = 0;
  for (; column + kEpilogueLanes < t.cols; column += 2 * kEpilogueLanes) {
    const size_t left = t.cols - column;
    epilogue_float_rows<2, adds>(f, t, column,
                                 left < 2 * kEpilogueLanes ? left : 2 * kEpilogueLanes);
  }
  if (column < t.cols) epilogue_float_rows<1, adds>(f, t, column, t.cols - column);
}

}  // namespace
}  // namespace octet
