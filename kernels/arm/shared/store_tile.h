// Stores a tile with four columns per vector as s32 or 8 bits: directly, or through the stack if it
// has fewer columns than its registers.
#pragma once

#include "kernels/arm/shared/copy_bytes.h"
#include "kernels/arm/shared/pinned.h"
#include "kernels/arm/shared/requantize.h"

namespace octet {
namespace {

template <int rows, int vectors>
OCTET_INLINE inline void store_s32(const int32x4_t (&acc)[rows][vectors], uint8_t* dst,
                                   size_t stride) {
  OCTET_UNROLL(6)
  for (int i = 0; i < rows; ++i, dst += stride) {
    OCTET_UNROLL(4)
    for (int v = 0; v < vectors; ++v) vst1q_s32((int32_t*)dst + 4 * v, acc[i][v]);
  }
}

template <int rows, int vectors, Store store>
OCTET_INLINE inline void store_requantized(const Tile& t, int32x4_t (&acc)[rows][vectors],
                                           const Requantizing16& n, uint8_t*& dst, size_t stride) {
  using Scale = typename ScaleOf<store>::Type;
  Scale scale[4];
  OCTET_UNROLL(4)
  for (int v = 0; v < 4; ++v)
    scale[v] = Scale::at(t.scale + 4 * (v % vectors), t.requantization->tflite_apart);
  OCTET_UNROLL(6)
  for (int i = 0; i < rows; ++i) {
    // Else GCC 12 starts the conversions of all ways before it branches to one, and spills
    OCTET_UNROLL(4)
    for (int v = 0; v < vectors; ++v) pin(acc[i][v]);
    const uint8x16_t bytes = requantized<store>(
        {acc[i][0], acc[i][1], acc[i][vectors - 2], acc[i][vectors - 1]}, scale, n);
    if (vectors == 4)
      store16_row(bytes, dst, stride);
    else
      store8_row(bytes, dst, stride);
  }
}

template <int rows, int vectors>
OCTET_INLINE inline void store_tile(const Tile& t, int32x4_t (&acc)[rows][vectors]) {
  const size_t element = t.scale ? 1 : 4;
  alignas(16) uint8_t whole[rows * 4 * vectors * 4];
  const bool partial = t.cols < 4 * vectors;
  uint8_t* dst = partial ? whole : (uint8_t*)t.dst;
  const size_t stride = partial ? 4 * vectors * element : t.dst_stride;
  const Store store = store_of(t);
  if (store == Store::kSaturated) {
    store_requantized<rows, vectors, Store::kSaturated>(t, acc, requantizing16(*t.requantization),
                                                        dst, stride);
  } else if (store == Store::kClamped) {
    store_requantized<rows, vectors, Store::kClamped>(t, acc, requantizing16(*t.requantization),
                                                      dst, stride);
  } else if (store == Store::kTflite) {
    store_requantized<rows, vectors, Store::kTflite>(t, acc, requantizing16(*t.requantization), dst,
                                                     stride);
  } else {
    store_s32<rows, vectors>(acc, dst, stride);
  }
  if (partial) copy_rows(whole, stride, (uint8_t*)t.dst, t.dst_stride, t.rows, t.cols * element);
}

}  // namespace
}  // namespace octet
