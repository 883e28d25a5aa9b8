// SPDX-License-Identifier: Apache-2.0
// s8 x 2:4 sparse s8 -> s32 or 8 bits, VPMADDUBSW on ymm, up to 4 rows x 16 columns. Exact for all
// inputs.
//
//                      columns 0-7   8-15
//                     +------------+--------+     8 accumulators, 2 corrections, 1 of magnitudes,
//   row i             | acc[i][0]  |  [1]   |     1 of places, 1 for lhs, 1 of ones: 14 of 16
//                     +------------+--------+
//
// VPMADDUBSW multiplies u8 by s8 and adds neighbours in 16 bits, where u8 lhs x s8 weights
// saturate. So the u8 is the weight's magnitude, and the s8 is the lhs with the weight's sign:
// |128 * -128 * 2| fits. The sign costs nothing, because a shuffle picks each lhs byte anyway, and
// it can pick from 16 bytes. gather puts the complements of eight bytes after them,
//
//     x0 x1 x2 x3 x4 x5 x6 x7 ~x0 ~x1 ~x2 ~x3 ~x4 ~x5 ~x6 ~x7
//
// and a negative weight's place is larger by 8. ~x is -x - 1, which always fits. The missing part,
// the sum of the negative weights' magnitudes, is the same for all rows of a column.
//
// Per group of 16 along depth: for each vector of columns some twenty instructions make magnitudes,
// places and the missing sum; with many tiles, `decode` does so once. For each row and vector: two
// loads, shuffles, multiply-adds to 16 and to 32 bits, and adds, half as many as for dense weights.
#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/core/sparse.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/accumulate.h"
#include "kernels/x86/shared/store_tile_ymm.h"
#include "kernels/x86/shared/tail.h"

