#include "kernels/conv/block.h"

namespace octet {
namespace {

// A tile's start: the used taps have met the zero point of the lhs, those that are padding have
// not.
struct Start {
  const ConvPlan& plan;
  const ConvPanels& panels;
  const ConvBlock& block;
  alignas(64) int32_t values[kMaxTile], row[kMaxTileColumns];

  Start(const ConvPlan& p, const ConvPanels& all, const ConvBlock& b)
      : plan(p), panels(all), block(b) {}

  // Returns the first value; *stride is 0 where one row is for all.
  const int32_t* make(size_t n, size_t lanes, const BlockTile* used, size_t groups,
                      size_t first_row, size_t rows, size_t* stride) {
    const bool all =
        !used || (used->first == 0 && used->end == groups && !used->before && !used->after);
    *stride = 0;
    if (!plan.runtime_zero_point && !block.row_sums && (all || block.zero_point == 0))
      return plan.bias + n;

    // plan.bias holds -z * weight_sum if z is static.
    const int32_t z = block.zero_point, left = plan.runtime_zero_point ? all ? z : 0
                                               : all                   ? 0
                                                                       : (int32_t)(0 - (uint32_t)z);
    int32_t* const first = block.row_sums ? row : values;
    write_start(plan, n, lanes, left, first);
    Init init = {};
    init.cols = lanes;
    init.base = first;
    if (!all) {
      init.lhs_zero_points = &z;
      init.out = first;
      for (size_t t = used->first; t < used->end; ++t) {
        init.weight_sums = panels.group_sums + t * panels.group_sums_stride + n;
        plan.ops->init(init);
      }
      init.lhs_zero_points = nullptr;
    }
    if (!block.row_sums) return values;

    init.rows = rows;
    init.row_sums = block.row_sums + first_row;
    init.rhs_zero_points = plan.zero_point + n;
    init.out = values;
    init.out_stride = *stride = lanes;
    plan.ops->init(init);
    return values;
  }
};

// Nothing but padding: the accumulators are the init.
void copy_init(const Tile& t) {
  for (size_t i = 0; i < t.rows; ++i) {
    int32_t* to = (int32_t*)((uint8_t*)t.dst + i * t.dst_stride);
    for (size_t j = 0; j < t.cols; ++j) to[j] = t.init[i * t.init_stride + j];
  }
}

// A block against the channels of a group.
class Product {
 public:
  Product(const ConvPlan& plan, const Taps& taps, const ConvBlock& block, size_t group)
      : plan_(plan),
        taps_(taps),
        block_(block),
        kernel_(*plan.kernel),
        layout_(kernel_.rhs_layout),
        panels_(read_panels(layout_, plan.shape, taps, plan.payload)),
        rhs_(panels_.of_group(group)),
        first_(group * plan.shape.group_out()),
        tap_depth_(layout_.depth(taps.depth)),
        tiling_(block.rows, kernel_),
        start_(plan, panels_, block) {
    for (float& scale : scales_) scale = block.scale;
    tile_.lhs_stride = block.lhs_stride;
    tile_.lhs_flip = plan.lhs_flip ? 0x80808080u : 0;
    tile_.rhs_panel_stride = layout_.width * panels_.depth;
  }

  // Strips of nr columns: some in each panel, or each over some panels.
  void multiply(size_t n0, size_t n1) {
    const bool matrix = !block_.tiles && !block_.row_sums && block_.sink.in_place();
    const size_t span = larger(layout_.width, kernel_.nr), end = n1 - first_;
    for (size_t panel = n0 - first_; panel < end; panel += span) {
      const size_t width = smaller(span, panels_.lanes - panel);
      tile_.rhs_stride = smaller(layout_.width, width) * layout_.kr;
      for (size_t lane = 0; lane < width && panel + lane < end; lane += kernel_.nr) {
        n_ = first_ + panel + lane;
        lanes_ = smaller(kernel_.nr, width - lane);
        strip_ = rhs_ + panel * panels_.depth + lane * layout_.kr;
        tile_.cols = smaller(kernel_.nr, n1 - n_);
        matrix ? multiply_rows() : multiply_tiles();
      }
    }
  }

