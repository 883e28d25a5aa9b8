// SPDX-License-Identifier: Apache-2.0
// Runs the direct algorithm on s16 values as they are: a 1x1 convolution whose pixels are rows of a
// matrix, or are copied to be, or one of few channels, whose windows are read line by line in the
// staged input, or copied.
#include "operators/conv/algorithms/block.h"
#include "operators/conv/algorithms/direct/direct.h"
#include "operators/conv/algorithms/direct/strided_pixels.h"

namespace octet {
namespace {

// Sums of some channels stay in the L1 cache until they make outputs. A block has whole tiles
constexpr size_t kSums = 4 * 1024, kMostRows = 128;
// Rows of a block whose weights are widened once for all, if nothing is kept of its rows
constexpr size_t kMostRowsInPlace = 1024;

// Columns that are multiplied together are whole panels and micro-panels.
size_t unit_of(const MicroKernel& kernel) {
  return round_up(larger(kernel.rhs_layout.width, kernel.nr), kS16Columns);
}

MacroKernel s16_kernel(const ConvPlan& plan, const Taps& taps) {
  MacroKernel macro_kernel = macro_kernel_of(plan, taps);
  macro_kernel.s16 = true;
  return macro_kernel;
}

// Whether the kernel makes outputs of its sums.
bool ends_in_kernel(const ConvPlan& plan) {
  return plan.s16.in_kernel && plan.kernel->lhs_element_type == ElementType::kS16;
}

// Whether windows are read where they lie in the staged input, whose lines have `out_w` outputs.
bool reads_windows(const ConvPlan& plan, size_t out_w) {
  return !plan.kernel->gather && out_w >= kLeastRows &&
         has_whole_lines(plan.kernel->rhs_layout, plan.shape);
}

// Bytes from a copied window, or pixel, to the next; 0: rows are read where they lie.
size_t copy_stride(const ConvPlan& plan, const Taps& taps) {
  return copies_windows(plan.shape)  ? window_stride(taps, sizeof(int16_t))
         : StridedPixels::suit(plan) ? StridedPixels::stride(plan)
                                     : 0;
}

size_t most_rows(const ConvPlan& plan, size_t out_w) {
  return ends_in_kernel(plan) && reads_windows(plan, out_w) ? kMostRowsInPlace : kMostRows;
}

// Tiles of windows in the staged input: a part of an output line each, whose rows overlap.
class WindowTiles {
 public:
  // Of the shortest lines, so that runs of shorter lines than declared need no larger workspace.
  static size_t most(size_t rows) { return divide_up(rows - 1, kLeastRows) + 1; }

  WindowTiles(const ConvPlan& plan, const ConvRun& run, BlockTile* tiles)
      : s_(plan.shape),
        run_(run),
        pixel_(s_.in_channels * sizeof(int16_t)),
        tiles_(tiles),
        taps_{s_.kernel_h, line_depth(s_), 1, s_.kernel_h} {}
  const Taps& taps() const { return taps_; }
  size_t row_stride() const { return s_.stride_w * pixel_; }
  size_t count() const { return count_; }

  // Writes the bytes from a row in one kernel line to the same row in the next.
  void tap_steps(ptrdiff_t* out) const {
    for (size_t ky = 1; ky < s_.kernel_h; ++ky) *out++ = (ptrdiff_t)(s_.dilation_h * run_.lhs_row);
  }

  // Makes tiles of `rows` outputs from `pixel` on, up to one whose window a ring wraps in. Returns
  // their rows.
  size_t point(size_t pixel, size_t rows) {
    size_t line = pixel / run_.out_w, x = pixel - line * run_.out_w, row = 0;
    for (count_ = 0; row < rows; ++line, x = 0) {
      const size_t image = line / run_.out_h, top = (line - image * run_.out_h) * s_.stride_h,
                   width = smaller(rows - row, run_.out_w - x);
      if (run_.lines_together(top) <= s_.dilation_h * (s_.kernel_h - 1)) break;
      tiles_[count_++] = {
          row,    1, (uint32_t)width,  0,    1,
          0,      0, {0, s_.kernel_h}, true, run_.line(image, top) + x * row_stride(),
          nullptr};
      row += width;
    }
    return row;
  }

 private:
  const ConvShape& s_;
  const ConvRun& run_;
  const size_t pixel_;
  BlockTile* const tiles_;
  const Taps taps_;
  size_t count_ = 0;
};

struct S16Sections {
  size_t rows;  // of a block
  // Of all of its columns that are multiplied together; 0: the kernel ends them
  size_t sums_count;
  // Where they are copied, up to kMostRows, of window_stride bytes each. Also where they are read
  // in place: runs of shorter lines copy them, and lines in which a ring wraps
  size_t windows;
  size_t steps, tiles;  // of windows that are read in place
  size_t sums;
  PreparedSections prepared;
  size_t prepared_at, bytes;

