// Copies of windows, with their padding, for kernels that take rows at one stride only.
//
// LineWindows: those of single kernel lines, the pixels of one input line that an output reads,
// side by side. They are copied once per block. One copy serves several kernel lines, and the
// copies of an image's outputs lie at one stride, across line ends: tiles read them in place.
//
// With a stride between lines, input lines are copied in phases, by their remainder: every
// stride-th kernel line reads the lines of one phase, one by one. With a dilation between lines
// there is one phase, and kernel lines read lines that far apart.
//
// WholeWindows: all lines of a window side by side, as the rows of a matrix. They are copied where
// taps fill no whole steps of the kernel, of which they take fewer together.
#pragma once

#include "operators/conv/algorithms/block.h"

namespace octet {

// WholeWindows and LineWindows both copy the pixels in a kernel line of windows, by input line.
class WindowCopies {
 protected:
  WindowCopies(const ConvPlan& plan, const ConvRun& run, size_t stride)
      : s_(plan.shape),
        kernel_(*plan.kernel),
        run_(run),
        flip_(plan.lhs_flip),
        stride_(stride),
        line_(run.out_w * stride_),
        position_(round_up_pow2(s_.group_in(), kernel_.lhs_kr)),
        one_run_(s_.dilation_w == 1 && run.lhs_pixel == s_.group_in() &&
                 position_ == run.lhs_pixel && position_ % kernel_.step_depth != 0) {}

  // Copies the windows of one kernel line. `lines` output lines read input lines stride_h apart;
  // the first of these is line `y`, counted with the padding above. Of each output line, outputs
  // first to last - 1 are copied; of several lines, all outputs.
  __attribute__((noinline)) void copy_lines(size_t image, size_t group, size_t y, size_t lines,
                                            size_t first, size_t last, uint8_t* to) const {
    // Lines without gaps are one line, but for the ends of windows
    const bool joined = s_.stride_h == 1 && s_.stride_w == 1 && run_.out_w == run_.in_w &&
                        run_.lhs_row == run_.in_w * run_.lhs_pixel;
    for (size_t line = 0, together; line < lines;
         line += together, y += together * s_.stride_h, to += together * line_) {
      const size_t left = lines - line, iy = y - run_.pad_top;
      const bool above = y < run_.pad_top, inside = !above && iy < run_.in_h;
      together = above ? smaller(left, divide_up(run_.pad_top - y, s_.stride_h))
                 : inside
                     ? smaller(left, joined ? smaller(run_.lines_together(iy), run_.in_h - iy) : 1)
                     : left;
      const Part part = {inside ? run_.line(image, iy) + group * s_.group_in() : nullptr,
                         run_.zero_row(image),
                         together,
                         first,
                         last,
                         to};
      copy_part(part);
    }
  }

  const ConvShape& s_;
  const MicroKernel& kernel_;
  const ConvRun& run_;
  const uint8_t flip_;
  const size_t stride_;    // bytes from an output's windows to the next one's
  const size_t line_;      // ... from an output line's to the next one's
  const size_t position_;  // ... from a pixel of a window to the next

 private:
  // Outputs first to last - 1 of some lines; `to` has the windows of `first` in the first line.
  struct Part {
    const uint8_t* from;  // the first input line; null: padding
    const uint8_t* zeros;
    size_t lines, first, last;
    uint8_t* to;
  };
  struct Outputs {
    size_t first, end;
  };

  void copy_part(const Part& part) const {
    // The windows without padding are copied at once where their pixels lie side by side. So are,
    // of several lines, those between the last of a line and the first of the next: their padding
    // is written over, and what else they read is right.
    const Outputs whole = one_run_ ? inside(part, 0, s_.kernel_w - 1) : Outputs{0, 0};
    const bool at_once = whole.first < whole.end;
    Part top = part, bottom = part;
    top.lines = bottom.lines = 1;
    bottom.from += at_once ? (part.lines - 1) * run_.lhs_row : 0;
    bottom.to += (part.lines - 1) * line_;
    if (at_once) copy_pixels(part, 0, s_.kernel_w * position_, whole);
    for (size_t kx = 0; kx < s_.kernel_w; ++kx) {
      const Outputs in = inside(part, kx, kx);
      if (at_once) {
        copy_pixels(top, kx, s_.group_in(), {in.first, whole.first});
        copy_pixels(bottom, kx, s_.group_in(), {whole.end, in.end});
      } else {
        copy_pixels(part, kx, s_.group_in(), in);
      }
      pad(part, kx, {part.first, in.first});
      pad(part, kx, {in.end, part.last});
    }
  }
  // The outputs whose windows have no padding in columns kx to `last`.
  __attribute__((noinline)) Outputs inside(const Part& part, size_t kx, size_t last) const {
    const ptrdiff_t pad = (ptrdiff_t)run_.pad_left, step = (ptrdiff_t)s_.dilation_w;
    if (!part.from) return {part.last, part.last};
    const size_t first =
        smaller(part.last, larger(part.first, outputs_before(pad - (ptrdiff_t)kx * step)));
    return {first, larger(first, smaller(part.last, outputs_before((ptrdiff_t)run_.in_w + pad -
                                                                   (ptrdiff_t)last * step)))};
  }
  // Copies `depth` bytes from the pixels in column kx on, and of several lines the same of all
  // outputs between these: what they read lies between these inputs.
  __attribute__((noinline)) void copy_pixels(const Part& part, size_t kx, size_t depth,
                                             Outputs outputs) const {
    if (outputs.first >= outputs.end) return;
    const ptrdiff_t x =
        (ptrdiff_t)(outputs.first * s_.stride_w + kx * s_.dilation_w) - (ptrdiff_t)run_.pad_left;
    kernel_.copy_rows({part.from + x * (ptrdiff_t)run_.lhs_pixel, s_.stride_w * run_.lhs_pixel,
                       (part.lines - 1) * run_.out_w + outputs.end - outputs.first, depth, flip_},
                      stride_, part.to + (outputs.first - part.first) * stride_ + kx * position_);
  }
  __attribute__((noinline)) void pad(const Part& part, size_t kx, Outputs outputs) const {
    const auto zeros = [&](size_t rows, size_t stride, uint8_t* to) {
      kernel_.copy_rows({part.zeros, 0, rows, s_.group_in(), flip_}, stride, to);
    };
    const size_t count = outputs.end - outputs.first;
    uint8_t* to = part.to + (outputs.first - part.first) * stride_ + kx * position_;
    if (count == run_.out_w) return zeros(part.lines * count, stride_, to);
    for (size_t i = 0; i < count; ++i, to += stride_) zeros(part.lines, line_, to);
  }

