// SPDX-License-Identifier: Apache-2.0
// The loops of the macro-kernel, and the init of each tile.
#include "kernels/macro/macro_kernel.h"

#include "kernels/macro/block_tiles.h"

namespace octet {
namespace {

// Makes the init that a tile's accumulators start from.
class Start {
 public:
  Start(const MacroKernel& macro_kernel, const Weights& weights, const Block& block)
      : macro_kernel_(macro_kernel),
        weights_(weights),
        block_(block),
        per_row_(block.row_sums || (block.terms.zero_points && !block.row_factors)) {}

  bool per_row() const { return per_row_; }

  // The factors of columns from n on that belong to Block::row_factors, or null.
  const int32_t* column_factors(size_t n) const {
    const Columns columns = weights_.columns.from(n);
    return !block_.row_factors        ? nullptr
           : block_.terms.zero_points ? columns.weight_sum
                                      : columns.zero_point;
  }

  // Room for a tile's sums, in the place of its init: kernels take an init that is their dst.
  int32_t* sums() { return values_; }

  // The init of `lanes` columns from n on. *stride is 0 where one row of init serves all rows.
  const int32_t* make(size_t n, size_t lanes, const BlockTile* used, size_t first_row, size_t rows,
                      size_t* stride) {
    const Columns columns = weights_.columns.from(n);
    const LhsTerms& lhs = block_.terms;
    const bool all = !used || (used->first == 0 && used->end == macro_kernel_.taps.groups &&
                               !used->before && !used->after);
    *stride = 0;
    if (block_.row_factors && lhs.zero_points) return columns.bias;  // of a matrix: all taps
    if (!per_row_ && (lhs.in_bias ? all || lhs.zero_point == 0 : lhs.zero_point == 0))
      return columns.bias;
    Init init = {};
    init.cols = lanes;
    init.base = columns.bias;
    if (!all) {
      leave_taps_out(columns, n, lanes, *used);
      if (!per_row_) return row_;
      init.base = row_;
    } else if (!lhs.in_bias) {
      init.lhs_zero_points = lhs.zero_points ? lhs.zero_points + first_row : &lhs.zero_point;
      init.lhs_zero_point_step = lhs.zero_points ? 1 : 0;
      init.weight_sums = columns.weight_sum;
    }
    if (per_row_) {
      init.rows = rows;
      init.out_stride = *stride = lanes;
      if (block_.row_sums) {
        init.row_sums = block_.row_sums + first_row;
        init.rhs_zero_points = columns.zero_point;
      }
    }
    init.out = values_;
    macro_kernel_.ops->init(init);
    return values_;
  }

 private:
  // Subtracts zero_point * weight_sum for the taps only that this tile multiplies: padding adds no
  // products. The result is kept, because most tiles of a micro-panel use the same taps.
  void leave_taps_out(const Columns& columns, size_t n, size_t lanes, const BlockTile& used) {
    if (n == row_of_.n && used.first == row_of_.first && used.end == row_of_.end) return;
    row_of_ = {n, used.first, used.end};
    const LhsTerms& lhs = block_.terms;
    const int32_t none = 0, again = (int32_t)(0 - (uint32_t)lhs.zero_point);
    Init init = {};
    init.cols = lanes;
    init.base = columns.bias;
    init.lhs_zero_points = lhs.in_bias ? &again : &none;
    init.weight_sums = columns.weight_sum;
    init.out = row_;
    macro_kernel_.ops->init(init);
    init.base = row_;
    init.lhs_zero_points = &lhs.zero_point;
    for (size_t group = used.first; group < used.end; ++group) {
      init.weight_sums = weights_.group_sums + group * weights_.group_sums_stride + n;
      macro_kernel_.ops->init(init);
    }
  }

