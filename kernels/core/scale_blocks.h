// SPDX-License-Identifier: Apache-2.0
// Describes products by weights of 4 or 8 bits in scale blocks: `depth` consecutive weights of a
// column with a scale of their own, and perhaps a zero point and a minimum.
//
// Kernels of all tiers read one layout. A panel has 16 columns; its scale blocks follow one after
// the other, each of
//
//   8 * depth bytes of weights | 16 scales, f16 or f32 | if there are any, 16 zero points, s8
//
// Weights are 0 to 15. Of each 64 bytes of them, bytes 4 * j to 4 * j + 3 are column j's: their low
// halves are four depth steps, their high halves the next four. Weights of 8 bits take twice as
// many bytes, of which each 64 are four depth steps, and are stored with 128 added.
#pragma once

#include "kernels/core/epilogue.h"
#include "kernels/core/micro_kernel.h"

namespace octet {

constexpr size_t kScaleBlockColumns = 16;                                  // of a panel
constexpr RhsLayout kScaleBlockLayout = {16, 16, 8, ElementType::kS8, 4};  // without scales
constexpr RhsLayout kByteBlockLayout = {16, 16, 4, ElementType::kS8};      // of weights of 8 bits
// The depth of a scale block is a multiple of kLeast. A sum of kMost products, its zero points
// included, is below 2^22: a float holds it exactly.
constexpr size_t kLeastScaleBlock = 16, kMostScaleBlock = 256;
static_assert(255 * 15 * kMostScaleBlock < 1 << 22, "kernels add 1.5 * 2^23 exactly");
constexpr size_t kMostByteBlock = 128;  // of weights of 8 bits
static_assert(255 * 128 * kMostByteBlock < 1 << 22, "kernels add 1.5 * 2^23 exactly");

struct ScaleBlocks {
  size_t depth, count;  // of a block; blocks of a column
  bool f16;             // scales, else f32
  bool zero_points;     // each block has some
  // Of all weights; with zero_points, each block's are this one and what the block says
  int32_t zero_point;
  bool bytes;  // weights are s8 (stored with 128 added), without zero points

  constexpr size_t weight_bytes() const { return kScaleBlockColumns * depth / (bytes ? 1 : 2); }
  constexpr size_t scale_bytes() const { return kScaleBlockColumns * (f16 ? 2 : 4); }
  constexpr size_t block_bytes() const {
    return weight_bytes() + scale_bytes() + (zero_points ? kScaleBlockColumns : 0);
  }
  constexpr size_t panel_bytes() const { return count * block_bytes(); }
  // Of the sums of a panel's weights
  constexpr size_t sums_bytes() const { return count * kScaleBlockColumns * sizeof(int16_t); }
};

// sums[i,j] = the sum, in the order of the blocks b and rounded to float after each step, of
//
//   float(acc) * scale[b,j]                 without row_scales
//   float(acc) * (row_scale[i,b] * scale[b,j])
//
// where acc = sum over the block of (lhs[i,k] - lhs_zero_point[i]) * (rhs[k,j] - zero_point[b,j]).
struct ScaleBlockTile {
  ScaleBlocks blocks;
  const uint8_t* lhs;       // s8, rows of all blocks
  size_t lhs_stride;        // bytes
  size_t rows;              // any number
  const int32_t* row_init;  // [i * blocks.count + b] = init_of_row()
  const float* row_scales;  // [i * blocks.count + b], or null
  // One per row, or null for 0. With it, column_sums has the sums of each block's weights, 16 per
  // block, panel after panel
  const float* lhs_zero_points;
  const int16_t* column_sums;
  const uint8_t* rhs;  // the first panel; the next ones follow it
  size_t panels;       // 1 to kernel.nr / 16
  float* sums;         // rows of kernel.nr, all of which may be written
  uint8_t* room;       // kernel.room bytes, aligned to kAlignment
};

// Adds to sums[i,j] the sum, in the order of the blocks b and rounded to float after each step, of
//
//   row_sums[i,b] * minimums[b,j]                     without row_scales
//   row_sums[i,b] * (row_scale[i,b] * minimums[b,j])
struct MinimumsTile {
  size_t count;           // of blocks
  const float* row_sums;  // [i * count + b]: of lhs - zero point, over the block
  const float* row_scales;
  const float* minimums;  // 16 per block, panel after panel
  size_t rows, panels, nr;
  float* sums;  // rows of nr
};

struct ScaleBlockKernel {
  MicroKernel kernel;  // its name, tier and tile; it multiplies nothing itself
  void (*multiply)(const ScaleBlockTile& tile);
  void (*add_minimums)(const MinimumsTile& tile);
  // As TierOps::epilogue, of sums in place of accumulators; EpilogueTile::acc points to floats
  EpilogueFn epilogue;
  int32_t bias;  // of every init: the bits of the float that accumulators begin at
  bool pairs;    // see init_of_row()
  size_t room;   // bytes, where the kernel decodes weights
};

// The init that a kernel reads for a row's block. sum: of its lhs; zero_point: of the row, s8.
//
// With z the zero point of a block and column, acc = sum of products - z * sum of lhs
// + zero_point * (z * depth - sum of weights). So where there are zero points per block or of the
// lhs, a kernel of pairs gets sum of lhs and zero_point as two int16, low half first: it multiplies
// them by a pair per column in one instruction. To weights of 8 bits these kernels read 128 has
// been added, which a pair of each column takes away.
constexpr int32_t init_of_row(const ScaleBlockKernel& kernel, const ScaleBlocks& blocks,
                              bool lhs_zero_points, int32_t sum, int32_t zero_point) {
  if (kernel.pairs && (blocks.zero_points || lhs_zero_points || blocks.bytes))
    return (int32_t)((uint32_t)(uint16_t)sum | (uint32_t)zero_point << 16);
  return kernel.bias - blocks.zero_point * (sum - zero_point * (int32_t)blocks.depth);
}

constexpr ScaleBlockKernel make_scale_block_kernel(const char* name, TierId tier_id, uint8_t mr,
                                                   uint16_t nr,
                                                   void (*multiply)(const ScaleBlockTile& tile),
                                                   void (*add_minimums)(const MinimumsTile& tile),
                                                   EpilogueFn epilogue, int32_t bias = 0,
                                                   bool pairs = false, size_t room = 0) {
  return {{
              .name = name,
              .tier_id = tier_id,
              .lhs_element_type = ElementType::kS8,
              .mr = mr,
              .nr = nr,
              .rhs_layout = kScaleBlockLayout,
              .lhs_kr = 8,
              .multiply = nullptr,
          },
          multiply,
          add_minimums,
          epilogue,
          bias,
          pairs,
          room};
}

}  // namespace octet
