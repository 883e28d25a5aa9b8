// SPDX-License-Identifier: Apache-2.0
// s16 x s8 -> s32 or s16, VPDPWSSD on zmm, up to 12 rows x 32 columns. Exact where sums
// fit int32. It is the s16 kernel beside avx512vnni_u8s8_6x64x4.cc, whose weights it reads.
//
//                      columns 0-15  16-31
//                     +------------+--------+      24 accumulators, 2 for rhs, 1 for lhs,
//   row i, 2 values   | acc[i][0]  |  [1]   |      2 orders of bytes: 29 registers of 32
//   broadcast         +------------+--------+
//
// Rows are read where they lie, in taps of whole groups or in one of any depth. Weights are widened
// once for all tiles, by two shuffles and two shifts for 64. Per group of 4 along depth: 4 loads of
// weights, 24 broadcasts, 48 products.
#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/s16/s16_end.h"
#include "kernels/x86/shared/by_rows.h"
#include "kernels/x86/shared/layouts.h"

namespace octet {
namespace {

constexpr int kMr = 12, kGroup = 64;  // kGroup: bytes of a panel's group

// Steps 2 * half and 2 * half + 1 of a group of bytes, as s16 values.
template <int half>
OCTET_INLINE inline __m512i widened(__m512i bytes) {
  // Each byte becomes the high half of an s16 value
  const __m512i order = _mm512_broadcast_i32x4(
      half ? _mm_setr_epi8(-1, 2, -1, 3, -1, 6, -1, 7, -1, 10, -1, 11, -1, 14, -1, 15)
           : _mm_setr_epi8(-1, 0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13));
  return _mm512_srai_epi16(_mm512_shuffle_epi8(bytes, order), 8);
}

// The s16 values of each row behind its last whole group, and zeros.
struct S16Tails {
  uint64_t s16[kMr];
};
__attribute__((noinline)) void copy_tails(const Tile& t, S16Tails* tails) {
  const size_t tail = t.depth % 4;
  const uint8_t* row = (const uint8_t*)t.lhs + t.depth / 4 * 8;
  for (size_t i = 0; i < t.rows; ++i, row += t.lhs_stride) {
    uint64_t s16 = 0;
    __builtin_memcpy(&s16, row, 2);
    if (tail > 1) __builtin_memcpy((uint8_t*)&s16 + 2, row + 2, 2);
    if (tail > 2) __builtin_memcpy((uint8_t*)&s16 + 4, row + 4, 2);
    tails->s16[i] = s16;
  }
}

// Widens the weights of a panel's groups: of each group steps 0 and 1, then 2 and 3.
void decode(const uint8_t* rhs, size_t rhs_stride, size_t groups, uint8_t* to) {
  for (; groups; --groups, rhs += rhs_stride, to += 2 * kGroup) {
    const __m512i bytes = _mm512_loadu_si512(rhs);
    _mm512_storeu_si512(to, widened<0>(bytes));
    _mm512_storeu_si512(to + kGroup, widened<1>(bytes));
  }
}

template <int rows, int vectors>
OCTET_INLINE inline void add_groups(const Tile& t, const S16Tails& tails,
                                    __m512i (&acc)[kMr][vectors]) {
  constexpr int kApart = 3, kPointers = kMr / kApart;  // pointers to each third row
  const uint8_t* rhs = t.rhs;
  const uint8_t* from = (const uint8_t*)t.lhs;
  size_t left = t.depth / 4, stride = t.lhs_stride, tap = 1;
  // Weights beyond the depth are 0, but rows end there: a second turn reads the copies
  for (bool more = t.depth % 4;; more = false) {
    const uint8_t* at[kPointers];
    unroll<kPointers>([&](auto i) OCTET_INLINE { at[i] = from + kApart * i * stride; });
    OCTET_NO_UNROLL
    for (; left; --left, rhs += 2 * kGroup) {
      unroll<2>([&](auto half) OCTET_INLINE {
        __m512i b[vectors];
        unroll<vectors>([&](auto v) OCTET_INLINE {
          b[v] = _mm512_loadu_si512(rhs + v * t.rhs_panel_stride + kGroup * half);
        });
        unroll<rows>([&](auto i) OCTET_INLINE {
          int32_t s16;
          __builtin_memcpy(&s16, at[i / kApart] + i % kApart * stride + 4 * half, sizeof s16);
          const __m512i a = _mm512_set1_epi32(s16);
          unroll<vectors>(
              [&](auto v) OCTET_INLINE { acc[i][v] = _mm512_dpwssd_epi32(acc[i][v], a, b[v]); });
        });
      });
      unroll<kPointers>([&](auto i) OCTET_INLINE {
        at[i] += 8;
        __asm__("" : "+r"(at[i]));  // else GCC 12 adds to all in a vector, in memory
      });
    }
    if (tap < t.taps) {  // of whole groups
      from += t.tap_steps[tap++ - 1];
      left = t.depth / 4;
      continue;
    }
    if (!more) return;
    from = (const uint8_t*)tails.s16;
    stride = sizeof tails.s16[0];
    left = 1;
  }
}

template <int vectors>
OCTET_INLINE inline void store_sums(const Tile& t, const __m512i (&acc)[kMr][vectors]) {
  const __mmask16 last = (__mmask16)(0xffffu >> (16 * vectors - t.cols));
  for_rows<kMr>(t.rows, [&](auto i) OCTET_INLINE {
    uint8_t* const dst = (uint8_t*)t.dst + i * t.dst_stride;
    if constexpr (vectors == 2) _mm512_storeu_si512(dst, acc[i][0]);
    _mm512_mask_storeu_epi32(dst + 64 * (vectors - 1), last, acc[i][vectors - 1]);
  });
}

// Packs the columns of a row, or those of two rows.
template <int vectors>
OCTET_INLINE inline void store_s16(const Tile& t, __m512i (&acc)[kMr][vectors]) {
  const Requantization& n = *t.requantization;
  const S16End end(n);
  const __mmask32 mask = ~(__mmask32)0 >> (32 - t.cols);
  unroll<vectors>([&](auto v) OCTET_INLINE {
    const __m512i scale = _mm512_loadu_si512(t.scale + 16 * v);
    if (n.tflite_apart)
      for_rows<kMr>(t.rows, [&](auto i) OCTET_INLINE {
        acc[i][v] = high_halves(acc[i][v], scale);
        pin(acc[i][v]);  // else compilers start all rows at once and spill
      });
    else
      unroll<kMr>([&](auto i)
                      OCTET_INLINE { acc[i][v] = scaled(acc[i][v], _mm512_castsi512_ps(scale)); });
  });
  uint8_t* const dst = (uint8_t*)t.dst;
  if constexpr (vectors == 2) {
    for_rows<kMr>(t.rows, [&](auto i) OCTET_INLINE {
      _mm512_mask_storeu_epi16(dst + i * t.dst_stride, mask, end.s16(acc[i][0], acc[i][1]));
    });
  } else {
    unroll<kMr / 2>([&](auto pair) OCTET_INLINE {
      constexpr int i = 2 * pair.value;
      if ((size_t)i >= t.rows) return;
      const __m512i both = end.s16(acc[i][0], acc[i + 1][0]);
      uint8_t* const to = dst + i * t.dst_stride;
      _mm256_mask_storeu_epi16(to, (__mmask16)mask, _mm512_castsi512_si256(both));
      if ((size_t)i + 1 < t.rows)
        _mm256_mask_storeu_epi16(to + t.dst_stride, (__mmask16)mask,
                                 _mm512_extracti64x4_epi64(both, 1));
    });
  }
}

// Only the depth loops differ by the count of rows.
template <int vectors>
void multiply_columns(const Tile& t) {
  __m512i acc[kMr][vectors];
  unroll<vectors>([&](auto v) OCTET_INLINE {
    acc[0][v] = _mm512_loadu_si512(t.init + 16 * v);
    unroll<kMr - 1>([&](auto i) OCTET_INLINE { acc[i + 1][v] = acc[0][v]; });
  });
  if (t.init_stride)
    for_rows<kMr>(t.rows, [&](auto i) OCTET_INLINE {
      unroll<vectors>([&](auto v) OCTET_INLINE {
        acc[i][v] = _mm512_loadu_si512(t.init + i * t.init_stride + 16 * v);
      });
    });
  S16Tails tails;
  if (t.depth % 4) copy_tails(t, &tails);
  const Tile* again = &t;  // see avx512vnni_u8s8_6x64x4.cc
  spill(again);
  by_rows<1, kMr>(again->rows,
                  [&](auto rows) OCTET_INLINE { add_groups<rows>(*again, tails, acc); });
  spill(again);
  again->scale ? store_s16(*again, acc) : store_sums(*again, acc);
}

void multiply_widened(const Tile& t) {
  (t.cols > 16 ? multiply_columns<2> : multiply_columns<1>)(t);
}

// Weights that one tile reads, or that are too many to be widened at once, are widened in parts.
__attribute__((noinline)) void multiply_in_parts(const Tile& t) {
  constexpr size_t kGroups = 16, kPanel = kGroups * 2 * kGroup;
  alignas(64) uint8_t weights[2 * kPanel];
  alignas(64) int32_t sums[kMr * 32];
  const size_t depth = t.taps * t.depth;
  Tile part = t;
  part.taps = 1;
  part.rhs = weights;
  part.rhs_panel_stride = kPanel;
  part.dst = sums;
  part.dst_stride = 32 * sizeof(int32_t);
  part.scale = nullptr;
  const uint8_t* from = (const uint8_t*)t.lhs;
  for (size_t k = 0, tap = 0, in = 0; k < depth; k += part.depth, in += part.depth) {
    if (in == t.depth) in = 0, from += t.tap_steps[tap++];
    part.depth = smaller(4 * kGroups, t.depth - in);
    for (size_t n = 0; n < t.cols; n += 16)
      decode(t.rhs + k / 4 * kGroup + n / 16 * t.rhs_panel_stride, kGroup, divide_up(part.depth, 4),
             weights + n / 16 * kPanel);
    part.lhs = from + 2 * in;
    if (k + part.depth == depth) {
      part.dst = t.dst;
      part.dst_stride = t.dst_stride;
      part.scale = t.scale;
    }
    multiply_widened(part);
    part.init = sums;
    part.init_stride = 32;
  }
}

void multiply(const Tile& t) { t.rhs_decoded ? multiply_widened(t) : multiply_in_parts(t); }

}  // namespace

const MicroKernel avx512vnni_s16s8_12x32x4 = {
    .name = "avx512vnni_s16s8_12x32x4",
    .tier_id = TierId::kAvx512Vnni,
    .lhs_element_type = ElementType::kS16,
    .mr = kMr,
    .nr = 32,
    .flags = kRequantizes,
    .rhs_layout = kX86Layout,
    .lhs_kr = 4,
    .multiply = multiply,
    .decoder = {decode, 2 * kGroup, 2 * kGroup, 0, 2},
};

}  // namespace octet
