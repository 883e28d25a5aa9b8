// SPDX-License-Identifier: Apache-2.0
// Pointers to the taps of a transposed convolution's pixels, phase by phase (transposed.h).
#pragma once

#include "operators/conv/algorithms/block.h"

namespace octet {

// One axis. Counted from the padding, output `out` has phase out % stride and at = out / stride. It
// uses the kernel positions k with k * dilation % stride == phase; they read input at - (k *
// dilation - phase) / stride.
struct Axis {
  size_t kernel, stride, dilation;
  size_t pad;        // padding before the output
  size_t* first;     // stride + 1 values: where each phase begins in `position`
  size_t* position;  // the kernel positions, in the order of their phases

  size_t phase_of(size_t k) const { return k * dilation % stride; }

  // Sorts kernel positions by phase.
  void sort() {
    for (size_t phase = 0; phase <= stride; ++phase) first[phase] = 0;
    for (size_t k = 0; k < kernel; ++k) ++first[phase_of(k) + 1];
    for (size_t phase = 0; phase < stride; ++phase) first[phase + 1] += first[phase];
    for (size_t k = 0; k < kernel; ++k) position[first[phase_of(k)]++] = k;
    for (size_t phase = stride; phase > 0; --phase) first[phase] = first[phase - 1];
    first[0] = 0;
  }

  TapRange taps(size_t phase) const { return {first[phase], first[phase + 1]}; }
  ptrdiff_t reads(size_t tap, size_t phase) const {
    return -(ptrdiff_t)((position[tap] * dilation - phase) / stride);
  }
  // The first `at` of a phase whose output is at or after `begin`.
  size_t from(size_t begin, size_t phase) const {
    return begin + pad > phase ? divide_up(begin + pad - phase, stride) : 0;
  }
  size_t output(size_t at, size_t phase) const { return at * stride + phase - pad; }
};

// Input offset of a tap, relative to the pixel (at of the lines, at of the columns).
struct TapAt {
  ptrdiff_t y, x;
  bool operator==(const TapAt& o) const { return y == o.y && x == o.x; }
};

// Tiles may be tall if all their taps are inside the input; the two ends of a row of pixels are
// then tiles of their own.
inline bool has_tall(const ConvPlan& plan) {
  return plan.shape.group_out() <= plan.kernel->tall_nr;
}

// Computes one phase after the other. Neighbouring phases mostly read the same pixels at the same
// offsets with other weights; then pointers and tiles are kept.
class Phases {
 public:
  // at: room for the offsets of two phases' taps. steps, pointers, tiles: as in Block.
  Phases(const ConvPlan& plan, const ConvRun& run, const Taps& taps, const Axis& h, const Axis& w,
         TapAt* at, ptrdiff_t* steps, const uint8_t** pointers, BlockTile* tiles)
      : plan_(plan),
        run_(run),
        h_(h),
        w_(w),
        whole_(plan.kernel->rhs_layout.steps(taps.depth)),
        tall_(has_tall(plan)),
        skips_(plan.shape.phases == 1 && !plan.kernel->gather && padding_adds_nothing(plan, run)),
        at_(at),
        next_(at + taps.most),
        steps_(steps),
        pointers_(pointers),
        tiles_(tiles) {}

  void enter(size_t phase_h, size_t phase_w) {
    const TapRange lines = h_.taps(phase_h), columns = w_.taps(phase_w);
    const size_t before = range_.count();
    group_ = phase_h * w_.stride + phase_w;
    range_.first = lines.first * w_.kernel + lines.count() * columns.first;
    range_.end = range_.first + lines.count() * columns.count();
    bool same = pointed_.lines && before == range_.count();
    TapAt* next = next_;
    const auto add = [&](size_t i, size_t j) {
      *next = {h_.reads(i, phase_h), w_.reads(j, phase_w)};
      same = same && *next == at_[next - next_];
      ++next;
    };
    if (plan_.shape.full_phases) {  // in the order of the taps
      for (size_t j = columns.first; j < columns.end; ++j)
        for (size_t i = lines.first; i < lines.end; ++i) add(i, j);
    } else {
      for (size_t i = lines.first; i < lines.end; ++i)
        for (size_t j = columns.first; j < columns.end; ++j) add(i, j);
    }
    if (!same) turn_to_next();
  }

