// s16 x s8 -> s32 or 8 bits, VPMADDWD on ymm, up to 6 rows x 8 columns. Exact for all inputs:
// VPMADDUBSW would saturate at 16 bits.
//
// The u8 lhs is widened to s16 once, by gather; four weights of four columns are widened as they
// are loaded from the layout that all x86 kernels share. VPMADDWD adds depth steps in pairs, so a
// column holds two partial sums, which one horizontal add joins at the end:
//
//                        columns 0-3            columns 4-7
//                     +--------------------+--------------------+
//   row i, 4 words    | acc[i][0]: 4 x 2   | acc[i][1]: 4 x 2   |
//   broadcast         +--------------------+--------------------+
//
// 12 accumulators, 2 for rhs, 1 for lhs, 1 product: 16 registers of 16.
//
// Per group of 4 along depth: 2 widening loads, 6 broadcasts, 12 multiply-adds, 12 adds. Where
// several tiles read the same weights they are widened once for all: widening takes the ports that
// the arithmetic needs.
#include <immintrin.h>

#include "kernels/core/unroll.h"
#include "kernels/x86/exits_ymm.h"
#include "kernels/x86/kernels.h"

namespace octet {
namespace {

constexpr int kMr = 6;

// acc += product. Spelled out because GCC 12 puts the sum into the product's register and copies it
// back: 7 moves in a loop of 36.
OCTET_INLINE inline void accumulate(__m256i& acc, __m256i product) {
  __asm__("vpaddd %1, %0, %0" : "+x"(acc) : "x"(product));
}

// Rows of bytes to a panel of words, two rows at a time. lanes = rows, because the kernel takes any
// number.
void gather(const Rows& r, size_t lanes, void* panel) {
  int16_t* const out = (int16_t*)panel;
  const __m128i flip = _mm_set1_epi8((char)r.flip);
  const auto eight = [flip](const uint8_t* bytes) {
    return _mm_cvtepu8_epi16(_mm_xor_si128(_mm_loadl_epi64((const __m128i*)bytes), flip));
  };
  const size_t groups = (r.depth + 3) / 4, whole = r.depth / 8 * 8;
  for (size_t lane = 0; lane < lanes; lane += 2) {
    const bool pair = lane + 1 < lanes;
    const uint8_t *a = r.row(lane), *b = r.row(pair ? lane + 1 : lane);
    int16_t* to = out + 4 * lane;
    for (size_t k = 0; k < whole; k += 8, to += 8 * lanes) {
      const __m128i x = eight(a + k), y = eight(b + k);
      if (pair) {
        _mm_storeu_si128((__m128i*)to, _mm_unpacklo_epi64(x, y));
        _mm_storeu_si128((__m128i*)(to + 4 * lanes), _mm_unpackhi_epi64(x, y));
      } else {
        _mm_storel_epi64((__m128i*)to, x);
        _mm_storel_epi64((__m128i*)(to + 4 * lanes), _mm_unpackhi_epi64(x, x));
      }
    }
    for (size_t k = whole; k < 4 * groups; ++k) {
      int16_t* at = out + (k / 4 * lanes + lane) * 4 + k % 4;
      at[0] = k < r.depth ? a[k] ^ r.flip : 0;
      if (pair) at[4] = k < r.depth ? b[k] ^ r.flip : 0;
    }
  }
}

constexpr int kWideRows = 4;  // at least, of tiles with widened weights
static_assert((kMr * (kWidenTiles - 1) + 1) / kWidenTiles >= kWideRows,
              "blocks of so many tiles, cut evenly, have such tiles");

void widen(const uint8_t* rhs, size_t groups, int16_t* words) {
  for (; groups; --groups, rhs += 64, words += 32) {
    unroll<2>([&](auto v) OCTET_INLINE {
      _mm256_store_si256((__m256i*)(words + 16 * v),
                         _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i*)(rhs + 16 * v))));
    });
  }
}

template <int rows, bool wide>
void multiply(const Tile& t) {
  __m256i acc[rows][2];
  unroll<rows>([&](auto i) OCTET_INLINE {
    acc[i][0] = acc[i][1] = _mm256_setzero_si256();
    // See avx512vnni_u8s8_6x64x4.cc
    _mm_prefetch((const char*)t.dst + i * t.dst_stride, _MM_HINT_T0);
  });

  const int16_t* lhs = (const int16_t*)t.lhs;
  const uint8_t* rhs = t.rhs;
  OCTET_NO_UNROLL
  for (size_t groups = (t.depth + 3) / 4; groups; --groups) {
    __m256i b[2];
    unroll<2>([&](auto v) OCTET_INLINE {
      b[v] = wide ? _mm256_load_si256((const __m256i*)(rhs + 32 * v))
                  : _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i*)(rhs + 16 * v)));
    });
    unroll<rows>([&](auto i) OCTET_INLINE {
      int64_t words;
      __builtin_memcpy(&words, lhs + 4 * i, sizeof words);
      const __m256i a = _mm256_set1_epi64x(words);
      unroll<2>([&](auto v) OCTET_INLINE { accumulate(acc[i][v], _mm256_madd_epi16(a, b[v])); });
    });
    lhs += 4 * rows;
    rhs += 64;
  }

  // hadd leaves columns 0 1 4 5 | 2 3 6 7.
  const auto sums = [&](auto i) OCTET_INLINE {
    const __m256i init = _mm256_loadu_si256((const __m256i*)(t.init + i * t.init_stride));
    return _mm256_add_epi32(_mm256_permute4x64_epi64(_mm256_hadd_epi32(acc[i][0], acc[i][1]), 0xd8),
                            init);
  };
  uint8_t* dst = (uint8_t*)t.dst;
  if (t.scale) {
    const Narrower<16> narrower(*t.narrow);
    const __m256 scale = _mm256_loadu_ps(t.scale);
    unroll<rows>([&](auto i) OCTET_INLINE {
      const __m128i words = scaled_words(sums(i), scale);
      store_bytes(dst + i * t.dst_stride, narrower.bytes(words, words), t.cols);
    });
  } else {
    unroll<rows>([&](auto i) OCTET_INLINE { store_s32(dst + i * t.dst_stride, sums(i), t.cols); });
  }
}

void dispatch(const Tile& t) {
  static constexpr MultiplyFn kByRows[kMr] = {multiply<1, false>, multiply<2, false>,
                                              multiply<3, false>, multiply<4, false>,
                                              multiply<5, false>, multiply<6, false>};
  static constexpr MultiplyFn kWide[] = {multiply<4, true>, multiply<5, true>, multiply<6, true>};
  (t.rhs_wide ? kWide[t.rows - kWideRows] : kByRows[t.rows - 1])(t);
}

}  // namespace

const MicroKernel avx2_s16s8_6x8x4 = {
    .name = "avx2_s16s8_6x8x4",
    .isa = Isa::kAvx2,
    .lhs_domain = Domain::kU8,
    .mr = kMr,
    .nr = 8,
    .flags = kAnyLhs | kNarrows,
    .rhs_layout = kX86Layout,
    .gather = gather,
    .lhs_kr = 4,
    .lhs_element_bytes = 2,
    .multiply = dispatch,
    .widen = widen,
};

}  // namespace octet
