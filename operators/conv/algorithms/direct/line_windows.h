// SPDX-License-Identifier: Apache-2.0
// LineWindows: copies of the windows of single kernel lines, the pixels of one input line that an
// output reads, side by side. They are copied once per block. One copy serves several kernel lines,
// and the copies of an image's outputs lie at one stride, across line ends: tiles read them in
// place.
//
// With a stride between lines, input lines are copied in phases, by their remainder: every
// stride-th kernel line reads the lines of one phase, one by one. With a dilation between lines
// there is one phase, and kernel lines read lines that far apart.
#pragma once

#include "operators/conv/algorithms/direct/window_copies.h"

namespace octet {

class LineWindows : WindowCopies {
 public:
  // Whether they are copied for outputs in lines of `out_w` pixels, because that copies fewer
  // bytes: each output copies kernel_w pixels per phase. Else all taps of the tiles are copied that
  // reach beyond their line or image, two tiles of each line. step, mr: of the kernel.
  static bool are_fewer(size_t step, size_t mr, const ConvShape& s, size_t out_w) {
    return !s.transposed && s.taps() > 1 && (s.stride_h == 1 || s.dilation_h == 1) &&
           (phases(s) < s.kernel_h || s.kernel_h == 1) && s.group_in() % step == 0 &&
           phases(s) * out_w < 2 * s.kernel_h * mr;
  }
  // The lines of windows that `lines` output lines of an image have.
  static double lines_of(const ConvShape& s, double lines) {
    return (double)phases(s) * (lines + (double)further_lines(s));
  }
  // Bytes from the windows of an output to those of the next.
  static size_t stride(const MicroKernel& kernel, const ConvShape& s) {
    return kernel.copied_stride(s.group_in(), s.kernel_w);
  }
  // The most bytes of the windows of `rows` contiguous outputs, and the most outputs in tiles of
  // two images. Both grow with all sizes.
  static size_t bytes(const MicroKernel& kernel, const ConvShape& s, size_t batch, size_t out_w,
                      size_t rows) {
    return phases(s) * phase_bytes(kernel, s, batch, out_w, rows);
  }
  static size_t between_images(const MicroKernel& kernel, const ConvShape& s, size_t batch,
                               size_t rows) {
    return smaller(rows, (smaller(batch, rows) - 1) * kernel.rows_of(s.group_out()));
  }

  // windows: room for those of a block of up to `rows` outputs.
  LineWindows(const ConvPlan& plan, const ConvRun& run, size_t rows, uint8_t* windows)
      : WindowCopies(plan, run, stride(*plan.kernel, plan.shape)),
        phase_(phase_bytes(kernel_, s_, run.batch, run.out_w, rows)),
        windows_(windows) {}

  size_t row_stride() const { return stride_; }

  // Writes the bytes from a row in one kernel line to the same row in the next: kernel_h - 1
  // values.
  void tap_steps(ptrdiff_t* out) const {
    for (size_t ky = 1; ky < s_.kernel_h; ++ky)
      *out++ = (ptrdiff_t)kernel_line(ky) - (ptrdiff_t)kernel_line(ky - 1);
  }

  // Copies the windows of a channel group for `rows` contiguous outputs, from `pixel` of the whole
  // run on.
  void copy(size_t group, size_t pixel, size_t rows) {
    const size_t end = divide_up(pixel + rows, run_.out_w);
    uint8_t* to = windows_;
    first_line_ = pixel / run_.out_w;
    for (size_t line = first_line_, lines; line < end; line += lines) {
      const size_t y = line % run_.out_h;
      lines = smaller(end - line, run_.out_h - y);
      for (size_t phase = 0; phase < phases(s_); ++phase) {
        const size_t further = ((s_.kernel_h - 1) * s_.dilation_h - phase) / s_.stride_h;
        copy_lines(line / run_.out_h, group, y * s_.stride_h + phase, lines + further, 0,
                   run_.out_w, to + phase * phase_);
      }
      to += (lines + further_lines(s_)) * line_;
    }
  }

