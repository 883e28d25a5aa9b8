// SPDX-License-Identifier: Apache-2.0
// Windows of few channels where they lie in the caller's tensor, without a staged copy with
// borders: kernels read a window line by line, and tiles leave lines out that are padding. The
// outputs at the sides, whose windows reach beyond their line, read edges: what one input line has
// of such a window, with the borders.
#pragma once

#include <string.h>

#include "operators/conv/algorithms/direct/direct.h"

namespace octet {

class InPlace {
 public:
  // Whether runs of images of in_w pixels a line may do so, whose tensors have no gaps between
  // pixels: such that a copy of each line takes longer than the edges.
  static bool suits(const ConvPlan& plan, size_t in_w) {
    const ConvShape& s = plan.shape;
    constexpr size_t kZeroBytes = 64;  // of a row of zero points, at least, beside its slack
    return reads_lines(plan) && !plan.kernel->prepares() && !plan.kernel->copy_rows &&
           !plan.runtime_zero_point && !plan.columns.zero_point &&
           larger(s.pad_left, s.pad_right) * s.in_channels <= kZeroBytes &&
           larger(s.pad_left, s.pad_right) < s.kernel_w && most_columns(s) <= plan.block &&
           conv_out_w(s, in_w) >= kColumnsForOne * most_columns(s);
  }
  // Bytes of the edges of a run.
  static size_t bytes(const ConvPlan& plan, size_t out_h) {
    const ConvShape& s = plan.shape;
    return most_columns(s) * lines_of(s, smaller(out_h, kLines)) * stride_of(s);
  }

  InPlace(const ConvPlan& plan, const ConvRun& run, uint8_t* edges)
      : plan_(plan),
        s_(plan.shape),
        run_(run),
        depth_(line_depth(plan.shape)),
        stride_(stride_of(plan.shape)),
        left_(divide_up(run.pad_left, plan.shape.stride_w)),
        right_(columns_from_right()),
        joined_(s_.stride_w == 1 && s_.stride_h == 1 && run.out_w == run.in_w && !run.to.residual),
        edges_(edges) {}

  // Output lines that are best computed together, of which edges hold no more.
  static constexpr size_t kLines = 56;

  // Tiles of the outputs of `lines` lines from y on whose windows lie in the tensor; where lines
  // follow each other without a gap, other outputs between them, too, which come later. At most one
  // tile a line.
  size_t point(size_t image, size_t y, size_t lines, BlockTile* tiles) const {
    size_t count = 0;
    for (size_t line = 0, together; line < lines; line += together) {
      const TapRange used = lines_inside(y + line);
      together = 1;
      for (; joined_ && line + together < lines; ++together) {
        const TapRange next = lines_inside(y + line + together);
        if (next.first != used.first || next.end != used.end) break;
      }
      const size_t first = (y + line) * s_.stride_h + used.first * s_.dilation_h - run_.pad_top;
      size_t from = joined_ ? 0 : left_,
             rows = together * run_.out_w - from - (joined_ ? 0 : right_);
      const uint8_t* base = run_.lhs;
      if (used.count()) {
        const uint8_t* const start = run_.line(image, first);
        const ptrdiff_t step = (ptrdiff_t)row_stride(), pad = (ptrdiff_t)pad_bytes(),
                        begin = start - run_.lhs,
                        reach = (ptrdiff_t)(used.count() - 1) * tap_step();
        // Pointers stay within the tensor
        while ((ptrdiff_t)from * step + begin < pad) ++from, --rows;
        while (run_.lhs_end - run_.lhs <
               begin - pad + (ptrdiff_t)(from + rows - 1) * step + reach + (ptrdiff_t)depth_)
          --rows;
        base = start + ((ptrdiff_t)from * step - pad);
      }
      tiles[count++] = tile(line * run_.out_w + from, 1, rows, used, base);
    }
    return count;
  }
  size_t row_stride() const { return s_.stride_w * run_.lhs_pixel; }
  ptrdiff_t tap_step() const { return (ptrdiff_t)(s_.dilation_h * run_.lhs_row); }