  const MacroKernel& macro_kernel_;
  const Weights& weights_;
  const Block& block_;
  const bool per_row_;
  struct {
    size_t n;
    uint32_t first, end;
  } row_of_ = {SIZE_MAX, 0, 0};  // the column and the groups of taps that row_ holds
  alignas(64) int32_t values_[kMaxTile], row_[kMaxTileColumns];
};

// Stands for the kernel where a tile is only padding: the accumulators are the init.
void copy_init(const Tile& t) {
  for (size_t i = 0; i < t.rows; ++i) {
    int32_t* to = (int32_t*)((uint8_t*)t.dst + i * t.dst_stride);
    for (size_t j = 0; j < t.cols; ++j) to[j] = t.init[i * t.init_stride + j];
  }
}

// Whether no output of a block is NaN, for kernels that store f32.
bool scales_are_plain(const Block& block) {
  const LhsTerms& terms = block.terms;
  if (!terms.scaled) return true;
  return terms.scales ? are_plain_scales(terms.scales, block.rows) : is_plain_scale(terms.scale);
}

// The loops: one block by some columns.
class Product {
 public:
  Product(const MacroKernel& macro_kernel, const Weights& weights, const Block& block)
      : macro_kernel_(macro_kernel),
        weights_(weights),
        block_(block),
        output_(block.output),
        kernel_(*macro_kernel.kernel),
        layout_(kernel_.rhs_layout),
        lane_group_(layout_.group_bytes()),
        tap_lane_(layout_.lane_bytes(macro_kernel.taps.depth)),
        tap_steps_(layout_.steps(macro_kernel.taps.depth)),
        start_(macro_kernel, weights, block) {
    if (output_.epilogue->mode == EpilogueMode::kF32 && !scales_are_plain(block))
      output_.requantize_in_kernel = false;
    if (block.terms.scaled && !block.terms.scales)
      for (float& scale : scales_) scale = block.terms.scale;
    if (takes_residual(kernel_, output_) && !block.terms.scaled) {
      output_.adds_in_kernel = true;
      tile_.adds = output_.epilogue;
      tile_.residual = output_.to.residual - output_.to.dst;
    }
    tile_.lhs_stride = block.lhs_stride;
    tile_.tap_steps = block.tap_steps;
    tile_.lhs_flip = macro_kernel.lhs_flip && !block.lhs_arranged ? 0x80808080u : 0;
    tile_.lhs_arranged = block.lhs_arranged;
    tile_.room = block.room;
    if (kernel_.micro_panel.room && block.room) *(const void**)block.room = nullptr;
    tile_.rhs_decoded = block.decoded;
    nr_ = columns_of_micro_panel(kernel_, output_.words_in_place() && macro_kernel.taps.count == 1,
                                 block.rows, macro_kernel.taps.depth);
    tile_.rhs_panel_stride =
        block.decoded ? groups() * kernel_.decoder.group_bytes : panel_stride();
  }

  // Multiplies micro-panels of nr columns: several per panel, or one over several panels. A
  // micro-panel also ends at the first column that needs fewer taps (Taps::short_from).
  void multiply(size_t n0, size_t n1) {
    // multiply_rows steps through an array of scales; scales_ has one tile's rows only
    const bool matrix = !block_.tiles && !start_.per_row() &&
                        (output_.s32() || !block_.terms.scaled || block_.terms.scales);
    size_t summed = n0;  // columns before it have sums
    for (place_ = {n0, 0}; place_.panel < n1; pass_micro_panel(n1)) {
      point_at_micro_panel(n1);
      if (block_.decoded)
        decode_panels(kernel_, micro_panel_, group_, panel_stride(), lanes_, groups(),
                      block_.decoded);
      if (block_.sums && n_ >= summed) summed = sum_ahead(n1);
      matrix ? multiply_rows() : multiply_tiles();
    }
  }

 private:
  // Points at the micro-panel at place_, which ends before column n1.
  __attribute__((noinline)) void point_at_micro_panel(size_t n1) {
    const size_t panel = place_.panel, lane = place_.lane, turn = macro_kernel_.taps.short_from;
    width_ = smaller(larger(layout_.width, nr_), weights_.lanes - panel);
    // A narrower last panel has other strides, and is multiplied by itself
    if (width_ > layout_.width) width_ = width_ / layout_.width * layout_.width;
    group_ = smaller(layout_.width, width_) * lane_group_;
    tap_ = smaller(layout_.width, width_) * tap_lane_;
    n_ = panel + lane;
    lanes_ = smaller(smaller(nr_, width_ - lane), n_ < turn ? turn - n_ : SIZE_MAX);
    // Within a panel, or at the beginning of a panel
    micro_panel_ = weights_.panels + panel * weights_.lane_bytes +
                   lane * (nr_ > layout_.width ? weights_.lane_bytes : lane_group_);
    tile_.cols = smaller(lanes_, n1 - n_);
  }
  void pass_micro_panel(size_t n1) {
    place_.lane += lanes_;
    if (place_.lane >= width_ || place_.panel + place_.lane >= n1)
      place_ = {place_.panel + width_, 0};
  }

