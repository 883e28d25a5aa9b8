// SPDX-License-Identifier: Apache-2.0
// All rows of a micro-panel of 64 columns to s32, where the depth is little.
#pragma once

#include "kernels/x86/shared/micro_panel.h"

namespace octet {
namespace {

// Sums of one tap of little depth, of 64 columns: as many at once as keep both multipliers busy.
// Stores of more than twelve vectors do not overlap with the next tile's products.
constexpr int kShallowRows = 3, kShallowVectors = 4;
constexpr size_t kShallow = 96;  // depth
constexpr size_t kFar = 4096;    // rows a page apart are written six at a time
template <bool flip>
__attribute__((noinline)) void shallow_to_s32(const Tile& t) {
  const size_t stride = t.lhs_stride, to_stride = t.dst_stride, panel = t.rhs_panel_stride,
               groups = t.depth / 4;
  const uint8_t *from = (const uint8_t*)t.lhs, *const weights = t.rhs;
  const int32_t* const init = t.init;
  uint8_t* dst = (uint8_t*)t.dst;
  for (size_t left = t.rows;;) {
    __m512i acc[kShallowRows][kShallowVectors];
    unroll<kShallowVectors>([&](auto v) OCTET_INLINE {
      acc[0][v] = _mm512_loadu_si512(init + 16 * v);
      unroll<kShallowRows - 1>([&](auto i) OCTET_INLINE { acc[i + 1][v] = acc[0][v]; });
    });
    const uint8_t *lhs = from, *rhs = weights;
    size_t g = groups;
    do {
      __m512i b[kShallowVectors];
      unroll<kShallowVectors>([&](auto v) OCTET_INLINE {
        b[v] = _mm512_loadu_si512(rhs + v * panel);
        // Volatile, else GCC 12 moves loads, and keeps addresses in vector registers
        __asm__ volatile("" : "+v"(b[v]));
      });
      unroll<kShallowRows>([&](auto i) OCTET_INLINE {
        const __m512i a = broadcast<Wide<kShallowVectors>, flip>(lhs + i * stride);
        unroll<kShallowVectors>([&](auto v) OCTET_INLINE {
          acc[i][v] = _mm512_dpbusd_epi32(acc[i][v], a, b[v]);
          __asm__ volatile("" : "+v"(acc[i][v]) : "v"(b[v]));
        });
      });
      lhs += 4;
      rhs += 64;
    } while (--g);
    uint8_t* next = dst + kShallowRows * to_stride;
    unroll<kShallowRows>([&](auto i) OCTET_INLINE {
      __asm__("" : "+r"(dst), "+r"(next));  // else GCC 12 keeps the addresses of all rows
      unroll<kShallowVectors>([&](auto v) OCTET_INLINE {
        _mm_prefetch((const char*)next + 64 * v, _MM_HINT_T0);
        _mm512_storeu_si512(dst + 64 * v, acc[i][v]);
      });
      dst += to_stride, next += to_stride;
    });
    left -= kShallowRows;
    if (!left) return;
    from += kShallowRows * stride;
    if (left >= kShallowRows) continue;
    from -= (kShallowRows - left) * stride;
    dst -= (kShallowRows - left) * to_stride;
    left = kShallowRows;
  }
}
inline void shallow_to_s32(const Tile& t) {
  t.lhs_flip ? shallow_to_s32<true>(t) : shallow_to_s32<false>(t);
}
// Returns false where a tile does not suit. multiply: takes other rows, up to mr of them; most: as
// multiply_whole_tiles says.
template <MultiplyFn multiply, size_t mr, size_t most>
OCTET_INLINE inline bool multiply_shallow(const Tile& t) {
  if (t.scale || t.cols != 16 * kShallowVectors || t.taps > 1 || t.depth > kShallow ||
      t.dst_stride >= kFar)
    return false;
  multiply_whole_tiles<multiply, mr, kShallowRows, most>(t, shallow_to_s32);
  return true;
}

}  // namespace
}  // namespace octet
