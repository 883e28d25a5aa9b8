// SPDX-License-Identifier: Apache-2.0
// u8 x s8 -> s32 or 8 bits, VPDPBUSD on zmm, up to 6 rows x 64 columns or 12 rows x 32; up to 8
// columns in a way of their own (Few).
//
//                      columns 0-15   16-31    32-47    48-63
//                     +------------+--------+--------+--------+
//   row i, 4 bytes    | acc[i][0]  |  [1]   |  [2]   |  [3]   |
//   broadcast         +------------+--------+--------+--------+
//
// 24 accumulators, 4 for rhs, 1 for lhs: 29 registers of 32.
// Per group of 4 along depth: 4 loads, one from each of four panels, 6 broadcasts, 24 dot products.
// The lhs rows, and the rows of each tap of a convolution, are read where they lie: no copy. The
// kernel is instantiated over the vectors of columns. Each count of rows and each sign of the lhs
// has depth loops of its own. Few rows split the depth over several sets of accumulators.
#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/shallow_zmm.h"
#include "kernels/x86/shared/store_tile_zmm.h"
#include "kernels/x86/shared/tail.h"

namespace octet {
namespace {

constexpr int kMr = 6, kVectors = 4, kTallMr = 12, kTallVectors = 2;
// Products of a column that are repeated rather than multiplied in tiles of other heights
constexpr size_t kRepeated = 800;
constexpr size_t kMostOfFew = 8;    // at most which Few takes
constexpr size_t kNearDepth = 512;  // of 64 columns: 32 KB

// The addresses of a tile's rows: one each or, for more rows than registers, one for every third
// row; the other rows are one or two strides from it. Where Form takes all rows, those that a tile
// lacks are others again.
template <int most, typename Form>
struct RowAddresses {
  static constexpr bool kTall = most > kMr;
  static constexpr int kApart = kTall ? 3 : 1, kBases = (most + kApart - 1) / kApart;
  const uint8_t* base[kBases];
  size_t stride;

  OCTET_INLINE inline explicit RowAddresses(const Tile& t) : stride(t.lhs_stride) {
    each_base(t, [&](auto b) OCTET_INLINE {
      base[b] = !kTall && t.lhs_rows ? t.lhs_rows[row_of(t, b)]
                                     : (const uint8_t*)t.lhs + row_of(t, b * kApart) * stride;
    });
  }
  // The tile's row that stands for row i, the first of a base.
  OCTET_INLINE static inline size_t row_of(const Tile& t, size_t i) {
    return Form::kAllRows && i + kApart > t.rows ? t.rows - kApart : i;
  }
  // ... for any row i.
  OCTET_INLINE static inline size_t row_at(const Tile& t, size_t i) {
    return row_of(t, i / kApart * kApart) + i % kApart;
  }
  // k: steps since the tap began; a tall tile's bases move with them.
  OCTET_INLINE inline const uint8_t* of(int i, size_t k) const {
    return kTall ? base[i / kApart] + (size_t)(i % kApart) * stride : base[i / kApart] + k;
  }
  OCTET_INLINE inline void next_group() {
    if constexpr (kTall) unroll<kBases>([&](auto b) OCTET_INLINE { base[b] += 4 * Form::kQuads; });
  }
  // From `tap` - 1 to `tap`, after k steps.
  OCTET_INLINE inline void next_tap(const Tile& t, size_t tap, size_t k) {
    const uint8_t* const* const rows = !kTall && t.lhs_rows ? t.lhs_rows + tap * t.rows : nullptr;
    const ptrdiff_t step = rows ? 0 : t.tap_steps[tap - 1] - (kTall ? (ptrdiff_t)k : 0);
    each_base(t,
              [&](auto b) OCTET_INLINE { base[b] = rows ? rows[row_of(t, b)] : base[b] + step; });
  }

