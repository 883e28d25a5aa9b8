// u8 x s8 -> s32 or 8 bits, VPDPBUSD on zmm, up to 6 rows x 64 columns or 12 rows x 32.
//
//                      columns 0-15   16-31    32-47    48-63
//                     +------------+--------+--------+--------+
//   row i, 4 bytes    | acc[i][0]  |  [1]   |  [2]   |  [3]   |
//   broadcast         +------------+--------+--------+--------+
//
// 24 accumulators, 4 for rhs, 1 for lhs: 29 registers of 32.
//
// Per group of 4 along depth: 4 loads, one from each of four panels, 6 broadcasts, 24 dot products.
// The lhs rows, and the rows of each tap of a convolution, are read where they lie: no copy. The
// kernel is instantiated over the vectors of columns. Each count of rows and each sign of the lhs
// has depth loops of its own; all other code is shared. Few rows split the depth over several sets
// of accumulators to hide the latency.
#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/store_tile_zmm.h"

namespace octet {
namespace {

constexpr int kMr = 6, kVectors = 4, kTallMr = 12, kTallVectors = 2;
constexpr size_t kNearDepth = 512;  // of 64 columns: 32 KB

// Broadcasts four lhs bytes to every lane. The same instruction flips an s8 lhs to u8.
template <bool flip>
inline __m512i broadcast(const uint8_t* bytes) {
  int32_t quad;
  __builtin_memcpy(&quad, bytes, sizeof quad);
  const __m512i lanes = _mm512_set1_epi32(quad);
  return flip ? _mm512_xor_si512(lanes, _mm512_set1_epi32((int)0x80808080)) : lanes;
}

// The addresses of a tile's rows: one each or, for more rows than registers, one for every third
// row; the other rows are one or two strides from it.
template <int most>
struct RowAddresses {
  static constexpr bool kTall = most > kMr;
  static constexpr int kApart = kTall ? 3 : 1, kBases = (most + kApart - 1) / kApart;
  const uint8_t* base[kBases];
  size_t stride;