  // Copies the edges of these lines, and points a tile at those of each column at the sides.
  size_t copy(size_t image, size_t y, size_t lines, BlockTile* tiles) const {
    const size_t all = lines_of(s_, lines), top = y * s_.stride_h, columns = left_ + right_,
                 bottom = run_.pad_top + run_.in_h;
    for (size_t c = 0; c < columns; ++c) {
      const size_t x = c < left_ ? c : run_.out_w - right_ + (c - left_);
      uint8_t* const to = edges_ + c * all * stride_;
      // Lines of the image that are copied; the others are padding
      const size_t before = top < run_.pad_top ? smaller(all, run_.pad_top - top) : 0,
                   end = larger(before, top < bottom ? smaller(all, bottom - top) : 0);
      const uint8_t zero = run_.zero_row(image)[0];
      memset(to, zero, before * stride_);
      memset(to + end * stride_, zero, (all - end) * stride_);
      if (before < end)
        copy_edges(run_.line(image, top + before - run_.pad_top), image, x, end - before,
                   to + before * stride_);
      tiles[c] = tile(x, run_.out_w, lines, {0, s_.kernel_h}, to);
    }
    return columns;
  }
  size_t edge_row_stride() const { return s_.stride_h * stride_; }
  ptrdiff_t edge_tap_step() const { return (ptrdiff_t)(s_.dilation_h * stride_); }

 private:
  static constexpr size_t kColumnsForOne = 12;
  // Columns at the sides of a run, at most. Padded lines reach a few bytes further, which are up to
  // three pixels.
  static size_t most_columns(const ConvShape& s) {
    const size_t further = divide_up(line_depth(s) - s.kernel_w * s.in_channels, s.in_channels);
    return divide_up(s.pad_left, s.stride_w) + divide_up(s.pad_right + further, s.stride_w);
  }
  static size_t lines_of(const ConvShape& s, size_t lines) {
    return (lines - 1) * s.stride_h + (s.kernel_h - 1) * s.dilation_h + 1;
  }
  static size_t stride_of(const ConvShape& s) { return round_up(line_depth(s) + kCopySlack, 64); }

  size_t pad_bytes() const { return run_.pad_left * run_.lhs_pixel; }
  // The outputs whose windows, or what padded lines read behind them, reach beyond their line.
  size_t columns_from_right() const {
    size_t x = run_.out_w;
    while (x > 0 && (x - 1) * row_stride() + depth_ > pad_bytes() + run_.lhs_row) --x;
    return run_.out_w - x;
  }
  // The kernel lines of output line y that are not padding.
  TapRange lines_inside(size_t y) const {
    const size_t top = y * s_.stride_h, below = run_.pad_top + run_.in_h,
                 first = top < run_.pad_top ? divide_up(run_.pad_top - top, s_.dilation_h) : 0,
                 end =
                     smaller(s_.kernel_h, top < below ? divide_up(below - top, s_.dilation_h) : 0);
    return first < end ? TapRange{first, end} : TapRange{0, 0};
  }
  BlockTile tile(size_t pixel, size_t step, size_t rows, TapRange used, const uint8_t* base) const {
    return {pixel, step, (uint32_t)rows, (uint32_t)used.first, (uint32_t)used.end, 0, 0, used,
            true,  base, nullptr};
  }
  // Copies `count` edges of the window of output x, from one line on.
  void copy_edges(const uint8_t* line, size_t image, size_t x, size_t count, uint8_t* to) const {
    const size_t begin = x * row_stride(), window = s_.kernel_w * run_.lhs_pixel,
                 before = begin < pad_bytes() ? smaller(window, pad_bytes() - begin) : 0,
                 inside = begin + before - pad_bytes(),
                 bytes = smaller(window - before, run_.lhs_row - inside);
    const auto runs = [&](const uint8_t* from, size_t step, size_t bytes, uint8_t* to) {
      Windows w = {};
      w.from = from, w.step = step, w.lines = 1, w.bytes = bytes;
      w.to = to, w.stride = stride_, w.count = count;
      return w;
    };
    // From left to right, for a copy may write beyond its end
    if (before) plan_.ops->copy_windows(runs(run_.zero_row(image), 0, before, to));
    copy_windows_of(plan_, run_.lhs_end, runs(line + inside, run_.lhs_row, bytes, to + before));
    if (before + bytes < window)
      plan_.ops->copy_windows(
          runs(run_.zero_row(image), 0, window - before - bytes, to + before + bytes));
  }

  const ConvPlan& plan_;
  const ConvShape& s_;
  const ConvRun& run_;
  const size_t depth_, stride_;  // bytes of an edge, and from one to the next
  const size_t left_, right_;    // columns at the sides
  const bool joined_;
  uint8_t* const edges_;
};

}  // namespace octet