 private:
  template <typename F>
  OCTET_INLINE static inline void each_base(const Tile& t, const F& f) {
    for_rows<kBases>(kTall || Form::kAllRows ? kBases : t.rows, f);
  }
};

// Multiplies the whole groups of a tap. Few rows split the depth over several sets of accumulators.
// far: the weights are more than an L1 cache; full tiles, which most are, prefetch them then.
template <typename Form, bool flip, int rows, int most>
OCTET_INLINE inline void add_groups(RowAddresses<most, Form>& lhs, const uint8_t*& rhs,
                                    size_t panel, size_t& k, size_t end, bool far,
                                    __m512i (&acc)[most][Form::kVectors]) {
  constexpr int vectors = Form::kVectors, quads = Form::kQuads, sets = sets_of(rows, vectors);
  __m512i more[sets][rows][vectors];  // but for the first, which is acc
  unroll<sets - 1>([&](auto s) OCTET_INLINE {
    unroll<rows>([&](auto i) OCTET_INLINE {
      unroll<vectors>([&](auto v) OCTET_INLINE { more[s + 1][i][v] = _mm512_setzero_si512(); });
    });
  });
  // No reference: GCC 9 refuses an attribute before a lambda's return type.
  const auto sum = [&](auto set, int i, int v) OCTET_INLINE {
    if constexpr (set.value == 0)
      return &acc[i][v];
    else
      return &more[set][i][v];
  };
  const auto step = [&](auto set, auto prefetches) OCTET_INLINE {
    __m512i b[vectors];
    unroll<vectors>([&](auto v) OCTET_INLINE {
      b[v] = Form::weights(rhs + v * panel, quads);
      // Else GCC reads the weights again for each row: a zmm load takes Zen 4 as long as a product.
      if constexpr (rows == 2 || rows == 3) pin(b[v]);
      if (prefetches) _mm_prefetch((const char*)rhs + v * panel + kWeightsAhead, _MM_HINT_T0);
    });
    unroll<rows>([&](auto i) OCTET_INLINE {
      const __m512i a = broadcast<Form, flip>(lhs.of(i, k));
      unroll<vectors>([&](auto v) OCTET_INLINE {
        __m512i& to = *sum(set, i, v);
        to = _mm512_dpbusd_epi32(to, a, b[v]);
        pin(to);
      });
    });
    lhs.next_group();
    k += 4 * quads;
    rhs += 64 * quads;
  };
  if constexpr (rows == 1 &&
                quads == 1) {  // loads are the limit: one broadcast of 16 bytes serves four groups
    OCTET_NO_UNROLL
    while (k + 16 <= end) {
      __m512i quads = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i*)lhs.of(0, k)));
      if (flip) quads = _mm512_xor_si512(quads, _mm512_set1_epi32((int)0x80808080));
      unroll<4>([&](auto group) OCTET_INLINE {
        const __m512i a = _mm512_shuffle_epi32(quads, (_MM_PERM_ENUM)(group * 0x55));
        unroll<vectors>([&](auto v) OCTET_INLINE {
          __m512i& to = *sum(Int<group.value % sets>{}, 0, v);
          to = _mm512_dpbusd_epi32(to, a, _mm512_loadu_si512(rhs + v * panel));
          pin(to);
        });
        rhs += 64;
      });
      k += 16;
    }
  } else if constexpr (sets > 1) {
    OCTET_NO_UNROLL
    while (k + 4 * quads * sets <= end)
      unroll<sets>([&](auto set) OCTET_INLINE { step(set, Int<0>{}); });
  } else if constexpr (rows == most && vectors == (most > kMr ? kTallVectors : kVectors)) {
    if (far) {
      OCTET_NO_UNROLL
      while (k < end) step(Int<0>{}, Int<1>{});
    }
  }
  OCTET_NO_UNROLL
  while (k < end) step(Int<0>{}, Int<0>{});
  unroll<sets - 1>([&](auto s) OCTET_INLINE {
    unroll<rows>([&](auto i) OCTET_INLINE {
      unroll<vectors>(
          [&](auto v) OCTET_INLINE { acc[i][v] = _mm512_add_epi32(acc[i][v], more[s + 1][i][v]); });
    });
  });
}

