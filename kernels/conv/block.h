// A block of output pixels against output channels of one group: what the direct, the transposed and the im2col form have in common.
#pragma once

#include "kernels/conv/panels.h"
#include "kernels/gemm/sink.h"
#include "kernels/gemm/tiling.h"

namespace octet {

// The tap groups that a tile uses; the others are padding for all its rows. Empty: all is padding.
struct TileTaps {
  uint32_t first, end;   // tap groups
  bool reads_to_groups;  // rows may be read up to a whole number of depth groups: those bytes are the caller's, and meet zero weights
  const uint8_t* base;   // row 0 in the first tap used, where all rows of all taps are in the image and at one stride; null: they have pointers
};

struct ConvBlock {
  Sink sink;                       // row 0 = the block's first pixel, column 0 = output channel 0
  size_t rows;
  int32_t zero_point;              // of the lhs, in the kernel's domain
  float scale;                     // run-time scale of the lhs
  const uint8_t* lhs;              // a matrix, one tap, no tiles; null otherwise
  bool reads_to_groups;            // of that matrix, as in TileTaps
  size_t lhs_stride;               // of its rows, or of those of a tile with a base
  const ptrdiff_t* tap_steps;      // with a base: bytes from each tap to the next, taps.count - 1
  const uint8_t* const* pointers;  // of tile 0: taps.count x its rows; then tile 1
  const uint8_t* panels;           // gathered, of tile 0; the next panel_bytes on. Null if the kernel reads rows
  size_t panel_bytes;
  const int32_t* row_sums;         // one per row, where weights have zero points; else null
  const TileTaps* tiles;           // one per tile; null = all taps
};

// Rows that a block may have so that what it keeps per row stays within half of L2, the other half being for the weights that pass by.
size_t conv_block_rows(const ConvPlan& plan, size_t bytes_per_row);

// Between pointers and kernels: panels for kernels that gather, sums for weights with zero points. Fills block->panels and block->row_sums.
size_t prepared_bytes(const ConvPlan& plan, const Taps& taps, size_t rows);  // workspace
void prepare_block(const ConvPlan& plan, const Taps& taps, uint8_t* workspace, ConvBlock* block);

// Channels [n0, n1) of all, which lie in channel group `group`; n0 is the group's first channel or a multiple of channel_grain from it.
void multiply_block(const ConvPlan& plan, const Taps& taps, const ConvBlock& block, size_t group, size_t n0, size_t n1);

inline size_t channel_grain(const ConvPlan& plan) {
  return plan.shape.groups > 1 ? plan.shape.group_out() : larger(plan.kernel->rhs_layout.width, plan.kernel->nr);
}

// The lhs zero point of an image as kernels see it, and its scale.
inline int32_t zero_point_of(const ConvPlan& plan, const ConvRun& run, size_t image) {
  return (plan.runtime_zero_point ? run.lhs_zero_points ? run.lhs_zero_points[image] : 0 : plan.static_zero_point) + plan.lhs_shift;
}
inline float scale_of(const ConvRun& run, size_t image) { return run.lhs_scales ? run.lhs_scales[image] : 1.0f; }

}  // namespace octet
