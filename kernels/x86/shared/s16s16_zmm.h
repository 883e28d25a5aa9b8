// SPDX-License-Identifier: Apache-2.0
// s16 x s16 -> s32 on zmm, up to 14 rows x 32 columns, for Winograd. Sums wrap.
//
//                      columns 0-15   16-31
//                     +------------+--------+
//   row i, 2 int16    | acc[i][0]  |  [1]   |      28 accumulators, 2 for rhs, 1 for lhs, at
//   broadcast         +------------+--------+      most 1 product: 32 registers of 32
//
// Per pair along depth: 2 loads, one from each of two panels, 14 broadcasts, 28 dot products. The
// tile is tall and narrow, because fewer columns mean fewer products between the two transforms,
// and those must stay in a cache.
//
// One text for two instructions. The including file defines multiply_add(acc, a, b): VPDPWSSD, or
// VPMADDWD and VPADDD.
#pragma once

#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/x86/shared/layouts.h"

namespace octet {
namespace {

constexpr int kMr = 14, kVectors = 2, kGroup = 64;  // kGroup: bytes of a panel's group

template <int rows, int vectors>
void multiply(const Tile& t) {
  __m512i acc[rows][vectors];
  unroll<rows>([&](auto i) OCTET_INLINE {
    unroll<vectors>([&](auto v) OCTET_INLINE {
      acc[i][v] = _mm512_loadu_si512(t.init + i * t.init_stride + 16 * v);
    });
  });
  constexpr int bases = (rows + 2) / 3;
  const uint8_t* lhs[bases];
  unroll<bases>([&](auto b)
                    OCTET_INLINE { lhs[b] = (const uint8_t*)t.lhs + 3 * b * t.lhs_stride; });
  const uint8_t* rhs = t.rhs;
  const size_t stride = t.lhs_stride, panel = t.rhs_panel_stride;
  OCTET_NO_UNROLL
  for (size_t groups = (t.depth + 1) / 2; groups; --groups) {
    __m512i b[vectors];
    unroll<vectors>([&](auto v) OCTET_INLINE {
      b[v] = _mm512_loadu_si512(rhs + v * panel);
      _mm_prefetch((const char*)rhs + v * panel + kInt16Prefetch, _MM_HINT_T0);
    });
    unroll<rows>([&](auto i) OCTET_INLINE {
      int32_t pair;
      __builtin_memcpy(&pair, lhs[i / 3] + (i % 3) * stride, sizeof pair);
      const __m512i a = _mm512_set1_epi32(pair);
      unroll<vectors>([&](auto v) OCTET_INLINE { multiply_add(acc[i][v], a, b[v]); });
    });
    unroll<bases>([&](auto base) OCTET_INLINE { lhs[base] += 4; });
    rhs += kGroup;
  }
  const __mmask16 last = (__mmask16)(0xffffu >> (16 * vectors - t.cols));
  uint8_t* dst = (uint8_t*)t.dst;
  unroll<rows>([&](auto i) OCTET_INLINE {
    if constexpr (vectors == 2) _mm512_storeu_si512(dst, acc[i][0]);
    _mm512_mask_storeu_epi32(dst + 64 * (vectors - 1), last, acc[i][vectors - 1]);
    dst += t.dst_stride;
  });
}

template <int vectors>
constexpr MultiplyFn kByRows[kMr] = {
    multiply<1, vectors>,  multiply<2, vectors>,  multiply<3, vectors>,  multiply<4, vectors>,
    multiply<5, vectors>,  multiply<6, vectors>,  multiply<7, vectors>,  multiply<8, vectors>,
    multiply<9, vectors>,  multiply<10, vectors>, multiply<11, vectors>, multiply<12, vectors>,
    multiply<13, vectors>, multiply<14, vectors>};

void dispatch(const Tile& t) { (t.cols > 16 ? kByRows<2> : kByRows<1>)[t.rows - 1](t); }

constexpr MicroKernel s16s16_kernel(const char* name, TierId tier_id) {
  return int16_kernel(name, tier_id, kMr, 16 * kVectors, dispatch);
}

}  // namespace
}  // namespace octet
