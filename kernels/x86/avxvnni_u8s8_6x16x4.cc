// SPDX-License-Identifier: Apache-2.0
// u8 or s8 x s8 -> s32, 8 bits or f32, VPDPBUSD and VPDPBSSD on ymm, up to 6 rows x 16 columns.
//
//                      columns 0-7   8-15
//                     +------------+--------+
//   row i, 4 bytes    | acc[i][0]  |  [1]   |      12 accumulators, 2 for rhs, 1 for lhs: 15 of 16
//   broadcast         +------------+--------+
//
// A CPU without VPDPBSSD (AVX-VNNI-INT8) flips an s8 lhs. Both kernels share the code before and
// after the depth loops. Tiles of at most 8 columns and 4 rows or more have a loop of their own
// (multiply_half), but for VPDPBSSD, which no CPU at hand could time.
#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/micro_panel.h"
#include "kernels/x86/shared/quads.h"
#include "kernels/x86/shared/store_tile_ymm.h"
#include "kernels/x86/shared/tail.h"

namespace octet {
namespace {

constexpr int kMr = 6;
constexpr size_t kNr = 16;
// Prefetch distance of the weights in bytes: 16 columns with a depth of 2048 fill L1, so that
// deeper weights come from L2 for every tile
constexpr int kAhead = 2048;
// Products of a column that are repeated rather than multiplied in tiles of fewer rows, where calls
// take as long
constexpr size_t kRepeated = 1500;

struct U8 {
  OCTET_INLINE static inline void add_products(__m256i& acc, __m256i lhs, __m256i rhs) {
    acc = _mm256_dpbusd_avx_epi32(acc, lhs, rhs);
    pin(acc);
  }
};
// GCC 12 has no intrinsic for VPDPBSSD. Of the instruction itself, the assembler must know.
struct S8 {
  OCTET_INLINE static inline void add_products(__m256i& acc, __m256i lhs, __m256i rhs) {
    __asm__("vpdpbssd %2, %1, %0" : "+x"(acc) : "x"(lhs), "x"(rhs));
  }
};
#if defined(OCTET_AVXVNNIINT8)
constexpr bool kMultipliesS8 = true;
#else
constexpr bool kMultipliesS8 = false;
#endif

// Points lhs at the tile's rows in the first tap, and from tap - 1 at those in `tap`.
template <int rows>
OCTET_INLINE inline void point_at_rows(const Tile& t, const uint8_t* (&lhs)[rows]) {
  unroll<rows>([&](auto i) OCTET_INLINE {
    lhs[i] = t.lhs_rows ? t.lhs_rows[i] : (const uint8_t*)t.lhs + i * t.lhs_stride;
  });
}
template <int rows>
OCTET_INLINE inline void next_tap(const Tile& t, size_t tap, const uint8_t* (&lhs)[rows]) {
  const uint8_t* const* const rows_of_tap = t.lhs_rows ? t.lhs_rows + tap * rows : nullptr;
  const ptrdiff_t step = rows_of_tap ? 0 : t.tap_steps[tap - 1];
  unroll<rows>([&](auto i) OCTET_INLINE { lhs[i] = rows_of_tap ? rows_of_tap[i] : lhs[i] + step; });
}

template <int rows>
OCTET_INLINE inline void start_tile(const Tile& t, __m256i (&acc)[rows][2]) {
  // Prefetches the output lines; see shared/store_tile_zmm.h.
  unroll<rows>([&](auto i) OCTET_INLINE {
    _mm_prefetch((const char*)t.dst + i * t.dst_stride, _MM_HINT_T0);
  });
  // Usually one row of init serves all rows; see shared/store_tile_zmm.h.
  unroll<2>([&](auto v) OCTET_INLINE {
    acc[0][v] = init_of(t, 0, v);
    unroll<rows - 1>([&](auto i) OCTET_INLINE { acc[i + 1][v] = acc[0][v]; });
  });
  if (t.init_stride)
    unroll<rows - 1>([&](auto i) OCTET_INLINE {
      unroll<2>([&](auto v) OCTET_INLINE { acc[i + 1][v] = init_of(t, i + 1, v); });
    });
  add_row_init(t, acc);
}

// Calls f(i, v) for each row and vector.
template <int rows, typename F>
OCTET_INLINE inline void each(const F& f) {
  unroll<rows>([&](auto i) OCTET_INLINE { unroll<2>([&](auto v) OCTET_INLINE { f(i, v); }); });
}

template <int rows>
void multiply(const Tile& t, bool lhs_is_s8) {
  // Few rows split the depth over two sets of accumulators, to hide the latency
  constexpr bool kTwoSets = rows <= 3;
  __m256i acc[rows][2], odd[rows][2];
  start_tile(t, acc);
  each<rows>([&](auto i, auto v) OCTET_INLINE { odd[i][v] = _mm256_setzero_si256(); });
  const uint8_t* lhs[rows];
  point_at_rows(t, lhs);
  const uint8_t* rhs = t.rhs;
  const size_t end = t.depth / 4 * 4;
  const Tile* again = &t;  // see avx512vnni_u8s8_6x64x4.cc
  spill(again);
  for (size_t tap = 1;; ++tap) {
    // Multiplies one group; `broadcast` puts the four lhs bytes of row i into all lanes.
    size_t k = 0;
    const auto step = [&](auto type, auto broadcast, auto set) OCTET_INLINE {
      __m256i b[2];
      unroll<2>([&](auto v)
                    OCTET_INLINE { b[v] = _mm256_loadu_si256((const __m256i*)(rhs + 32 * v)); });
      _mm_prefetch((const char*)rhs + kAhead, _MM_HINT_T0);
      unroll<rows>([&](auto i) OCTET_INLINE {
        const __m256i a = broadcast(i);
        unroll<2>([&](auto v) OCTET_INLINE {
          type.add_products(set.value ? odd[i][v] : acc[i][v], a, b[v]);
        });
      });
      k += 4;
      rhs += 64;
    };
    const auto as_it_is = [&](auto i)
                              OCTET_INLINE { return _mm256_set1_epi32(load_quad(lhs[i] + k)); };
    spill(lhs_is_s8);
    if (kMultipliesS8 && lhs_is_s8) {
      OCTET_NO_UNROLL
      while (k < end) step(S8{}, as_it_is, Int<0>{});
    } else if (again->lhs_flip) {
      const __m256i flips = _mm256_set1_epi32((int32_t)again->lhs_flip);
      const auto flipped = [&](auto i)
                               OCTET_INLINE { return _mm256_xor_si256(as_it_is(i), flips); };
      if constexpr (kTwoSets) {
        OCTET_NO_UNROLL
        while (k + 8 <= end) step(U8{}, flipped, Int<0>{}), step(U8{}, flipped, Int<1>{});
      }
      OCTET_NO_UNROLL
      while (k < end) step(U8{}, flipped, Int<0>{});
    } else {
      if constexpr (rows == kMr) {
        OCTET_NO_UNROLL
        while (k + 8 <= end) step(U8{}, as_it_is, Int<0>{}), step(U8{}, as_it_is, Int<0>{});
      } else if constexpr (kTwoSets) {
        OCTET_NO_UNROLL
        while (k + 8 <= end) step(U8{}, as_it_is, Int<0>{}), step(U8{}, as_it_is, Int<1>{});
      }
      OCTET_NO_UNROLL
      while (k < end) step(U8{}, as_it_is, Int<0>{});
    }
    spill(again);
    if (const size_t tail = again->depth % 4) {
      const int32_t flips = (int32_t)again->lhs_flip;
      int32_t last[rows];
      unroll<rows>([&](auto i) OCTET_INLINE { last[i] = tail_quad(lhs[i] + k, tail) ^ flips; });
      spill(last);
      const auto rest = [&](auto i) OCTET_INLINE { return _mm256_set1_epi32(last[i]); };
      if (kMultipliesS8 && lhs_is_s8)
        step(S8{}, rest, Int<0>{});
      else
        step(U8{}, rest, Int<0>{});
    }
    if (tap == again->taps) break;
    next_tap(*again, tap, lhs);
  }

  if constexpr (kTwoSets)
    each<rows>([&](auto i, auto v)
                   OCTET_INLINE { acc[i][v] = _mm256_add_epi32(acc[i][v], odd[i][v]); });
  store_tile<kMr>(*again, acc);
}

// Multiplies a tile of at most 8 columns, for half of the products: two groups at a time, each in
// accumulators of its own. adjust(lhs) gives the u8 bytes that meet the weights.
template <int rows, typename F>
void multiply_half(const Tile& t, const F& adjust) {
  __m256i even[rows], odd[rows];
  unroll<rows>([&](auto i) OCTET_INLINE {
    _mm_prefetch((const char*)t.dst + i * t.dst_stride, _MM_HINT_T0);
    even[i] = init_of(t, i, 0);
    if (t.row_init) even[i] = _mm256_add_epi32(even[i], _mm256_set1_epi32(t.row_init[i]));
    odd[i] = _mm256_setzero_si256();
  });
  const uint8_t* lhs[rows];
  point_at_rows(t, lhs);
  const uint8_t* rhs = t.rhs;
  const auto group = [&](__m256i(&acc)[rows], const uint8_t* weights, auto row) OCTET_INLINE {
    const __m256i b = _mm256_loadu_si256((const __m256i*)weights);
    unroll<rows>([&](auto i) OCTET_INLINE {
      U8::add_products(acc[i], adjust(_mm256_set1_epi32(row(i))), b);
    });
  };
  for (size_t tap = 1;; ++tap) {
    size_t k = 0;
    OCTET_NO_UNROLL
    for (; k + 8 <= t.depth; k += 8, rhs += 128) {
      _mm_prefetch((const char*)rhs + kAhead, _MM_HINT_T0);
      group(even, rhs, [&](auto i) OCTET_INLINE { return load_quad(lhs[i] + k); });
      group(odd, rhs + 64, [&](auto i) OCTET_INLINE { return load_quad(lhs[i] + k + 4); });
    }
    if (t.depth - k >= 4) {
      group(even, rhs, [&](auto i) OCTET_INLINE { return load_quad(lhs[i] + k); });
      k += 4, rhs += 64;
    }
    if (const size_t tail = t.depth - k) {
      int32_t last[rows];
      unroll<rows>([&](auto i) OCTET_INLINE { last[i] = tail_quad(lhs[i] + k, tail); });
      spill(last);
      group(even, rhs, [&](auto i) OCTET_INLINE { return last[i]; });
      rhs += 64;
    }
    if (tap == t.taps) break;
    next_tap(t, tap, lhs);
  }
  unroll<rows>([&](auto i) OCTET_INLINE { even[i] = _mm256_add_epi32(even[i], odd[i]); });
  const __m256i fifth = even[4 < rows ? 4 : 0], sixth = even[rows - 1];
  if (t.scale)
    avx2_requantize6(t, even[0], even[0], even[1], even[1], even[2], even[2], even[3], even[3],
                     fifth, fifth, sixth, sixth);
  else
    unroll<rows>([&](auto i) OCTET_INLINE {
      store_s32((uint8_t*)t.dst + i * t.dst_stride, even[i], t.cols);
    });
}

template <int rows>
void multiply_flipped_half(const Tile& t) {
  const __m256i flips = _mm256_set1_epi32((int32_t)t.lhs_flip);
  multiply_half<rows>(t, [&](__m256i lhs) OCTET_INLINE { return _mm256_xor_si256(lhs, flips); });
}

// Of 4 rows and more. A flip by 0 costs a third of the time, which only full tiles are spared.
void multiply_up_to_8(const Tile& t) {
  if (t.rows < kMr) return t.rows == 4 ? multiply_flipped_half<4>(t) : multiply_flipped_half<5>(t);
  if (t.lhs_flip) return multiply_flipped_half<kMr>(t);
  multiply_half<kMr>(t, [](__m256i lhs) OCTET_INLINE { return lhs; });
}

constexpr void (*kByRows[kMr])(const Tile&, bool) = {multiply<1>, multiply<2>, multiply<3>,
                                                     multiply<4>, multiply<5>, multiply<6>};

template <bool lhs_is_s8>
void dispatch(const Tile& t);
// Goes on to panel `columns` / kNr of a tile of several panels.
void pass_columns(Tile* t, size_t columns) {
  t->rhs += columns / kNr * t->rhs_panel_stride;
  t->init += columns;
  if (t->scale) t->scale += columns;
  t->dst = (uint8_t*)t->dst + columns * (makes_words(*t) ? sizeof(int32_t) : 1);
}
// Multiplies a tile of several panels.
template <bool lhs_is_s8>
__attribute__((noinline)) void multiply_panels(const Tile& t) {
  Tile tile = t;
  for (size_t left = t.cols;; left -= kNr) {
    tile.cols = left < kNr ? left : kNr;
    dispatch<lhs_is_s8>(tile);
    if (left <= kNr) return;
    pass_columns(&tile, kNr);
  }
}

template <bool lhs_is_s8>
void dispatch(const Tile& t) {
  if (__builtin_expect(t.cols > kNr, 0)) return multiply_panels<lhs_is_s8>(t);
  if (!lhs_is_s8 && t.rows >= 4 && t.cols <= 8) return multiply_up_to_8(t);
  kByRows[t.rows - 1](t, lhs_is_s8);
}

// Adds the products of `groups` vectors of weights to all rows, three of which have one address.
// quads: groups of depth in a vector, of as many fewer columns.
template <int rows, int vectors, bool flip, int quads>
OCTET_INLINE inline void add_groups(const uint8_t* (&lhs)[rows / 3], size_t stride,
                                    const uint8_t*& rhs, size_t groups,
                                    __m256i (&acc)[rows][vectors]) {
  constexpr size_t kGroup = quads == 1 ? 64 : 32;
  const auto step = [&](auto g) OCTET_INLINE {
    __m256i b[vectors];
    unroll<vectors>([&](auto v) OCTET_INLINE {
      b[v] = _mm256_loadu_si256((const __m256i*)(rhs + kGroup * g + 32 * v));
    });
    unroll<rows>([&](auto i) OCTET_INLINE {
      const uint8_t* const from = lhs[i / 3] + i % 3 * stride + 4 * quads * g;
      __m256i a = quads == 1 ? _mm256_set1_epi32(load_quad(from))
                             : _mm256_broadcastq_epi64(_mm_loadl_epi64((const __m128i*)from));
      if constexpr (flip) a = _mm256_xor_si256(a, _mm256_set1_epi32((int)0x80808080));
      unroll<vectors>([&](auto v) OCTET_INLINE { U8::add_products(acc[i][v], a, b[v]); });
    });
  };
  const auto pass = [&](auto count) OCTET_INLINE {
    unroll<rows / 3>([&](auto i) OCTET_INLINE {
      lhs[i] += 4 * quads * count;
      __asm__("" : "+r"(lhs[i]));
    });
    rhs += kGroup * count;
  };
  if constexpr (flip) {  // flips take a register, and with two groups GCC 12 spills a sum
    OCTET_NO_UNROLL
    for (; groups; --groups) {
      step(Int<0>{});
      pass(Int<1>{});
    }
    return;
  }
  OCTET_NO_UNROLL
  for (size_t twos = groups / 2; twos; --twos) {
    step(Int<0>{});
    step(Int<1>{});
    pass(Int<2>{});
  }
  if (groups % 2) {
    step(Int<0>{});
    pass(Int<1>{});
  }
}

// Stores words: sums of whole lines line by line, so that halves of a line meet on their way.
template <int rows, int vectors>
OCTET_INLINE inline void leave_words(const WordsExit& exit, size_t column, const float* row_scale,
                                     const __m256i (&acc)[rows][vectors], uint8_t* dst) {
  if (vectors == 1 || exit.scales || exit.cols - column < kNr)
    return exit.leave(column, row_scale, acc, dst);
  uint8_t *to = dst + column * sizeof(int32_t), *next = to + rows * exit.stride;
  unroll<rows>([&](auto i) OCTET_INLINE {
    _mm_prefetch((const char*)next, _MM_HINT_T0);
    unroll<vectors>([&](auto v)
                        OCTET_INLINE { _mm256_storeu_si256((__m256i*)(to + 32 * v), acc[i][v]); });
    to += exit.stride, next += exit.stride;
    __asm__("" : "+r"(to), "+r"(next));  // else GCC 12 keeps the addresses of all rows
  });
}

// Multiplies all rows by a micro-panel in one call, six at a time, or twelve by at most eight
// columns. Rows of words meet up to four panels, one after the other: what they write lies side by
// side.
template <int rows, int vectors, bool flip, int quads>
__attribute__((noinline)) void multiply_all_rows(const Tile& t, const uint8_t* weights) {
  const size_t cols = t.cols, stride = t.lhs_stride, groups = t.depth / (4 * quads);
  const uint8_t *from = (const uint8_t*)t.lhs, *panel = weights;
  const float* row_scale = t.row_scale;
  uint8_t* dst = (uint8_t*)t.dst;
  size_t left = t.rows, column = 0;
  const RowsExit exit(t);
  const WordsExit words_exit(t);
  for (;;) {
    __m256i acc[rows][vectors];
    unroll<rows>([&](auto i) OCTET_INLINE {
      unroll<vectors>([&](auto v) OCTET_INLINE {
        acc[i][v] = quads == 1 ? _mm256_loadu_si256((const __m256i*)(t.init + column + 8 * v))
                               : _mm256_setzero_si256();
        pin(acc[i][v]);
      });
    });
    const uint8_t *lhs[rows / 3], *rhs = panel;
    unroll<rows / 3>([&](auto i) OCTET_INLINE { lhs[i] = from + i * 3 * stride; });
    for (size_t tap = 1;; ++tap) {
      add_groups<rows, vectors, flip, quads>(lhs, stride, rhs, groups, acc);
      if (tap == t.taps) break;
      const ptrdiff_t step = t.tap_steps[tap - 1] - (ptrdiff_t)t.depth;
      unroll<rows / 3>([&](auto i) OCTET_INLINE { lhs[i] += step; });
    }
    if constexpr (quads > 1)
      leave_few(exit, t, acc, dst);
    else if (makes_words(t))
      leave_words(words_exit, column, row_scale, acc, dst);
    else
      leave_rows(exit, t.scale, cols, acc, dst);
    if (vectors == 2 && column + kNr < cols) {
      column += kNr;
      panel += t.rhs_panel_stride;
      continue;
    }
    if (left == rows) return;
    column = 0;
    panel = weights;
    const size_t next = left < 2 * rows ? left - rows : rows;
    left -= next;
    from += next * stride;
    dst += next * t.dst_stride;
    if (row_scale) row_scale += next;
  }
}

template <int rows, int vectors, int quads>
OCTET_INLINE inline void multiply_all_rows(const Tile& t, const uint8_t* weights) {
  t.lhs_flip ? multiply_all_rows<rows, vectors, true, quads>(t, weights)
             : multiply_all_rows<rows, vectors, false, quads>(t, weights);
}

void multiply_sixes(const Tile& t) { multiply_all_rows<kMr, 2, 1>(t, t.rhs); }

constexpr size_t kMostTurned = 4096;  // bytes of weights
void multiply_twelves(const Tile& t) {
  const size_t bytes = t.depth * t.taps * kFewColumns;
  if (t.cols > kFewColumns || t.depth % 8 || bytes > kMostTurned || !makes_bytes_in_float_mode(t))
    return multiply_all_rows<2 * kMr, 1, 1>(t, t.rhs);
  alignas(32) uint8_t turned[kMostTurned];
  const uint8_t* rhs = t.rhs;
  for (size_t at = 0; at < bytes; at += 32, rhs += 128)
    _mm256_store_si256((__m256i*)(turned + at),
                       turned_quads(_mm_loadu_si128((const __m128i*)rhs),
                                    _mm_loadu_si128((const __m128i*)(rhs + 64))));
  multiply_all_rows<2 * kMr, 1, 2>(t, turned);
}

void multiply_micro_panel(const Tile& t) {
  const size_t last = t.cols % kNr;
  if (t.cols > kNr && last && last <= 8) {  // twelve rows at a time, as others of so few columns
    Tile tile = t;
    tile.cols -= last;
    multiply_micro_panel(tile);
    pass_columns(&tile, tile.cols);
    tile.cols = last;
    return multiply_micro_panel(tile);
  }
  t.cols > 8 ? multiply_whole_tiles<dispatch<false>, kMr, kMr, kRepeated / 2>(t, multiply_sixes)
             : multiply_whole_tiles<dispatch<false>, kMr, 2 * kMr, kRepeated>(t, multiply_twelves);
}

constexpr uint16_t kFlags = kRequantizes | kRequantizesTflite | kStoresFloats | kRowInit;

}  // namespace

const MicroKernel avxvnni_u8s8_6x16x4 = {
    .name = "avxvnni_u8s8_6x16x4",
    .tier_id = TierId::kAvxVnni,
    .lhs_element_type = ElementType::kU8,
    .mr = kMr,
    .nr = kNr,
    .flags = kAnyLhs | kFlags,
    .rhs_layout = kX86Layout,
    .lhs_kr = 4,
    .flip_rows = flip_rows,
    .multiply = dispatch<false>,
    .multiply_micro_panel = multiply_micro_panel,
    .micro_panel = {4, 4096, 1, kNr, true, 4 * kNr},
    .add_tap = avxvnni_add_tap,
    .few_nr = 8,
};

#if defined(OCTET_AVXVNNIINT8)
const MicroKernel avxvnni_s8s8_6x16x4 = {
    .name = "avxvnni_s8s8_6x16x4",
    .tier_id = TierId::kAvxVnni,
    .lhs_element_type = ElementType::kS8,
    .mr = kMr,
    .nr = kNr,
    .flags = kFlags,
    .rhs_layout = kX86Layout,
    .lhs_kr = 4,
    .multiply = dispatch<true>,
    .needs = kHasAvxVnniInt8,
};
#endif
}  // namespace octet