 private:
  // Rows of a matrix.
  void multiply_rows() {
    tile_.init = start_.make(n_, lanes_, nullptr, taps_.groups, 0, 1, &tile_.init_stride);
    tile_.rhs = strip_;
    tile_.lhs = block_.panels ? block_.panels : block_.lhs;
    tile_.depth = block_.reads_to_groups && !block_.panels ? tap_depth_ : taps_.depth;
    multiply_strip(kernel_, block_.sink, block_.rows, n_, block_.panels ? block_.panel_bytes : 0,
                   &tile_);
  }

  void multiply_tiles() {
    const size_t count = block_.tiles ? block_.tile_count : tiling_.count;
    for (size_t t = 0, row = 0; t < count; row += tile_.rows, ++t) {
      const BlockTile all = {row,
                             1,
                             (uint32_t)tiling_.rows(t),
                             0,
                             (uint32_t)taps_.groups,
                             0,
                             0,
                             {0, taps_.count},
                             block_.reads_to_groups,
                             block_.tiles ? nullptr : block_.lhs + row * block_.lhs_stride,
                             nullptr};
      const BlockTile& used = block_.tiles ? block_.tiles[t] : all;
      tile_.rows = used.rows;
      tile_.init = start_.make(n_, lanes_, &used, taps_.groups, row, used.rows, &tile_.init_stride);
      multiply_taps(used, t);
    }
  }

  void multiply_taps(const BlockTile& used, size_t t) {
    const float* const row_scale = plan_.runtime_zero_point ? scales_ : nullptr;
    const TapRange range = used.taps;
    OCTET_ASSERT(range.first <= range.end && range.end <= taps_.count);
    OCTET_ASSERT(used.first <= used.end && used.end <= taps_.groups);
    Sink sink = block_.sink.from(used.pixel, used.step);
    if (range.first == range.end) {
      sink.narrow_in_kernel = false;  // no kernel there, so the epilogue does all
      MicroKernel only_init = kernel_;
      only_init.multiply = copy_init;
      return multiply_into(only_init, sink, n_, lanes_, row_scale, &tile_);
    }
    // Where taps in the middle are left out, those of each group add to what the groups before it
    // made.
    const size_t left_out = used.before + used.after,
                 step = left_out ? plan_.shape.kernel_w : range.count(), count = step - left_out;
    for (size_t tap = range.first + used.before;; tap += step) {
      tile_.rhs = strip_ + tap * tap_depth_ / layout_.kr * tile_.rhs_stride;
      if (block_.panels) {  // none is
        tile_.taps = 1;
        tile_.lhs = block_.panels + t * block_.panel_bytes;
        tile_.depth = count == 1 ? taps_.depth : count * tap_depth_;
      } else {
        tile_.taps = count;
        tile_.lhs = used.base;
        tile_.lhs_rows = used.base ? nullptr : used.pointers + (tap - range.first) * used.rows;
        tile_.tap_steps = block_.tap_steps;
        tile_.depth = used.reads_to_groups ? tap_depth_ : taps_.depth;
      }
      if (tap + step >= range.end) break;
      multiply_partly();
    }
    multiply_into(kernel_, sink, n_, lanes_, row_scale, &tile_);
  }

  // Leaves the sums as what the next taps start from.
  void multiply_partly() {
    const size_t cols = tile_.cols;
    tile_.cols = lanes_;
    tile_.dst = sums_;
    tile_.dst_stride = lanes_ * sizeof(int32_t);
    tile_.scale = nullptr;
    kernel_.multiply(tile_);
    tile_.cols = cols;
    tile_.init = sums_;
    tile_.init_stride = lanes_;
  }

