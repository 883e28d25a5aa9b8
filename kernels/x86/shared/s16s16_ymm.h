// SPDX-License-Identifier: Apache-2.0
// s16 x s16 -> s32 on ymm, up to 6 rows x 16 columns, for Winograd. Sums wrap.
//
//                      columns 0-7   8-15
//                     +------------+--------+
//   row i, 2 int16    | acc[i][0]  |  [1]   |
//   broadcast         +------------+--------+
//
// 12 accumulators, 2 for rhs, 1 for lhs, 1 for a product: 16 registers of 16.
//
// One text for three instructions. The including file defines multiply_add(acc, a, b): VPDPWSSD in
// its VEX or EVEX encoding, or VPMADDWD and VPADDD.
#pragma once

#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/x86/shared/layouts.h"
#include "kernels/x86/shared/store_ymm.h"

namespace octet {
namespace {

constexpr int kMr = 6;

template <int rows>
void multiply(const Tile& t) {
  __m256i acc[rows][2];
  unroll<rows>([&](auto i) OCTET_INLINE {
    unroll<2>([&](auto v) OCTET_INLINE { acc[i][v] = init_of(t, i, v); });
  });
  const uint8_t* lhs[2] = {(const uint8_t*)t.lhs, (const uint8_t*)t.lhs + 3 * t.lhs_stride};
  const uint8_t* rhs = t.rhs;
  const size_t stride = t.lhs_stride;
  OCTET_NO_UNROLL
  for (size_t groups = (t.depth + 1) / 2; groups; --groups) {
    __m256i b[2];
    _mm_prefetch((const char*)rhs + kInt16Prefetch, _MM_HINT_T0);
    unroll<2>([&](auto v)
                  OCTET_INLINE { b[v] = _mm256_loadu_si256((const __m256i*)(rhs + 32 * v)); });
    unroll<rows>([&](auto i) OCTET_INLINE {
      int32_t pair;
      __builtin_memcpy(&pair, lhs[i / 3] + (i % 3) * stride, sizeof pair);
      const __m256i a = _mm256_set1_epi32(pair);
      unroll<2>([&](auto v) OCTET_INLINE { multiply_add(acc[i][v], a, b[v]); });
    });
    lhs[0] += 4;
    lhs[1] += 4;
    rhs += 64;
  }
  store_sums(acc, Int<rows>{}, (uint8_t*)t.dst, t.dst_stride, t.cols);
}

void dispatch(const Tile& t) {
  static constexpr MultiplyFn kByRows[kMr] = {multiply<1>, multiply<2>, multiply<3>,
                                              multiply<4>, multiply<5>, multiply<6>};
  kByRows[t.rows - 1](t);
}

constexpr MicroKernel s16s16_kernel(const char* name, TierId tier_id) {
  return int16_kernel(name, tier_id, kMr, 16, dispatch);
}

}  // namespace
}  // namespace octet
