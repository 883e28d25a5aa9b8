// SPDX-License-Identifier: Apache-2.0
// Winograd's transforms on xsimd's batches: the ISA part of kernels/generic/winograd.h, and the
// requantization of outputs.
#pragma once

#include "kernels/generic/winograd.h"
#include "kernels/xsimd/store.h"

namespace octet {
namespace {

struct Lanes : WinogradLanes<sizeof(octet::Sums)> {
  static constexpr int kAhead = 16;
  using Bytes = Batch<uint8_t>;

  // Repeats each byte of half a vector, so that a shift widens it.
  OCTET_INLINE static inline Bytes twice(const uint8_t* bytes) {
    const Bytes half = repeat_eight(bytes);
    return xsimd::zip_lo(half, half);
  }
  OCTET_INLINE static inline Int16 widen_u8(const uint8_t* bytes) {
    return (Int16)as<Batch<uint16_t>>(twice(bytes)).data >> 8;
  }
  OCTET_INLINE static inline Int16 widen_s8(const uint8_t* bytes) {
    return (Int16)(as<octet::Int16>(twice(bytes)) >> 8).data;
  }
  OCTET_INLINE static inline void store_int8(uint8_t* bytes, Int16 int16, int16_t factor,
                                             uint8_t flip) {
    const octet::Int16 rounded = multiply_rounded(of(int16), octet::Int16(factor));
    const Bytes packed = as<Bytes>(to_s8(rounded, rounded)) ^ Bytes(flip);
    __builtin_memcpy(bytes, &packed.data, sizeof(int16) / 2);
  }
  OCTET_INLINE static inline Sums round(Floats x) {
    return (Sums)xsimd::nearbyint_as_int(of(x)).data;
  }

  OCTET_INLINE static inline octet::Int16 of(Int16 x) { return {(octet::Int16::register_type)x}; }
  OCTET_INLINE static inline octet::Sums of(Sums x) { return {(octet::Sums::register_type)x}; }
  OCTET_INLINE static inline octet::Floats of(Floats x) {
    return {(octet::Floats::register_type)x};
  }

  template <typename Variant>
  static void output(const WinogradOutput& o);
};

// Takes at most sixteen columns: a pixel's columns are one vector of bytes.
template <typename Variant>
void Lanes::output(const WinogradOutput& o) {
  if (!o.scale) return output_s32<Variant, Lanes>(o);
  constexpr int m = Variant::kOut;
  const Requantizer requantizer(*o.requantization);
  octet::Sums sums[4][m][m];
  scale_tile<Variant, Lanes>(
      o, sums, [](Sums out, Floats scale) OCTET_INLINE { return scaled(of(out), of(scale)); });
  for (size_t v = (o.cols + kLanes - 1) / kLanes; v < 4; ++v)
    for (int i = 0; i < m * m; ++i) sums[v][i / m][i % m] = octet::Sums(0);
  for (size_t y = 0; y < o.height; ++y)
    for (size_t x = 0; x < o.width; ++x)
      store_some((uint8_t*)o.dst + y * o.dst_line + x * o.dst_pixel,
                 requantizer.bytes(to_int16(sums[0][y][x], sums[1][y][x]),
                                   to_int16(sums[2][y][x], sums[3][y][x])),
                 o.cols);
}

}  // namespace
}  // namespace octet
