// SPDX-License-Identifier: Apache-2.0
// AMX tile registers, by number. The instructions are written out, because the intrinsics of GCC 12
// do not tell the compiler that TILELOADD reads memory, nor that LDTILECFG reads 64 bytes: the
// compiler may then drop or move the stores before them.
#pragma once

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/core/compiler.h"

namespace octet {
namespace {

// A register has 16 rows of 64 bytes: of lhs so many steps of the depth; of rhs a group of four
// steps of 16 columns; of sums 16 columns.
constexpr size_t kRows = 16, kSteps = 64, kGroup = 4, kGroupBytes = 64;
constexpr size_t kStepGroups = kSteps / kGroup, kStepBytes = kStepGroups * kGroupBytes;

// Loads the rows of a tile, `stride` bytes apart, the first of them `offset` bytes behind `first`;
// a stride of 0 loads one row into all.
template <int tile, int offset = 0>
OCTET_INLINE inline void load_tile(const void* first, size_t stride) {
  __asm__ volatile("tileloadd %c3(%1,%2,1), %%tmm%c0" ::"i"(tile), "r"(first), "r"(stride),
                   "i"(offset)
                   : "memory");
}

template <int tile>
OCTET_INLINE inline void store_tile_register(void* first, size_t stride) {
  __asm__ volatile("tilestored %%tmm%c0, (%1,%2,1)" ::"i"(tile), "r"(first), "r"(stride)
                   : "memory");
}

// sums += lhs * rhs, of s8 or u8 by s8. A row of lhs has 4 depth steps for each row of rhs.
template <bool is_signed, int sums, int lhs, int rhs>
OCTET_INLINE inline void add_tile_product() {
  if constexpr (is_signed)
    __asm__ volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(sums), "i"(lhs), "i"(rhs));
  else
    __asm__ volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(sums), "i"(lhs), "i"(rhs));
}

// Where LDTILECFG finds the bytes of a row and the rows of a tile; both are 0 to 255 here.
constexpr uint64_t tile_row_bytes(int tile) { return (uint64_t)1 << (16 + 2 * tile); }
constexpr uint64_t tile_rows(int tile) { return (uint64_t)1 << (48 + tile); }
constexpr uint64_t kTilePalette = 1;

// Loading a configuration takes as long as a dozen products, and most tiles of a task have the
// same.
OCTET_INLINE inline void configure_tiles(__m512i wanted) {
  alignas(64) uint8_t configuration[64];
  __asm__ volatile("sttilecfg %0" : "=m"(configuration));
  if (!_mm512_cmpneq_epi8_mask(wanted, _mm512_load_si512(configuration))) return;
  _mm512_store_si512(configuration, wanted);
  __asm__ volatile("ldtilecfg %0" ::"m"(configuration));
}

// From then on the operating system has no tiles to save.
inline void release_tiles() { __asm__ volatile("tilerelease" ::: "memory"); }

}  // namespace
}  // namespace octet
