// SPDX-License-Identifier: Apache-2.0
// Prepares a block for the kernel: panels of rows, sums of rows, room for decoded weights.
#include "kernels/core/sections.h"
#include "kernels/macro/block_tiles.h"

namespace octet {
namespace {

// Calls f(rows, tap) for each tap of a tile.
template <typename F>
void for_each_tap(const MacroKernel& macro_kernel, const Block& block, const BlockTile& tile,
                  const F& f) {
  Rows rows = {tile.base, block.lhs_stride, tile.rows, macro_kernel.taps.depth,
               macro_kernel.lhs_flip};
  for (size_t tap = 0; tap < tile.taps.count(); ++tap) {
    if (!tile.base)
      rows.pointers = tile.pointers + tap * tile.rows;
    else if (tap > 0)
      rows.data += block.tap_steps[tap - 1];
    f(rows, tap);
  }
}

// Makes the panels of a matrix, which has one tap, and the sums of their rows if sums is not null.
void prepare_matrix(const MacroKernel& macro_kernel, const Block& block, const Tiling& tiling,
                    uint8_t* panel, int32_t* sums) {
  const MicroKernel& kernel = *macro_kernel.kernel;
  const GatherFn gather = macro_kernel.s16 ? kernel.gather_s16 : kernel.gather;
  const size_t steps = round_up_pow2(macro_kernel.taps.depth, kernel.lhs_kr);
  Rows rows = {block.lhs, block.lhs_stride, 0, macro_kernel.taps.depth, macro_kernel.lhs_flip};
  for (size_t i = 0; i < tiling.count; ++i, panel += block.panel_bytes) {
    rows.rows = tiling.rows(i);
    const size_t lanes = round_up_pow2(rows.rows, kernel.lhs_lanes_step);
    gather(rows, lanes, panel);
    if (sums) {
      kernel.sum_panel(panel, lanes, steps, sums);
      sums += rows.rows;
    }
    rows.data += rows.rows * rows.stride;
  }
}

// Hands a block the sums of its rows in the form that the kernel takes.
void use_sums(const MicroKernel& kernel, const Columns& columns, int32_t* sums, Block* block) {
  if (columns.one_zero_point && kernel.is(kRowInit)) {
    const uint32_t factor = 0 - (uint32_t)columns.zero_point[0];
    for (size_t row = 0; row < block->rows; ++row)
      sums[row] = (int32_t)((uint32_t)sums[row] * factor);
    block->row_init = sums;
  } else {
    const bool factors = kernel.is(kRowFactors) && !block->terms.zero_points;
    (factors ? block->row_factors : block->row_sums) = sums;
  }
}

}  // namespace

PreparedSections prepared_sections(const MacroKernel& macro_kernel, bool weight_zero_points,
                                   size_t rows, size_t pointed) {
  const MicroKernel& kernel = *macro_kernel.kernel;
  Sections sections;
  PreparedSections at = {};
  const Taps& taps = macro_kernel.taps;
  const bool copies = kernel.copy_rows && pointed;
  const size_t room = kernel.room_bytes(taps.count, taps.depth);
  if (!kernel.prepares() && !copies && !weight_zero_points && !room) return at;
  if (copies) at.panels = sections.take(pointed * kernel.copied_stride(taps.depth, taps.most));
  if (kernel.gather)
    at.panels =
        sections.take(divide_up(rows, kernel.mr) * kernel.lhs_panel_bytes(taps.depth, taps.most));
  if (weight_zero_points)
    at.row_sums = sections.take((rows + kernel.lhs_lanes_step) * sizeof(int32_t));
  at.room = sections.take(room);
  at.decoded = sections.take(kernel.decoded_bytes(taps.count, taps.depth, rows));
  if (kernel.ahead.note) {
    at.sums_tiles = larger(divide_up(rows, kernel.mr), SumsAhead::kTiles);
    at.sums = sections.take(kernel.sums_bytes(at.sums_tiles));
    at.notes = sections.take(at.sums_tiles * kernel.ahead.note_bytes);
  }
  at.bytes = sections.bytes;
  return at;
}

void prepare(const MacroKernel& macro_kernel, const Columns& columns, const PreparedSections& at,
             uint8_t* workspace, Block* block) {
  const MicroKernel& kernel = *macro_kernel.kernel;
  const Taps& taps = macro_kernel.taps;
  const bool weight_zero_points = columns.zero_point;
  if (block->prepared) return;
  block->panels = nullptr;
  block->row_sums = block->row_init = block->sums = nullptr;
  block->row_factors =
      kernel.is(kRowFactors) && !weight_zero_points ? block->terms.zero_points : nullptr;
  block->decoded = nullptr;
  block->room = at.bytes ? workspace + at.room : nullptr;
  const bool copies = kernel.copy_rows && block->tiles;
  if (!kernel.prepares() && !copies && !weight_zero_points) return;
  const BlockTile all = whole_matrix(macro_kernel, *block);
  const BlockTile* const tiles = block->tiles ? block->tiles : &all;
  const size_t count = block->tiles ? block->tile_count : 1,
               tap_elements = round_up_pow2(taps.depth, kernel.lhs_kr);
  block->panel_bytes = kernel.lhs_panel_bytes(taps.depth, taps.most);
  block->copied_stride = kernel.copied_stride(taps.depth, taps.most);
  // A matrix's rows are summed in one call, if panels are not
  const bool sums_panels = weight_zero_points && kernel.sum_panel,
             sums_tiles = weight_zero_points && !sums_panels && block->tiles,
             is_signed = kernel.lhs_element_type == ElementType::kS8;
  OCTET_ASSERT(block->tiles || taps.count == 1);
  if (weight_zero_points && !sums_panels && !sums_tiles)
    macro_kernel.ops->sum_rows(
        {block->lhs, block->lhs_stride, block->rows, taps.depth, macro_kernel.lhs_flip}, is_signed,
        (int32_t*)(workspace + at.row_sums));
  uint8_t* panel = workspace + at.panels;
  int32_t* sums = (int32_t*)(workspace + at.row_sums);
  const auto prepare_tile = [&](const BlockTile& tile) {
    const size_t lanes = round_up_pow2(tile.rows, kernel.lhs_lanes_step);
    const bool copied = copies && copies_rows(macro_kernel, tile);
    if (!kernel.gather && !copied && !sums_tiles) return;
    for (size_t i = 0; sums_tiles && i < tile.rows; ++i) sums[i] = 0;
    for_each_tap(macro_kernel, *block, tile, [&](const Rows& rows, size_t tap) {
      if (kernel.gather)
        (macro_kernel.s16 ? kernel.gather_s16 : kernel.gather)(
            rows, lanes, panel + tap * lanes * tap_elements * kernel.lhs_element_bytes);
      if (copied) kernel.copy_rows(rows, block->copied_stride, panel + tap * tap_elements);
      if (!sums_tiles) return;
      int32_t tap_sums[kMaxTileRows];
      macro_kernel.ops->sum_rows(rows, is_signed, tap_sums);
      for (size_t i = 0; i < tile.rows; ++i)
        sums[i] = (int32_t)((uint32_t)sums[i] + (uint32_t)tap_sums[i]);
    });
    if (sums_panels) kernel.sum_panel(panel, lanes, tile.taps.count() * tap_elements, sums);
    panel += kernel.gather ? block->panel_bytes : copied ? tile.rows * block->copied_stride : 0;
    sums += tile.rows;
  };
  size_t made = 0;  // tiles
  for (size_t t = 0; t < count; ++t) {
    const Tiling tiling = tiling_of(tiles[t], kernel, kernel.copy_rows ? 1 : SIZE_MAX);
    made += tiling.count;
    if (!block->tiles && kernel.gather) {
      prepare_matrix(macro_kernel, *block, tiling, panel, sums_panels ? sums : nullptr);
      break;
    }
    for (size_t i = 0, from = 0; (kernel.gather || copies || sums_tiles) && i < tiling.count;
         from += tiling.rows(i++))
      prepare_tile(part_of(tiles[t], *block, from, tiling.rows(i)));
  }
  if (kernel.gather || copies) block->panels = workspace + at.panels;
  if (weight_zero_points) use_sums(kernel, columns, (int32_t*)(workspace + at.row_sums), block);
  if (kernel.ahead.note) {
    OCTET_ASSERT(made <= at.sums_tiles);
    block->sums = (int32_t*)(workspace + at.sums);
    block->notes = workspace + at.notes;
    block->sums_tiles = at.sums_tiles;
    block->made = made;
  }
  if (decodes_once(kernel, taps.count, taps.depth, block->rows, made))
    block->decoded = workspace + at.decoded;
}

}  // namespace octet
