// SPDX-License-Identifier: Apache-2.0
// Runs a transposed convolution, phase by phase (transposed.h).
#include "operators/conv/algorithms/direct/transposed.h"

#include <string.h>

#include "kernels/core/sections.h"
#include "operators/conv/algorithms/direct/phases.h"

namespace octet {
namespace {

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
// 0, so it is skipped for them, unless they begin before half of nr or within a step, or the
// weights have tables or zero points.
Taps needed_taps(const ConvPlan& plan, Taps taps) {
  const MicroKernel& kernel = *plan.kernel;
  const ConvShape& columns = plan.shape;
  const RhsLayout& layout = kernel.rhs_layout;
  const size_t turn = columns.full_phases * (columns.out_channels / columns.phases),
               step = kernel.nr > layout.width ? layout.width : layout.step;
  if (turn > 0 && turn >= kernel.nr / 2u && turn % step == 0 && !layout.has_tables() &&
      !plan.columns.zero_point) {
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
  w.prepared = prepared_sections(plan, taps, w.most_tiles * mr, w.most_tiles * mr);
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

Axis axis_of(size_t kernel, size_t stride, size_t dilation, size_t pad, uint8_t* memory) {
  size_t* const first = (size_t*)memory;
  Axis axis = {kernel, stride, dilation, pad, first, first + stride + 1};
  axis.sort();
  return axis;
}

// A task, band of lines by band of lines.
class TransposedTask {
 public:
  TransposedTask(const ConvPlan& given, const ConvPlan& plan, const ConvRun& run, const Taps& taps,
                 uint8_t* workspace)
      : plan_(plan),
        s_(plan.shape),
        run_(run),
        there_(run),
        taps_(needed_taps(plan, taps)),
        wide_(plan.shape.phases),
        pixel_(given.shape.group_out()),
        at_(plan_workspace(plan, taps_, run.out_h, run.out_w)),
        workspace_(workspace),
        h_(axis_of(s_.kernel_h, s_.stride_h, s_.dilation_h, run.pad_top, workspace + at_.axis_h)),
        w_(axis_of(s_.kernel_w, s_.stride_w, s_.dilation_w, wide_ > 1 ? 0 : run.pad_left,
                   workspace + at_.axis_w)),
        tiles_((BlockTile*)(workspace + at_.tiles)),
        steps_((ptrdiff_t*)(workspace + at_.steps)),
        phases_(plan, run, taps_, h_, w_, (TapAt*)(workspace + at_.taps), steps_,
                (const uint8_t**)(workspace + at_.pointers), tiles_),
        block_(make_block(plan)) {
    block_.tap_steps = steps_;
    block_.tiles = tiles_;
    there_.to = {workspace + at_.apart, s_.out_channels * plan.dst_bytes,
                 run.to.residual ? workspace + at_.apart_residual : nullptr, s_.out_channels};
  }

  // All phases of a band of lines are computed before the next band: its output stays in half of L2
  // while the phases write to it in turn.
  void compute(const ConvTask& task) {
    task_ = wide_ > 1 ? ConvTask{task.first, task.end, 0, s_.out_channels} : task;
    const size_t most_lines = plan_.cache_bytes / 2 / (run_.out_w * run_.to.stride);
    const size_t band = larger(most_lines / s_.stride_h, 1) * s_.stride_h;
    for (size_t line = task.first, end; line < task.end; line = end) {
      const size_t top = line % run_.out_h;
      image_ = line / run_.out_h;
      end = smaller(smaller(line + band, task.end), (image_ + 1) * run_.out_h);
      for (phase_h_ = 0; phase_h_ < s_.stride_h; ++phase_h_) {
        y_end_ = h_.from(top + end - line, phase_h_), y_first_ = h_.from(top, phase_h_);
        if (y_first_ >= y_end_) continue;
        for (phase_w_ = 0; phase_w_ < s_.stride_w; ++phase_w_)
          wide_ > 1 ? compute_wide_pixels() : compute_pixels();
      }
    }
  }

 private:
  void compute_pixels() {
    const size_t x_end = w_.from(run_.out_w, phase_w_), x_first = w_.from(0, phase_w_);
    if (x_first == x_end) return;
    phases_.enter(phase_h_, phase_w_);
    compute_columns(x_first, x_end, false);
  }

  void compute_wide_pixels() {
    phases_.enter(phase_h_, phase_w_);
    // Range of wide pixels that are partly in the line, and of wide pixels that are wholly in it
    const size_t some = run_.pad_left / wide_,
                 some_end = divide_up(run_.pad_left + run_.out_w, wide_);
    const size_t all = divide_up(run_.pad_left, wide_),
                 all_end = (run_.pad_left + run_.out_w) / wide_;
    const bool dense = run_.to.stride == pixel_ * plan_.dst_bytes &&
                       (!run_.to.residual || run_.to.residual_stride == pixel_);
    if (!dense || all >= all_end) return compute_columns(some, some_end, true);
    compute_columns(some, all, true);
    compute_columns(all, all_end, false);
    compute_columns(all_end, some_end, true);
  }

  // Computes columns [x_first, x_end) of the phase's lines in parts that a block holds. apart: in
  // the workspace.
  void compute_columns(size_t x_first, size_t x_end, bool apart) {
    if (x_first >= x_end) return;
    const size_t most_columns = (at_.most_tiles - ends_of(plan_)) * plan_.kernel->mr;
    const size_t widest =
        smaller(smaller(x_end - x_first, most_columns), apart ? kApartRows : SIZE_MAX);
    const size_t highest =
        smaller(block_lines(plan_, at_.most_tiles, widest), apart ? kApartRows / widest : SIZE_MAX);
    for (size_t y = y_first_; y < y_end_; y += highest)
      for (size_t x = x_first; x < x_end; x += widest)
        compute_part(y, smaller(y_end_ - y, highest), x, smaller(x_end - x, widest), apart);
  }

  void compute_part(size_t y, size_t lines, size_t x, size_t columns, bool apart) {
    const size_t column = wide_ > 1 ? x * wide_ - run_.pad_left : w_.output(x, phase_w_),
                 row = h_.output(y, phase_h_);
    const WidePixels out = {run_, wide_, row, column, s_.stride_h, lines, columns};
    if (apart && run_.to.residual) {
      uint8_t* const to = workspace_ + at_.apart_residual;
      memset(to, 0, lines * columns * s_.out_channels);
      out.each(image_, [&](size_t i, size_t phase, size_t pixel, size_t n) {
        for (size_t p = 0; p < n; ++p)
          memcpy(to + i * s_.out_channels + (phase + p) * pixel_,
                 run_.to.residual + (pixel + p) * run_.to.residual_stride, pixel_);
      });
    }
    block_.rows = lines * columns;
    block_.lhs_stride = columns >= lines ? run_.lhs_pixel : run_.lhs_row;
    run_block(plan_, apart ? there_ : run_, taps_, task_, image_,
              apart ? 0 : (image_ * run_.out_h + row) * run_.out_w + column,
              {at_.prepared, workspace_ + at_.prepared_at}, &block_, [&](size_t group) {
                block_.tile_count = phases_.point(
                    {image_, group, y, lines, x, columns,
                     apart ? columns : s_.stride_h * run_.out_w, apart ? 1 : s_.stride_w * wide_},
                    &block_.prepared);
              });
    if (!apart) return;
    const size_t bytes = pixel_ * plan_.dst_bytes;
    out.each(image_, [&](size_t i, size_t phase, size_t pixel, size_t n) {
      for (size_t p = 0; p < n; ++p)
        memcpy(run_.to.dst + (pixel + p) * run_.to.stride,
               there_.to.dst + i * there_.to.stride + (phase + p) * bytes, bytes);
    });
  }

  const ConvPlan& plan_;
  const ConvShape& s_;
  const ConvRun& run_;
  ConvRun there_;  // the run that writes wide pixels into the workspace
  const Taps taps_;
  const size_t wide_;   // output pixels of a wide pixel
  const size_t pixel_;  // values of an output pixel
  const Workspace at_;
  uint8_t* const workspace_;
  const Axis h_, w_;
  BlockTile* const tiles_;
  ptrdiff_t* const steps_;
  Phases phases_;
  Block block_;
  ConvTask task_ = {};
  size_t image_ = 0, phase_h_ = 0, phase_w_ = 0, y_first_ = 0, y_end_ = 0;
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

void run_transposed(const ConvPlan& given, const ConvRun& run, const Taps& taps,
                    const ConvTask& task, uint8_t* workspace) {
  const bool wide = given.shape.phases > 1;
  if (wide && task.n0 > 0) return;  // the first pass computes all columns
  if (wide) as_columns(given, (ConvPlan*)workspace);
  const ConvPlan& plan = wide ? *(const ConvPlan*)workspace : given;
  TransposedTask(given, plan, run, taps, workspace).compute(task);
}

}  // namespace octet
