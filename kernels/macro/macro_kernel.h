// The loop nest of every product: a block of lhs rows against packed columns, tile by tile.
//
//     source (rows where they lie, gathered panels, windows of a convolution)
//       x weights in panels  ->  sink
//
// A matrix is one tap of depth K; a convolution has many, and tiles that leave some of them out.
// With l and r the bytes as kernels see them (DESIGN.md, "One normal form"):
//
//     acc[i,n] = sum l * r + bias[n] - lhs_zero_point[i] * weight_sum[n]
//                                    - zero_point[n] * row_sum[i]
#pragma once

#include "kernels/macro/taps.h"
#include "kernels/macro/tile_output.h"

namespace octet {

// What does not change from block to block.
struct MacroKernel {
  const MicroKernel* kernel;
  const TierOps* ops;  // of its tier
  uint8_t lhs_flip;    // 0x80 if the kernel wants the other sign
  Taps taps;
};

// Per-column terms of packed weights, readable for whole tiles.
struct Columns {
  const int32_t* bias;        // with a static lhs zero point: minus lhs_zp * weight_sum already
  const int32_t* weight_sum;  // sum of r - zero_point; null where no lhs zero point asks for it
  const int32_t* zero_point;  // in the kernel's domain; null when all are 0
  bool one_zero_point;        // all are the first one

  Columns from(size_t n) const {
    return {bias + n, weight_sum ? weight_sum + n : nullptr, zero_point ? zero_point + n : nullptr,
            one_zero_point};
  }
};

inline bool all_alike(const int32_t* values, size_t count) {
  for (size_t i = 1; i < count; ++i)
    if (values[i] != values[0]) return false;
  return true;
}

// Packed weights: a matrix's, a part of its columns, or a group of a convolution's channels.
struct Weights {
  const uint8_t* panels;
  size_t lanes, lane_bytes;  // of the panels: columns, bytes of each
  size_t first;              // their first column, as the output and its arrays count
  Columns columns;           // from that one on
  // weight_sum of each group of taps, from the first column on, for tiles that leave groups out
  const int32_t* group_sums;
  size_t group_sums_stride;  // elements
};

// What the lhs's quantization adds, in the kernel's domain.
struct LhsTerms {
  bool in_bias;                // the columns' bias holds the zero point
  int32_t zero_point;          // of all rows,
  const int32_t* zero_points;  // or, if not null, of each
  bool scaled;                 // by a run-time scale:
  float scale;                 // of all rows,
  const float* scales;         // or, if not null, of each
};

// Rows of a block that use the same taps; the others are padding for all of them. Empty: all is
// padding. With a base as many rows as one likes, which the nest cuts into the kernel's tiles;
// without one, rows that are multiplied together.
struct BlockTile {
  size_t pixel, step;  // the block's row that is this tile's row 0, rows from there to the next
  uint32_t rows;
  uint32_t first, end;     // tap groups
  uint32_t before, after;  // taps of each group that are left out at its beginning and its end
  TapRange taps;           // of the groups, left out or not
  // Rows may be read up to a whole number of depth groups: those bytes are the caller's, and meet
  // zero weights
  bool reads_to_groups;
  // Row 0 in the first tap used, where all rows of all taps are in the image and at one stride (and
  // none is left out), or null
  const uint8_t* base;
  // No base: of the rows in the first of `taps`, then in the second
  const uint8_t* const* pointers;
};

struct Block {
  TileOutput sink;  // row 0 = the block's first
  size_t rows;
  LhsTerms terms;
  const uint8_t* lhs;          // a matrix, one tap, no tiles; null otherwise
  bool reads_to_groups;        // of that matrix, as in BlockTile
  size_t lhs_stride;           // of its rows, or of those of a tile with a base
  const ptrdiff_t* tap_steps;  // with a base: bytes from each of a tile's taps to the next
  const BlockTile* tiles;      // null: rows of a matrix, all taps
  size_t tile_count;           // of tiles
  bool prepared;               // rows and tiles are as when they were prepared last
  // What `prepare` makes. Panels, one per tile of the kernel, panel_bytes apart; null if it reads
  // rows
  const uint8_t* panels;
  size_t panel_bytes;
  const int32_t* row_sums;  // one per row, where weights have zero points; else null
  const int32_t* row_init;  // in their place, for kernels that know it: less the one zero point
  int16_t* wide;            // room for a strip of weights, widened; null where that does not pay
};

// Of a strip of weights, widened; 0 where there is none, or it would leave the cache that the plain
// one stays in.
size_t wide_bytes(const MacroKernel& macro_kernel);

// What `prepare` needs of a task's workspace, for blocks of so many rows and weights so deep.
struct PreparedSections {
  size_t panels, row_sums, wide;  // offsets; panels come first
  size_t bytes;
};
PreparedSections prepared_sections(const MacroKernel& macro_kernel, bool weight_zero_points,
                                   size_t rows);

// Between rows and kernels: panels for kernels that gather, sums for weights with zero points.
void prepare(const MacroKernel& macro_kernel, const Columns& columns, const PreparedSections& at,
             uint8_t* workspace, Block* block);

// Columns [n0, n1) of the weights, counted from their first; n0 begins a panel.
void multiply(const MacroKernel& macro_kernel, const Weights& weights, const Block& block,
              size_t n0, size_t n1);

}  // namespace octet
