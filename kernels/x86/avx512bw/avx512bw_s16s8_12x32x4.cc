// SPDX-License-Identifier: Apache-2.0
// s16 x s8 -> s32 or 8 bits, VPMADDWD on zmm, up to 12 rows x 32 columns. Exact for all inputs:
// VPMADDUBSW would saturate at 16 bits.
//
//                      columns 0-15  16-31
//                     +------------+--------+      24 accumulators, 2 for rhs, 1 for lhs,
//   row i, 2 int16    | acc[i][0]  |  [1]   |      1 product: 28 registers of 32
//   broadcast         +------------+--------+
//
// The rows are panels of avx2_s16s8_6x16x4.cc, which says how int16 are paired.
//
// Per group of 4 along depth: 4 loads of weights, one from each of two panels and each of them
// twice, 6 shifts that widen them, 24 broadcasts, 48 multiply-adds and 48 adds. So many rows share
// the shifts that to widen a micro-panel once, as AVX2 does, would gain nothing.
#include <immintrin.h>

#include "kernels/core/compiler.h"
#include "kernels/generic/gather.h"
#include "kernels/x86/kernels.h"
#include "kernels/x86/s16/gather_s16.h"
#include "kernels/x86/shared/accumulate.h"
#include "kernels/x86/shared/store_tile_zmm.h"

namespace octet {
namespace {

constexpr int kMr = 12, kVectors = 2, kGroup = 64;  // kGroup: bytes of a panel's group

// lanes: rows of the panel.
template <int rows, int most, int vectors>
OCTET_INLINE inline void add_groups(const Tile& t, size_t lanes, __m512i (&acc)[most][vectors]) {
  const int16_t* lhs = (const int16_t*)t.lhs;
  const uint8_t* rhs = t.rhs;
  const size_t panel = t.rhs_panel_stride;
  OCTET_NO_UNROLL
  for (size_t groups = (t.depth + 3) / 4; groups; --groups, lhs += 4 * lanes, rhs += kGroup)
    unroll<2>([&](auto odd) OCTET_INLINE {
      __m512i b[vectors];
      unroll<vectors>([&](auto v) OCTET_INLINE {
        const __m512i bytes = _mm512_loadu_si512(rhs + v * panel);
        b[v] = _mm512_srai_epi16(odd ? bytes : _mm512_slli_epi16(bytes, 8), 8);
      });
      unroll<rows>([&](auto i) OCTET_INLINE {
        int32_t s16;
        __builtin_memcpy(&s16, lhs + 4 * i + 2 * odd, sizeof s16);
        const __m512i a = _mm512_set1_epi32(s16);
        unroll<vectors>([&](auto v)
                            OCTET_INLINE { accumulate(acc[i][v], _mm512_madd_epi16(a, b[v])); });
      });
    });
}

// Only the depth loops differ by the count of rows.
template <int most, int vectors>
void multiply_rows(const Tile& t, size_t lanes) {
  __m512i acc[most][vectors];
  start_tile(t, acc);
  const Tile* again = &t;  // see avx512vnni_u8s8_6x64x4.cc
  spill(again);
  by_rows<1, most>(again->rows,
                   [&](auto rows) OCTET_INLINE { add_groups<rows>(*again, lanes, acc); });
  spill(again);
  store_tile<avx2_requantize, true>(*again, acc);
}

// One vector of columns takes half of the rows at a time, which is less code.
void multiply(const Tile& t) {
  constexpr size_t kHalf = kMr / 2;
  if (t.cols > 16) return multiply_rows<kMr, 2>(t, t.rows);
  if (t.rows <= kHalf) return multiply_rows<kHalf, 1>(t, t.rows);
  Tile half = t;
  half.rows = kHalf;
  multiply_rows<kHalf, 1>(half, t.rows);
  half.rows = t.rows - kHalf;
  half.lhs = (const int16_t*)t.lhs + 4 * kHalf;
  half.init += kHalf * t.init_stride;
  if (t.row_init) half.row_init += kHalf;
  if (t.row_scale) half.row_scale += kHalf;
  half.dst = (uint8_t*)t.dst + kHalf * t.dst_stride;
  multiply_rows<kHalf, 1>(half, t.rows);
}

}  // namespace

const MicroKernel avx512bw_s16s8_12x32x4 = {
    .name = "avx512bw_s16s8_12x32x4",
    .tier_id = TierId::kAvx512Bw,
    .lhs_element_type = ElementType::kU8,
    .mr = kMr,
    .nr = 16 * kVectors,
    .n_min = 25,  // AVX2's kernels for fewer columns spare the gather
    .flags = kAnyLhs | kRequantizes | kRequantizesTflite | kStoresFloats | kGathersEvenStepsFirst |
             kRowInit,
    .rhs_layout = kX86Layout,
    .gather = gather_by<avx2_s16s8_6x16x4>,
    .gather_s16 = gather_s16<1>,
    .lhs_kr = 4,
    .lhs_element_bytes = 2,
    .multiply = multiply,
};

}  // namespace octet
