// SPDX-License-Identifier: Apache-2.0
// u8 x s4 -> s32 or 8 bits, VPDPBUSD on ymm, up to 6 rows x 16 columns.
//
// Decoded weights are avxvnni_u8s8_6x16x4.cc's. Here are tiles whose weights are decoded in
// registers, as in avx512vnni_u8s4_6x64x8.cc: up to 4 rows at once, because 12 accumulators, 2 for
// rhs, 1 for lhs, a table, a mask and a flip are more registers than there are.
//
// Per group of 8 along depth: 4 loads, 4 times VPAND and VPSHUFB, 2 shifts, and of each row 2
// broadcasts and 4 dot products.
#include "kernels/x86/int4/decode.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/quads.h"
#include "kernels/x86/shared/store_tile_ymm.h"

namespace octet {
namespace {

constexpr int kMr = 6, kFew = 4;
constexpr int kAhead = 2048;  // see avxvnni_u8s8_6x16x4.cc

// Few rows have accumulators of their own for the high halves, to hide the latency of dot products.
constexpr bool has_more(int rows) { return rows <= 2; }

// Multiplies one group; lhs(i, half) are four bytes of row i in all lanes.
template <int rows, typename Lhs>
OCTET_INLINE inline void add_group(const NibblesYmm& nibbles, const Lhs& lhs, const uint8_t* rhs,
                                   __m256i (&acc)[rows][2], __m256i (&more)[rows][2]) {
  unroll<2>([&](auto half) OCTET_INLINE {
    __m256i b[2];
    unroll<2>([&](auto v) OCTET_INLINE { b[v] = nibbles.load<half>(rhs + 32 * v); });
    unroll<rows>([&](auto i) OCTET_INLINE {
      const __m256i a = lhs(i, half);
      unroll<2>([&](auto v) OCTET_INLINE {
        __m256i& to = has_more(rows) && half ? more[i][v] : acc[i][v];
        to = _mm256_dpbusd_avx_epi32(to, a, b[v]);
        pin(to);
      });
    });
  });
}

template <int rows>
void multiply_nibbles(const Tile& t) {
  __m256i acc[rows][2], more[rows][2];
  const uint8_t* lhs[rows];
  unroll<rows>([&](auto i) OCTET_INLINE {
    // Prefetches the output lines; see shared/store_tile_zmm.h.
    _mm_prefetch((const char*)t.dst + i * t.dst_stride, _MM_HINT_T0);
    unroll<2>([&](auto v) OCTET_INLINE {
      acc[i][v] = init_of(t, i, v);
      if (has_more(rows)) more[i][v] = _mm256_setzero_si256();
    });
    lhs[i] = (const uint8_t*)t.lhs + i * t.lhs_stride;
  });
  add_row_init(t, acc);
  const NibblesYmm nibbles;
  const uint8_t* rhs = t.rhs;
  const Tile* again = &t;  // see avx512vnni_u8s8_6x64x4.cc
  spill(again);
  int32_t last[rows][2];
  // The last 1..7 steps are a group, too, in a copy
  for (size_t end = again->depth / 8 * 8, rest = again->depth % 8;; end = 8, rest = 0) {
    size_t k = 0;
    const auto walk = [&](auto flipped) OCTET_INLINE {
      OCTET_NO_UNROLL
      for (; k < end; k += 8, rhs += kInt4Group) {
        _mm_prefetch((const char*)rhs + kAhead, _MM_HINT_T0);
        add_group(
            nibbles,
            [&](auto i, auto half) OCTET_INLINE {
              return flipped(_mm256_set1_epi32(load_quad(lhs[i] + k + 4 * half)));
            },
            rhs, acc, more);
      }
    };
    if (again->lhs_flip) {
      const __m256i flips = _mm256_set1_epi32((int32_t)0x80808080);
      walk([flips](__m256i a) OCTET_INLINE { return _mm256_xor_si256(a, flips); });
    } else {
      walk([](__m256i a) OCTET_INLINE { return a; });
    }
    spill(again);
    if (!rest) break;
    unroll<rows>([&](auto i) OCTET_INLINE {
      load_rest(lhs[i] + k, rest, last[i]);
      lhs[i] = (const uint8_t*)last[i];
    });
  }
  if (has_more(rows))
    unroll<rows>([&](auto i) OCTET_INLINE {
      unroll<2>([&](auto v) OCTET_INLINE { acc[i][v] = _mm256_add_epi32(acc[i][v], more[i][v]); });
    });
  store_tile<kMr>(*again, acc);
}

void multiply(const Tile& t) {
  static constexpr MultiplyFn kByRows[kFew] = {multiply_nibbles<1>, multiply_nibbles<2>,
                                               multiply_nibbles<3>, multiply_nibbles<4>};
  if (t.rhs_decoded) return avxvnni_u8s8_6x16x4.multiply(t);
  if (t.rows <= kFew) return kByRows[t.rows - 1](t);
  multiply_nibbles<kFew>(rows_of(t, 0, kFew));
  kByRows[t.rows - kFew - 1](rows_of(t, kFew, t.rows - kFew));
}

}  // namespace

const MicroKernel avxvnni_u8s4_6x16x8 = {
    .name = "avxvnni_u8s4_6x16x8",
    .tier_id = TierId::kAvxVnni,
    .lhs_element_type = ElementType::kU8,
    .mr = kMr,
    .nr = 16,
    .flags = kAnyLhs | kRequantizes | kRequantizesTflite | kStoresFloats | kRowInit,
    .rhs_layout = kX86Int4Layout,
    .lhs_kr = 4,
    .multiply = multiply,
    .decoder = {decode_int4_ymm, 2 * kInt4Group, kInt4Group, 0, 3},
};

}  // namespace octet
