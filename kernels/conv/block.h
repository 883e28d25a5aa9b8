// A block of output pixels against output channels of one group: what the direct, the transposed
// and the im2col form have in common.
#pragma once

#include "kernels/conv/panels.h"
#include "kernels/conv/start.h"
#include "kernels/gemm/sink.h"
#include "kernels/gemm/tiling.h"

namespace octet {

// Rows of a block that are multiplied together, and the taps that they use; the others are padding
// for all of them. Empty: all is padding.
struct BlockTile {
  // The block's output pixel that is row 0, pixels from there to the next row
  size_t pixel, step;
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

struct ConvBlock {
  Sink sink;  // row 0 = the block's first pixel, column 0 = output channel 0
  size_t rows;
  int32_t zero_point;          // of the lhs, in the kernel's domain
  float scale;                 // run-time scale of the lhs
  const uint8_t* lhs;          // a matrix, one tap, no tiles; null otherwise
  bool reads_to_groups;        // of that matrix, as in BlockTile
  size_t lhs_stride;           // of its rows, or of those of a tile with a base
  const ptrdiff_t* tap_steps;  // with a base: bytes from each of a tile's taps to the next
  // gathered, of tile 0; the next panel_bytes on. Null if the kernel reads rows
  const uint8_t* panels;
  size_t panel_bytes;
  const int32_t* row_sums;  // one per row, where weights have zero points; else null
  const BlockTile* tiles;   // null: rows of a matrix, all taps
  size_t tile_count;        // of tiles
};

// Rows that a block may have so that what it keeps per row stays within half of L2, the other half
// being for the weights that pass by.
size_t conv_block_rows(const ConvPlan& plan, size_t bytes_per_row);

// Between pointers and kernels: panels for kernels that gather, sums for weights with zero points.
// Fills block->panels and block->row_sums.
size_t prepared_bytes(const ConvPlan& plan, const Taps& taps, size_t rows);  // workspace
void prepare_block(const ConvPlan& plan, const Taps& taps, uint8_t* workspace, ConvBlock* block);

// Channels [n0, n1) of all, which lie in channel group `group`; n0 is the group's first channel or
// a multiple of the grain from it.
void multiply_block(const ConvPlan& plan, const Taps& taps, const ConvBlock& block, size_t group,
                    size_t n0, size_t n1);

// What methods on panels have in common: they compute every shape, and cut channels at strips or at
// groups.
inline const char* refuse_nothing(const ConvShape&, bool) { return nullptr; }
inline ConvGrain panels_grain(const ConvPlan& plan, size_t out_h, size_t) {
  return {out_h, plan.shape.groups > 1 ? plan.shape.group_out()
                                       : larger(plan.kernel->rhs_layout.width, plan.kernel->nr)};
}

// A block that writes output pixels, as yet nowhere.
inline ConvBlock make_block(const ConvPlan& plan, const ConvRun& run) {
  ConvBlock block = {};
  block.sink = {plan.ops, &plan.finish,  &plan.narrow, plan.narrow_in_kernel, plan.dst_bytes,
                nullptr,  run.dst_pixel, nullptr,      run.residual_pixel};
  return block;
}

// Computes block->rows output pixels from `pixel` on, which lie in `image` as far as images differ.
// fill(group) makes the block's lhs of a channel group.
template <typename Fill>
void run_block(const ConvPlan& plan, const ConvRun& run, const Taps& taps, const ConvTask& task,
               size_t image, size_t pixel, uint8_t* prepared, ConvBlock* block, const Fill& fill) {
  const size_t group_out = plan.shape.group_out();
  block->zero_point = zero_point_of(plan, run, image);
  block->scale = run.lhs_scales ? run.lhs_scales[image] : 1.0f;
  block->sink.dst = run.dst + pixel * run.dst_pixel;
  block->sink.residual = run.residual ? run.residual + pixel * run.residual_pixel : nullptr;
  for (size_t g = task.n0 / group_out; g * group_out < task.n1; ++g) {
    fill(g);
    prepare_block(plan, taps, prepared, block);
    multiply_block(plan, taps, *block, g, larger(task.n0, g * group_out),
                   smaller(task.n1, (g + 1) * group_out));
  }
}

// All pixels of a task in blocks of at most `most` rows. fill(group, pixel) as above.
template <typename Fill>
void run_blocks(const ConvPlan& plan, const ConvRun& run, const Taps& taps, const ConvTask& task,
                size_t most, uint8_t* prepared, ConvBlock* block, const Fill& fill) {
  const size_t image_pixels = run.out_h * run.out_w, last = task.end * run.out_w;
  for (size_t pixel = task.first * run.out_w; pixel < last; pixel += block->rows) {
    const size_t image = pixel / image_pixels;
    // Images may have zero points of their own.
    const size_t end = plan.runtime_zero_point ? smaller(last, (image + 1) * image_pixels) : last;
    block->rows = next_block(end - pixel, most, plan.kernel->mr);
    run_block(plan, run, taps, task, image, pixel, prepared, block,
              [&](size_t group) { fill(group, pixel); });
  }
}

}  // namespace octet