// Multiplies the last steps of a tap, less than a group. Masked loads never read past a row.
template <typename Form, int most>
OCTET_INLINE inline void add_tail(const Tile& t, const RowAddresses<most, Form>& lhs,
                                  const uint8_t*& rhs, size_t k, size_t tail,
                                  __m512i (&acc)[most][Form::kVectors]) {
  constexpr int vectors = Form::kVectors;
  const int quads = Form::kQuads == 1 ? 1 : (int)(tail + 3) / 4;
  const __mmask16 bytes = (__mmask16)((1 << tail) - 1);
  const __m512i flips = _mm512_set1_epi32((int)t.lhs_flip);
  __m512i b[vectors];
  unroll<vectors>([&](auto v)
                      OCTET_INLINE { b[v] = Form::weights(rhs + v * t.rhs_panel_stride, quads); });
  for_rows<most>(Form::kAllRows ? most : t.rows, [&](auto i) OCTET_INLINE {
    const __m512i a =
        _mm512_xor_si512(Form::repeat(_mm_maskz_loadu_epi8(bytes, lhs.of(i, k))), flips);
    unroll<vectors>([&](auto v) OCTET_INLINE {
      acc[i][v] = _mm512_dpbusd_epi32(acc[i][v], a, b[v]);
      pin(acc[i][v]);
    });
  });
  rhs += 64 * quads;
}

template <int least, int most, typename Form>
void multiply(const Tile& t);

// The tile of 16 columns stores the sums, which are its init, and multiplies nothing.
template <typename Form, int most>
OCTET_INLINE inline void store_few(const Tile& t, const __m512i (&acc)[most][1]) {
  constexpr int kLanes = 16;
  alignas(64) int32_t init[most][kLanes];
  __m512i sums[most];
  Form::side_by_side(acc, sums);
  unroll<most>([&](auto i) OCTET_INLINE {
    const size_t row = RowAddresses<most, Form>::row_at(t, i);
    _mm512_store_si512(init[row],
                       _mm512_add_epi32(sums[i], _mm512_loadu_si512(t.init + row * t.init_stride)));
  });
  Tile stored = t;
  stored.depth = 0, stored.taps = 1;
  stored.init = init[0], stored.init_stride = kLanes;
  multiply<most == kMr ? 2 : kMr + 1, most, Wide<1>>(stored);
}

// Tiles of least..most rows: only the depth loops differ by the count.
template <int least, int most, typename Form>
void multiply(const Tile& t) {
  constexpr int vectors = Form::kVectors, group = 4 * Form::kQuads;
  __m512i acc[most][vectors];
  if constexpr (Form::kQuads == 1)
    start_tile(t, acc);
  else
    unroll<most>([&](auto i) OCTET_INLINE { acc[i][0] = _mm512_setzero_si512(); });
  RowAddresses<most, Form> lhs(t);
  const uint8_t* rhs = t.rhs;
  const size_t panel = t.rhs_panel_stride, end = t.depth / group * group;
  const Tile* again = &t;  // values needed between taps and at the end are read again from memory
  spill(again);
  for (size_t tap = 1;; ++tap) {
    size_t k = 0;
    const bool far = again->depth * again->taps > kNearDepth;
    by_rows<Form::kAllRows ? most : least, most>(again->rows, [&](auto rows) OCTET_INLINE {
      if (again->lhs_flip)
        add_groups<Form, true, rows>(lhs, rhs, panel, k, end, far, acc);
      else
        add_groups<Form, false, rows>(lhs, rhs, panel, k, end, far, acc);
    });
    spill(again);  // else GCC 12 reads it before the loop, into a vector register
    if (const size_t tail = again->depth % group) {
      add_tail<Form>(*again, lhs, rhs, k, tail, acc);
      spill(again);
    }
    if (tap == again->taps) break;
    lhs.next_tap(*again, tap, k);
  }
  if constexpr (Form::kQuads == 1)
    store_tile<avx512vnni_requantize, false, true>(*again, acc);
  else
    store_few<Form>(*again, acc);
}