  // Sums the products of all tiles by this micro-panel, and by as many of the next ones before
  // column n1 as there is room for. Returns the first column without sums.
  __attribute__((noinline)) size_t sum_ahead(size_t n1) {
    const Place here = place_;
    const size_t at_once = block_.sums_tiles / larger(block_.made, 1);
    void* end = block_.notes;
    int32_t* sums = block_.sums;
    for (size_t i = 0; i < at_once && place_.panel < n1; ++i) {
      point_at_micro_panel(n1);
      end = note_tiles(end, &sums);
      pass_micro_panel(n1);
    }
    const size_t summed = place_.panel + place_.lane;
    if (end != block_.notes) kernel_.ahead.sum(block_.notes, end);
    place_ = here;
    point_at_micro_panel(n1);
    tile_.sums = block_.sums;
    return summed;
  }

  // Notes the tiles that multiply_rows or multiply_tiles will pass to the kernel, in their order.
  void* note_tiles(void* notes, int32_t** sums) {
    const BlockTile all = whole_matrix(macro_kernel_, block_);
    const BlockTile* const tiles = block_.tiles ? block_.tiles : &all;
    const size_t count = block_.tiles ? block_.tile_count : 1;
    panel_ = 0;
    for (size_t t = 0; t < count; ++t) {
      const Tiling tiling = tiling_of(tiles[t], kernel_, tile_.cols);
      for (size_t i = 0, from = 0; i < tiling.count; from += tiling.rows(i++)) {
        const BlockTile used = part_of(tiles[t], block_, from, tiling.rows(i));
        const size_t taps = macro_kernel_.taps.needed(used.taps.count(), n_);
        OCTET_ASSERT(!(used.before | used.after));
        if (taps > 0) {
          tile_.rows = used.rows;
          point_at_weights(used.taps.first);
          point_at_rows(used, 0, taps);
          notes = kernel_.ahead.note(tile_, *sums, notes);
          *sums += kernel_.mr * kernel_.nr;
        }
        pass_panels(used, 1);
      }
    }
    return notes;
  }

  size_t groups() const { return weights_.lane_bytes / lane_group_; }  // of all taps
  size_t panel_stride() const { return layout_.width * weights_.lane_bytes; }

  // Points the tile at the weights from tap `tap` on.
  void point_at_weights(size_t tap) {
    tile_.rhs_decoded = block_.decoded;
    tile_.rhs_stride = block_.decoded ? kernel_.decoder.operand_stride : group_;
    tile_.rhs = block_.decoded
                    ? block_.decoded + tap * (tap_steps_ / layout_.kr) * kernel_.decoder.group_bytes
                    : micro_panel_ + tap * tap_;
  }

  // All rows of a matrix by one micro-panel, where one row of init serves all rows.
  void multiply_rows() {
    tile_.init = start_.make(n_, lanes_, nullptr, 0, 1, &tile_.init_stride);
    tile_.row_init = block_.row_init;
    tile_.row_factors = block_.row_factors;
    tile_.column_factors = start_.column_factors(n_);
    point_at_weights(0);
    tile_.lhs = block_.panels ? block_.panels : block_.lhs;
    tile_.depth = block_.reads_to_groups && !block_.panels ? tap_steps_ : macro_kernel_.taps.depth;
    const size_t n = weights_.first + n_, lhs_panel = block_.panels ? block_.panel_bytes : 0;
    const float* const row_scales = block_.terms.scaled ? block_.terms.scales : nullptr;
    if (output_.in_place(tile_.cols))
      return multiply_micro_panel(kernel_, output_, block_.rows, n, row_scales, lhs_panel, &tile_);
    multiply_through_epilogue(kernel_, output_, output_.to, block_.rows,
                              Tiling(block_.rows, kernel_, tile_.cols), n, lanes_, row_scales,
                              lhs_panel, &tile_);
  }

