// Stores tiles of 16 columns from ymm registers. Full tiles and single rows, which are most of a
// product, are requantized in registers where every column is shifted to the right or float mode
// scales them. Any other tile goes through the stack: its code would be as long and seldom run.
#pragma once

#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/store_ymm.h"
#include "kernels/x86/shared/sums_ymm.h"
#include "kernels/x86/shared/tflite.h"

namespace octet {
namespace {

// Stores s32, or requantizes through the stack.
template <int rows>
OCTET_INLINE inline void store_through_memory(const Tile& t, const __m256i (&acc)[rows][2]) {
  alignas(32) int32_t sums[rows][16];
  uint8_t* const dst = t.scale ? (uint8_t*)sums : (uint8_t*)t.dst;
  const size_t stride = t.scale ? sizeof sums[0] : t.dst_stride, cols = t.scale ? 16 : t.cols;
  store_sums(acc, dst, stride, cols);
  if (t.scale) avx2_requantize(t, sums[0], 16);
}

// Scales the accumulators, one vector of columns after the other.
template <int rows>
OCTET_INLINE inline void scale_tflite(const Tile& t, __m256i (&acc)[rows][2]) {
  unroll<2>([&](auto v) OCTET_INLINE {
    TfliteRightScaler<32> scaler;
    scaler.load((const int32_t*)t.scale + 8 * v, t.requantization->tflite_apart);
    unroll<rows>([&](auto i) OCTET_INLINE {
      acc[i][v] = scaler.scale(acc[i][v]);
      pin(acc[i][v]);  // else compilers start all rows at once and spill
    });
  });
}
template <int rows>
OCTET_INLINE inline void scale_float(const Tile& t, __m256i (&acc)[rows][2]) {
  unroll<2>([&](auto v) OCTET_INLINE {
    const __m256 scale = _mm256_loadu_ps(t.scale + 8 * v);
    unroll<rows>([&](auto i) OCTET_INLINE { acc[i][v] = scaled(acc[i][v], scale); });
  });
}

// least: tiles of so many rows, and single rows, are requantized in registers. Products of many rows
// have tiles of nearly equal height (Tiling), most of which are full or one row short.
template <int least, int rows>
OCTET_INLINE inline void store_tile(const Tile& t, __m256i (&acc)[rows][2]) {
  if constexpr (rows >= least || rows == 1) {
    const bool tflite = t.scale && t.requantization->tflite_apart;
    if (t.scale && (!tflite || t.requantization->tflite_right_only)) {
      tflite ? scale_tflite(t, acc) : scale_float(t, acc);
      return store_rows_of_16(t, acc);
    }
  }
  store_through_memory(t, acc);
}

}  // namespace
}  // namespace octet