  const ConvPlan& plan_;
  const Taps& taps_;
  const ConvBlock& block_;
  const MicroKernel& kernel_;
  const RhsLayout& layout_;
  const ConvPanels panels_;
  const uint8_t* const rhs_;
  const size_t first_;  // channel 0 of the group
  const size_t tap_depth_;
  const Tiling tiling_;
  Start start_;
  float scales_[kMaxTileRows];
  alignas(64) int32_t sums_[kMaxTile];
  // Of the strip: its first channel, the columns that its weights and init provide
  size_t n_, lanes_;
  const uint8_t* strip_;  // its weights
  Tile tile_;
};

}  // namespace

size_t conv_block_rows(const ConvPlan& plan, size_t bytes_per_row) {
  const size_t mr = plan.kernel->mr;
  return larger(plan.cache_bytes / 2 / bytes_per_row / mr, 1) * mr;
}

size_t prepared_bytes(const ConvPlan& plan, const Taps& taps, size_t rows) {
  const MicroKernel& kernel = *plan.kernel;
  const size_t panels =
      kernel.gather ? divide_up(rows, kernel.mr) * kernel.lhs_panel_bytes(taps.depth, taps.most)
                    : 0;
  return panels + (plan.zero_point ? round_up(rows * sizeof(int32_t), kAlignment) : 0);
}

void prepare_block(const ConvPlan& plan, const Taps& taps, uint8_t* workspace, ConvBlock* block) {
  const MicroKernel& kernel = *plan.kernel;
  const Tiling tiling(block->rows, kernel);
  block->panels = nullptr;
  block->panel_bytes = kernel.lhs_panel_bytes(taps.depth, taps.most);
  block->row_sums = nullptr;
  uint8_t* const panels = workspace;
  const size_t count = block->tiles ? block->tile_count : tiling.count;
  int32_t* const sums = (int32_t*)(workspace + (kernel.gather ? count * block->panel_bytes : 0));
  if (!kernel.gather && !plan.zero_point) return;

  const size_t tap_elements = round_up(taps.depth, kernel.lhs_kr);
  for (size_t t = 0, row = 0; t < count; ++t) {
    const BlockTile* const tile = block->tiles ? &block->tiles[t] : nullptr;
    Rows rows = {};
    rows.rows = tile ? tile->rows : tiling.rows(t);
    rows.depth = taps.depth;
    rows.flip = plan.lhs_flip;
    const size_t lanes = round_up_pow2(rows.rows, kernel.lhs_lanes_step);
    const TapRange used = tile ? tile->taps : TapRange{0, taps.count};
    for (size_t i = 0; plan.zero_point && i < rows.rows; ++i) sums[row + i] = 0;
    const uint8_t* const base = tile ? tile->base : block->lhs + row * block->lhs_stride;
    rows.data = base;
    rows.stride = block->lhs_stride;
    for (size_t tap = used.first; tap < used.end; ++tap) {
      if (!base)
        rows.pointers = tile->pointers + (tap - used.first) * rows.rows;
      else if (tap > used.first)
        rows.data += block->tap_steps[tap - used.first - 1];
      if (kernel.gather)
        kernel.gather(rows, lanes,
                      panels + t * block->panel_bytes +
                          (tap - used.first) * lanes * tap_elements * kernel.lhs_element_bytes);
      if (plan.zero_point) {
        int32_t tap_sums[kMaxTileRows];
        plan.ops->sum_rows(rows, kernel.lhs_domain == Domain::kS8, tap_sums);
        for (size_t i = 0; i < rows.rows; ++i)
          sums[row + i] = (int32_t)((uint32_t)sums[row + i] + (uint32_t)tap_sums[i]);
      }
    }
    row += rows.rows;
  }
  if (kernel.gather) block->panels = panels;
  if (plan.zero_point) block->row_sums = sums;
}

void multiply_block(const ConvPlan& plan, const Taps& taps, const ConvBlock& block, size_t group,
                    size_t n0, size_t n1) {
  Product(plan, taps, block, group).multiply(n0, n1);
}

}  // namespace octet
