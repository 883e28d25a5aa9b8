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
// kernel is instantiated over (rows, vectors of columns); few rows split the depth over several
// sets of accumulators to hide the latency. Each sign of the lhs has loops of its own, and all
// other code is shared: a sign costs a branch per tap and little code.
#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/store_tile_zmm.h"

namespace octet {
namespace {

constexpr int kMr = 6, kVectors = 4, kTallMr = 12;

// Broadcasts four lhs bytes to every lane. The same instruction flips an s8 lhs to u8.
template <bool flip>
inline __m512i broadcast(const uint8_t* bytes) {
  int32_t quad;
  __builtin_memcpy(&quad, bytes, sizeof quad);
  const __m512i lanes = _mm512_set1_epi32(quad);
  return flip ? _mm512_xor_si512(lanes, _mm512_set1_epi32((int)0x80808080)) : lanes;
}

// The address of row i from the addresses of every `apart`-th row.
template <int apart, int bases>
OCTET_INLINE inline const uint8_t* row_of(const uint8_t* const (&lhs)[bases], int i, size_t stride,
                                          size_t k) {
  return apart > 1 ? lhs[i / apart] + (size_t)(i % apart) * stride : lhs[i / apart] + k;
}

template <int rows, int vectors>
void multiply(const Tile& t) {
  constexpr int sets = rows * vectors >= 8 ? 1 : rows * vectors >= 4 ? 2 : 4;
  __m512i acc[sets][rows][vectors];
  start_tile(t, acc[0]);
  unroll<sets - 1>([&](auto s) OCTET_INLINE {
    unroll<rows>([&](auto i) OCTET_INLINE {
      unroll<vectors>([&](auto v) OCTET_INLINE { acc[s + 1][i][v] = _mm512_setzero_si512(); });
    });
  });
  // A tall tile has more rows than registers for addresses: every third row has an address, and the
  // others are one or two strides from it.
  constexpr bool tall = rows > kMr;
  constexpr int apart = tall ? 3 : 1, bases = (rows + apart - 1) / apart;
  const size_t stride = t.lhs_stride;
  const uint8_t* lhs[bases];
  unroll<bases>([&](auto b) OCTET_INLINE {
    lhs[b] = !tall && t.lhs_rows ? t.lhs_rows[b] : (const uint8_t*)t.lhs + b * apart * stride;
  });
  const uint8_t* rhs = t.rhs;
  const size_t panel = t.rhs_panel_stride, end = t.depth / 4 * 4;
  const Tile* again = &t;  // values needed between taps and at the end are read again from memory
  spill(again);
  for (size_t tap = 1;; ++tap) {
    size_t k = 0;
    const auto walk = [&](auto flip) OCTET_INLINE {
      const auto step = [&](auto set) OCTET_INLINE {
        __m512i b[vectors];
        unroll<vectors>([&](auto v) OCTET_INLINE { b[v] = _mm512_loadu_si512(rhs + v * panel); });
        unroll<rows>([&](auto i) OCTET_INLINE {
          const __m512i a = broadcast<flip>(row_of<apart>(lhs, i, stride, k));
          unroll<vectors>([&](auto v) OCTET_INLINE {
            acc[set][i][v] = _mm512_dpbusd_epi32(acc[set][i][v], a, b[v]);
            pin(acc[set][i][v]);
          });
        });
        if constexpr (tall) unroll<bases>([&](auto b) OCTET_INLINE { lhs[b] += 4; });
        k += 4;
        rhs += 64;
      };
      if constexpr (rows ==
                    1) {  // loads are the limit: one broadcast of 16 bytes serves four groups
        OCTET_NO_UNROLL
        while (k + 16 <= end) {
          __m512i quads = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i*)(lhs[0] + k)));
          if (flip) quads = _mm512_xor_si512(quads, _mm512_set1_epi32((int)0x80808080));
          unroll<4>([&](auto group) OCTET_INLINE {
            const __m512i a = _mm512_shuffle_epi32(quads, (_MM_PERM_ENUM)(group * 0x55));
            unroll<vectors>([&](auto v) OCTET_INLINE {
              acc[group % sets][0][v] = _mm512_dpbusd_epi32(acc[group % sets][0][v], a,
                                                            _mm512_loadu_si512(rhs + v * panel));
              pin(acc[group % sets][0][v]);
            });
            rhs += 64;
          });
          k += 16;
        }
      } else if constexpr (sets > 1) {
        OCTET_NO_UNROLL
        while (k + 4 * sets <= end) unroll<sets>(step);
      }
      OCTET_NO_UNROLL
      while (k < end) step(Int<0>{});
    };
    if (again->lhs_flip)
      walk(Int<1>{});
    else
      walk(Int<0>{});
    spill(again);  // else GCC 12 reads it before the loop, into a vector register

