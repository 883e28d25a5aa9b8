// SPDX-License-Identifier: Apache-2.0
// s16 x s8 -> s32 or 8 bits, VPMADDWD on ymm, up to 6 rows x 16 columns. Exact for all inputs:
// VPMADDUBSW would saturate at 16 bits.
//
//                      columns 0-7   8-15
//                     +------------+--------+      12 accumulators, 2 for rhs, 1 for lhs,
//   row i, 2 int16    | acc[i][0]  |  [1]   |      1 product: 16 registers of 16
//   broadcast         +------------+--------+
//
// VPMADDWD adds depth steps in pairs. Here the steps of a pair are two apart: of a column's four
// bytes in kX86Layout, 0 and 2 are the lower halves of int16, 1 and 3 the upper ones, so shifts
// widen both pairs in place. gather widens the lhs once, in the same order.
//
// Per group of 4 along depth: 12 broadcasts, 24 multiply-adds, 24 adds, and 4 loads of weights.
// With few tiles, 6 shifts widen the weights in the loop; with many, `decode_s16` does so once. The
// last micro-panel may be half as wide.
#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/generic/gather.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/s16/gather_s16.h"
#include "kernels/x86/shared/accumulate.h"
#include "kernels/x86/shared/quads.h"
#include "kernels/x86/shared/store_tile_ymm.h"
#include "kernels/x86/shared/tail.h"

namespace octet {
namespace {

constexpr int kMr = 6;

// Gathers rows of 8 bytes (pixels of 8 channels): two groups, each widened by one shuffle.
void gather_eight(const Rows& r, size_t lanes, void* panel) {
  const __m128i flip = _mm_set1_epi8((char)r.flip),
                group = _mm_setr_epi8(0, -1, 2, -1, 1, -1, 3, -1, 8, -1, 10, -1, 9, -1, 11, -1),
                next = _mm_setr_epi8(4, -1, 6, -1, 5, -1, 7, -1, 12, -1, 14, -1, 13, -1, 15, -1);
  int16_t* to = (int16_t*)panel;
  for (size_t lane = 0; lane < lanes; lane += 2, to += 8) {
    const bool pair = lane + 1 < lanes;
    const __m128i bytes =
        _mm_xor_si128(_mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i*)r.row(lane)),
                                         _mm_loadl_epi64((const __m128i*)r.row(lane + pair))),
                      flip);
    const __m128i first = _mm_shuffle_epi8(bytes, group), second = _mm_shuffle_epi8(bytes, next);
    __m128i *const here = (__m128i*)to, *const there = (__m128i*)(to + 4 * lanes);
    if (pair) {
      _mm_storeu_si128(here, first);
      _mm_storeu_si128(there, second);
    } else {
      _mm_storel_epi64(here, first);
      _mm_storel_epi64(there, second);
    }
  }
}

// Gathers rows of bytes into a panel of int16, two rows at a time, 16 bytes of each. lanes = rows,
// because the kernel takes any number.
void gather(const Rows& r, size_t lanes, void* panel) {
  if (r.depth == 8) return gather_eight(r, lanes, panel);
  const __m256i flip = _mm256_set1_epi8((char)r.flip), even = _mm256_set1_epi16(0xff);
  const size_t whole = r.depth / 16 * 16, rest = r.depth % 16, group = 4 * lanes;
  for (size_t lane = 0; lane < lanes; lane += 2) {
    const bool pair = lane + 1 < lanes;
    const uint8_t *a = r.row(lane), *b = r.row(pair ? lane + 1 : lane);
    int16_t* to = (int16_t*)panel + 4 * lane;
    const auto store = [&to, group, pair](__m128i s16) OCTET_INLINE {
      pair ? _mm_storeu_si128((__m128i*)to, s16) : _mm_storel_epi64((__m128i*)to, s16);
      to += group;
    };
    const auto store_groups = [&](__m256i bytes, size_t groups) OCTET_INLINE {
      const __m256i x = _mm256_and_si256(bytes, even), y = _mm256_srli_epi16(bytes, 8);
      const __m256i first = _mm256_permute4x64_epi64(_mm256_unpacklo_epi32(x, y), 0xd8);
      store(_mm256_castsi256_si128(first));
      if (groups > 1) store(_mm256_extracti128_si256(first, 1));
      if (groups <= 2) return;
      const __m256i second = _mm256_permute4x64_epi64(_mm256_unpackhi_epi32(x, y), 0xd8);
      store(_mm256_castsi256_si128(second));
      if (groups > 3) store(_mm256_extracti128_si256(second, 1));
    };
    for (size_t k = 0; k < whole; k += 16) {
      const __m128i x = _mm_loadu_si128((const __m128i*)(a + k)),
                    y = _mm_loadu_si128((const __m128i*)(b + k));
      store_groups(_mm256_xor_si256(_mm256_set_m128i(y, x), flip), 4);
    }
    if (rest) {
      const uint64_t flips = 0x0101010101010101u * r.flip;
      store_groups(_mm256_set_m128i(tail(b + whole, rest, flips), tail(a + whole, rest, flips)),
                   (rest + 3) / 4);
    }
  }
}

