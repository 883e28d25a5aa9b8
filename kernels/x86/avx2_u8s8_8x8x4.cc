// SPDX-License-Identifier: Apache-2.0
// u8 x s8 -> s32, 8 bits or f32, VPMADDWD on ymm, for rows that are read where they lie. Exact for
// all inputs.
//
// Few rows of at most 8 columns are widened in registers:
//
//                      columns 0-7
//                     +------------+      8 accumulators, 2 for rhs, 1 for lhs, 1 for its half,
//   row i, 4 bytes    |   acc[i]   |      1 product, 1 mask, 1 flip: 15 registers of 16
//   broadcast         +------------+
//
// Per group of 4 along depth and row: a broadcast, its even and its odd bytes widened to int16, two
// multiply-adds and two adds.
#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/accumulate.h"
#include "kernels/x86/shared/quads.h"
#include "kernels/x86/shared/requantize.h"
#include "kernels/x86/shared/store_tile_ymm.h"

namespace octet {
namespace {

constexpr int kMr = 8, kNr = 8;

template <int rows>
OCTET_INLINE inline void add_products(const Tile& t, __m256i (&acc)[rows]) {
  const uint8_t *rhs = t.rhs, *first = (const uint8_t*)t.lhs;  // of the tap's rows
  const __m256i even = _mm256_set1_epi16(0xff), flips = _mm256_set1_epi32((int32_t)t.lhs_flip);
  for (size_t tap = 1;; ++tap) {
    const uint8_t* const* const rows_of_tap = t.lhs_rows ? t.lhs_rows + (tap - 1) * rows : nullptr;
    const auto row = [&](size_t i) OCTET_INLINE {
      return rows_of_tap ? rows_of_tap[i] : first + i * t.lhs_stride;
    };
    const uint8_t* lhs[rows];
    unroll<rows>([&](auto i) OCTET_INLINE { lhs[i] = row(i); });
    int32_t last[rows];
    // The last 1..3 steps are a group, too, in a copy
    for (size_t groups = t.depth / 4, tail = t.depth % 4;; groups = 1, tail = 0) {
      size_t k = 0;
      OCTET_NO_UNROLL
      for (; groups; --groups) {
        const __m256i b0 = s16_of_quads<0>(rhs), b1 = s16_of_quads<1>(rhs);
        unroll<rows>([&](auto i) OCTET_INLINE {
          const __m256i bytes = _mm256_xor_si256(_mm256_set1_epi32(load_quad(lhs[i] + k)), flips);
          accumulate(acc[i], _mm256_madd_epi16(_mm256_and_si256(bytes, even), b0));
          accumulate(acc[i], _mm256_madd_epi16(_mm256_srli_epi16(bytes, 8), b1));
        });
        k += 4;
        __asm__("" : "+r"(k));  // else compilers advance eight addresses
        rhs += t.rhs_stride;
      }
      if (!tail) break;
      OCTET_NO_UNROLL
      for (size_t i = 0; i < rows; ++i) last[i] = tail_quad(row(i) + t.depth - tail, tail);
      unroll<rows>([&](auto i) OCTET_INLINE { lhs[i] = (const uint8_t*)&last[i]; });
    }
    if (tap == t.taps) return;
    if (!rows_of_tap) first += t.tap_steps[tap - 1];
  }
}

// Requantizes two rows per vector of bytes. Rows of less than eight columns pass through the stack,
// so that one loop stores them.
template <int rows>
OCTET_INLINE inline void store_requantized8(const Tile& t, const __m256i (&acc)[rows]) {
  constexpr int kPairs = (rows + 1) / 2;
  const Requantizer<16> requantizer(*t.requantization);
  const __m256 scale = _mm256_loadu_ps(t.scale);
  const bool whole = t.cols == kNr;
  uint8_t some[2 * kPairs][kNr], *const to = whole ? (uint8_t*)t.dst : some[0];
  const size_t stride = whole ? t.dst_stride : kNr;
  unroll<kPairs>([&](auto pair) OCTET_INLINE {
    constexpr int i = 2 * pair, next = i + 1 < rows ? i + 1 : i;
    const __m128i bytes =
        requantizer.bytes(scaled_int16(acc[i], scale), scaled_int16(acc[next], scale));
    _mm_storel_epi64((__m128i*)(to + i * stride), bytes);
    if (next > i) _mm_storeh_pd((double*)(to + next * stride), _mm_castsi128_pd(bytes));
  });
  if (whole) return;
  uint8_t* dst = (uint8_t*)t.dst;
  OCTET_NO_UNROLL
  for (int i = 0; i < rows; ++i, dst += t.dst_stride)
    if (t.cols >= 4) {  // twice four bytes, which may overlap
      __builtin_memcpy(dst, some[i], 4);
      __builtin_memcpy(dst + t.cols - 4, some[i] + t.cols - 4, 4);
    } else {
      store_bytes(dst, _mm_loadl_epi64((const __m128i*)some[i]), t.cols);
    }
}

// One text for all heights, which few columns hardly wait for.
__attribute__((noinline)) void store_all_floats(const Tile& t, const __m256i (&acc)[kMr][1]) {
  store_floats(t, t.rows, acc);
}

template <int rows>
void multiply(const Tile& t) {
  __m256i acc[rows];
  unroll<rows>([&](auto i) OCTET_INLINE {
    acc[i] = _mm256_loadu_si256((const __m256i*)(t.init + i * t.init_stride));
    if (t.row_init) acc[i] = _mm256_add_epi32(acc[i], _mm256_set1_epi32(t.row_init[i]));
  });
  add_products(t, acc);
  if (t.scale && t.requantization->to_floats) {
    __m256i sums[kMr][1];
    unroll<rows>([&](auto i) OCTET_INLINE { sums[i][0] = acc[i]; });
    return store_all_floats(t, sums);
  }
  if (t.scale && !t.requantization->tflite_apart) return store_requantized8(t, acc);

  alignas(32) int32_t sums[rows][kNr];
  uint8_t* const to = t.scale ? (uint8_t*)sums : (uint8_t*)t.dst;
  const size_t stride = t.scale ? sizeof sums[0] : t.dst_stride, cols = t.scale ? kNr : t.cols;
  if (cols == kNr)
    unroll<rows>([&](auto i) OCTET_INLINE { store_s32(to + i * stride, acc[i], kNr); });
  else
    unroll<rows>([&](auto i) OCTET_INLINE { store_s32(to + i * stride, acc[i], cols % kNr); });
  if (t.scale) avx2_requantize(t, sums[0], kNr);
}

constexpr MultiplyFn kByRows[kMr] = {multiply<1>, multiply<2>, multiply<3>, multiply<4>,
                                     multiply<5>, multiply<6>, multiply<7>, multiply<8>};

void dispatch(const Tile& t) { kByRows[t.rows - 1](t); }

}  // namespace

const MicroKernel avx2_u8s8_8x8x4 = {
    .name = "avx2_u8s8_8x8x4",
    .tier_id = TierId::kAvx2,
    .lhs_element_type = ElementType::kU8,
    .mr = kMr,
    .nr = kNr,
    .m_max = 4 * kMr,
    .n_max = kNr,
    .flags = kAnyLhs | kRequantizes | kRequantizesTflite | kStoresFloats | kRowInit,
    .rhs_layout = kX86Layout,
    .lhs_kr = 4,
    .multiply = dispatch,
};

}  // namespace octet
