// Stores tiles of 16 columns from ymm registers: requantized in registers in float mode, and in
// TFLite mode if all columns are shifted to the right; else as s32, which TFLite mode requantizes
// from a stack buffer.
#pragma once

#include "kernels/x86/shared/epilogue_tflite.h"
#include "kernels/x86/shared/store_ymm.h"
#include "kernels/x86/shared/sums_ymm.h"

namespace octet {
namespace {

template <int rows>
OCTET_INLINE inline void store_int32(const Tile& t, const __m256i (&acc)[rows][2]) {
  alignas(32) int32_t sums[rows][16];
  uint8_t* const dst = t.scale ? (uint8_t*)sums : (uint8_t*)t.dst;
  const size_t stride = t.scale ? sizeof sums[0] : t.dst_stride, cols = t.scale ? 16 : t.cols;
  store_sums(acc, dst, stride, cols);
  if (t.scale) tflite_epilogue(t, sums[0], 16);
}

// Scales one vector of columns after the other.
template <int rows>
OCTET_INLINE inline void store_tflite(const Tile& t, __m256i (&acc)[rows][2]) {
  unroll<2>([&](auto v) OCTET_INLINE {
    TfliteRightScaler<32> scaler;
    scaler.load((const int32_t*)t.scale + 8 * v, t.requantization->tflite_apart);
    unroll<rows>([&](auto i) OCTET_INLINE {
      acc[i][v] = scaler.scale(acc[i][v]);
      pin(acc[i][v]);  // else compilers start all rows at once and spill
    });
  });
  store_rows_of_16<rows>(t, [&](int i, int v) OCTET_INLINE { return acc[i][v]; });
}

template <int rows>
OCTET_INLINE inline void store_tile(const Tile& t, __m256i (&acc)[rows][2]) {
  if (t.scale && !t.requantization->tflite_apart) return store_requantized8(t, acc);
  if (t.scale && t.requantization->tflite_right_only) return store_tflite(t, acc);
  store_int32(t, acc);
}

}  // namespace
}  // namespace octet
