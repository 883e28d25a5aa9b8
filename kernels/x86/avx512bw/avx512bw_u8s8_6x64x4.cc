// SPDX-License-Identifier: Apache-2.0
// u8 x s8 -> s32 or 8 bits on paired weights, VPMADDUBSW on zmm: see shared/paired_tile.h.
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/store_tile_zmm.h"

namespace octet {
namespace {

constexpr bool kStoresTogether = true;

// Stores 64 columns of sums, less code than stores from each count of rows' registers.
__attribute__((noinline)) void leave_sums(const Tile& t, const int32_t* sums) {
  constexpr int kRows = 6, kStride = 64;
  if (t.scale && !t.requantization->to_floats) return avx2_requantize(t, sums, kStride);
  Tile panel = t;
  for (size_t column = 0; column < t.cols; column += 16, sums += 16) {
    __m512i acc[kRows][1];
    for_rows<kRows>(
        t.rows, [&](auto i) OCTET_INLINE { acc[i][0] = _mm512_load_si512(sums + i * kStride); });
    panel.cols = t.cols - column < 16 ? t.cols - column : 16;
    panel.dst = (int32_t*)t.dst + column;
    if (t.scale) panel.scale = t.scale + column;
    t.scale ? store_floats(panel, t.rows, acc) : store_through_memory<avx2_requantize>(panel, acc);
  }
}

}  // namespace
}  // namespace octet

#include "kernels/x86/shared/paired_tile.h"

namespace octet {
const MicroKernel avx512bw_u8s8_6x64x4 = paired_kernel("avx512bw_u8s8_6x64x4", TierId::kAvx512Bw);
}  // namespace octet
