// SPDX-License-Identifier: Apache-2.0
// Multiplies tiles and stores them: the kernel requantizes in registers where that is certified,
// else it stores an s32 tile that the epilogue reads.
#pragma once

#include "kernels/core/assert.h"
#include "kernels/core/limits.h"
#include "kernels/core/micro_kernel.h"
#include "kernels/core/tier_ops.h"
#include "kernels/macro/row_tiles.h"

namespace octet {

struct TileOutput {
  const TierOps* ops;
  const Epilogue* epilogue;
  const Requantization* requantization;
  bool requantize_in_kernel;    // also to f32
  size_t dst_bytes;             // bytes of one output element
  Output to;                    // at column 0
  bool adds_in_kernel = false;  // where takes_residual() says so

  bool s32() const { return epilogue->mode == EpilogueMode::kS32; }
  // Whether the kernel stores tiles of so many columns to dst.
  bool in_place(size_t cols) const {
    return requantize_in_kernel || s32() || (adds_in_kernel && adds_residual_to(cols));
  }
  // ... outputs of four bytes
  bool words_in_place() const {
    return s32() || (requantize_in_kernel && epilogue->mode == EpilogueMode::kF32);
  }
};

// Whether a kernel adds the residual of an output to tiles of some widths.
inline bool takes_residual(const MicroKernel& kernel, const TileOutput& output) {
  return kernel.is(kAddsResidual) && output.epilogue->adds_in_kernel(output.to);
}

// The precondition of every kernel on its tiles.
inline bool may_multiply(const MicroKernel& kernel, const Tile& tile) {
  const bool tall = tile.rows > kernel.mr;
  return tile.rows && tile.rows <= kernel.rows_of(tile.cols) && tile.cols &&
         tile.cols <= kernel.words_nr() && (!(tall || kernel.copy_rows) || !tile.lhs_rows) &&
         tile.taps && (!tile.rhs_decoded || kernel.decoder.decode) &&
         (!tile.row_init || kernel.is(kRowInit)) && (!tile.row_factors || kernel.is(kRowFactors)) &&
         (!tile.lhs_flip || kernel.gather || kernel.is(kAnyLhs)) && !tile.lhs_arranged &&
         (tile.init_stride == 0 || tile.init_stride >= tile.cols);
}

// Goes on to the sums of the next tile, where they were made ahead.
inline void pass_sums(const MicroKernel& kernel, Tile* tile) {
  if (tile->sums) tile->sums += kernel.mr * kernel.nr;
}

// Prefetches the lines that the epilogue will write and read; kernels that store in place do this
// themselves.
inline void prefetch(const Output& to, size_t rows) {
  for (size_t i = 0; i < rows; ++i) __builtin_prefetch(to.dst + i * to.stride, 1);
  for (size_t i = 0; to.residual && i < rows; ++i)
    __builtin_prefetch(to.residual + i * to.residual_stride);
}

// Multiplies a tile whose operands are set and stores it at column n of `to`. lanes: columns that
// init and rhs provide (tile->cols rounded up). row_scale: one per row of the tile, or null.
inline void multiply_into(const MicroKernel& kernel, const TileOutput& output, const Output& to,
                          size_t n, size_t lanes, const float* row_scale, Tile* tile) {
  OCTET_ASSERT(may_multiply(kernel, *tile));
  const Output at = to.column(n, output.dst_bytes);
  if (output.in_place(tile->cols)) {
    tile->dst = at.dst;
    tile->dst_stride = at.stride;
    tile->scale = output.s32() ? nullptr : output.epilogue->scale + n;
    tile->requantization = output.requantization;
    tile->row_scale = row_scale;
    kernel.multiply(*tile);
    pass_sums(kernel, tile);
    return output.epilogue->finish_in_place(at.dst, at.stride, tile->rows, tile->cols);
  }
  prefetch(at, tile->rows);
  alignas(64) int32_t acc[kMaxTile];
  tile->dst = acc;
  tile->dst_stride = lanes * sizeof(int32_t);
  tile->scale = nullptr;
  kernel.multiply(*tile);
  pass_sums(kernel, tile);
  output.ops->epilogue(*output.epilogue, {acc, lanes, tile->rows, tile->cols, n, row_scale, at});
}

// Multiplies all tiles of a micro-panel in place, with one row of init for all rows. This is the
// usual case, so the loop does little else. `tile` is the first tile; lhs_panel: bytes between lhs
// panels, 0 if the kernel is direct.
inline void multiply_tiles(const MicroKernel& kernel, const Tiling& tiling, size_t lhs_panel,
                           Tile* tile) {
  const uint8_t* const lhs = (const uint8_t*)tile->lhs;  // null where rows are pointed at
  uint8_t* dst = (uint8_t*)tile->dst;
  for (size_t t = 0, from = 0; t < tiling.count; ++t) {
    tile->rows = tiling.rows(t);
    tile->lhs = lhs + from;
    tile->dst = dst;
    OCTET_ASSERT(may_multiply(kernel, *tile));
    kernel.multiply(*tile);
    pass_sums(kernel, tile);
    if (tile->row_init) tile->row_init += tile->rows;
    if (tile->row_factors) tile->row_factors += tile->rows;
    if (tile->row_scale) tile->row_scale += tile->rows;
    from += lhs_panel ? lhs_panel : tile->rows * tile->lhs_stride;
    dst += tile->rows * tile->dst_stride;
  }
}

// Whether a kernel makes a tile's outputs of four bytes: s32, or floats.
inline bool makes_words_in_kernel(const Tile& t, const MicroKernel& kernel) {
  return !t.scale || (t.requantization->to_floats && kernel.is(kStoresFloats));
}

// Whether a kernel with MicroKernel::micro_panel.taps takes the rows in one call, which holds
// exactly the rows. Words may have all columns of a tile.
inline bool is_plain(const Tile& tile, size_t rows, const MicroKernel& kernel) {
  return rows >= kernel.micro_panel.tiles * kernel.rows_of(tile.cols) &&
         tile.depth % kernel.lhs_kr == 0 &&
         (makes_bytes_in_float_mode(tile) || makes_tflite_by_floats(tile) ||
          makes_words_in_kernel(tile, kernel));
}

// How many rows may be read to the end of their last group of the depth: a kernel multiplies all
// rows in one call only where the depth is whole groups. Rows lie `stride` bytes apart, without
// gaps, and `bytes` go from the first one to the end of the tensor. The bytes behind a row are the
// next row's, and meet weights of 0; the last rows have none behind them. 0 where nothing is
// gained: the depth is whole groups, or the rows are too few for one call.
inline size_t rows_read_to_groups(const MicroKernel& kernel, size_t depth, size_t stride,
                                  size_t bytes) {
  const size_t steps = kernel.rhs_layout.steps(depth);
  if (!kernel.micro_panel.taps || steps == depth || bytes < steps) return 0;
  const size_t rows = (bytes - steps) / stride + 1;
  return rows >= kernel.micro_panel.tiles * larger(kernel.mr, kernel.tall_mr) ? rows : 0;
}

// Columns of a micro-panel whose rows have one tap; words: the kernel makes them of its outputs.
inline size_t columns_of_micro_panel(const MicroKernel& kernel, bool words, size_t rows,
                                     size_t depth) {
  return words && depth <= kernel.micro_panel.most && depth % kernel.lhs_kr == 0 &&
                 rows >= kernel.micro_panel.tiles * kernel.mr
             ? kernel.words_nr()
             : kernel.nr;
}

// Whether a tile at one stride suits MicroKernel::multiply_micro_panel in all but its taps.
inline bool suits_micro_panel(const MicroKernel& kernel, const Tile& tile, size_t most_columns) {
  const auto& at_once = kernel.micro_panel;
  return kernel.multiply_micro_panel && tile.cols >= at_once.least_columns &&
         tile.cols <= most_columns && tile.depth >= at_once.least &&
         (tile.depth <= at_once.most || at_once.deeper) && !tile.row_init && !tile.adds &&
         !tile.lhs_rows;
}

// Multiplies rows at one stride by a micro-panel in place: in one call where the kernel has
// multiply_micro_panel for this tile.
inline void multiply_rows(const MicroKernel& kernel, size_t rows, const Tiling& tiling,
                          size_t lhs_panel, Tile* tile) {
  const auto& at_once = kernel.micro_panel;
  const size_t most_columns = at_once.taps && makes_words_in_kernel(*tile, kernel)
                                  ? kernel.words_nr()
                                  : at_once.most_columns;
  if (!tile->lhs_arranged && (!suits_micro_panel(kernel, *tile, most_columns) ||
                              (at_once.taps ? !is_plain(*tile, rows, kernel) : tile->taps > 1)))
    return multiply_tiles(kernel, tiling, lhs_panel, tile);
  tile->rows = rows;
  kernel.multiply_micro_panel(*tile);
}

// Multiplies rows at one stride by a micro-panel through s32 tiles and the epilogue, which takes
// several tiles at once: it reads its constants once, and finds the sums long stored. A kernel that
// takes rows at once makes all of these sums in one call, if it does so for every number of rows.
__attribute__((noinline)) inline void multiply_through_epilogue(
    const MicroKernel& kernel, const TileOutput& output, const Output& to, size_t rows,
    const Tiling& tiling, size_t n, size_t lanes, const float* row_scales, size_t lhs_panel,
    Tile* tile) {
  alignas(64) int32_t acc[kMaxTile];
  const size_t room = sizeof acc / sizeof *acc / lanes, most = room - kernel.rows_of(tile->cols);
  tile->dst_stride = lanes * sizeof(int32_t);
  tile->scale = nullptr;
  const bool suits =
      tile->lhs_arranged || (!kernel.micro_panel.taps && tile->taps == 1 &&
                             suits_micro_panel(kernel, *tile, kernel.micro_panel.most_columns));
  const size_t at_once = suits ? room / kernel.mr * kernel.mr : 0;
  EpilogueTile out = {acc, lanes, 0, tile->cols, n, row_scales, to.column(n, output.dst_bytes)};
  const uint8_t* lhs = (const uint8_t*)tile->lhs;
  for (size_t t = 0; rows; ++t) {
    tile->rows = at_once ? smaller(rows, at_once) : tiling.rows(t);
    tile->lhs = lhs;
    tile->dst = acc + out.rows * lanes;
    if (at_once) {
      kernel.multiply_micro_panel(*tile);
    } else {
      OCTET_ASSERT(may_multiply(kernel, *tile));
      prefetch(out.to.from(out.rows), tile->rows);
      kernel.multiply(*tile);
    }
    pass_sums(kernel, tile);
    if (tile->row_init) tile->row_init += tile->rows;
    if (tile->row_factors) tile->row_factors += tile->rows;
    out.rows += tile->rows;
    rows -= tile->rows;
    // The rows of the last tile may be pointers, and lhs null
    if (rows) lhs += lhs_panel ? lhs_panel : tile->rows * tile->lhs_stride;
    if (!at_once && out.rows <= most && rows) continue;
    output.ops->epilogue(*output.epilogue, out);
    if (out.row_scale) out.row_scale += out.rows;
    out.to = out.to.from(out.rows);
    out.rows = 0;
  }
}

// Multiplies rows in place and maps their bytes by a table, some rows at a time, while they are in
// L1. Not inlined, because the copy of the tile would add to the stack of other paths.
__attribute__((noinline)) inline void multiply_mapped(const MicroKernel& kernel,
                                                      const Epilogue& epilogue, size_t rows,
                                                      Tile* tile) {
  constexpr size_t kMapped = 252;
  for (size_t some; rows; rows -= some) {
    some = smaller(rows, kMapped);
    Tile part = *tile;
    multiply_rows(kernel, some, Tiling(some, kernel, tile->cols), 0, &part);
    epilogue.finish_in_place((uint8_t*)tile->dst, tile->dst_stride, some, tile->cols);
    pass_rows(tile, some);
  }
}

// Multiplies all rows of a matrix by a micro-panel into `output`, which is in place.
inline void multiply_micro_panel(const MicroKernel& kernel, const TileOutput& output, size_t rows,
                                 size_t n, const float* row_scales, size_t lhs_panel, Tile* tile) {
  tile->row_scale = row_scales;
  uint8_t* const dst = output.to.dst + n * output.dst_bytes;
  tile->dst = dst;
  tile->dst_stride = output.to.stride;
  tile->scale = output.s32() ? nullptr : output.epilogue->scale + n;
  tile->requantization = output.requantization;
  if (output.epilogue->lut && !lhs_panel && !tile->lhs_arranged && !tile->sums)
    return multiply_mapped(kernel, *output.epilogue, rows, tile);
  multiply_rows(kernel, rows, Tiling(rows, kernel, tile->cols), lhs_panel, tile);
  output.epilogue->finish_in_place(dst, output.to.stride, rows, tile->cols);
}

}  // namespace octet
