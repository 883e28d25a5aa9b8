// SPDX-License-Identifier: Apache-2.0
// The macro-kernel multiplies a block of lhs rows by packed weights with a micro-kernel:
//
//     for each panel of weights
//       for each micro-panel of it (nr columns, or several panels where nr spans them)
//         for each tile of rows (up to mr rows that use the same taps)
//           micro-kernel: the depth of all taps, then requantize, or store s32 for the epilogue
//
// The rows lie in one of four ways:
//     Block::lhs           a matrix: one tap of depth K, rows at one stride
//     BlockTile::base      a convolution's rows at one stride, taps reached by Block::tap_steps
//     BlockTile::pointers  a convolution's rows at any address, one pointer per tap and row
//     Block::panels        any of these, packed by `prepare` for kernels that gather, or a
//                          convolution's rows, copied for kernels that take them at one stride
//
// A tile's accumulators start from its init: the bias and the terms of zero points of the taps that
// it uses. With l and r the values as kernels see them (DESIGN.md, "One normal form"):
//
//     acc[i,n] = sum l * r + bias[n] - lhs_zero_point[i] * weight_sum[n]
//                                    - zero_point[n] * row_sum[i]
#pragma once

#include "kernels/macro/taps.h"
#include "kernels/macro/tile_output.h"

namespace octet {

// Whether a micro-panel's weights are decoded once for a block of so many rows, which make so many
// tiles.
inline bool decodes_once(const MicroKernel& kernel, size_t taps, size_t depth, size_t rows,
                         size_t tiles) {
  return kernel.decoder.decode && tiles >= kernel.decoder.tiles &&
         kernel.decoded_bytes(taps, depth, rows);
}

// The part of a product that is the same for all blocks.
struct MacroKernel {
  const MicroKernel* kernel;
  const TierOps* ops;  // of the kernel's tier
  uint8_t lhs_flip;    // 0x80 if the kernel reads the other sign, else 0
  Taps taps;
  bool s16 = false;  // rows are of s16 values, which gather_s16 takes
};

// Per-column terms of packed weights, readable for whole tiles.
struct Columns {
  const int32_t* bias;        // with a static lhs zero point: includes - lhs_zp * weight_sum
  const int32_t* weight_sum;  // sum of r - zero_point; null where no lhs zero point needs it
  const int32_t* zero_point;  // for the kernel's element type; null if all are 0
  bool one_zero_point;        // all columns have the same zero point

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

// Packed weights: a matrix, some of its columns, or one group of a convolution.
struct Weights {
  const uint8_t* panels;
  size_t lanes, lane_bytes;  // columns of the panels, bytes of each
  size_t first;              // index of their first column in the output and its arrays
  Columns columns;           // from the first column on
  // weight_sum of each group of taps, from the first column on, for tiles that omit groups
  const int32_t* group_sums;
  size_t group_sums_stride;  // elements
};

// The quantization of the lhs, for the kernel's element type.
struct LhsTerms {
  bool in_bias;                // the columns' bias holds the zero point
  int32_t zero_point;          // one for all rows, unless zero_points is set
  const int32_t* zero_points;  // one per row, or null
  bool scaled;                 // rows have run-time scales
  float scale;                 // one for all rows, unless scales is set
  const float* scales;         // one per row, or null
};

// Rows of a block that use the same taps; all other taps are padding. first == end: only padding.
// base set: any number of rows, which the macro-kernel splits into tiles. base null: exactly one
// micro-tile.
struct BlockTile {
  size_t pixel, step;  // the block's row of this tile's row 0, and the block's rows per tile row
  uint32_t rows;
  uint32_t first, end;     // the groups of taps that are used
  uint32_t before, after;  // taps omitted at the beginning and at the end of each group
  TapRange taps;           // all taps of the groups, omitted or not
  // Rows may be read up to a whole number of depth groups: the extra bytes belong to the caller and
  // meet zero weights
  bool reads_to_groups;
  // Row 0 in the first tap used, where all rows of all taps are inside the image and at one stride,
  // and no tap is omitted; else null
  const uint8_t* base;
  // base null: the rows in the first of `taps`, then in the second, ...
  const uint8_t* const* pointers;
};

struct Block {
  TileOutput output;  // its row 0 is the block's first row
  size_t rows;
  LhsTerms terms;
  const uint8_t* lhs;          // the matrix, if there are no tiles; else null
  bool lhs_arranged;           // the matrix is what MicroKernel::arrange_rows wrote
  bool reads_to_groups;        // for the matrix, as in BlockTile
  size_t lhs_stride;           // bytes between rows of the matrix, or of a tile with a base
  const ptrdiff_t* tap_steps;  // with a base: bytes from each of a tile's taps to the next
  const BlockTile* tiles;      // null: rows of a matrix, one tap
  size_t tile_count;           // length of tiles
  bool prepared;               // `prepare` has already run for these rows and tiles
  // The rest is set by `prepare`. One panel per micro-tile, panel_bytes apart; null if the kernel
  // is direct
  const uint8_t* panels;
  size_t panel_bytes;
  size_t copied_stride;     // bytes between copied rows, which take the place of panels
  const int32_t* row_sums;  // one per row, where weights have zero points; else null
  // - zero_point * row_sum: replaces row_sums for kernels with kRowInit where all columns have one
  // zero point; else null
  const int32_t* row_init;
  // Row sums or zero points of rows, which replace row_sums or terms.zero_points for kernels with
  // kRowFactors; else null
  const int32_t* row_factors;
  uint8_t* decoded;  // room for a decoded micro-panel of weights; null if it does not pay
  uint8_t* room;     // see Tile::room
  // For kernels that sum ahead, else null: room for the sums and the notes of sums_tiles tiles
  int32_t* sums;
  uint8_t* notes;
  size_t sums_tiles;
  size_t made;  // micro-tiles of the block
};

// The sections of a task's workspace that `prepare` needs for blocks of up to `rows` rows. pointed:
// the number of rows that may be copied for kernels that take rows at one stride.
struct PreparedSections {
  size_t panels, row_sums, room, decoded, sums, notes;  // offsets; panels come first
  size_t sums_tiles;
  size_t bytes;
};
PreparedSections prepared_sections(const MacroKernel& macro_kernel, bool weight_zero_points,
                                   size_t rows, size_t pointed = 0);

// Prepares a block's rows for the kernel: panels for kernels that gather, copies of rows that are
// pointed at, row sums for weights with zero points.
void prepare(const MacroKernel& macro_kernel, const Columns& columns, const PreparedSections& at,
             uint8_t* workspace, Block* block);

// Multiplies the block by columns [n0, n1) of the weights, counted from their first; n0 begins a
// panel.
void multiply(const MacroKernel& macro_kernel, const Weights& weights, const Block& block,
              size_t n0, size_t n1);

}  // namespace octet