template <typename Form>
void multiply_few(const Tile& t) {
  (t.rows <= kMr ? multiply<2, kMr, Form> : multiply<kMr + 1, kTallMr, Form>)(t);
}

}  // namespace

void avx512vnni_multiply_u8s8(const Tile& t) {
  static constexpr MultiplyFn kOne[kVectors] = {multiply<1, 1, Wide<1>>, multiply<1, 1, Wide<2>>,
                                                multiply<1, 1, Wide<3>>, multiply<1, 1, Wide<4>>},
                              kSome[kVectors] = {multiply<2, kMr, Wide<1>>,
                                                 multiply<2, kMr, Wide<2>>,
                                                 multiply<2, kMr, Wide<3>>,
                                                 multiply<2, kMr, Wide<4>>},
                              kTall[kTallVectors] = {multiply<kMr + 1, kTallMr, Wide<1>>,
                                                     multiply<kMr + 1, kTallMr, Wide<2>>};
  // Few takes longer to begin and to end. Time by Wide over its own, Cascade Lake, 2026-11-28: 4
  // columns 1.0 to 1.07 with a depth of 64, 1.9 with 1024; 8 columns 0.9, 1.1 with 128, 1.4; 0.65
  // for one row.
  if (__builtin_expect(t.cols <= kMostOfFew, 0) && t.rows >= 4 && t.depth >= 16) {
    const size_t depth = t.depth * t.taps;
    if (t.cols <= 4 && depth >= 64) return multiply_few<Few<4>>(t);
    if (depth >= 128) return multiply_few<Few<8>>(t);
  }
  (t.rows == 1 ? kOne : t.rows <= kMr ? kSome : kTall)[(t.cols - 1) / 16](t);
}

