// SPDX-License-Identifier: Apache-2.0
// u8 x s4 -> s32 or 8 bits, VPMADDUBSW on ymm, up to 6 rows x 16 columns. Exact for all inputs: a
// pair of products is at most 2 x 255 x 8 = 4080, so that eight of them fit 16 bits.
//
//                      columns 0-7   8-15
//                     +------------+--------+      12 accumulators of 16 bits, 2 for rhs, 1 for
//   row i, 4 bytes    | sum[i][0]  |  [1]   |      lhs, 1 product: 16 registers of 16
//   broadcast         +------------+--------+
//
// Per group of 4 along depth: 2 loads of decoded weights, 6 broadcasts, 12 times VPMADDUBSW and
// VPADDW; per 8 groups, 12 times VPMADDWD by ones and VPADDD, whose sums are in memory. int8
// weights need twice as many multiplications, or VPMADDWD and VPADDD for every group.
#include "kernels/x86/int4/decode.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/accumulate.h"
#include "kernels/x86/shared/quads.h"
#include "kernels/x86/shared/store_ymm.h"

namespace octet {
namespace {

constexpr int kMr = 6, kNr = 16;
constexpr size_t kChunk = 8;  // groups that fit 16 bits

alignas(32) constexpr uint32_t kFlips[8] = {0x80808080, 0x80808080, 0x80808080, 0x80808080,
                                            0x80808080, 0x80808080, 0x80808080, 0x80808080};

template <int rows>
using Sums = int32_t[rows][kNr];

// Adds the products of 1 to kChunk groups, from step k of the rows on.
template <bool flip, int rows>
OCTET_INLINE inline void add_chunk(const uint8_t* const (&lhs)[rows], size_t k, size_t groups,
                                   const uint8_t*& rhs, Sums<rows>& sums) {
  __m256i sum[rows][2];
  const auto step = [&](auto first) OCTET_INLINE {
    __m256i b[2];
    unroll<2>([&](auto v)
                  OCTET_INLINE { b[v] = _mm256_loadu_si256((const __m256i*)(rhs + 32 * v)); });
    unroll<rows>([&](auto i) OCTET_INLINE {
      __m256i a = _mm256_set1_epi32(load_quad(lhs[i] + k));
      // Assembly, because compilers would keep the flips in a register that the tile needs
      if (flip) __asm__("vpxor %1, %0, %0" : "+x"(a) : "m"(kFlips));
      unroll<2>([&](auto v) OCTET_INLINE {
        const __m256i product = _mm256_maddubs_epi16(a, b[v]);
        if constexpr (first)
          sum[i][v] = product;
        else
          accumulate_int16(sum[i][v], product);
      });
    });
    k += 4;
    rhs += 64;
  };
  step(Int<1>{});
  OCTET_NO_UNROLL
  for (; groups > 1; --groups) step(Int<0>{});
  unroll<rows>([&](auto i) OCTET_INLINE {
    unroll<2>([&](auto v) OCTET_INLINE {
      __m256i* const to = (__m256i*)&sums[i][8 * v];
      *to = _mm256_add_epi32(*to, _mm256_madd_epi16(sum[i][v], *(const __m256i*)kOnes));
    });
  });
}

// Adds the products of all whole groups.
template <bool flip, int rows>
OCTET_INLINE inline void add_whole(const uint8_t* const (&lhs)[rows], size_t depth,
                                   const uint8_t*& rhs, Sums<rows>& sums) {
  size_t k = 0;
  OCTET_NO_UNROLL
  for (size_t groups = depth / 4, chunk; groups; groups -= chunk, k += 4 * chunk) {
    chunk = groups < kChunk ? groups : kChunk;
    add_chunk<flip>(lhs, k, chunk, rhs, sums);
  }
}

template <int rows>
void multiply_operands(const Tile& t) {
  alignas(32) Sums<rows> sums;
  const uint8_t* lhs[rows];
  unroll<rows>([&](auto i) OCTET_INLINE {
    const __m256i more = _mm256_set1_epi32(t.row_init ? t.row_init[i] : 0);
    unroll<2>([&](auto v) OCTET_INLINE {
      *(__m256i*)&sums[i][8 * v] = _mm256_add_epi32(init_of(t, i, v), more);
    });
    lhs[i] = (const uint8_t*)t.lhs + i * t.lhs_stride;
    // See avx512vnni_u8s8_6x64x4.cc
    _mm_prefetch((const char*)t.dst + i * t.dst_stride, _MM_HINT_T0);
  });
  const uint8_t* rhs = t.rhs;
  int32_t last[rows];
  // The last 1..3 steps are a group, too, in a copy
  for (size_t depth = t.depth / 4 * 4, rest = t.depth % 4;; depth = 4, rest = 0) {
    t.lhs_flip ? add_whole<true>(lhs, depth, rhs, sums) : add_whole<false>(lhs, depth, rhs, sums);
    if (!rest) break;
    unroll<rows>([&](auto i) OCTET_INLINE {
      last[i] = tail_quad(lhs[i] + depth, rest);
      lhs[i] = (const uint8_t*)&last[i];
    });
  }
  store_sums_by(avx2_s16s8_6x16x4, t, sums[0], kNr);
}

void dispatch(const Tile& t) {
  static constexpr MultiplyFn kByRows[kMr] = {multiply_operands<1>, multiply_operands<2>,
                                              multiply_operands<3>, multiply_operands<4>,
                                              multiply_operands<5>, multiply_operands<6>};
  kByRows[t.rows - 1](t);
}

// ---- few rows: the weights' bytes are the limit, and registers are left to decode them ----------

constexpr int kFew = 2;
constexpr int kAhead = 2048;  // see avxvnni_u8s8_6x16x4.cc

// Adds the products of groups of nibbles, of which kChunk / 2 fit 16 bits; lhs(i, half) are four
// bytes of row i in all lanes, of the first group.
template <int rows, typename Lhs>
OCTET_INLINE inline void add_nibbles(const NibblesYmm& nibbles, const Lhs& lhs, size_t groups,
                                     const uint8_t*& rhs, size_t& k, __m256i (&acc)[rows][2]) {
  __m256i sum[rows][2];
  unroll<rows>([&](auto i) OCTET_INLINE {
    unroll<2>([&](auto v) OCTET_INLINE { sum[i][v] = _mm256_setzero_si256(); });
  });
  OCTET_NO_UNROLL
  for (; groups; --groups, k += 8, rhs += kInt4Group) {
    _mm_prefetch((const char*)rhs + kAhead, _MM_HINT_T0);
    unroll<2>([&](auto half) OCTET_INLINE {
      unroll<2>([&](auto v) OCTET_INLINE {
        const __m256i b = nibbles.load<half>(rhs + 32 * v);
        unroll<rows>([&](auto i) OCTET_INLINE {
          accumulate_int16(sum[i][v], _mm256_maddubs_epi16(lhs(i, half), b));
        });
      });
    });
  }
  unroll<rows>([&](auto i) OCTET_INLINE {
    unroll<2>([&](auto v) OCTET_INLINE {
      accumulate(acc[i][v], _mm256_madd_epi16(sum[i][v], *(const __m256i*)kOnes));
    });
  });
}

template <int rows>
void multiply_nibbles(const Tile& t) {
  __m256i acc[rows][2];
  const uint8_t* lhs[rows];
  unroll<rows>([&](auto i) OCTET_INLINE {
    _mm_prefetch((const char*)t.dst + i * t.dst_stride, _MM_HINT_T0);
    unroll<2>([&](auto v) OCTET_INLINE { acc[i][v] = init_of(t, i, v); });
    lhs[i] = (const uint8_t*)t.lhs + i * t.lhs_stride;
  });
  add_row_init(t, acc);
  const NibblesYmm nibbles;
  const uint8_t* rhs = t.rhs;
  const __m256i flips = _mm256_set1_epi32((int32_t)t.lhs_flip);
  int32_t last[rows][2];
  // The last 1..7 steps are a group, too, in a copy
  for (size_t groups = t.depth / 8, rest = t.depth % 8;; groups = 1, rest = 0) {
    size_t k = 0;
    for (size_t chunk; groups; groups -= chunk) {
      chunk = groups < kChunk / 2 ? groups : kChunk / 2;
      add_nibbles(
          nibbles,
          [&](auto i, auto half) OCTET_INLINE {
            return _mm256_xor_si256(_mm256_set1_epi32(load_quad(lhs[i] + k + 4 * half)), flips);
          },
          chunk, rhs, k, acc);
    }
    if (!rest) break;
    unroll<rows>([&](auto i) OCTET_INLINE {
      load_rest(lhs[i] + k, rest, last[i]);
      lhs[i] = (const uint8_t*)last[i];
    });
  }
  alignas(32) Sums<rows> sums;
  unroll<rows>([&](auto i) OCTET_INLINE {
    unroll<2>([&](auto v) OCTET_INLINE { *(__m256i*)&sums[i][8 * v] = acc[i][v]; });
  });
  store_sums_by(avx2_s16s8_6x16x4, t, sums[0], kNr);
}

// Multiplies int8 from -8 to 7.
constexpr MicroKernel kOperands = {
    .name = "",
    .tier_id = TierId::kAvx2,
    .lhs_element_type = ElementType::kU8,
    .mr = kMr,
    .nr = kNr,
    .rhs_layout = kX86Layout,
    .lhs_kr = 4,
    .multiply = dispatch,
};

void multiply(const Tile& t) {
  if (t.rhs_decoded || t.rows > kFew) return multiply_int4(avx2_u8s4_6x16x8, kOperands, t);
  t.rows == 1 ? multiply_nibbles<1>(t) : multiply_nibbles<2>(t);
}

}  // namespace

const MicroKernel avx2_u8s4_6x16x8 = {
    .name = "avx2_u8s4_6x16x8",
    .tier_id = TierId::kAvx2,
    .lhs_element_type = ElementType::kU8,
    .mr = kMr,
    .nr = kNr,
    .flags = kAnyLhs | kRequantizes | kRequantizesTflite | kStoresFloats | kRowInit,
    .rhs_layout = kX86Int4Layout,
    .lhs_kr = 4,
    .multiply = multiply,
    .decoder = {decode_int4_ymm, 2 * kInt4Group, kInt4Group, int4_room(kMr* kNr), 2},
};

}  // namespace octet