  // All tiles by one micro-panel.
  void multiply_tiles() {
    // multiply_again has no scales of rows
    const bool alike = block_.tiles && !start_.per_row() && (output_.s32() || !block_.terms.scaled);
    const BlockTile all = whole_matrix(macro_kernel_, block_);
    const BlockTile* const tiles = block_.tiles ? block_.tiles : &all;
    const size_t count = block_.tiles ? block_.tile_count : 1;
    panel_ = 0;
    for (size_t t = 0, row = 0; t < count; row += tiles[t++].rows) {
      const BlockTile& tile = tiles[t];
      const Tiling tiling = tiling_of(tile, kernel_, tile_.cols);
      const bool again = t > 0 && is_like(tile, tiles[t - 1]);
      if (alike && (again || (tile.base && kernel_.multiply_micro_panel && is_like(tile, tile)))) {
        if (!again) start_alike(tile, row);
        multiply_again(tile, tiling, row);
        continue;
      }
      for (size_t i = 0, from = 0; i < tiling.count; from += tiling.rows(i++)) {
        const BlockTile used = part_of(tile, block_, from, tiling.rows(i));
        tile_.rows = used.rows;
        tile_.init = start_.make(n_, lanes_, &used, row + from, used.rows, &tile_.init_stride);
        tile_.row_init = block_.row_init ? block_.row_init + row + from : nullptr;
        tile_.row_factors = block_.row_factors ? block_.row_factors + row + from : nullptr;
        tile_.column_factors = start_.column_factors(n_);
        multiply_taps(used, row + from);
        pass_panels(used, 1);
      }
    }
  }

  // Whether a tile uses the same taps as one before it, in one call of the kernel.
  bool is_like(const BlockTile& tile, const BlockTile& before) const {
    return tile.taps.first == before.taps.first && tile.taps.end == before.taps.end &&
           tile.first == before.first && tile.end == before.end &&
           !(tile.before | tile.after | before.before | before.after) &&
           macro_kernel_.taps.needed(tile.taps.count(), n_) > 0;
  }

  // Sets the parts of the tile that multiply_again takes from the tile before.
  __attribute__((noinline)) void start_alike(const BlockTile& used, size_t row) {
    tile_.init = start_.make(n_, lanes_, &used, row, used.rows, &tile_.init_stride);
    const float* const scales = output_.s32() ? nullptr : output_.epilogue->scale;
    tile_.scale = scales ? scales + weights_.first + n_ : nullptr;
    tile_.requantization = output_.requantization;
    point_at_weights(used.taps.first);
  }

  // Multiplies a tile like the one before, as most are; with little depth, work between matters.
  __attribute__((noinline)) void multiply_again(const BlockTile& used, const Tiling& tiling,
                                                size_t row) {
    const Output to = output_.to.from(used.pixel, used.step);
    if (block_.row_init) tile_.row_init = block_.row_init + row;
    if (block_.row_factors) {
      tile_.row_factors = block_.row_factors + row;
      tile_.column_factors = start_.column_factors(n_);
    }
    tile_.row_scale = nullptr;
    point_at_rows(used, 0, macro_kernel_.taps.needed(used.taps.count(), n_));
    const size_t lhs_panel = kernel_.gather ? block_.panel_bytes : 0, n = weights_.first + n_;
    if (output_.in_place(tile_.cols)) {
      uint8_t* const dst = to.dst + n * output_.dst_bytes;
      tile_.dst = dst;
      tile_.dst_stride = to.stride;
      octet::multiply_rows(kernel_, used.rows, tiling, lhs_panel, &tile_);
      output_.epilogue->finish_in_place(dst, to.stride, used.rows, tile_.cols);
    } else {
      multiply_through_epilogue(kernel_, output_, to, used.rows, tiling, n, lanes_, nullptr,
                                lhs_panel, &tile_);
    }
    pass_panels(used, tiling.count);
  }

  bool is_copied(const BlockTile& used) const {
    return block_.panels && copies_rows(macro_kernel_, used);
  }
  void pass_panels(const BlockTile& used, size_t micro_tiles) {
    panel_ += kernel_.gather    ? micro_tiles * block_.panel_bytes
              : is_copied(used) ? used.rows * block_.copied_stride
                                : 0;
  }