  S16Sections(const ConvPlan& plan, const Taps& taps, size_t pixels, size_t out_w)
      : rows(smaller(pixels, most_rows(plan, out_w) / plan.kernel->mr * plan.kernel->mr)) {
    const size_t unit = unit_of(*plan.kernel), all = round_up(plan.shape.out_channels, unit);
    sums_count = ends_in_kernel(plan) ? 0 : larger(rows * unit, smaller(rows * all, kSums));
    const bool in_place = reads_windows(plan, out_w);
    Sections sections;
    windows = sections.take(smaller(rows, kMostRows) * copy_stride(plan, taps) + kCopySlack);
    steps = sections.take(in_place ? plan.shape.kernel_h * sizeof(ptrdiff_t) : 0);
    tiles = sections.take(in_place ? WindowTiles::most(rows) * sizeof(BlockTile) : 0);
    sums = sections.take(sums_count * sizeof(int32_t));
    prepared = prepared_sections(s16_kernel(plan, taps), false, rows);
    prepared_at = sections.take(prepared.bytes);
    bytes = sections.bytes;
  }
};

}  // namespace

size_t direct_s16_workspace(const ConvPlan& plan, size_t pixels, size_t out_w) {
  return S16Sections(plan, direct_taps(plan.shape), pixels, out_w).bytes;
}

void run_direct_s16(const ConvPlan& plan, const ConvRun& run, const ConvTask& task,
                    uint8_t* workspace) {
  const Taps taps = direct_taps(plan.shape);
  const S16Sections at(plan, taps, run.batch * run.out_h * run.out_w, run.out_w);
  const size_t mr = plan.kernel->mr, unit = unit_of(*plan.kernel);
  int32_t* const sums = (int32_t*)(workspace + at.sums);
  Weights weights = weights_of(plan, taps, 0);
  Block block = {};
  Epilogue s16 = {};
  s16.mode = EpilogueMode::kFloat8, s16.scale = plan.s16.in_kernel;
  const bool ends = ends_in_kernel(plan);
  if (ends)
    weights.columns.bias = plan.s16_offsets.in_int32;
  else
    s16 = {};  // s32
  block.output = {
      plan.ops, &s16, &plan.requantization, ends, ends ? plan.dst_bytes : sizeof(int32_t), {}};
  block.terms.in_bias = true;
  const size_t copied = copy_stride(plan, taps);
  block.reads_to_groups = copied != 0;
  ptrdiff_t* const steps = (ptrdiff_t*)(workspace + at.steps);
  const bool in_place = reads_windows(plan, run.out_w);
  WindowTiles tiles(plan, run, (BlockTile*)(workspace + at.tiles));
  if (in_place) tiles.tap_steps(steps);
  const bool dense = !run.lhs_ring && run.lhs_image == run.in_h * run.lhs_row;
  for (size_t line = task.first, lines; line < task.end; line += lines) {
    const uint8_t* lhs = nullptr;
    lines = task.end - line;
    if (!copied) {
      const size_t image = dense ? 0 : line / run.in_h, y = line - image * run.in_h;
      if (!dense) lines = smaller(lines, smaller(run.in_h - y, run.lines_together(y)));
      lhs = run.line(image, y);
    }
    const size_t first = line * run.out_w, pixels = lines * run.out_w;
    for (size_t pixel = 0; pixel < pixels; pixel += block.rows) {
      block.rows = next_block(pixels - pixel, at.rows, mr);
      const size_t rows = in_place ? tiles.point(first + pixel, block.rows) : 0;
      const MacroKernel macro_kernel = s16_kernel(plan, rows ? tiles.taps() : taps);
      if (rows) {
        block.rows = rows;
        block.lhs = nullptr;
        block.lhs_stride = tiles.row_stride();
        block.tiles = (BlockTile*)(workspace + at.tiles);
        block.tile_count = tiles.count();
        block.tap_steps = steps;
      } else if (copied) {
        block.rows = smaller(block.rows, kMostRows / mr * mr);
        block.tiles = nullptr;
        block.lhs = workspace + at.windows;
        block.lhs_stride = copied;
        if (copies_windows(plan.shape))
          copy_windows(plan, run, first + pixel, block.rows, copied, workspace + at.windows);
        else
          StridedPixels::copy(plan, run, 0, first + pixel, block.rows, workspace + at.windows);
      } else {
        block.lhs = lhs + pixel * run.lhs_pixel;
        block.lhs_stride = run.lhs_pixel;
      }
      prepare(macro_kernel, weights.columns, at.prepared, workspace + at.prepared_at, &block);
      if (ends) {
        block.output.to = run.to.from(first + pixel);
        multiply(macro_kernel, weights, block, task.n0, task.n1);
        continue;
      }
      const size_t together = larger(at.sums_count / block.rows / unit, 1) * unit;
      for (size_t n0 = task.n0, n; n0 < task.n1; n0 += n) {
        n = smaller(together, task.n1 - n0);
        const size_t stride = round_up(n, kS16Columns);
        weights.first = 0 - n0;  // the sums begin at channel n0
        block.output.to = {(uint8_t*)sums, stride * sizeof(int32_t), nullptr, 0};
        multiply(macro_kernel, weights, block, n0, n0 + n);
        const Output to = run.to.from(first + pixel).column(n0, plan.dst_bytes);
        plan.ops->finish_s16(plan.s16, {nullptr, sums, stride, block.rows, n, n0,
                                        plan.s16_offsets.from(n0), to.dst, to.stride});
      }
    }
  }
}

}  // namespace octet