    if (const size_t tail = again->depth % 4) {  // masked loads never read past a row
      const __mmask16 bytes = (__mmask16)((1 << tail) - 1);
      const __m512i flips = _mm512_set1_epi32((int)again->lhs_flip);
      __m512i b[vectors];
      unroll<vectors>([&](auto v) OCTET_INLINE { b[v] = _mm512_loadu_si512(rhs + v * panel); });
      unroll<rows>([&](auto i) OCTET_INLINE {
        const __m128i quad = _mm_maskz_loadu_epi8(bytes, row_of<apart>(lhs, i, stride, k));
        const __m512i a = _mm512_xor_si512(_mm512_broadcastd_epi32(quad), flips);
        unroll<vectors>([&](auto v) OCTET_INLINE {
          acc[0][i][v] = _mm512_dpbusd_epi32(acc[0][i][v], a, b[v]);
          pin(acc[0][i][v]);
        });
      });
      rhs += 64;
      spill(again);
    }
    if (tap == again->taps) break;
    const uint8_t* const* rows_of_tap =
        !tall && again->lhs_rows ? again->lhs_rows + tap * rows : nullptr;
    const ptrdiff_t step_to_tap =
        rows_of_tap ? 0 : again->tap_steps[tap - 1] - (tall ? (ptrdiff_t)k : 0);
    unroll<bases>(
        [&](auto i) OCTET_INLINE { lhs[i] = rows_of_tap ? rows_of_tap[i] : lhs[i] + step_to_tap; });
  }
  unroll<sets - 1>([&](auto s) OCTET_INLINE {
    unroll<rows>([&](auto i) OCTET_INLINE {
      unroll<vectors>([&](auto v) OCTET_INLINE {
        acc[0][i][v] = _mm512_add_epi32(acc[0][i][v], acc[s + 1][i][v]);
      });
    });
  });
  // See shared/store_tile_ymm.h
  constexpr bool often = rows >= kMr - 1 || rows == 1;
  store_tile<often || vectors == 1>(*again, acc[0]);
}

template <int rows>
constexpr MultiplyFn kByVectors[kVectors] = {multiply<rows, 1>, multiply<rows, 2>,
                                             multiply<rows, 3>, multiply<rows, 4>};
template <int rows>
constexpr MultiplyFn kTall[2] = {multiply<rows, 1>, multiply<rows, 2>};

void dispatch(const Tile& t) {
  static constexpr const MultiplyFn* kByRows[kTallMr] = {
      kByVectors<1>, kByVectors<2>, kByVectors<3>, kByVectors<4>, kByVectors<5>, kByVectors<6>,
      kTall<7>,      kTall<8>,      kTall<9>,      kTall<10>,     kTall<11>,     kTall<12>};
  kByRows[t.rows - 1][(t.cols - 1) / 16](t);
}

}  // namespace

const MicroKernel avx512vnni_u8s8_6x64x4 = {
    .name = "avx512vnni_u8s8_6x64x4",
    .isa = Isa::kAvx512Vnni,
    .lhs_element_type = ElementType::kU8,
    .mr = kMr,
    .nr = 16 * kVectors,
    .flags = kAnyLhs | kRequantizes | kRequantizesTflite | kRowInit,
    .rhs_layout = kX86Layout,
    .lhs_kr = 4,
    .multiply = dispatch,
    .tall_mr = kTallMr,
    .tall_nr = 32,
};

}  // namespace octet
