// Where the taps of output pixels lie in the input, as pointers. Positions outside the image point at a row of zero points.
#pragma once

#include "kernels/conv/block.h"

namespace octet {

class Window {
 public:
  // Of channel group `group`.
  Window(const ConvPlan& plan, const ConvRun& run, const Taps& taps, size_t group)
      : s_(plan.shape), run_(run), taps_(taps), channel_(group * plan.shape.group_in()),
        whole_(plan.kernel->rhs_layout.depth(taps.depth)) {}

  // Bytes from a row in one tap to the same row in the next: taps.count - 1 values.
  void tap_steps(ptrdiff_t* out) const {
    const ptrdiff_t across = (ptrdiff_t)(s_.dilation_w * run_.lhs_pixel), down = (ptrdiff_t)(s_.dilation_h * run_.lhs_row);
    for (size_t tap = 1; tap < taps_.count; ++tap)
      *out++ = tap % s_.kernel_w ? across : down - (ptrdiff_t)(s_.kernel_w - 1) * across;
  }
  size_t row_stride() const { return s_.stride_w * run_.lhs_pixel; }

  // A tile of `rows` pixels from x on, `line` counting the output lines of all images. Moves both behind it.
  TileTaps point_tile(size_t rows, size_t* line, size_t* x, const uint8_t** pointers) {
    first_ = (uint32_t)s_.kernel_h;
    end_ = 0;
    furthest_ = nullptr;
    const uint8_t* const base = *x + rows <= run_.out_w ? uniform(*line, *x, rows) : nullptr;
    for (size_t i = 0; i < rows;) {
      const size_t count = smaller(rows - i, run_.out_w - *x);
      if (!base) point_line(*line / run_.out_h, *line % run_.out_h, *x, count, pointers + i, rows);
      i += count;
      *x += count;
      if (*x == run_.out_w) *x = 0, ++*line;
    }
    if (base) return {0, (uint32_t)s_.kernel_h, (size_t)(run_.lhs_end - furthest_) >= whole_, base};
    return {first_ < end_ ? first_ : 0, end_, !furthest_ || (size_t)(run_.lhs_end - furthest_) >= whole_, nullptr};
  }

 private:
  // Row 0 in tap 0 of a tile within one output line whose windows are all inside the image; else null.
  const uint8_t* uniform(size_t line, size_t x, size_t rows) {
    const size_t image = line / run_.out_h, top = line % run_.out_h * s_.stride_h, left = x * s_.stride_w;
    const size_t bottom = top + (s_.kernel_h - 1) * s_.dilation_h, right = left + (rows - 1) * s_.stride_w + (s_.kernel_w - 1) * s_.dilation_w;
    if (top < run_.pad_top || left < run_.pad_left || bottom - run_.pad_top >= run_.in_h || right - run_.pad_left >= run_.in_w) return nullptr;
    const uint8_t* const input = run_.lhs + image * run_.lhs_image + channel_;
    furthest_ = input + (bottom - run_.pad_top) * run_.lhs_row + (right - run_.pad_left) * run_.lhs_pixel;
    return input + (top - run_.pad_top) * run_.lhs_row + (left - run_.pad_left) * run_.lhs_pixel;
  }

  // Pixels x .. x + count - 1 of an output line: out[tap * stride + i] for the i-th.
  void point_line(size_t image, size_t y, size_t x, size_t count, const uint8_t** out, size_t stride) {
    const uint8_t* const zeros = run_.zero_row(image);
    for (size_t ky = 0; ky < s_.kernel_h; ++ky) {
      const ptrdiff_t iy = (ptrdiff_t)(y * s_.stride_h + ky * s_.dilation_h) - (ptrdiff_t)run_.pad_top;
      const bool inside = iy >= 0 && iy < (ptrdiff_t)run_.in_h;
      const uint8_t* const row = run_.lhs + image * run_.lhs_image + (inside ? (size_t)iy * run_.lhs_row : 0) + channel_;
      if (inside) {
        first_ = ky < first_ ? (uint32_t)ky : first_;
        end_ = (uint32_t)ky + 1 > end_ ? (uint32_t)ky + 1 : end_;
      }
      for (size_t kx = 0; kx < s_.kernel_w; ++kx, out += stride) {
        if (!inside)
          fill(out, 0, count, zeros);
        else
          point_row(row, zeros, (ptrdiff_t)(x * s_.stride_w + kx * s_.dilation_w) - (ptrdiff_t)run_.pad_left, count, out);
      }
    }
  }

  // Input columns ix, ix + stride_w, ...
  void point_row(const uint8_t* row, const uint8_t* zeros, ptrdiff_t ix, size_t count, const uint8_t** out) {
    const ptrdiff_t step = (ptrdiff_t)s_.stride_w, width = (ptrdiff_t)run_.in_w;
    const size_t before = ix >= 0 ? 0 : smaller(count, (size_t)((-ix + step - 1) / step));
    const size_t end = ix >= width ? before : larger(before, smaller(count, (size_t)((width - ix + step - 1) / step)));
    fill(out, 0, before, zeros);
    if (before < end) advance(out, before, end, row + (size_t)(ix + (ptrdiff_t)before * step) * run_.lhs_pixel);
    fill(out, end, count, zeros);
  }

  static void fill(const uint8_t** out, size_t from, size_t to, const uint8_t* value) {
    for (size_t i = from; i < to; ++i) out[i] = value;
  }

  void advance(const uint8_t** out, size_t from, size_t to, const uint8_t* pixel) {
    const size_t step = s_.stride_w * run_.lhs_pixel;
    for (size_t i = from; i < to; ++i, pixel += step) out[i] = pixel;
    furthest_ = pixel - step > furthest_ ? pixel - step : furthest_;
  }

  const ConvShape& s_;
  const ConvRun& run_;
  const Taps& taps_;
  size_t channel_;
  size_t whole_;              // a tap's depth in whole groups
  uint32_t first_ = 0, end_ = 0;
  const uint8_t* furthest_ = nullptr;  // pixel that the tile reads
};

}  // namespace octet