  // Cuts these outputs into tiles. Outputs side by side in an image that use the same kernel lines
  // are one tile. Tiles of two images are pointed at. Returns the number of tiles; pointers are
  // those of the first such tile, then of the next.
  size_t point(size_t pixel, size_t rows, const uint8_t** pointers, BlockTile* tiles) const {
    const Tiling tiling(rows, kernel_, s_.group_out());
    size_t count = 0;
    for (size_t t = 0, row = 0, height; t < tiling.count; ++t, row += height) {
      height = tiling.rows(t);
      const size_t line = (pixel + row) / run_.out_w,
                   last = (pixel + row + height - 1) / run_.out_w, y = line % run_.out_h;
      const bool together = line - y + run_.out_h > last;
      const TapRange used = together ? lines_inside(y, y + last - line) : TapRange{0, s_.kernel_h};
      const uint8_t* const base = together ? at(pixel + row) + kernel_line(used.first) : nullptr;
      BlockTile* const before = count ? &tiles[count - 1] : nullptr;
      if (before && base && before->base && before->taps.first == used.first &&
          before->taps.end == used.end && before->base + before->rows * stride_ == base) {
        before->rows += (uint32_t)height;
        continue;
      }
      tiles[count++] = {
          row,  1,    (uint32_t)height, (uint32_t)used.first, (uint32_t)used.end, 0, 0, used,
          true, base, pointers};
      if (together) continue;
      for (size_t ky = 0; ky < s_.kernel_h; ++ky)
        for (size_t i = 0; i < height; ++i) *pointers++ = at(pixel + row + i) + kernel_line(ky);
    }
    return count;
  }

 private:
  // Without a stride or without a dilation between lines; else windows are not copied.
  static size_t phases(const ConvShape& s) { return smaller(s.stride_h, s.kernel_h); }
  // The lines of a phase that the outputs of an image have beyond one for each line of theirs.
  static size_t further_lines(const ConvShape& s) {
    return (s.kernel_h - 1) * s.dilation_h / s.stride_h;
  }
  // Lines of which outputs are at the ends only have windows, too; images have further lines, but
  // not more of them than outputs.
  static size_t phase_bytes(const MicroKernel& kernel, const ConvShape& s, size_t batch,
                            size_t out_w, size_t rows) {
    const size_t all = rows + 2 * out_w;
    return (all + smaller(batch * out_w, all) * further_lines(s)) * stride(kernel, s);
  }

  // The windows of an output in the first kernel line.
  const uint8_t* at(size_t pixel) const {
    const size_t images = pixel / run_.out_w / run_.out_h - first_line_ / run_.out_h;
    return windows_ + (pixel - first_line_ * run_.out_w) * stride_ +
           images * further_lines(s_) * line_;
  }
  // Bytes from the windows of an output in the first kernel line to those in line ky.
  size_t kernel_line(size_t ky) const {
    const size_t line = ky * s_.dilation_h;
    return line % s_.stride_h * phase_ + line / s_.stride_h * line_;
  }

  // The kernel lines that are not padding for all output lines from y to last, and with a stride a
  // few before them.
  TapRange lines_inside(size_t y, size_t last) const {
    const size_t below = run_.pad_top + run_.in_h, above = run_.pad_top,
                 end = smaller(s_.kernel_h,
                               divide_up(below - smaller(y * s_.stride_h, below), s_.dilation_h)),
                 inside = divide_up(above - smaller(last * s_.stride_h, above), s_.dilation_h),
                 // tap_steps are those from the first line of the first phase on
        first = inside / s_.stride_h * s_.stride_h;
    return first < end ? TapRange{first, end} : TapRange{0, 0};
  }

  const size_t phase_;  // bytes from a phase to the next
  uint8_t* const windows_;
  size_t first_line_ = 0;
};

}  // namespace octet
