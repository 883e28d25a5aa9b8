#include "kernels/conv/block.h"

namespace octet {
namespace {

constexpr size_t kMaxRows = 16;  // of a tile

// Taps [first, end) of a tile.
TapRange used_taps(const ConvPlan& plan, const Taps& taps, const ConvBlock& block, size_t tile) {
  if (!block.tiles) return {0, taps.count};
  const BlockTile& t = block.tiles[tile];
  if (t.first >= t.end) return {0, 0};
  return {taps_of_group(plan.shape, t.first).first, taps_of_group(plan.shape, t.end - 1).end};
}

// init[i,j] = bias - lhs_zp * (sum of weights over the used taps) - zero_point[j] * row_sum[i]. Wraps: only the final accumulator must fit.
struct Init {
  const ConvPlan& plan;
  const ConvPanels& panels;
  const ConvBlock& block;
  alignas(64) int32_t values[kMaxTile];

  // Returns the first value; *stride is 0 where one row is for all.
  const int32_t* make(size_t n, size_t lanes, const BlockTile* used, size_t groups, size_t row, size_t rows, size_t* stride) {
    const bool all = !used || (used->first == 0 && used->end == groups && !used->before && !used->after);
    const uint32_t z = (uint32_t)block.zero_point;
    *stride = 0;
    if (!plan.runtime_zero_point && !block.row_sums && (all || z == 0)) return plan.bias + n;

    uint32_t* const first = (uint32_t*)values;
    // plan.bias holds -z * weight_sum if z is static.
    const uint32_t whole = plan.runtime_zero_point ? all ? 0 - z : 0 : all ? 0 : z;
    for (size_t j = 0; j < lanes; ++j) first[j] = (uint32_t)plan.bias[n + j] + whole * (uint32_t)plan.weight_sum[n + j];
    if (!all)
      for (size_t t = used->first; t < used->end; ++t) {
        const int32_t* sums = panels.group_sums + t * panels.group_sums_stride + n;
        for (size_t j = 0; j < lanes; ++j) first[j] -= z * (uint32_t)sums[j];
      }
    if (!block.row_sums) return values;

    *stride = lanes;
    for (size_t i = rows; i-- > 0;) {  // the first row last: the others are made from it
      uint32_t* to = first + i * lanes;
      const uint32_t sum = (uint32_t)block.row_sums[row + i];
      for (size_t j = 0; j < lanes; ++j) to[j] = first[j] - sum * (uint32_t)plan.zero_point[n + j];
    }
    return values;
  }
};

// Leaves the sums as what the next taps start from.
void multiply_partly(const MicroKernel& kernel, size_t lanes, int32_t* sums, Tile* tile) {
  Tile part = *tile;
  part.cols = lanes;
  part.dst = sums;
  part.dst_stride = lanes * sizeof(int32_t);
  part.scale = nullptr;
  kernel.multiply(part);
  tile->init = sums;
  tile->init_stride = lanes;
}

// Nothing but padding: the accumulators are the init.
void copy_init(const Tile& t) {
  for (size_t i = 0; i < t.rows; ++i) {
    int32_t* to = (int32_t*)((uint8_t*)t.dst + i * t.dst_stride);
    for (size_t j = 0; j < t.cols; ++j) to[j] = t.init[i * t.init_stride + j];
  }
}

}  // namespace

size_t conv_block_rows(const ConvPlan& plan, size_t bytes_per_row) {
  const size_t mr = plan.kernel->mr;
  return larger(plan.cache_bytes / 2 / bytes_per_row / mr, 1) * mr;
}

size_t prepared_bytes(const ConvPlan& plan, const Taps& taps, size_t rows) {
  const MicroKernel& kernel = *plan.kernel;
  const size_t panels = kernel.gather ? divide_up(rows, kernel.mr) * kernel.lhs_panel_bytes(taps.depth, taps.count) : 0;
  return panels + (plan.zero_point ? round_up(rows * sizeof(int32_t), kAlignment) : 0);
}

void prepare_block(const ConvPlan& plan, const Taps& taps, uint8_t* workspace, ConvBlock* block) {
  const MicroKernel& kernel = *plan.kernel;
  const Tiling tiling(block->rows, kernel);
  block->panels = nullptr;
  block->panel_bytes = kernel.lhs_panel_bytes(taps.depth, taps.count);
  block->row_sums = nullptr;
  uint8_t* const panels = workspace;
  int32_t* const sums = (int32_t*)(workspace + (kernel.gather ? tiling.count * block->panel_bytes : 0));
  if (!kernel.gather && !plan.zero_point) return;

  const uint8_t* const* pointers = block->pointers;
  const size_t tap_elements = round_up(taps.depth, kernel.lhs_kr);
  for (size_t t = 0, row = 0; t < tiling.count; ++t) {
    Rows rows = {};
    rows.rows = tiling.rows(t);
    rows.depth = taps.depth;
    rows.flip = plan.lhs_flip;
    const size_t lanes = round_up_pow2(rows.rows, kernel.lhs_lanes_step);
    const TapRange used = used_taps(plan, taps, *block, t);
    for (size_t i = 0; plan.zero_point && i < rows.rows; ++i) sums[row + i] = 0;
    const uint8_t* const base = block->tiles ? block->tiles[t].base : block->lhs + row * block->lhs_stride;
    rows.data = base;
    rows.stride = block->lhs_stride;
    for (size_t tap = used.first; tap < used.end; ++tap) {
      if (!base)
        rows.pointers = pointers + tap * rows.rows;
      else if (tap > used.first)
        rows.data += block->tap_steps[tap - 1];
      if (kernel.gather)
        kernel.gather(rows, lanes, panels + t * block->panel_bytes + (tap - used.first) * lanes * tap_elements * kernel.lhs_element_bytes);
      if (plan.zero_point) {
        int32_t tap_sums[kMaxRows];
        plan.row_ops->sum(rows, kernel.lhs_domain == Domain::kS8, tap_sums);
        for (size_t i = 0; i < rows.rows; ++i) sums[row + i] = (int32_t)((uint32_t)sums[row + i] + (uint32_t)tap_sums[i]);
      }
    }
    pointers += taps.count * rows.rows;
    row += rows.rows;
  }
  if (kernel.gather) block->panels = panels;
  if (plan.zero_point) block->row_sums = sums;
}

void multiply_block(const ConvPlan& plan, const Taps& taps, const ConvBlock& block, size_t group, size_t n0, size_t n1) {
  const MicroKernel& kernel = *plan.kernel;
  MicroKernel only_init = kernel;
  only_init.multiply = copy_init;
  const RhsLayout& layout = kernel.rhs_layout;
  const ConvPanels panels = read_panels(layout, plan.shape, taps, plan.payload);
  const uint8_t* const rhs = panels.of_group(group);
  const size_t first = group * plan.shape.group_out();  // channel 0 of the group
  const size_t tap_depth = layout.depth(taps.depth), tap_groups = tap_depth / layout.kr;
  const Tiling tiling(block.rows, kernel);
  Init init = {plan, panels, block, {}};
  float scales[kMaxRows];
  for (float& scale : scales) scale = block.scale;
  const float* row_scale = plan.runtime_zero_point ? scales : nullptr;
  const size_t tiles = block.tiles ? block.tile_count : tiling.count;
  alignas(64) int32_t sums[kMaxTile];

  Tile tile;
  tile.lhs_stride = block.lhs_stride;
  tile.lhs_flip = plan.lhs_flip ? 0x80808080u : 0;
  tile.rhs_panel_stride = layout.width * panels.depth;
  const size_t span = larger(layout.width, kernel.nr), end = n1 - first;
  for (size_t panel = n0 - first; panel < end; panel += span) {
    const size_t width = smaller(span, panels.lanes - panel);
    tile.rhs_stride = smaller(layout.width, width) * layout.kr;
    for (size_t lane = 0; lane < width && panel + lane < end; lane += kernel.nr) {
      const size_t n = first + panel + lane, lanes = smaller(kernel.nr, width - lane);
      tile.cols = smaller(kernel.nr, n1 - n);
      const uint8_t* const strip = rhs + panel * panels.depth + lane * layout.kr;
      if (!block.tiles && !block.row_sums && block.sink.in_place()) {  // rows of a matrix
        tile.init = init.make(n, lanes, nullptr, taps.groups, 0, 1, &tile.init_stride);
        tile.rhs = strip;
        tile.lhs = block.panels ? block.panels : block.lhs;
        tile.depth = block.reads_to_groups && !block.panels ? tap_depth : taps.depth;
        multiply_strip(kernel, block.sink, 0, block.rows, n, block.panels ? block.panel_bytes : 0, &tile);
        continue;
      }
      const uint8_t* const* pointers = block.pointers;
      for (size_t t = 0, row = 0; t < tiles; row += tile.rows, ++t) {
        const BlockTile* const used = block.tiles ? block.tiles + t : nullptr;
        const Sink sink = used ? block.sink.from(used->pixel, used->step) : block.sink.from(row, 1);
        const TapRange range = used_taps(plan, taps, block, t);
        tile.rows = used ? used->rows : tiling.rows(t);
        tile.init = init.make(n, lanes, used, taps.groups, row, tile.rows, &tile.init_stride);
        if (range.first == range.end) {
          Sink padding = sink;  // no kernel there, so the epilogue does all
          padding.narrow_in_kernel = false;
          multiply_into(only_init, padding, 0, n, lanes, row_scale, &tile);
        } else if (block.panels) {
          tile.rhs = strip + range.first * tap_groups * tile.rhs_stride;
          tile.lhs = block.panels + t * block.panel_bytes;
          tile.taps = 1;
          tile.depth = range.end - range.first == 1 ? taps.depth : (range.end - range.first) * tap_depth;
          multiply_into(kernel, sink, 0, n, lanes, row_scale, &tile);
        } else {
          tile.depth = (used ? used->reads_to_groups : block.reads_to_groups) ? tap_depth : taps.depth;
          tile.lhs = used ? used->base : block.lhs + row * block.lhs_stride;
          const size_t before = used ? used->before : 0, left_out = used ? before + used->after : 0;
          const size_t run = left_out ? plan.shape.kernel_w : range.end - range.first;  // taps from one call to the next
          tile.taps = run - left_out;
          for (size_t tap = range.first + before;; tap += run) {
            tile.rhs = strip + tap * tap_groups * tile.rhs_stride;
            tile.tap_steps = block.tap_steps + tap;
            tile.lhs_rows = tile.lhs ? nullptr : pointers + tap * tile.rows;
            if (tap + run >= range.end) break;
            multiply_partly(kernel, lanes, sums, &tile);
          }
          multiply_into(kernel, sink, 0, n, lanes, row_scale, &tile);
        }
        if (pointers) pointers += taps.count * tile.rows;
      }
    }
  }
}

}  // namespace octet