  // Points the tile at its rows in `count` taps, from the tile's tap `from` on: in a panel or
  // copied, where they lie, or by pointers.
  void point_at_rows(const BlockTile& used, size_t from, size_t count) {
    const size_t depth = macro_kernel_.taps.depth;
    const bool copied = is_copied(used);
    tile_.taps = count;
    tile_.lhs_stride = copied ? block_.copied_stride : block_.lhs_stride;
    tile_.lhs_rows = nullptr;
    if (kernel_.gather || copied) {  // all taps side by side
      tile_.lhs = block_.panels + panel_ + from * tap_steps_;
      tile_.taps = 1;
      tile_.depth = count == 1 ? depth : count * tap_steps_;
      return;
    }
    tile_.lhs = used.base;
    if (!used.base) tile_.lhs_rows = used.pointers + from * used.rows;
    tile_.depth = used.reads_to_groups ? tap_steps_ : depth;
  }

  // Multiplies one micro-tile, in as many calls of the kernel as its taps need.
  void multiply_taps(const BlockTile& used, size_t row) {
    const Taps& taps = macro_kernel_.taps;
    const LhsTerms& lhs = block_.terms;
    const float* const row_scale = !lhs.scaled ? nullptr : lhs.scales ? lhs.scales + row : scales_;
    const TapRange range = used.taps;
    const size_t n = weights_.first + n_;
    OCTET_ASSERT(range.first <= range.end && range.end <= taps.count);
    OCTET_ASSERT(used.first <= used.end && used.end <= taps.groups);
    const Output to = output_.to.from(used.pixel, used.step);
    if (taps.needed(range.count(), n_) == 0) {
      TileOutput output = output_;
      output.requantize_in_kernel = output.adds_in_kernel =
          false;  // no kernel runs, so the epilogue requantizes
      MicroKernel only_init = kernel_;
      only_init.multiply = copy_init;
      tile_.rhs_decoded = false;
      tile_.lhs_rows = nullptr;                // the tile before may have set it for fewer rows
      const int32_t* const sums = tile_.sums;  // of the next tile
      tile_.sums = nullptr;
      multiply_into(only_init, output, to, n, lanes_, row_scale, &tile_);
      tile_.sums = sums;
      return;
    }
    // Where groups omit taps, each is a call that starts from the sums of the groups before it.
    const size_t left_out = used.before + used.after,
                 step = left_out ? taps.count / taps.groups : range.count(),
                 count = taps.needed(step, n_) - left_out;
    for (size_t tap = range.first + used.before;; tap += step) {
      point_at_weights(tap);
      point_at_rows(used, tap - range.first, count);
      if (tap + step >= range.end) break;
      multiply_partly();
    }
    multiply_into(kernel_, output_, to, n, lanes_, row_scale, &tile_);
  }

  // Multiplies some taps and makes their sums the init of the next ones.
  void multiply_partly() {
    const size_t cols = tile_.cols;
    tile_.cols = lanes_;
    tile_.dst = start_.sums();
    tile_.dst_stride = lanes_ * sizeof(int32_t);
    tile_.scale = nullptr;
    kernel_.multiply(tile_);
    tile_.cols = cols;
    tile_.init = start_.sums();
    tile_.init_stride = lanes_;
    tile_.row_init = tile_.row_factors = tile_.column_factors = nullptr;
  }

  const MacroKernel& macro_kernel_;
  const Weights& weights_;
  const Block& block_;
  TileOutput output_;
  const MicroKernel& kernel_;
  const RhsLayout& layout_;
  const size_t lane_group_, tap_lane_;  // bytes of one column: of a group, of a tap
  const size_t tap_steps_;              // a tap's depth that kernels multiply
  size_t nr_;                           // columns of a micro-panel
  Start start_;
  float scales_[kMaxTileRows];
  // Where the micro-panel begins: a panel, or the first of several that it spans, and a lane there
  struct Place {
    size_t panel, lane;
  } place_;
  size_t width_;  // lanes of that panel, or of all that it spans
  // The micro-panel: its first column, the columns that weights and init provide, its weights and
  // the bytes between its groups and between its taps
  size_t n_, lanes_;
  const uint8_t* micro_panel_;
  size_t group_, tap_;
  size_t panel_;  // offset of the next rows' panel, if rows are gathered
  Tile tile_;
};

}  // namespace

void multiply(const MacroKernel& macro_kernel, const Weights& weights, const Block& block,
              size_t n0, size_t n1) {
  Product(macro_kernel, weights, block).multiply(n0, n1);
}

}  // namespace octet