  OCTET_INLINE inline explicit RowAddresses(const Tile& t) : stride(t.lhs_stride) {
    for_rows<kBases>(kTall ? kBases : t.rows, [&](auto b) OCTET_INLINE {
      base[b] = !kTall && t.lhs_rows ? t.lhs_rows[b] : (const uint8_t*)t.lhs + b * kApart * stride;
    });
  }
  // k: steps since the tap began; a tall tile's bases move with them.
  OCTET_INLINE inline const uint8_t* of(int i, size_t k) const {
    return kTall ? base[i / kApart] + (size_t)(i % kApart) * stride : base[i / kApart] + k;
  }
  OCTET_INLINE inline void next_group() {
    if constexpr (kTall) unroll<kBases>([&](auto b) OCTET_INLINE { base[b] += 4; });
  }
  // From `tap` - 1 to `tap`, after k steps.
  OCTET_INLINE inline void next_tap(const Tile& t, size_t tap, size_t k) {
    const uint8_t* const* const rows = !kTall && t.lhs_rows ? t.lhs_rows + tap * t.rows : nullptr;
    const ptrdiff_t step = rows ? 0 : t.tap_steps[tap - 1] - (kTall ? (ptrdiff_t)k : 0);
    for_rows<kBases>(kTall ? kBases : t.rows,
                     [&](auto b) OCTET_INLINE { base[b] = rows ? rows[b] : base[b] + step; });
  }
};

// Multiplies the whole groups of a tap. Few rows split the depth over several sets of accumulators.
// far: the weights are more than an L1 cache; full tiles, which most are, prefetch them then.
template <bool flip, int rows, int most, int vectors>
OCTET_INLINE inline void add_groups(RowAddresses<most>& lhs, const uint8_t*& rhs, size_t panel,
                                    size_t& k, size_t end, bool far,
                                    __m512i (&acc)[most][vectors]) {
  constexpr int sets = sets_of(rows, vectors);
  __m512i more[sets][rows][vectors];  // but for the first, which is acc
  unroll<sets - 1>([&](auto s) OCTET_INLINE {
    unroll<rows>([&](auto i) OCTET_INLINE {
      unroll<vectors>([&](auto v) OCTET_INLINE { more[s + 1][i][v] = _mm512_setzero_si512(); });
    });
  });
  const auto sum = [&](auto set, int i, int v) OCTET_INLINE -> __m512i& {
    if constexpr (set.value == 0)
      return acc[i][v];
    else
      return more[set][i][v];
  };
  const auto step = [&](auto set, auto prefetches) OCTET_INLINE {
    __m512i b[vectors];
    unroll<vectors>([&](auto v) OCTET_INLINE {
      b[v] = _mm512_loadu_si512(rhs + v * panel);
      if (prefetches) _mm_prefetch((const char*)rhs + v * panel + kWeightsAhead, _MM_HINT_T0);
    });
    unroll<rows>([&](auto i) OCTET_INLINE {
      const __m512i a = broadcast<flip>(lhs.of(i, k));
      unroll<vectors>([&](auto v) OCTET_INLINE {
        __m512i& to = sum(set, i, v);
        to = _mm512_dpbusd_epi32(to, a, b[v]);
        pin(to);
      });
    });
    lhs.next_group();
    k += 4;
    rhs += 64;
  };
  if constexpr (rows == 1) {  // loads are the limit: one broadcast of 16 bytes serves four groups
    OCTET_NO_UNROLL
    while (k + 16 <= end) {
      __m512i quads = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i*)lhs.of(0, k)));
      if (flip) quads = _mm512_xor_si512(quads, _mm512_set1_epi32((int)0x80808080));
      unroll<4>([&](auto group) OCTET_INLINE {
        const __m512i a = _mm512_shuffle_epi32(quads, (_MM_PERM_ENUM)(group * 0x55));
        unroll<vectors>([&](auto v) OCTET_INLINE {
          __m512i& to = sum(Int<group.value % sets>{}, 0, v);
          to = _mm512_dpbusd_epi32(to, a, _mm512_loadu_si512(rhs + v * panel));
          pin(to);
        });
        rhs += 64;
      });
      k += 16;
    }
  } else if constexpr (sets > 1) {
    OCTET_NO_UNROLL
    while (k + 4 * sets <= end) unroll<sets>([&](auto set) OCTET_INLINE { step(set, Int<0>{}); });
  } else if constexpr (rows + 2 >= most && vectors == (most > kMr ? kTallVectors : kVectors)) {
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

// Multiplies the last 1..3 steps of a tap. Masked loads never read past a row.
template <int most, int vectors>
OCTET_INLINE inline void add_tail(const Tile& t, const RowAddresses<most>& lhs, const uint8_t* rhs,
                                  size_t k, size_t tail, __m512i (&acc)[most][vectors]) {
  const __mmask16 bytes = (__mmask16)((1 << tail) - 1);
  const __m512i flips = _mm512_set1_epi32((int)t.lhs_flip);
  __m512i b[vectors];
  unroll<vectors>([&](auto v)
                      OCTET_INLINE { b[v] = _mm512_loadu_si512(rhs + v * t.rhs_panel_stride); });
  for_rows<most>(t.rows, [&](auto i) OCTET_INLINE {
    const __m128i quad = _mm_maskz_loadu_epi8(bytes, lhs.of(i, k));
    const __m512i a = _mm512_xor_si512(_mm512_broadcastd_epi32(quad), flips);
    unroll<vectors>([&](auto v) OCTET_INLINE {
      acc[i][v] = _mm512_dpbusd_epi32(acc[i][v], a, b[v]);
      pin(acc[i][v]);
    });
  });
}

// Tiles of least..most rows: only the depth loops differ by the count.
template <int least, int most, int vectors>
void multiply(const Tile& t) {
  __m512i acc[most][vectors];
  start_tile(t, acc);
  RowAddresses<most> lhs(t);
  const uint8_t* rhs = t.rhs;
  const size_t panel = t.rhs_panel_stride, end = t.depth / 4 * 4;
  const Tile* again = &t;  // values needed between taps and at the end are read again from memory
  spill(again);
  for (size_t tap = 1;; ++tap) {
    size_t k = 0;
    const bool far = again->depth * again->taps > kNearDepth;
    by_rows<least, most>(again->rows, [&](auto rows) OCTET_INLINE {
      if (again->lhs_flip)
        add_groups<true, rows>(lhs, rhs, panel, k, end, far, acc);
      else
        add_groups<false, rows>(lhs, rhs, panel, k, end, far, acc);
    });
    spill(again);  // else GCC 12 reads it before the loop, into a vector register
    if (const size_t tail = again->depth % 4) {
      add_tail(*again, lhs, rhs, k, tail, acc);
      rhs += 64;
      spill(again);
    }
    if (tap == again->taps) break;
    lhs.next_tap(*again, tap, k);
  }
  store_tile(*again, acc);
}

}  // namespace

void avx512vnni_multiply_u8s8(const Tile& t) {
  static constexpr MultiplyFn kOne[kVectors] = {multiply<1, 1, 1>, multiply<1, 1, 2>,
                                                multiply<1, 1, 3>, multiply<1, 1, 4>},
                              kFew[kVectors] = {multiply<2, kMr, 1>, multiply<2, kMr, 2>,
                                                multiply<2, kMr, 3>, multiply<2, kMr, 4>},
                              kTall[kTallVectors] = {multiply<kMr + 1, kTallMr, 1>,
                                                     multiply<kMr + 1, kTallMr, 2>};
  (t.rows == 1 ? kOne : t.rows <= kMr ? kFew : kTall)[(t.cols - 1) / 16](t);
}

const MicroKernel avx512vnni_u8s8_6x64x4 = {
    .name = "avx512vnni_u8s8_6x64x4",
    .isa = Isa::kAvx512Vnni,
    .lhs_element_type = ElementType::kU8,
    .mr = kMr,
    .nr = 16 * kVectors,
    .flags = kAnyLhs | kRequantizes | kRequantizesTflite | kStoresFloats | kRowInit,
    .rhs_layout = kX86Layout,
    .lhs_kr = 4,
    .multiply = avx512vnni_multiply_u8s8,
    .tall_mr = kTallMr,
    .tall_nr = 16 * kTallVectors,
};

}  // namespace octet