  // Outputs [y, y + lines) x [x, x + columns) of the phase, in tiles along the longer side. Returns
  // the number of tiles; same: the tiles read the same pixels as those of the previous part.
  struct Part {
    size_t image, group, y, lines, x, columns;
    size_t line_step, column_step;  // output pixels between two lines and between two columns
    bool operator==(const Part& o) const {
      return image == o.image && group == o.group && y == o.y && lines == o.lines && x == o.x &&
             columns == o.columns && line_step == o.line_step && column_step == o.column_step;
    }
  };
  size_t point(const Part& part, bool* same) {
    *same = part == pointed_;
    if (!*same) {
      pointed_ = part;
      count_ = 0;
      first_tap_ = range_.first;
      const bool across = part.columns >= part.lines;
      const uint8_t** pointers = pointers_;
      for (size_t micro_panel = 0; micro_panel < (across ? part.lines : part.columns);
           ++micro_panel)
        pointers = cut(part, across, micro_panel, pointers);
    }
    const size_t moved = range_.first - first_tap_;  // modulo 2^64
    for (size_t t = 0; t < count_; ++t) {
      BlockTile& tile = tiles_[t];
      tile.taps = {tile.taps.first + moved, tile.taps.end + moved};
      tile.first = (uint32_t)group_;
      tile.end = (uint32_t)group_ + (tile.taps.count() > 0);
    }
    first_tap_ = range_.first;
    return count_;
  }

 private:
  struct Range {
    size_t first, end;
    size_t count() const { return end - first; }
  };
  // The rows [first, end), clipped to [0, count).
  static Range clip(ptrdiff_t first, ptrdiff_t end, size_t count) {
    const size_t from = first < 0 ? 0 : smaller((size_t)first, count);
    return {from, end < (ptrdiff_t)from ? from : smaller((size_t)end, count)};
  }

  // Turns to the offsets of the next phase; no part points at them yet.
  void turn_to_next() {
    TapAt* const old = at_;
    at_ = next_;
    next_ = old;
    pointed_ = {};
    top_ = left_ = PTRDIFF_MAX;
    bottom_ = right_ = PTRDIFF_MIN;
    for (size_t tap = 0; tap < range_.count(); ++tap) {
      const TapAt& t = at_[tap];
      top_ = t.y < top_ ? t.y : top_;
      bottom_ = t.y > bottom_ ? t.y : bottom_;
      left_ = t.x < left_ ? t.x : left_;
      right_ = t.x > right_ ? t.x : right_;
      if (tap > 0) steps_[tap - 1] = offset(t.y - at_[tap - 1].y, t.x - at_[tap - 1].x);
    }
  }

  // Cuts a row of pixels of a part into tiles: one for all pixels whose taps are inside the input,
  // in whole kernel tiles, and the ends pixel by pixel. Returns the position for further pointers.
  const uint8_t** cut(const Part& part, bool across, size_t micro_panel, const uint8_t** pointers) {
    const Range inside = inside_of(part, across, micro_panel);
    const size_t length = across ? part.columns : part.lines;
    if (tall_ || inside.count() == 0 || inside.count() == length) {
      pointers = add_tiles(part, across, micro_panel, 0, inside.first, pointers);
      if (inside.count()) add_inside(part, across, micro_panel, inside);
      return add_tiles(part, across, micro_panel, inside.end, length, pointers);
    }
    const Tiling tiling(length, *plan_.kernel);
    Range whole = {0, 0};
    for (size_t t = 0, from = 0, end; t < tiling.count; ++t, from = end) {
      end = from + tiling.rows(t);
      if (from >= inside.first && end <= inside.end)
        whole = {whole.count() ? whole.first : from, end};
      else
        pointers = add_tile(part, across, micro_panel, from, tiling.rows(t), pointers);
    }
    if (whole.count()) add_inside(part, across, micro_panel, whole);
    return pointers;
  }

  // The pixels of a row whose taps are all inside the input, at one stride.
  Range inside_of(const Part& part, bool across, size_t micro_panel) const {
    if (range_.count() == 0) return {0, 0};
    const ptrdiff_t y = (ptrdiff_t)part.y, x = (ptrdiff_t)part.x;
    Range lines = clip(-top_ - y, (ptrdiff_t)run_.in_h - bottom_ - y, part.lines);
    const Range columns = clip(-left_ - x, (ptrdiff_t)run_.in_w - right_ - x, part.columns);
    if (across && micro_panel >= lines.first && micro_panel < lines.end) lines.first = micro_panel;
    // Ends where the lines of a ring wrap
    const size_t reach = (size_t)(bottom_ - top_),
                 together =
                     lines.count() == 0
                         ? 0
                         : run_.lines_together((size_t)(top_ + (ptrdiff_t)(part.y + lines.first)));
    lines.end = smaller(lines.end, lines.first + (together > reach ? together - reach : 0));
    const Range &micro_panels = across ? lines : columns, &tiles = across ? columns : lines;
    return micro_panel >= micro_panels.first && micro_panel < micro_panels.end && tiles.count()
               ? tiles
               : Range{0, 0};
  }

  BlockTile& add(const Part& part, bool across, size_t micro_panel, size_t at, size_t rows) {
    BlockTile& tile = tiles_[count_++];
    tile = {};
    tile.pixel = across ? micro_panel * part.line_step + at * part.column_step
                        : at * part.line_step + micro_panel * part.column_step;
    tile.step = across ? part.column_step : part.line_step;
    tile.rows = (uint32_t)rows;
    tile.taps = range_;
    return tile;
  }

