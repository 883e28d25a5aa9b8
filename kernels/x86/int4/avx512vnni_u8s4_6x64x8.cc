// SPDX-License-Identifier: Apache-2.0
// u8 x s4 -> s32 or 8 bits, VPDPBUSD on zmm, up to 6 rows x 64 columns, or 12 x 32.
//
// Decoded weights, and tiles of at most 48 columns, are avx512vnni_u8s8_6x64x4.cc's. Here are tiles
// of more columns whose weights are decoded in registers: where few rows read them, the bytes of
// the weights are the limit.
//
// The upper half of a byte, with its lower half cleared, is 16 times the weight, and so is the
// lower half once it is shifted up. So sums are 16 times as large, and are divided at the end,
// before the init is added. A sixteenth of int32 holds 65,793 products of 255 by -8; deeper
// products take decoded weights.
//
// Per group of 8 along depth: 8 loads, two from each of four panels, 8 times VPANDD, 4 shifts, 24
// broadcasts, 48 dot products. 24 accumulators, 2 for rhs, 1 for lhs, a mask and a flip: 29
// registers of 32.
#include "kernels/x86/int4/decode.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/quads.h"
#include "kernels/x86/shared/store_tile_zmm.h"

namespace octet {
namespace {

constexpr int kMr = 6, kVectors = 4;
constexpr size_t kMostDepth = INT32_MAX / 16 / (255 * 8);
// Prefetch distance of the weights in bytes. The instructions that a CPU executes ahead reach 3 KB
// of weights, which is too little: of one row by weights in DRAM they read 41 GB/s, with 1 KB to 8
// KB of distance 46, 58, 66, 57.
constexpr size_t kAhead = 4096;

// The low and the high halves of a group's bytes, as int8: groups of kX86Layout. A VPSHUFB looks up
// the values of nibbles.
struct Nibbles {
  const __m512i low = _mm512_set1_epi8(15),
                values = _mm512_broadcast_i32x4(
                    _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1));
  OCTET_INLINE inline __m512i first(__m512i two) const {
    return _mm512_shuffle_epi8(values, _mm512_and_si512(two, low));
  }
  OCTET_INLINE inline __m512i second(__m512i two) const { return first(_mm512_srli_epi16(two, 4)); }
};

void decode(const uint8_t* rhs, size_t rhs_stride, size_t groups, uint8_t* to) {
  const Nibbles nibbles;
  OCTET_NO_UNROLL
  for (; groups; --groups, rhs += rhs_stride, to += 2 * kInt4Group) {
    const __m512i two = _mm512_loadu_si512(rhs);
    _mm512_store_si512(to, nibbles.first(two));
    _mm512_store_si512(to + kInt4Group, nibbles.second(two));
  }
}

// Sixteen times the weights of a group's first or second four steps.
template <int second>
OCTET_INLINE inline __m512i sixteenfold(__m512i two, __m512i high) {
  return _mm512_and_si512(second ? two : _mm512_slli_epi16(two, 4), high);
}

constexpr bool has_more(int rows) { return rows <= 2; }

// Multiplies one group; lhs(i, half) are four bytes of row i, from step k on, in all lanes. Few
// rows have accumulators of their own for the second half, to hide the latency of dot products.
template <int rows, int most, typename Lhs>
OCTET_INLINE inline void add_group(__m512i high, const Lhs& lhs, size_t& k, const uint8_t* rhs,
                                   size_t panel, __m512i (&acc)[most][kVectors],
                                   __m512i (&more)[rows][kVectors]) {
  unroll<2>([&](auto pair) OCTET_INLINE {
    unroll<2>([&](auto half) OCTET_INLINE {
      // Loads the rows and the weights again: GCC 12 would keep them in registers, and spill
      if (pair || half) __asm__("" : "+r"(k), "+r"(rhs) : "v"(acc[rows - 1][2 * pair]));
      __m512i b[2];
      unroll<2>([&](auto v) OCTET_INLINE {
        const __m512i two = _mm512_loadu_si512(rhs + (2 * pair + v) * panel);
        b[v] = sixteenfold<half>(two, high);
      });
      unroll<rows>([&](auto i) OCTET_INLINE {
        const __m512i a = lhs(i, half);
        unroll<2>([&](auto v) OCTET_INLINE {
          constexpr int column = 2 * pair + v;
          __m512i& to = has_more(rows) && half ? more[i][column] : acc[i][column];
          to = _mm512_dpbusd_epi32(to, a, b[v]);
          pin(to);
        });
      });
    });
  });
}

template <bool flip, int rows, int most>
OCTET_INLINE inline void add_groups(const Tile& t, const uint8_t* (&lhs)[most],
                                    __m512i (&acc)[most][kVectors]) {
  __m512i more[rows][kVectors];
  if (has_more(rows))
    unroll<rows>([&](auto i) OCTET_INLINE {
      unroll<kVectors>([&](auto v) OCTET_INLINE { more[i][v] = _mm512_setzero_si512(); });
    });
  const __m512i high = _mm512_set1_epi8((char)0xf0);
  const __m512i flips = _mm512_set1_epi32((int)0x80808080);
  const uint8_t* rhs = t.rhs;
  const size_t panel = t.rhs_panel_stride;
  int32_t last[rows][2];
  // The last 1..7 steps are a group, too, in a copy
  for (size_t end = t.depth / 8 * 8, rest = t.depth % 8;; end = 8, rest = 0) {
    size_t k = 0;
    OCTET_NO_UNROLL
    for (; k < end; k += 8, rhs += kInt4Group) {
      // Behind the end of a panel are the next three, and then the next micro-panel
      const size_t ahead = kAhead + (k + kAhead / 8 < end ? 0 : (kVectors - 1) * panel);
      unroll<kVectors>([&](auto v) OCTET_INLINE {
        _mm_prefetch((const char*)rhs + ahead + v * panel, _MM_HINT_T0);
      });
      add_group<rows>(
          high,
          [&](auto i, auto half) OCTET_INLINE {
            const __m512i a = _mm512_set1_epi32(load_quad(lhs[i] + k + 4 * half));
            return flip ? _mm512_xor_si512(a, flips) : a;
          },
          k, rhs, panel, acc, more);
    }
    if (!rest) break;
    unroll<rows>([&](auto i) OCTET_INLINE {
      load_rest(lhs[i] + k, rest, last[i]);
      lhs[i] = (const uint8_t*)last[i];
    });
  }
  if (has_more(rows))
    unroll<rows>([&](auto i) OCTET_INLINE {
      unroll<kVectors>([&](auto v)
                           OCTET_INLINE { acc[i][v] = _mm512_add_epi32(acc[i][v], more[i][v]); });
    });
}

template <int least, int most>
void multiply_nibbles(const Tile& t) {
  __m512i acc[most][kVectors], init[most][kVectors];
  const uint8_t* lhs[most];
  for_rows<most>(t.rows, [&](auto i) OCTET_INLINE {
    lhs[i] = (const uint8_t*)t.lhs + i * t.lhs_stride;
    unroll<kVectors>([&](auto v) OCTET_INLINE { acc[i][v] = _mm512_setzero_si512(); });
  });
  const Tile* again = &t;  // see avx512vnni_u8s8_6x64x4.cc
  spill(again);
  by_rows<least, most>(again->rows, [&](auto rows) OCTET_INLINE {
    if (again->lhs_flip)
      add_groups<true, rows>(*again, lhs, acc);
    else
      add_groups<false, rows>(*again, lhs, acc);
  });
  int32_t* const sums = (int32_t*)again->room;
  start_tile(*again, init);
  for_rows<most>(again->rows, [&](auto i) OCTET_INLINE {
    unroll<kVectors>([&](auto v) OCTET_INLINE {
      _mm512_store_si512(sums + 16 * (kVectors * i + v),
                         _mm512_add_epi32(init[i][v], _mm512_srai_epi32(acc[i][v], 4)));
    });
  });
  store_sums_by(avx512vnni_u8s8_6x64x4, *again, sums, 16 * kVectors);
}

void multiply(const Tile& t) {
  if (t.rhs_decoded || t.cols <= 16 * (kVectors - 1) || t.depth > kMostDepth)
    return multiply_int4(avx512vnni_u8s4_6x64x8, avx512vnni_u8s8_6x64x4, t);
  t.rows == 1 ? multiply_nibbles<1, 1>(t) : multiply_nibbles<2, kMr>(t);
}

}  // namespace

const MicroKernel avx512vnni_u8s4_6x64x8 = {
    .name = "avx512vnni_u8s4_6x64x8",
    .tier_id = TierId::kAvx512Vnni,
    .lhs_element_type = ElementType::kU8,
    .mr = kMr,
    .nr = 16 * kVectors,
    .flags = kAnyLhs | kRequantizes | kRequantizesTflite | kStoresFloats | kRowInit,
    .rhs_layout = kX86Int4Layout,
    .lhs_kr = 4,
    .multiply = multiply,
    .tall_mr = 12,
    .tall_nr = 32,
    .decoder = {decode, 2 * kInt4Group, kInt4Group, int4_room(kMr * 16 * kVectors), 6},
};

}  // namespace octet
