// SPDX-License-Identifier: Apache-2.0
// Stores a tile with four columns per vector as s32, f32 or 8 bits: directly, or through the stack
// if it has fewer columns than its registers.
#pragma once

#include "kernels/arm/shared/copy_bytes.h"
#include "kernels/arm/shared/pinned.h"
#include "kernels/arm/shared/requantize.h"
#include "kernels/arm/shared/store_floats.h"

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

// Stores one vector of columns after the other.
template <int rows, int vectors>
OCTET_INLINE inline void store_floats(const Tile& t, const float* row_scale,
                                      const int32x4_t (&acc)[rows][vectors], uint8_t* dst,
                                      size_t stride) {
  const float* const scales = t.scale;
  const ptrdiff_t bias_apart = t.requantization->bias_apart;
  by_row_scaled(row_scale, [&](auto row_scaled) OCTET_INLINE {
    unroll<vectors>([&](auto v) OCTET_INLINE {
      FloatColumns by = FloatColumns::at(scales + 4 * v, bias_apart);
      uint8_t* to = dst + 16 * v;
      unroll<rows>([&](auto i) OCTET_INLINE {
        const float32x4_t x = floats<row_scaled>(
            acc[i][v], by, [&]() OCTET_INLINE { return vld1q_dup_f32(row_scale + i); });
        store16_row(vreinterpretq_u8_f32(x), to, stride);
      });
    });
  });
}

// full: the height whose floats leave from registers; 0: none.
template <int full, int rows, int vectors>
OCTET_INLINE inline void store_tile(const Tile& t, int32x4_t (&acc)[rows][vectors]) {
  const size_t element = element_bytes(t);
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
  } else if (rows == full && store == Store::kFloats && !partial && floats_leave_registers(t)) {
    return store_floats(t, t.row_scale, acc, dst, stride);
  } else {
    store_s32<rows, vectors>(acc, dst, stride);
  }
  if (partial) copy_rows(whole, stride, (uint8_t*)t.dst, t.dst_stride, t.rows, t.cols * element);
  if (store == Store::kFloats) floats_in_place(t, 0);
}

}  // namespace
}  // namespace octet
