// Float mode's epilogue from a tile of accumulators in memory, two vectors of columns at a time: what
// the plain loops of kernels/simd/finish.h do, which compilers do not make vectors of where a tile
// is as narrow as these kernels'. All else is theirs.
#pragma once

#include "kernels/simd/finish.h"
#include "kernels/xsimd/exits.h"

namespace octet {
namespace {

// A residual's bytes, as unsigned, to sums.
OCTET_INLINE inline void widen_bytes(Batch<uint8_t> bytes, Sums (&to)[2]) {
  const Words words = as<Words>(xsimd::zip_lo(bytes, Batch<uint8_t>((uint8_t)0))), zero((int16_t)0);
  to[0] = as<Sums>(xsimd::zip_lo(words, zero));
  to[1] = as<Sums>(xsimd::zip_hi(words, zero));
}

template <bool adds>
void finish_two_vectors(const Finish& f, const FinishTile& t, size_t column) {
  static_assert(kLanes == 4, "eight bytes of a residual");
  const Floats lo(f.lo_f32), hi(f.hi_f32), product_lo(f.product_lo_f32),
      product_hi(f.product_hi_f32), residual_scale(f.residual_scale);
  const Sums zero_point(f.zero_point),
      residual_zero(f.residual_zero_point + (f.residual_u8 ? 0 : 128));
  const Batch<uint8_t> flip((uint8_t)(f.residual_u8 ? 0 : 0x80));
  const float* const scales = f.scale + t.column + column;
  const Floats scale[2] = {load<float>(scales), load<float>(scales + kLanes)};
  for (size_t i = 0; i < t.rows; ++i) {
    const int32_t* const acc = t.acc + i * t.acc_stride + column;
    Sums residual[2], q[2];
    if (adds)
      widen_bytes(repeat_eight(t.to.residual + i * t.to.residual_stride + column) ^ flip, residual);
    unroll<2>([&](auto v) OCTET_INLINE {
      const Floats by = t.row_scale ? Floats(t.row_scale[i]) * scale[v] : scale[v];
      Floats value = xsimd::to_float(load<int32_t>(acc + kLanes * v)) * by;
      if (adds) {
        if (f.clamps_product) value = xsimd::min(xsimd::max(value, product_lo), product_hi);
        value = value + xsimd::to_float(residual[v] - residual_zero) * residual_scale;
      }
      value = xsimd::min(xsimd::max(value, lo), hi);
      // By the rounding mode, which is the caller's duty
      q[v] = xsimd::nearbyint_as_int(value) + zero_point;
    });
    // In the output's range already, so that nothing saturates
    const Words words = to_words(q[0], q[1]);
    uint8_t bytes[Batch<uint8_t>::size];
    (f.dst_u8 ? to_u8(words, words) : as<Batch<uint8_t>>(to_s8(words, words)))
        .store_unaligned(bytes);
    uint8_t* const dst = t.to.dst + i * t.to.stride + column;
    if (f.lut)
      unroll<2 * kLanes>([&](auto j) OCTET_INLINE { dst[j] = f.lut[bytes[j]]; });
    else
      __builtin_memcpy(dst, bytes, 2 * kLanes);
  }
}

void finish_by_vectors(const Finish& f, const FinishTile& t) {
  if (f.mode != FinishMode::kFloat8) return finish_tile(f, t);
  constexpr size_t width = 2 * kLanes;
  size_t column = 0;
  for (; column + width <= t.cols; column += width)
    (f.has_residual ? finish_two_vectors<true> : finish_two_vectors<false>)(f, t, column);
  if (column == t.cols) return;
  FinishTile rest = t;
  rest.acc += column;
  rest.cols -= column;
  rest.column += column;
  rest.to = t.to.column(column, 1);
  finish_tile(f, rest);
}

}  // namespace
}  // namespace octet
