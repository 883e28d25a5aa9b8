// SPDX-License-Identifier: Apache-2.0
// u8 x s8 -> s32 or 8 bits on paired weights, VPMADDUBSW on ymm: see shared/paired_tile.h.
#include "kernels/x86/kernels.h"
#include "kernels/x86/shared/store_tile_ymm.h"

namespace octet {
namespace {

constexpr bool kStoresTogether = false;

template <int rows>
OCTET_INLINE inline void leave(const Tile& t, __m256i (&acc)[rows][2]) {
  // As in avx2_s16s8_6x16x4.cc
  unroll<rows>([&](auto i) OCTET_INLINE {
    __m256i(&row)[2] = acc[i];
    pin(row[0]);
    pin(row[1]);
  });
  store_tile<6>(t, acc);
}

}  // namespace
}  // namespace octet

#include "kernels/x86/shared/paired_tile.h"

namespace octet {
const MicroKernel avx2_u8s8_6x64x4 = paired_kernel("avx2_u8s8_6x64x4", TierId::kAvx2);
}  // namespace octet