namespace octet {
namespace {

constexpr int kMr = 4;
constexpr size_t kKr = kSparseLayout.kr;

// Gathers, for each 16 steps and each row, eight bytes and their complements, then the next eight.
// lanes = rows, because the kernel takes any number.
void gather(const Rows& r, size_t lanes, void* panel) {
  const size_t whole = r.depth / kKr * kKr, rest = r.depth % kKr;
  const __m128i flip = _mm_set1_epi8((char)r.flip);
  const __m256i complement = _mm256_set_epi64x(-1, 0, -1, 0);
  for (size_t lane = 0; lane < lanes; ++lane) {
    const uint8_t* const from = r.row(lane);
    __m256i* to = (__m256i*)panel + lane;
    const auto store = [&to, complement, lanes](__m128i bytes) OCTET_INLINE {
      const __m256i twice = _mm256_permute4x64_epi64(_mm256_castsi128_si256(bytes), 0x50);
      _mm256_store_si256(to, _mm256_xor_si256(twice, complement));
      to += lanes;
    };
    for (size_t k = 0; k < whole; k += kKr)
      store(_mm_xor_si128(_mm_loadu_si128((const __m128i*)(from + k)), flip));
    if (rest) store(tail(from + whole, rest, 0x0101010101010101u * r.flip));
  }
}

// A decoded group: factors for each half of its depth and vector of columns,
struct Halves {
  __m256i magnitudes[2][2], places[2][2];
  // and, for each vector, the sums of the columns' negative weights
  __m256i negative[2];
};

struct Factors {
  __m256i magnitudes, places;
};

// Makes the factors of half a group from values and places. Bits 4 to 6 of a place belong to the
// other half, and shuffles ignore them.
OCTET_INLINE inline Factors factors_of(__m256i values, __m256i places) {
  const __m256i negative = _mm256_and_si256(_mm256_srli_epi16(values, 4), _mm256_set1_epi8(8));
  return {_mm256_abs_epi8(values), _mm256_or_si256(places, negative)};
}

// Adds the negative weights of each pair in 16 bits.
OCTET_INLINE inline __m256i negative_pairs(__m256i values) {
  return _mm256_maddubs_epi16(_mm256_set1_epi8(1), _mm256_min_epi8(values, _mm256_setzero_si256()));
}

OCTET_INLINE inline __m256i load_line(const uint8_t* group, int line, int v) {
  return _mm256_loadu_si256((const __m256i*)(group + line * kSparseLine + 32 * v));
}

// Decodes groups to Halves.
void decode(const uint8_t* rhs, size_t rhs_stride, size_t groups, uint8_t* decoded) {
  for (; groups; --groups, rhs += rhs_stride, decoded += sizeof(Halves)) {
    Halves* const to = (Halves*)decoded;
    unroll<2>([&](auto v) OCTET_INLINE {
      const __m256i places = load_line(rhs, 2, v);
      __m256i pairs = _mm256_setzero_si256();
      unroll<2>([&](auto half) OCTET_INLINE {
        const __m256i values = load_line(rhs, half, v);
        const Factors f = factors_of(values, half ? _mm256_srli_epi16(places, 4) : places);
        _mm256_store_si256(&to->magnitudes[half][v], f.magnitudes);
        _mm256_store_si256(&to->places[half][v], f.places);
        pairs = _mm256_add_epi16(pairs, negative_pairs(values));
      });
      _mm256_store_si256(&to->negative[v], _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
    });
  }
}

template <bool wide, int rows>
OCTET_INLINE inline void add_products(const Tile& t, __m256i (&acc)[rows][2]) {
  const __m256i* lhs = (const __m256i*)t.lhs;
  const uint8_t* rhs = t.rhs;
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i negative[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
  OCTET_NO_UNROLL
  for (size_t groups = (t.depth + kKr - 1) / kKr; groups; --groups) {
    const Halves* const halves = (const Halves*)rhs;
    unroll<2>([&](auto v) OCTET_INLINE {
      __m256i pairs = _mm256_setzero_si256();
      unroll<2>([&](auto half) OCTET_INLINE {
        Factors f;
        if constexpr (wide) {
          f = {_mm256_load_si256(&halves->magnitudes[half][v]),
               _mm256_load_si256(&halves->places[half][v])};
        } else {
          const __m256i values = load_line(rhs, half, v), places = load_line(rhs, 2, v);
          f = factors_of(values, half ? _mm256_srli_epi16(places, 4) : places);
          pairs = _mm256_add_epi16(pairs, negative_pairs(values));
        }
        unroll<rows>([&](auto i) OCTET_INLINE {
          const __m256i x =
              _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i*)(lhs + i) + half));
          const __m256i int16 =
              _mm256_maddubs_epi16(f.magnitudes, _mm256_shuffle_epi8(x, f.places));
          accumulate(acc[i][v], _mm256_madd_epi16(int16, ones));
        });
      });
      accumulate(negative[v], wide ? halves->negative[v] : _mm256_madd_epi16(pairs, ones));
    });
    lhs += rows;
    rhs += wide ? sizeof(Halves) : kSparseGroup;
  }
  unroll<rows>([&](auto i) OCTET_INLINE {
    unroll<2>([&](auto v) OCTET_INLINE { acc[i][v] = _mm256_sub_epi32(acc[i][v], negative[v]); });
  });
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
  t.rhs_decoded ? add_products<true>(t, acc) : add_products<false>(t, acc);
  // See avx2_s16s8_6x16x4.cc
  unroll<rows>([&](auto i) OCTET_INLINE {
    __m256i(&row)[2] = acc[i];
    pin(row[0]);
    pin(row[1]);
  });
  store_tile<kMr>(t, acc);
}

constexpr MultiplyFn kByRows[kMr] = {multiply<1>, multiply<2>, multiply<3>, multiply<4>};

void dispatch(const Tile& t) { kByRows[t.rows - 1](t); }

}  // namespace

const MicroKernel avx2_s8s8_sparse_4x16x16 = {
    .name = "avx2_s8s8_sparse_4x16x16",
    .tier_id = TierId::kAvx2,
    .lhs_element_type = ElementType::kS8,
    .mr = kMr,
    .nr = 16,
    .flags = kAnyLhs | kRequantizes | kRequantizesTflite | kStoresFloats | kRowInit |
             kGathersComplements,
    .rhs_layout = kSparseLayout,
    .gather = gather,
    .lhs_kr = kKr,
    .lhs_element_bytes = 2,
    .multiply = dispatch,
    .decoder = {decode, sizeof(Halves)},
};

}  // namespace octet
