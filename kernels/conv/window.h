// Where the taps of output pixels lie in the input, as pointers. Positions outside the image point at a row of zero points.
#pragma once

#include "kernels/conv/block.h"

namespace octet {

class Window {
 public:
  // Of channel group `group`.
  Window(const ConvPlan& plan, const ConvRun& run, const Taps& taps, size_t group)
      : s_(plan.shape), run_(run), taps_(taps), channel_(group * plan.shape.group_in()), taps_per_row_(taps.count / plan.shape.kernel_h),
        whole_(plan.kernel->rhs_layout.depth(taps.depth)) {}

  void begin_tile() {
    first_ = (uint32_t)s_.kernel_h;
    end_ = 0;
    furthest_ = nullptr;
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
      for (size_t kx = 0; kx < taps_per_row_; ++kx, out += stride) {
        if (!inside)
          fill(out, 0, count, zeros);
        else if (taps_per_row_ == s_.kernel_w)
          point_row(row, zeros, (ptrdiff_t)(x * s_.stride_w + kx * s_.dilation_w) - (ptrdiff_t)run_.pad_left, count, out);
        else  // a merged tap: the input has been staged with its borders
          advance(out, 0, count, row + x * s_.stride_w * run_.lhs_pixel);
      }
    }
  }

  TileTaps end_tile() const { return {first_ < end_ ? first_ : 0, end_, !furthest_ || (size_t)(run_.lhs_end - furthest_) >= whole_}; }

 private:
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
  size_t channel_, taps_per_row_;
  size_t whole_;              // a tap's depth in whole groups
  uint32_t first_ = 0, end_ = 0;
  const uint8_t* furthest_ = nullptr;  // pixel that the tile reads
};

}  // namespace octet