  void add_inside(const Part& part, bool across, size_t micro_panel, const Range& rows) {
    BlockTile& tile = add(part, across, micro_panel, rows.first, rows.count());
    const size_t down = across ? micro_panel : rows.first,
                 right = across ? rows.first : micro_panel;
    const ptrdiff_t y = top_ + (ptrdiff_t)(part.y + down), x = (ptrdiff_t)(part.x + right),
                    along = (ptrdiff_t)rows.count() - 1;
    const uint8_t* const top =
        run_.line(part.image, (size_t)y) + part.group * plan_.shape.group_in();
    tile.base = top + offset(at_[0].y - top_, at_[0].x + x);
    const uint8_t* const furthest =
        top + offset(bottom_ - top_ + (across ? 0 : along), right_ + x + (across ? along : 0));
    tile.reads_to_groups = (size_t)(run_.lhs_end - furthest) >= whole_;
  }

  // Adds tiles of pixels `from` to end - 1, as add_tile does.
  const uint8_t** add_tiles(const Part& part, bool across, size_t micro_panel, size_t from,
                            size_t end, const uint8_t** pointers) {
    const Tiling tiling(end - from, *plan_.kernel);
    for (size_t t = 0; from < end; from += tiling.rows(t++))
      pointers = add_tile(part, across, micro_panel, from, tiling.rows(t), pointers);
    return pointers;
  }

  // Adds a tile of pixels from `at` on, each looked up by itself. Where padding adds nothing, the
  // tile omits the first and the last taps that are padding for all pixels. Returns the position
  // for further pointers.
  const uint8_t** add_tile(const Part& part, bool across, size_t micro_panel, size_t at,
                           size_t rows, const uint8_t** pointers) {
    BlockTile& tile = add(part, across, micro_panel, at, rows);
    if (range_.count() == 0) return pointers;
    tile.pointers = pointers;
    const uint8_t* const zeros = run_.zero_row(part.image);
    const size_t channel = part.group * plan_.shape.group_in();
    const ptrdiff_t first_y = (ptrdiff_t)(part.y + (across ? micro_panel : at)),
                    first_x = (ptrdiff_t)(part.x + (across ? at : micro_panel));
    size_t used = 0, used_end = 0;
    for (size_t tap = 0; tap < range_.count(); ++tap) {
      const ptrdiff_t y = at_[tap].y + first_y, x = at_[tap].x + first_x;
      const ptrdiff_t still = across ? y : x, moving = across ? x : y;
      const ptrdiff_t still_end = (ptrdiff_t)(across ? run_.in_h : run_.in_w),
                      moving_end = (ptrdiff_t)(across ? run_.in_w : run_.in_h);
      const Range inside = still >= 0 && still < still_end
                               ? clip(-moving, moving_end - moving, rows)
                               : Range{rows, rows};
      if (inside.count()) {
        if (!used_end) used = tap;
        used_end = tap + 1;
      }
      size_t row = 0;
      for (; row < inside.first; ++row) *pointers++ = zeros;
      const uint8_t* const line = across && row < inside.end ? run_.line(part.image, (size_t)y) : 0;
      for (; row < inside.end; ++row) {
        const size_t right = (size_t)x + (across ? row : 0);
        *pointers++ = (across ? line : run_.line(part.image, (size_t)(y + (ptrdiff_t)row))) +
                      right * run_.lhs_pixel + channel;
      }
      for (; row < rows; ++row) *pointers++ = zeros;
    }
    // Less does not pay: the macro-kernel passes faster from a tile to a next one of the same taps
    if (skips_ && (range_.count() - (used_end - used)) * rows >= plan_.kernel->mr / 2u) {
      tile.taps = {range_.first + used, range_.first + used_end};
      tile.pointers += used * rows;
    }
    return pointers;
  }

  ptrdiff_t offset(ptrdiff_t y, ptrdiff_t x) const {
    return y * (ptrdiff_t)run_.lhs_row + x * (ptrdiff_t)run_.lhs_pixel;
  }

  const ConvPlan& plan_;
  const ConvRun& run_;
  const Axis &h_, &w_;
  const size_t whole_;  // a tap's depth in whole groups
  const bool tall_, skips_;
  TapAt *at_, *next_;  // offsets of this phase's taps, and room for those of the next phase
  ptrdiff_t* const steps_;
  const uint8_t** const pointers_;
  BlockTile* const tiles_;
  size_t group_ = 0, count_ = 0;
  TapRange range_ = {0, 0};
  size_t first_tap_ = 0;                   // range_.first when the tiles' taps were set
  Part pointed_ = {};                      // the part that the tiles are of
  ptrdiff_t top_, bottom_, left_, right_;  // the range of all taps, from (at, at) on
};

}  // namespace octet