// wide: the weights are int16 already; vectors: vectors of columns.
template <bool wide, int vectors, int rows>
OCTET_INLINE inline void add_products(const Tile& t, __m256i (&acc)[rows][2]) {
  const int16_t* lhs = (const int16_t*)t.lhs;
  const uint8_t* rhs = t.rhs;
  OCTET_NO_UNROLL
  for (size_t groups = (t.depth + 3) / 4; groups; --groups) {
    unroll<2>([&](auto p) OCTET_INLINE {
      // Loads the odd bytes again: Clang 19 would keep them in registers, and spill
      if (p && !wide) __asm__("" : "+r"(rhs) : "x"(acc[rows - 1][vectors - 1]));
      if (!p || wide) _mm_prefetch((const char*)rhs + 64 * p + kWeightsAhead, _MM_HINT_T0);
      __m256i b[vectors];
      unroll<vectors>([&](auto v) OCTET_INLINE {
        b[v] = wide ? _mm256_load_si256((const __m256i*)(rhs + 64 * p + 32 * v))
                    : s16_of_quads<p>(rhs + 32 * v);
      });
      unroll<rows>([&](auto i) OCTET_INLINE {
        int32_t s16;
        __builtin_memcpy(&s16, lhs + 4 * i + 2 * p, sizeof s16);
        const __m256i a = _mm256_set1_epi32(s16);
        unroll<vectors>([&](auto v)
                            OCTET_INLINE { accumulate(acc[i][v], _mm256_madd_epi16(a, b[v])); });
      });
    });
    lhs += 4 * rows;
    rhs += wide ? kS16Group : 64;
  }
}

template <int rows>
void multiply(const Tile& t) {
  __m256i acc[rows][2];
  unroll<rows>([&](auto i) OCTET_INLINE {
    unroll<2>([&](auto v) OCTET_INLINE { acc[i][v] = init_of(t, i, v); });
    // See avx512vnni_u8s8_6x64x4.cc
    _mm_prefetch((const char*)t.dst + i * t.dst_stride, _MM_HINT_T0);
  });
  add_row_init(t, acc);
  if (t.rhs_decoded)
    t.cols > 8 ? add_products<true, 2>(t, acc) : add_products<true, 1>(t, acc);
  else
    t.cols > 8 ? add_products<false, 2>(t, acc) : add_products<false, 1>(t, acc);

  // Else GCC 12 allocates registers for the stores within the loops, and spills there.
  unroll<rows>([&](auto i) OCTET_INLINE {
    __m256i(&row)[2] = acc[i];  // Clang 14 does not capture `acc` for assembly alone
    pin(row[0]);
    pin(row[1]);
  });
  store_tile<kMr>(t, acc);
}

void dispatch(const Tile& t) {
  static constexpr MultiplyFn kByRows[kMr] = {multiply<1>, multiply<2>, multiply<3>,
                                              multiply<4>, multiply<5>, multiply<6>};
  kByRows[t.rows - 1](t);
}

}  // namespace

const MicroKernel avx2_s16s8_6x16x4 = {
    .name = "avx2_s16s8_6x16x4",
    .tier_id = TierId::kAvx2,
    .lhs_element_type = ElementType::kU8,
    .mr = kMr,
    .nr = 16,
    .m_max = 4 * kMr - 1,  // avx2_u8s8_rows_6x64x4 takes more rows without a gather
    .flags = kAnyLhs | kRequantizes | kRequantizesTflite | kStoresFloats | kGathersEvenStepsFirst |
             kRowInit,
    .rhs_layout = kX86Layout,
    .gather = gather,
    .gather_s16 = gather_s16<1>,
    .lhs_kr = 4,
    .lhs_element_bytes = 2,
    .multiply = dispatch,
    .decoder = {decode_s16, kS16Group},
};

}  // namespace octet