namespace {

// All rows in one call, fourteen at a time, of which the lines of most networks are multiples:
// operands are addressed, and the requantization is read, once. The last tile repeats rows.
constexpr int kRows = 14;

// Adds the products of some rows and of all taps, by weights as the form has them.
template <typename Form, bool flip, int rows>
OCTET_INLINE inline void add_rows(const Tile& t, const uint8_t* from, const uint8_t* weights,
                                  __m512i (&acc)[rows][Form::kVectors]) {
  constexpr int vectors = Form::kVectors, kBases = (rows + 2) / 3, kStep = 4 * Form::kQuads;
  const size_t stride = t.lhs_stride, panel = t.rhs_panel_stride;
  const uint8_t* base[kBases];
  unroll<kBases>([&](auto b) OCTET_INLINE { base[b] = from + b * 3 * stride; });
  for (size_t tap = 1;; ++tap) {
    OCTET_NO_UNROLL
    for (size_t groups = t.depth / kStep; groups; --groups, weights += 64) {
      __m512i b[vectors];
      unroll<vectors>([&](auto v) OCTET_INLINE { b[v] = _mm512_loadu_si512(weights + v * panel); });
      unroll<rows>([&](auto i) OCTET_INLINE {
        const __m512i a = broadcast<Form, flip>(base[i / 3] + (size_t)(i % 3) * stride);
        unroll<vectors>([&](auto v) OCTET_INLINE {
          acc[i][v] = _mm512_dpbusd_epi32(acc[i][v], a, b[v]);
          pin(acc[i][v]);
        });
      });
      unroll<kBases>([&](auto b) OCTET_INLINE { base[b] += kStep; });
    }
    if (tap == t.taps) break;
    const ptrdiff_t step = t.tap_steps[tap - 1] - (ptrdiff_t)t.depth;
    unroll<kBases>([&](auto b) OCTET_INLINE { base[b] += step; });
  }
}

// To bytes, by up to 16 columns, or by 17 to 32. Vectors beyond the last are others again.
template <typename Form, bool flip>
void multiply_all_rows(const Tile& t, const uint8_t* weights) {
  constexpr int vectors = Form::kVectors,
                kSums = (kRows * vectors + Form::kQuads - 1) / Form::kQuads,
                kWidth = 16 * vectors / Form::kQuads;
  const size_t stride = t.lhs_stride, to_stride = t.dst_stride;
  const uint8_t* from = (const uint8_t*)t.lhs;
  uint8_t* dst = (uint8_t*)t.dst;
  const __mmask64 mask = ~(__mmask64)0 >> (64 - t.cols);
  const Requantizer<64> requantizer(*t.requantization);
  __m512i init[vectors];
  __m512 scale[vectors];
  unroll<vectors>([&](auto v) OCTET_INLINE {
    init[v] = Form::for_rows_of(t.init + 16 * v);
    scale[v] = _mm512_castsi512_ps(Form::for_rows_of(t.scale + 16 * v));
  });
  for (size_t left = t.rows;;) {
    __m512i acc[kRows][vectors];
    unroll<kRows>([&](auto i) OCTET_INLINE {
      unroll<vectors>([&](auto v) OCTET_INLINE {
        acc[i][v] = Form::kQuads == 1 ? init[v] : _mm512_setzero_si512();
      });
    });
    add_rows<Form, flip>(t, from, weights, acc);
    unroll<(kSums + 3) / 4>([&](auto part) OCTET_INLINE {
      constexpr int first = 4 * part.value;
      const auto s32 = [&](auto j) OCTET_INLINE {
        constexpr int at = first + j.value < kSums ? first + j.value : kSums - 1, v = at % vectors;
        __m512i sums = Form::template sums_of<at / vectors * Form::kQuads, kRows>(
            [&](int i) OCTET_INLINE { return acc[i][v]; });
        if constexpr (Form::kQuads > 1) sums = _mm512_add_epi32(sums, init[0]);
        return scaled(sums, scale[v]);
      };
      const __m512i bytes = in_order(requantizer.bytes(pack_int16(s32(Int<0>{}), s32(Int<1>{})),
                                                       pack_int16(s32(Int<2>{}), s32(Int<3>{}))));
      unroll<4 / vectors>([&](auto part) OCTET_INLINE {
        constexpr int row = (first / vectors + part.value) * Form::kQuads;
        unroll<Form::kQuads>([&](auto i) OCTET_INLINE {
          if constexpr (row + i.value < kRows)
            store_part<vectors, part.value>(dst + (row + i.value) * to_stride, mask,
                                            _mm512_bsrli_epi128(bytes, i.value * kWidth));
        });
      });
    });
    if (left == kRows) return;
    const size_t next = left < 2 * kRows ? left - kRows : kRows;
    left -= next;
    from += next * stride;
    dst += next * to_stride;
  }
}

// To words: up to 32 columns fourteen rows at a time, more six, which write 256 bytes of a line.
template <bool flip, int rows, int vectors>
__attribute__((noinline)) void rows_to_words(const Tile& t) {
  const WordsExit exit(t);
  const uint8_t* from = (const uint8_t*)t.lhs;
  const float* row_scale = t.row_scale;
  uint8_t* dst = (uint8_t*)t.dst;
  for (size_t left = t.rows;;) {
    __m512i acc[rows][vectors];
    unroll<vectors>([&](auto v) OCTET_INLINE {
      acc[0][v] = _mm512_loadu_si512(t.init + 16 * v);
      unroll<rows - 1>([&](auto i) OCTET_INLINE { acc[i + 1][v] = acc[0][v]; });
    });
    add_rows<Wide<vectors>, flip>(t, from, t.rhs, acc);
    exit.leave(0, row_scale, acc, dst);
    if (left == rows) return;
    const size_t next = left < 2 * rows ? left - rows : rows;
    left -= next;
    from += next * t.lhs_stride;
    dst += next * t.dst_stride;
    if (row_scale) row_scale += next;
  }
}
template <int rows, int vectors>
void all_rows_to_words(const Tile& t) {
  t.lhs_flip ? rows_to_words<true, rows, vectors>(t) : rows_to_words<false, rows, vectors>(t);
}
template <int rows, int vectors>
void by_words_of(const Tile& t) {
  multiply_whole_tiles<avx512vnni_multiply_u8s8, vectors <= kTallVectors ? kTallMr : kMr, rows,
                       kRepeated>(t, all_rows_to_words<rows, vectors>);
}

constexpr size_t kMostTurned = 4096;  // bytes of weights
template <typename Form>
bool suits(const Tile& t) {
  const size_t step = 4 * Form::kQuads, groups = t.depth * t.taps / step;
  return t.depth % step == 0 && groups >= 3 && groups <= kMostTurned / 64;
}
// The same by weights that are turned once, if they are.
template <typename Form>
void multiply_whole(const Tile& t) {
  const auto multiply = t.lhs_flip ? multiply_all_rows<Form, true> : multiply_all_rows<Form, false>;
  if constexpr (Form::kQuads == 1) return multiply(t, t.rhs);
  alignas(64) uint8_t turned[kMostTurned];
  const uint8_t* rhs = t.rhs;
  for (size_t groups = t.depth * t.taps / (4 * Form::kQuads), g = 0; g < groups; ++g) {
    _mm512_store_si512(turned + 64 * g, Form::weights(rhs, Form::kQuads));
    rhs += 64 * Form::kQuads;
  }
  multiply(t, turned);
}

void multiply_micro_panel(const Tile& t) {
  constexpr MultiplyFn tile = avx512vnni_multiply_u8s8;
  if (makes_words(t)) {
    // Tiles of few columns meet several groups of steps at once
    if (t.cols <= kMostOfFew && t.depth * t.taps >= (t.cols <= 4 ? 64 : 128))
      return multiply_by_tiles<tile, kTallMr>(t, t.rows);
    static constexpr MultiplyFn words[] = {by_words_of<kRows, 1>, by_words_of<kRows, 2>,
                                           by_words_of<kMr, 3>, by_words_of<kMr, kVectors>};
    if (multiply_shallow<tile, kMr, kRepeated>(t)) return;
    return words[(t.cols - 1) / 16](t);
  }
  const bool four = t.cols <= 4 && suits<Few<4>>(t), few = t.cols <= kMostOfFew;
  if (few && !four && !suits<Few<8>>(t) && t.depth * t.taps >= 128)
    return multiply_by_tiles<tile, kTallMr>(t, t.rows);
  const MultiplyFn whole = t.cols > 16               ? multiply_whole<Wide<2>>
                           : four                    ? multiply_whole<Few<4>>
                           : few && suits<Few<8>>(t) ? multiply_whole<Few<8>>
                                                     : multiply_whole<Wide<1>>;
  const size_t repeated = (kRows - t.rows % kRows) % kRows;
  if (t.rows >= kRows && repeated * t.depth * t.taps <= kRepeated && leaves_at_once(t))
    return whole(t);  // as below, but for a copy of the tile
  multiply_whole_tiles<tile, kTallMr, kRows, kRepeated>(t, whole);
}

}  // namespace

const MicroKernel avx512vnni_u8s8_6x64x4 = {
    .name = "avx512vnni_u8s8_6x64x4",
    .tier_id = TierId::kAvx512Vnni,
    .lhs_element_type = ElementType::kU8,
    .mr = kMr,
    .nr = 16 * kVectors,
    .flags = kAnyLhs | kRequantizes | kRequantizesTflite | kStoresFloats | kRowInit | kAddsResidual,
    .rhs_layout = kX86Layout,
    .lhs_kr = 4,
    .flip_rows = flip_rows,
    .flip_columns = 16,
    .multiply = avx512vnni_multiply_u8s8,
    .multiply_micro_panel = multiply_micro_panel,
    .micro_panel = {4, 4096, 1, 16 * kTallVectors, true},
    .add_tap = avx512vnni_add_tap,
    .tap_panels = 2,
    .tall_mr = kTallMr,
    .tall_nr = 16 * kTallVectors,
    .few_nr = 4,
};

}  // namespace octet
