// SPDX-License-Identifier: Apache-2.0
// s16 x s16 -> s32 on ymm, up to 6 rows x 16 columns, for Winograd. Sums wrap.
//
//                      columns 0-7   8-15
//                     +------------+--------+
//   row i, 2 int16    | acc[i][0]  |  [1]   |
//   broadcast         +------------+--------+
//
// 12 accumulators, 2 for rhs, 1 for lhs, 1 for a product: 16 registers of 16. Of up to 8 columns,
// odd pairs of the depth have the second accumulators.
//
// One text for three instructions. The including file defines multiply_add(acc, a, b): VPDPWSSD in
// its VEX or EVEX encoding, or VPMADDWD and VPADDD.
#pragma once

#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/x86/shared/layouts.h"
#include "kernels/x86/shared/quads.h"
#include "kernels/x86/shared/store_ymm.h"

namespace octet {
namespace {

constexpr int kMr = 6;

template <int rows, bool half>
void multiply(const Tile& t) {
  constexpr int pairs = half ? 2 : 1;  // of the depth, at a time
  __m256i acc[rows][2];
  unroll<rows>([&](auto i) OCTET_INLINE {
    unroll<2>([&](auto v) OCTET_INLINE {
      acc[i][v] = half && v ? _mm256_setzero_si256() : init_of(t, i, v);
    });
  });
  const uint8_t* lhs[2] = {(const uint8_t*)t.lhs, (const uint8_t*)t.lhs + 3 * t.lhs_stride};
  const uint8_t* rhs = t.rhs;
  const size_t stride = t.lhs_stride;
  OCTET_NO_UNROLL
  for (size_t groups = (t.depth + 1) / 2; groups; groups -= pairs) {
    __m256i b[2];
    _mm_prefetch((const char*)rhs + kInt16Prefetch, _MM_HINT_T0);
    unroll<2>([&](auto v) OCTET_INLINE {
      b[v] = _mm256_loadu_si256((const __m256i*)(rhs + 32 * pairs * v));
    });
    unroll<rows>([&](auto i) OCTET_INLINE {
      const uint8_t* const row = lhs[i / 3] + (i % 3) * stride;
      const __m256i a = _mm256_set1_epi32(load_quad(row));
      unroll<2>([&](auto v) OCTET_INLINE {
        multiply_add(acc[i][v], half && v ? _mm256_set1_epi32(load_quad(row + 4)) : a, b[v]);
      });
    });
    lhs[0] += 4 * pairs;
    lhs[1] += 4 * pairs;
    rhs += 64 * pairs;
  }
  if (half)
    unroll<rows>([&](auto i) OCTET_INLINE { acc[i][0] = _mm256_add_epi32(acc[i][0], acc[i][1]); });
  store_sums(acc, Int<rows>{}, (uint8_t*)t.dst, t.dst_stride, t.cols);
}

void dispatch(const Tile& t) {
  static constexpr MultiplyFn kByRows[kMr] = {multiply<1, false>, multiply<2, false>,
                                              multiply<3, false>, multiply<4, false>,
                                              multiply<5, false>, multiply<6, false>},
                              kHalf[kMr / 2] = {multiply<4, true>, multiply<5, true>,
                                                multiply<6, true>};
  const bool half = t.cols <= 8 && t.rows > kMr / 2 && t.depth % 4 == 0;
  (half ? kHalf[t.rows - 1 - kMr / 2] : kByRows[t.rows - 1])(t);
}

constexpr MicroKernel s16s16_kernel(const char* name, TierId tier_id) {
  return int16_kernel(name, tier_id, kMr, 16, dispatch);
}

}  // namespace
}  // namespace octet
