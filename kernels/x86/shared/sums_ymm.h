// Loads and stores accumulators of 16 columns in ymm registers.
#pragma once

#include "kernels/core/micro_kernel.h"
#include "kernels/x86/shared/by_rows.h"
#include "kernels/x86/shared/store_ymm.h"

namespace octet {
namespace {

// The init of columns 8 v to 8 v + 7 of a row.
OCTET_INLINE inline __m256i init_of(const Tile& t, int row, int v) {
  return _mm256_loadu_si256((const __m256i*)(t.init + row * t.init_stride + 8 * v));
}

template <int rows>
OCTET_INLINE inline void add_row_init(const Tile& t, __m256i (&acc)[rows][2]) {
  if (t.row_init)
    unroll<rows>([&](auto i) OCTET_INLINE {
      const __m256i more = _mm256_set1_epi32(t.row_init[i]);
      unroll<2>([&](auto v) OCTET_INLINE { acc[i][v] = _mm256_add_epi32(acc[i][v], more); });
    });
}

template <int most, typename Rows>
OCTET_INLINE inline void store_sums(const __m256i (&acc)[most][2], Rows rows, uint8_t* dst,
                                    size_t stride, size_t cols) {
  for_rows<most>(rows, [&](auto i) OCTET_INLINE {
    store_s32(dst + i * stride, acc[i][0], cols);
    if (cols > 8) store_s32(dst + i * stride + 32, acc[i][1], cols - 8);
  });
}

}  // namespace
}  // namespace octet
