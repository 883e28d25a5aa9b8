// Runs a transposed convolution, phase by phase (transposed.h).
#include "operators/conv/algorithms/transposed.h"

#include <string.h>

#include "kernels/core/sections.h"
#include "operators/conv/algorithms/block.h"

namespace octet {
namespace {

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
bool has_tall(const ConvPlan& plan) { return plan.shape.group_out() <= plan.kernel->tall_nr; }
size_t ends_of(const ConvPlan& plan) { return has_tall(plan) ? 2 : 0; }
size_t micro_panel_tiles(const ConvPlan& plan, size_t length) {
  return divide_up(length, plan.kernel->mr) + ends_of(plan);
}
size_t tiles_of(const ConvPlan& plan, size_t lines, size_t columns) {
  return smaller(lines, columns) * micro_panel_tiles(plan, larger(lines, columns));
}

// Where phases are columns of one product, each of its rows is a wide pixel: several output pixels
// side by side. Wide pixels that stick out of a line, and all of them if the output has gaps
// between pixels, go through the workspace, kApartRows at a time.
constexpr size_t kApartRows = 64;

void as_columns(const ConvPlan& given, ConvPlan* plan) {
  *plan = given;
  plan->shape = as_columns(given.shape);
}

// Columns of phases without the last kernel position come last. Their weights for that position are
// 0, so it is skipped for them, unless they begin before half of nr.
Taps needed_taps(const ConvPlan& plan, Taps taps) {
  const MicroKernel& kernel = *plan.kernel;
  const ConvShape& columns = plan.shape;
  const size_t turn = columns.full_phases * (columns.out_channels / columns.phases);
  if (turn > 0 && turn >= kernel.nr / 2u && turn % kernel.rhs_layout.step == 0 &&
      !kernel.rhs_layout.has_tables() && !plan.columns.zero_point) {
    taps.short_from = turn;
    taps.parts = columns.kernel_w;
  }
  return taps;
}

// A task's workspace: the axes, the taps' offsets and steps, the pointers and tiles of a block.
struct Workspace {
  size_t most_tiles;  // tiles of a block
  size_t axis_h, axis_w, taps, steps, pointers, tiles;
  size_t apart, apart_residual;  // for wide pixels
  PreparedSections prepared;
  size_t prepared_at, bytes;
};

Workspace plan_workspace(const ConvPlan& plan, const Taps& taps, size_t out_h, size_t out_w) {
  const ConvShape& s = plan.shape;
  const size_t mr = plan.kernel->mr;
  const size_t all =
      tiles_of(plan, divide_up(out_h, s.stride_h), divide_up(out_w, s.stride_w * s.phases));
  Workspace w = {};
  Sections sections;
  if (s.phases > 1) sections.take(sizeof(ConvPlan));  // the plan that as_columns makes comes first
  w.most_tiles = smaller(plan.block / mr + ends_of(plan), all);
  w.axis_h = sections.take((s.stride_h + 1 + s.kernel_h) * sizeof(size_t));
  w.axis_w = sections.take((s.stride_w + 1 + s.kernel_w) * sizeof(size_t));
  w.taps = sections.take(2 * taps.most * sizeof(TapAt));
  w.steps = sections.take(taps.most * sizeof(ptrdiff_t));
  w.pointers = sections.take(w.most_tiles * mr * taps.most * sizeof(void*));
  w.tiles = sections.take(w.most_tiles * sizeof(BlockTile));
  const size_t apart = s.phases > 1 ? kApartRows * s.out_channels : 0;
  w.apart = sections.take(apart * plan.dst_bytes);
  w.apart_residual = sections.take(apart);
  w.prepared = prepared_sections(plan, taps, w.most_tiles * mr);
  w.prepared_at = sections.take(w.prepared.bytes);
  w.bytes = sections.bytes;
  return w;
}

// Lines that a block of so many columns may have.
size_t block_lines(const ConvPlan& plan, size_t most_tiles, size_t columns) {
  const size_t across = most_tiles / micro_panel_tiles(plan, columns), along = most_tiles / columns;
  if (across < columns || along <= ends_of(plan)) return across;
  return larger(columns, (along - ends_of(plan)) * plan.kernel->mr);
}

// Computes one phase after the other. Neighbouring phases mostly read the same pixels at the same
// offsets with other weights; then pointers and tiles are kept.
class Phases {
 public:
  Phases(const ConvPlan& plan, const ConvRun& run, const Taps& taps, const Axis& h, const Axis& w,
         const Workspace& at, uint8_t* workspace)
      : plan_(plan),
        run_(run),
        h_(h),
        w_(w),
        whole_(plan.kernel->rhs_layout.steps(taps.depth)),
        tall_(has_tall(plan)),
        at_((TapAt*)(workspace + at.taps)),
        next_(at_ + taps.most),
        steps_((ptrdiff_t*)(workspace + at.steps)),
        pointers_((const uint8_t**)(workspace + at.pointers)),
        tiles_((BlockTile*)(workspace + at.tiles)) {}

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
      const bool across = part.columns >= part.lines;
      const uint8_t** pointers = pointers_;
      for (size_t micro_panel = 0; micro_panel < (across ? part.lines : part.columns);
           ++micro_panel)
        pointers = cut(part, across, micro_panel, pointers);
    }
    for (size_t t = 0; t < count_; ++t) {
      tiles_[t].first = (uint32_t)group_;
      tiles_[t].end = (uint32_t)group_ + (range_.count() > 0);
      tiles_[t].taps = range_;
    }
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
    const auto point = [&](size_t from, size_t end) {
      const Tiling tiling(end - from, *plan_.kernel);
      for (size_t t = 0; from < end; from += tiling.rows(t++))
        pointers = add_tile(part, across, micro_panel, from, tiling.rows(t), pointers);
    };
    if (tall_ || inside.count() == 0 || inside.count() == length) {
      point(0, inside.first);
      if (inside.count()) add_inside(part, across, micro_panel, inside);
      point(inside.end, length);
      return pointers;
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

  // Adds a tile of pixels from `at` on, each looked up by itself. Returns the position for further
  // pointers.
  const uint8_t** add_tile(const Part& part, bool across, size_t micro_panel, size_t at,
                           size_t rows, const uint8_t** pointers) {
    BlockTile& tile = add(part, across, micro_panel, at, rows);
    if (range_.count() == 0) return pointers;
    tile.pointers = pointers;
    const uint8_t* const zeros = run_.zero_row(part.image);
    const size_t channel = part.group * plan_.shape.group_in();
    const ptrdiff_t first_y = (ptrdiff_t)(part.y + (across ? micro_panel : at)),
                    first_x = (ptrdiff_t)(part.x + (across ? at : micro_panel));
    for (size_t tap = 0; tap < range_.count(); ++tap) {
      const ptrdiff_t y = at_[tap].y + first_y, x = at_[tap].x + first_x;
      const ptrdiff_t still = across ? y : x, moving = across ? x : y;
      const ptrdiff_t still_end = (ptrdiff_t)(across ? run_.in_h : run_.in_w),
                      moving_end = (ptrdiff_t)(across ? run_.in_w : run_.in_h);
      const Range inside = still >= 0 && still < still_end
                               ? clip(-moving, moving_end - moving, rows)
                               : Range{rows, rows};
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
    return pointers;
  }

  ptrdiff_t offset(ptrdiff_t y, ptrdiff_t x) const {
    return y * (ptrdiff_t)run_.lhs_row + x * (ptrdiff_t)run_.lhs_pixel;
  }

  const ConvPlan& plan_;
  const ConvRun& run_;
  const Axis &h_, &w_;
  const size_t whole_;  // a tap's depth in whole groups
  const bool tall_;
  TapAt *at_, *next_;  // offsets of this phase's taps, and room for those of the next phase
  ptrdiff_t* const steps_;
  const uint8_t** const pointers_;
  BlockTile* const tiles_;
  size_t group_ = 0, count_ = 0;
  TapRange range_ = {0, 0};
  Part pointed_ = {};                      // the part that the tiles are of
  ptrdiff_t top_, bottom_, left_, right_;  // the range of all taps, from (at, at) on
};

// Wide pixels of a part in the workspace, one per row, and the output pixels that they hold.
struct WidePixels {
  const ConvRun& run;
  size_t phases;
  size_t y, x;  // output line and column of the first wide pixel; the column may be before the line
  size_t line_step, lines, columns;

  // Calls f(row, phase, pixel, count) for each row's pixels inside the output: `count` of them,
  // side by side, from `phase` on.
  template <typename F>
  void each(size_t image, const F& f) const {
    for (size_t line = 0; line < lines; ++line)
      for (size_t i = 0; i < columns; ++i) {
        const size_t column = x + i * phases;  // a column before the line wraps to a large number
        const size_t first = column + phases < phases ? 0 - column : 0, from = column + first,
                     count = smaller(phases - first, run.out_w - smaller(from, run.out_w));
        if (count)
          f(line * columns + i, first,
            (image * run.out_h + y + line * line_step) * run.out_w + from, count);
      }
  }
};

}  // namespace

size_t transposed_block(const ConvPlan& plan, const Taps& taps) {
  return conv_block_rows(plan, taps.most * (sizeof(void*) + taps.depth));
}

size_t transposed_workspace(const ConvPlan& plan, const Taps& taps, size_t out_h, size_t out_w) {
  ConvPlan columns;
  as_columns(plan, &columns);
  return plan_workspace(columns, taps, out_h, out_w).bytes;
}

void run_transposed(const ConvPlan& given, const ConvRun& run, const Taps& all_taps,
                    const ConvTask& task, uint8_t* workspace) {
  if (given.shape.phases > 1) as_columns(given, (ConvPlan*)workspace);
  const ConvPlan& plan = given.shape.phases > 1 ? *(const ConvPlan*)workspace : given;
  const ConvShape& s = plan.shape;
  const Taps taps = needed_taps(plan, all_taps);
  const size_t wide = s.phases, pixel_bytes = given.shape.group_out() * plan.dst_bytes;
  const bool has_residual = run.to.residual;
  if (wide > 1 && task.n0 > 0) return;  // the first pass computes all columns
  const ConvTask columns = wide > 1 ? ConvTask{task.first, task.end, 0, s.out_channels} : task;
  const Workspace at = plan_workspace(plan, taps, run.out_h, run.out_w);
  size_t* const axis_h = (size_t*)(workspace + at.axis_h);
  size_t* const axis_w = (size_t*)(workspace + at.axis_w);
  const size_t pad_left = wide > 1 ? 0 : run.pad_left;
  Axis h = {s.kernel_h, s.stride_h, s.dilation_h, run.pad_top, axis_h, axis_h + s.stride_h + 1};
  Axis w = {s.kernel_w, s.stride_w, s.dilation_w, pad_left, axis_w, axis_w + s.stride_w + 1};
  h.sort();
  w.sort();
  Phases phases(plan, run, taps, h, w, at, workspace);
  Block block = make_block(plan);
  block.tap_steps = (const ptrdiff_t*)(workspace + at.steps);
  block.tiles = (const BlockTile*)(workspace + at.tiles);
  ConvRun there = run;  // the run that writes wide pixels into the workspace
  there.to = {workspace + at.apart, s.out_channels * plan.dst_bytes,
              has_residual ? workspace + at.apart_residual : nullptr, s.out_channels};

  // All phases of a band of lines are computed before the next band: its output stays in half of L2
  // while the phases write to it in turn.
  const size_t most_columns = (at.most_tiles - ends_of(plan)) * plan.kernel->mr;
  const size_t most_lines = plan.cache_bytes / 2 / (run.out_w * run.to.stride);
  const size_t band = larger(most_lines / s.stride_h, 1) * s.stride_h;
  for (size_t line = task.first, end; line < task.end; line = end) {
    const size_t image = line / run.out_h, top = line % run.out_h;
    end = smaller(smaller(line + band, task.end), (image + 1) * run.out_h);
    for (size_t phase_h = 0; phase_h < s.stride_h; ++phase_h) {
      const size_t y_end = h.from(top + end - line, phase_h), y_first = h.from(top, phase_h);
      const auto compute = [&](size_t x_first, size_t x_end, size_t phase_w, bool apart) {
        if (x_first >= x_end) return;
        const size_t widest =
            smaller(smaller(x_end - x_first, most_columns), apart ? kApartRows : SIZE_MAX);
        const size_t highest = smaller(block_lines(plan, at.most_tiles, widest),
                                       apart ? kApartRows / widest : SIZE_MAX);
        for (size_t y = y_first; y < y_end; y += highest)
          for (size_t x = x_first; x < x_end; x += widest) {
            const size_t lines = smaller(y_end - y, highest), count = smaller(x_end - x, widest);
            const size_t column = wide > 1 ? x * wide - run.pad_left : w.output(x, phase_w),
                         row = h.output(y, phase_h);
            const WidePixels out = {run, wide, row, column, s.stride_h, lines, count};
            if (apart && has_residual) {
              uint8_t* const to = workspace + at.apart_residual;
              const size_t bytes = given.shape.group_out();
              memset(to, 0, lines * count * s.out_channels);
              out.each(image, [&](size_t i, size_t phase, size_t pixel, size_t n) {
                for (size_t p = 0; p < n; ++p)
                  memcpy(to + i * s.out_channels + (phase + p) * bytes,
                         run.to.residual + (pixel + p) * run.to.residual_stride, bytes);
              });
            }
            block.rows = lines * count;
            block.lhs_stride = count >= lines ? run.lhs_pixel : run.lhs_row;
            run_block(plan, apart ? there : run, taps, columns, image,
                      apart ? 0 : (image * run.out_h + row) * run.out_w + column,
                      {at.prepared, workspace + at.prepared_at}, &block, [&](size_t group) {
                        block.tile_count = phases.point(
                            {image, group, y, lines, x, count,
                             apart ? count : s.stride_h * run.out_w, apart ? 1 : s.stride_w * wide},
                            &block.prepared);
                      });
            if (apart)
              out.each(image, [&](size_t i, size_t phase, size_t pixel, size_t n) {
                for (size_t p = 0; p < n; ++p)
                  memcpy(run.to.dst + (pixel + p) * run.to.stride,
                         there.to.dst + i * there.to.stride + (phase + p) * pixel_bytes,
                         pixel_bytes);
              });
          }
      };
      for (size_t phase_w = 0; y_first < y_end && phase_w < s.stride_w; ++phase_w) {
        if (wide == 1) {
          const size_t x_end = w.from(run.out_w, phase_w), x_first = w.from(0, phase_w);
          if (x_first == x_end) continue;
          phases.enter(phase_h, phase_w);
          compute(x_first, x_end, phase_w, false);
          continue;
        }
        phases.enter(phase_h, phase_w);
        // Range of wide pixels that are partly in the line, and of those that are wholly in it
        const size_t some = run.pad_left / wide,
                     some_end = divide_up(run.pad_left + run.out_w, wide);
        const size_t all = divide_up(run.pad_left, wide),
                     all_end = (run.pad_left + run.out_w) / wide;
        const bool dense = run.to.stride == pixel_bytes &&
                           (!has_residual || run.to.residual_stride == given.shape.group_out());
        if (!dense || all >= all_end) {
          compute(some, some_end, phase_w, true);
          continue;
        }
        compute(some, all, phase_w, true);
        compute(all, all_end, phase_w, false);
        compute(all_end, some_end, phase_w, true);
      }
    }
  }
}

}  // namespace octet
