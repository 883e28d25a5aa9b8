// SPDX-License-Identifier: Apache-2.0
// Copies of windows, with their padding, for kernels that take rows at one stride only.
// line_windows.h has those of single kernel lines.
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
  // Copies, for each output, `depth` bytes of the input from the pixel in column kx on. Where
  // outputs lie in several lines, the copies include the outputs between them, whose inputs lie
  // between theirs.
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

}  // namespace octet
