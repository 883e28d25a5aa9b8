// SPDX-License-Identifier: Apache-2.0
// Stores tiles of 16 columns from ymm registers. A full tile and a single row are requantized where
// they are. One function per tier requantizes tiles of other heights: the accumulators are its
// arguments, of which eight stay in registers.
#pragma once

#include "kernels/x86/shared/by_rows.h"
#include "kernels/x86/shared/store_floats.h"
#include "kernels/x86/shared/store_ymm.h"
#include "kernels/x86/shared/tflite.h"

namespace octet {

// Requantizes a tile whose accumulators are in memory: rows of acc_stride elements, readable up to
// the tile's columns rounded up to 16.
void avx2_requantize(const Tile& t, const int32_t* acc, size_t acc_stride);
// Requantize tiles of up to 4 and 6 rows: vector 0 and vector 1 of each row. Rows that the tile
// lacks may have any values.
void avx2_requantize4(const Tile& t, __m256i, __m256i, __m256i, __m256i, __m256i, __m256i, __m256i,
                      __m256i);
void avx2_requantize6(const Tile& t, __m256i, __m256i, __m256i, __m256i, __m256i, __m256i, __m256i,
                      __m256i, __m256i, __m256i, __m256i, __m256i);

namespace {

// Scales one vector of columns after the other.
template <int most, typename Rows>
OCTET_INLINE inline void scale_tflite(const Tile& t, Rows rows, __m256i (&acc)[most][2]) {
  const TowardsZero rounding(true);
  unroll<2>([&](auto v) OCTET_INLINE {
    TfliteFloatScaler<true> scaler;
    scaler.load((const int32_t*)t.scale + 8 * v, t.requantization->tflite_apart);
    for_rows<most>(rows, [&](auto i) OCTET_INLINE {
      acc[i][v] = scaler.scale(acc[i][v]);
      // else compilers start all rows at once and spill, or end in the other rounding
      __asm__ volatile("" : "+x"(acc[i][v]));
    });
  });
}
template <int most>
OCTET_INLINE inline void scale_float(const Tile& t, __m256i (&acc)[most][2]) {
  const __m256 scale[2] = {_mm256_loadu_ps(t.scale), _mm256_loadu_ps(t.scale + 8)};
  unroll<most>([&](auto i) OCTET_INLINE {
    unroll<2>([&](auto v) OCTET_INLINE { acc[i][v] = scaled(acc[i][v], scale[v]); });
  });
}

// TFLite mode goes through the stack where it has no floats for some column.
template <int most, typename Rows>
OCTET_INLINE inline void requantize(const Tile& t, Rows rows, __m256i (&acc)[most][2]) {
  if (t.requantization->to_floats) return store_floats(t, rows, acc);
  const bool tflite = t.requantization->tflite_apart;
  if (tflite && t.requantization->tflite_form == TfliteForm::kAll) {
    alignas(32) int32_t sums[most][16];
    store_sums(acc, rows, (uint8_t*)sums, sizeof sums[0], 16);
    return avx2_requantize(t, sums[0], 16);
  }
  tflite ? scale_tflite(t, rows, acc) : scale_float(t, acc);
  store_rows_of_16(t, rows, acc);
}

// full: the height that is requantized here.
template <int full, int rows>
OCTET_INLINE inline void store_tile(const Tile& t, __m256i (&acc)[rows][2]) {
  if (!t.scale) return store_sums(acc, Int<rows>{}, (uint8_t*)t.dst, t.dst_stride, t.cols);
  [[maybe_unused]] const auto at = [&](int i, int v)
                                       OCTET_INLINE { return acc[i < rows ? i : rows - 1][v]; };
  if constexpr (rows == full) {
    requantize(t, Int<full>{}, acc);
  } else if constexpr (rows == 1) {
    __m256i twice[2][2] = {{acc[0][0], acc[0][1]}, {acc[0][0], acc[0][1]}};
    requantize(t, Int<1>{}, twice);
  } else if constexpr (rows <= 4) {
    avx2_requantize4(t, at(0, 0), at(0, 1), at(1, 0), at(1, 1), at(2, 0), at(2, 1), at(3, 0),
                     at(3, 1));
  } else {
    avx2_requantize6(t, at(0, 0), at(0, 1), at(1, 0), at(1, 1), at(2, 0), at(2, 1), at(3, 0),
                     at(3, 1), at(4, 0), at(4, 1), at(5, 0), at(5, 1));
  }
}

}  // namespace
}  // namespace octet
