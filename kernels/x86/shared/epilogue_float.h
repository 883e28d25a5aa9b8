// SPDX-License-Identifier: Apache-2.0
// Requantizes a tile of accumulators in memory in float mode and adds a residual.
#pragma once

#include "kernels/core/epilogue.h"
#include "kernels/x86/shared/epilogue_rows.h"

namespace octet {
namespace {

// 2^23: a byte in the lowest bits of its representation makes the float 2^23 + byte.
constexpr float kByteBase = 8388608.0f;
constexpr uint16_t kByteBaseWord = 0x4b00;

// Does one or two vectors of columns, as in kernels/x86/shared/requantize_tile.h.
template <int vectors>
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
  const bool limits = !f.fits_int32, limits_product = f.clamps_product;
  EpilogueFloats scale[vectors];
  unroll<vectors>([&](auto v) OCTET_INLINE {
    scale[v] = as_floats(epilogue_vector(f.scale + t.column + column + v * kEpilogueLanes));
  });
  const int32_t* acc = t.acc + column;
  const uint8_t* residual = t.to.residual + column;
  uint8_t* dst = t.to.dst + column;
  for (size_t rows = t.rows;;) {
    const EpilogueVector residuals =
        as_packed(load_rows<width>(residual, t.to.residual_stride, rows, count) ^ flip);
    const EpilogueVector low = low_bytes(residuals, zero), high = high_bytes(residuals, zero),
                         r[4] = {low_int16(low, base), high_int16(low, base), low_int16(high, base),
                                 high_int16(high, base)};
    EpilogueVector q[4];
    unroll<4>([&](auto at) OCTET_INLINE {
      constexpr int v = at.value % vectors;
      constexpr size_t row = at.value / vectors;
      const int32_t* const from = acc + (row < rows ? row * t.acc_stride : 0) + v * kEpilogueLanes;
      EpilogueFloats value = to_floats(epilogue_vector(from)) * scale[v];
      if (limits_product) value = least_of(most_of(value, product_lo), product_hi);
      value = value + (as_floats(r[at]) - residual_zero) * residual_scale;
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
    residual += together * t.to.residual_stride;
    dst += together * t.to.stride;
  }
}

// The accumulators are as in StoredTile.
void float_epilogue(const Epilogue& f, const EpilogueTile& t) {
  size_t column = 0;
  for (; column + kEpilogueLanes < t.cols; column += 2 * kEpilogueLanes) {
    const size_t left = t.cols - column;
    epilogue_float_rows<2>(f, t, column, left < 2 * kEpilogueLanes ? left : 2 * kEpilogueLanes);
  }
  if (column < t.cols) epilogue_float_rows<1>(f, t, column, t.cols - column);
}

}  // namespace
}  // namespace octet