  // The outputs of a line whose windows begin less than x pixels after that of output 0.
  size_t outputs_before(ptrdiff_t x) const {
    return x <= 0 ? 0 : smaller(run_.out_w, divide_up((size_t)x, s_.stride_w));
  }

  // The pixels of a window lie side by side, and take fewer steps together
  const bool one_run_;
};

class WholeWindows : WindowCopies {
 public:
  // step: of the kernel
  static bool are_copied(size_t step, const ConvShape& s) {
    return !s.transposed && s.taps() > 1 && s.group_in() % step != 0;
  }
  static size_t stride(const MicroKernel& kernel, const ConvShape& s) {
    return kernel.copied_stride(s.group_in(), s.taps());
  }

  WholeWindows(const ConvPlan& plan, const ConvRun& run)
      : WindowCopies(plan, run, stride(*plan.kernel, plan.shape)) {}

  // Copies the windows of a channel group for `rows` contiguous outputs, from `pixel` of the whole
  // run on.
  __attribute__((noinline)) void copy(size_t group, size_t pixel, size_t rows, uint8_t* to) const {
    for (size_t end = pixel + rows, next; pixel < end;
         to += (next - pixel) * stride_, pixel = next) {
      const size_t line = pixel / run_.out_w, x = pixel % run_.out_w, y = line % run_.out_h,
                   whole = x ? 0 : smaller((end - pixel) / run_.out_w, run_.out_h - y),
                   lines = larger(whole, 1);
      next = smaller(end, (line + lines) * run_.out_w);
      const size_t last = whole ? run_.out_w : x + next - pixel;
      for (size_t ky = 0; ky < s_.kernel_h; ++ky)
        copy_lines(line / run_.out_h, group, y * s_.stride_h + ky * s_.dilation_h, lines, x, last,
                   to + ky * s_.kernel_w * position_);
    }
  }
};

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
  // The most images that `rows` contiguous outputs lie in.
  static size_t most_images(const ConvRun& run, size_t rows) {
    return smaller(run.batch, divide_up(most_lines(run, rows) - 1, run.out_h) + 1);
  }
  // The most bytes of the windows of such outputs.
  static size_t bytes(const MicroKernel& kernel, const ConvShape& s, const ConvRun& run,
                      size_t rows) {
    return phases(s) * phase_bytes(kernel, s, run, rows);
  }

  // windows: room for those of a block of up to `rows` outputs.
  LineWindows(const ConvPlan& plan, const ConvRun& run, size_t rows, uint8_t* windows)
      : WindowCopies(plan, run, stride(*plan.kernel, plan.shape)),
        phase_(phase_bytes(kernel_, s_, run, rows)),
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

  // Cuts these outputs into tiles. Tiles of two images are pointed at. Returns the number of tiles;
  // pointers are those of the first such tile, then of the next.
  size_t point(size_t pixel, size_t rows, const uint8_t** pointers, BlockTile* tiles) const {
    const Tiling tiling(rows, kernel_, s_.group_out());
    for (size_t t = 0, row = 0, height; t < tiling.count; ++t, row += height) {
      height = tiling.rows(t);
      const size_t line = (pixel + row) / run_.out_w,
                   last = (pixel + row + height - 1) / run_.out_w, y = line % run_.out_h;
      const bool together = line - y + run_.out_h > last;
      const TapRange used = together ? lines_inside(y, y + last - line) : TapRange{0, s_.kernel_h};
      tiles[t] = {
          row,  1,       (uint32_t)height, (uint32_t)used.first, (uint32_t)used.end, 0, 0, used,
          true, nullptr, pointers};
      if (together) {
        tiles[t].base = at(pixel + row) + kernel_line(used.first);
        continue;
      }
      for (size_t ky = 0; ky < s_.kernel_h; ++ky)
        for (size_t i = 0; i < height; ++i) *pointers++ = at(pixel + row + i) + kernel_line(ky);
    }
    return tiling.count;
  }

 private:
  // Without a stride or without a dilation between lines; else windows are not copied.
  static size_t phases(const ConvShape& s) { return smaller(s.stride_h, s.kernel_h); }
  // The lines of a phase that the outputs of an image have beyond one for each line of theirs.
  static size_t further_lines(const ConvShape& s) {
    return (s.kernel_h - 1) * s.dilation_h / s.stride_h;
  }
  static size_t phase_bytes(const MicroKernel& kernel, const ConvShape& s, const ConvRun& run,
                            size_t rows) {
    const size_t lines = smaller(most_lines(run, rows), run.batch * run.out_h) +
                         most_images(run, rows) * further_lines(s);
    return lines * run.out_w * stride(kernel, s);
  }
  static size_t most_lines(const ConvRun& run, size_t rows) {
    return divide_up(rows - 1, run.out_w) + 1;
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
