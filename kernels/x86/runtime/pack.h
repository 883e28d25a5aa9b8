// SPDX-License-Identifier: Apache-2.0
// Packs weights that come with a run into panels of 16 columns x 4 depth steps, and sums columns on
// the way. A run pays for it each time, so it uses the tier's widest vectors; those of
// packing/interleave.cc have 16 bytes on every CPU.
#pragma once

#include <string.h>

#include "kernels/core/packed_layout.h"
#include "kernels/x86/runtime/vector.h"
#include "kernels/x86/shared/layouts.h"

namespace octet {
namespace {

constexpr size_t kWidth = 16, kGroupBytes = kWidth * 4;
static_assert(kX86Layout.width == kWidth && kX86Layout.step == kWidth && kX86Layout.kr == 4);

// Transposes 16 bytes of the depth of kElements columns: v[i] has those of columns i, 4 + i, ...
// Stores the groups of which a part is within `depth`, and adds to the sums if there are any.
OCTET_INLINE inline void pack_step(Vector (&v)[4], size_t depth, uint8_t* to, const int32_t* sums,
                                   Vector (&totals)[4]) {
  transpose_elements(v);
  unroll<4>([&](auto i) OCTET_INLINE {
    if (4 * i.value < depth) store(to + 4 * i.value * kWidth, v[i]);
    if (sums) totals[i] = sum_neighbours(totals[i], v[i]);
  });
}

// Copies 16 bytes of columns that may be fewer or less deep; zero beyond.
OCTET_INLINE inline void copy_step(const uint8_t* from, size_t stride, size_t columns, size_t depth,
                                   uint8_t flip, uint8_t (&copy)[kElements][16]) {
  memset(copy, 0, sizeof copy);
  for (size_t i = 0; i < kElements && i < columns; ++i)
    for (size_t k = 0; k < depth; ++k) copy[i][k] = (uint8_t)(from[i * stride + k] ^ flip);
}

// Packs kElements columns, of which `columns` are there: a whole panel, or a part of one. The lines
// of four columns are read at a time, because lines a power of two apart would evict each other
// from the cache.
OCTET_INLINE inline void pack_part(const uint8_t* from, size_t stride, size_t columns, size_t depth,
                                   uint8_t flip, uint8_t* to, int32_t* sums) {
  const Vector flips = bytes_of(flip);
  Vector totals[4] = {};  // several, because a sum takes longer than the other steps
  const bool all = columns >= kElements;
  size_t k = 0;
  for (; all && k + kBytes <= depth; k += kBytes) {
    Vector v[kParts][4];
    unroll<4>([&](auto i) OCTET_INLINE {
      unroll<kParts>([&](auto s) OCTET_INLINE {
        v[s][i] = load_parts(from + i * stride + k + 16 * s, 4 * stride) ^ flips;
      });
    });
    unroll<kParts>([&](auto s) OCTET_INLINE {
      pack_step(v[s], 16, to + (k + 16 * s) * kWidth, sums, totals);
    });
  }
  for (; k < depth; k += 16) {
    uint8_t copy[kElements][16];
    const bool whole = all && k + 16 <= depth;
    if (!whole) copy_step(from + k, stride, columns, smaller(16, depth - k), flip, copy);
    Vector v[4];
    unroll<4>([&](auto i) OCTET_INLINE {
      v[i] = whole ? load_parts(from + i * stride + k, 4 * stride) ^ flips
                   : load_parts(copy[i], 4 * sizeof copy[0]);
    });
    pack_step(v, depth - k, to + k * kWidth, sums, totals);
  }
  if (sums) store(sums, add(add(totals[0], totals[1]), add(totals[2], totals[3])));
}

// Columns that are contiguous in memory.
void pack_columns_of(const RuntimeWeights& w, uint8_t* panels, int32_t* sums) {
  const size_t panel_bytes = round_up(w.k, 4) * kWidth;
  for (size_t n = 0; n < round_up(w.n, kWidth); n += kElements)
    pack_part(w.data + n * w.n_stride, w.n_stride, n < w.n ? w.n - n : 0, w.k, w.flip,
              panels + n / kWidth * panel_bytes + n % kWidth * 4, sums ? sums + n : nullptr);
}

// Packs `rows` rows of as many columns as a vector has bytes. flip: as many bytes, which stand for
// rows that are missing, and become 0. columns: existing ones, padded to whole panels.
OCTET_INLINE inline void pack_some_rows(const uint8_t* from, size_t stride, size_t rows,
                                        const Part& part, const uint8_t* flip, size_t columns,
                                        size_t panel_bytes, uint8_t* to, int32_t* sums) {
  const Vector flips = part.load(flip);
  Vector totals[4] = {};
  uint8_t copy[4][kBytes];
  for (;;) {
    for (; rows >= 4; rows -= 4, from += 4 * stride, to += kGroupBytes) {
      Vector v[4];
      unroll<4>([&](auto i) OCTET_INLINE { v[i] = part.load(from + i * stride) ^ flips; });
      interleave_rows(v);
      order_columns(v);
      unroll<4>([&](auto i) OCTET_INLINE {
        constexpr size_t n = i.value * kElements;
        if (n < columns) store(to + n / kWidth * panel_bytes + n % kWidth * 4, v[i]);
        if (!sums) return;
        totals[i] = sum_neighbours(totals[i], v[i]);
        pin(totals[i]);
      });
    }
    if (!rows) break;
    for (size_t i = 0; i < 4; ++i) store(copy[i], part.load(i < rows ? from + i * stride : flip));
    from = copy[0], stride = kBytes, rows = 4;
  }
  if (!sums) return;
  unroll<4>([&](auto i) OCTET_INLINE {
    constexpr size_t n = i.value * kElements;
    if (n < columns) store(sums + n, add(load(sums + n), totals[i]));
  });
}

// Rows that are contiguous in memory, in blocks of depth: few pages are in use at a time.
void pack_rows_of(const RuntimeWeights& w, uint8_t* panels, int32_t* sums) {
  const size_t panel_bytes = round_up(w.k, 4) * kWidth, lanes = round_up(w.n, kWidth);
  if (sums) memset(sums, 0, lanes * sizeof *sums);
  uint8_t flip[kBytes];
  memset(flip, w.flip, sizeof flip);
  const DepthBlocks blocks(w);
  for (size_t k = 0; k < w.k; k += blocks.step) {
    for (size_t n = 0; n < w.n; n += kBytes) {
      blocks.prefetch_next(k, n);
      pack_some_rows(blocks.at(k, n), w.k_stride, smaller(w.k - k, blocks.step), Part(w.n - n),
                     flip, lanes - n, panel_bytes, panels + n / kWidth * panel_bytes + k * kWidth,
                     sums ? sums + n : nullptr);
    }
  }
}

void pack_runtime(const RuntimeWeights& w, uint8_t* panels, int32_t* sums) {
  w.k_stride == 1 ? pack_columns_of(w, panels, sums) : pack_rows_of(w, panels, sums);
}

}  // namespace
}  // namespace octet
