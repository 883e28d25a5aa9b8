// SPDX-License-Identifier: Apache-2.0
// Multiplies rows by weights in scale blocks.
#include "operators/gemm/scale_blocks.h"

#include "operators/gemm/row_terms.h"

namespace octet {
namespace {

// Rows that share weights that are decoded once; their sums, at most 16 KB, are near when the
// epilogue reads them
constexpr size_t kRows = 128;

// Rows of s8 where they lie, or copies of rows of u8 with their top bits flipped.
const uint8_t* rows_of(const GemmRun& run, const Block& block, uint8_t* workspace, size_t* stride) {
  *stride = block.lhs_stride;
  if (run.plan.lhs_type == ElementType::kS8) return block.lhs;
  const size_t k = run.schedule.sizes.k;
  uint8_t* const copies = workspace + run.schedule.sections.block_lhs;
  *stride = round_up(k, kAlignment);
  copy_rows({block.lhs, block.lhs_stride, block.rows, k, 0x80}, *stride, copies);
  return copies;
}

// Writes the zero points of the rows as s8, in floats. Returns whether one is not 0.
bool write_zero_points(const GemmPlan& plan, const Block& block, float* to) {
  bool any = false;
  for (size_t i = 0; i < block.rows; ++i) {
    to[i] = (float)zero_point_of(plan, block.terms, ElementType::kS8, i);
    any |= to[i] != 0;
  }
  return any;
}

}  // namespace

void lay_out_scale_blocks(const GemmPlan& plan, size_t k, Sections* sections, GemmSections* at) {
  const size_t terms = at->rows * plan.scale_blocks.count;
  if (plan.lhs_type == ElementType::kU8)
    at->block_lhs = sections->take(at->rows * round_up(k, kAlignment));
  at->block_init = sections->take(terms * sizeof(int32_t));
  at->block_zero_points = sections->take(at->rows * sizeof(float));
  if (plan.has_minimums) at->block_row_sums = sections->take(terms * sizeof(float));
  at->block_room = sections->take(plan.scale_block_kernel->room);
  at->block_sums = sections->take(smaller(at->rows, kRows) * plan.kernel->nr * sizeof(float));
}

void multiply_scale_blocks(const GemmRun& run, size_t index, const GemmTask& task,
                           const Block& block, uint8_t* workspace) {
  const GemmPlan& plan = run.plan;
  const GemmSections& at = run.schedule.sections;
  const ScaleBlockKernel& kernel = *plan.scale_block_kernel;
  const ScaleBlocks& blocks = plan.scale_blocks;
  ScaleBlockTile tile = {};
  tile.blocks = blocks;
  const uint8_t* const lhs = rows_of(run, block, workspace, &tile.lhs_stride);
  int32_t* const init = (int32_t*)(workspace + at.block_init);
  float* const zero_points = (float*)(workspace + at.block_zero_points);
  float* const row_sums = plan.minimums ? (float*)(workspace + at.block_row_sums) : nullptr;
  const bool any = write_zero_points(plan, block, zero_points);
  for (size_t i = 0; i < block.rows; ++i) {
    int32_t* const row = init + i * blocks.count;
    plan.ops->sum_rows({lhs + i * tile.lhs_stride, blocks.depth, blocks.count, blocks.depth, 0},
                       true, row);
    for (size_t b = 0; plan.minimums && b < blocks.count; ++b)
      row_sums[i * blocks.count + b] = (float)row[b] - zero_points[i] * (float)blocks.depth;
    for (size_t b = 0; b < blocks.count; ++b)
      row[b] = init_of_row(kernel, blocks, any, row[b], (int32_t)zero_points[i]);
  }
  const float* const scales = block.terms.scales;
  const bool by_block = scales_blocks(plan);
  float of_all[kRows];  // the scale of all rows, where they share one
  for (float& scale : of_all) scale = block.terms.scale;
  const size_t panel_bytes = blocks.panel_bytes(), nr = plan.kernel->nr;
  const uint8_t* const panels = plan.packed + index * plan.packed_stride;
  const int16_t* const column_sums = plan.column_sums + index * plan.column_sums_stride;
  for (size_t n0 = task.n0, n; n0 < task.n1; n0 += n) {
    n = smaller(nr, task.n1 - n0);
    const size_t panel = n0 / kScaleBlockColumns;
    tile.rhs = panels + panel * panel_bytes;
    tile.panels = divide_up(n, kScaleBlockColumns);
    tile.column_sums = column_sums + panel * blocks.count * kScaleBlockColumns;
    for (size_t m0 = 0; m0 < block.rows; m0 += tile.rows) {
      tile.rows = smaller(kRows, block.rows - m0);
      tile.lhs = lhs + m0 * tile.lhs_stride;
      tile.row_init = init + m0 * blocks.count;
      tile.row_scales = by_block && scales ? scales + m0 * blocks.count : nullptr;
      tile.lhs_zero_points = any ? zero_points + m0 : nullptr;
      tile.sums = (float*)(workspace + at.block_sums);
      tile.room = workspace + at.block_room;
      const Output to = block.output.to.from(m0).column(n0, plan.dst_bytes);
      // Whole lines that the epilogue will write, which would wait for each of them
      for (size_t i = 0; i < tile.rows; ++i)
        for (size_t at = 0; at < n * plan.dst_bytes; at += 64)
          __builtin_prefetch(to.dst + i * to.stride + at, 1);
      kernel.multiply(tile);
      if (plan.minimums)
        kernel.add_minimums({blocks.count, row_sums + m0 * blocks.count, tile.row_scales,
                             plan.minimums + index * plan.minimums_stride +
                                 panel * blocks.count * kScaleBlockColumns,
                             tile.rows, tile.panels, nr, tile.sums});
      const float* const row_scale = !block.terms.scaled || by_block ? nullptr
                                     : scales                        ? scales + m0
                                                                     : of_all;
      kernel.epilogue(plan.epilogue,
                      {(const int32_t*)tile.sums, nr, tile.rows, n, n0, row_scale, to});
    }
  }
}

}  // namespace octet
