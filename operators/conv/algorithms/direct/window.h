// SPDX-License-Identifier: Apache-2.0
// Pointers to the taps of output pixels in the input. Positions outside the image point at a row of
// zero points.
#pragma once

#include "operators/conv/algorithms/block.h"

namespace octet {

// The ways to cut pixels into tiles. A tile skips the kernel lines that are padding for all of its
// pixels; tiles of one output column, or of neighbouring columns that are alike, skip kernel
// columns, too, but need a call for each kernel line. Each cut makes more tiles, each of which
// reads the weights of its taps.
enum class Cut {
  kRows,     // pixel after pixel, whatever their line
  kLines,    // at the ends of output lines
  kColumns,  // where the kernel begins or ceases to reach beyond the left or right side
  kSides,    // there and, down columns, where it does so at the top and the bottom
};

class Window {
 public:
  // The window for one channel group; next_group turns its tiles to the groups after it.
  Window(const ConvPlan& plan, const ConvRun& run, const Taps& taps, size_t group)
      : s_(plan.shape),
        kernel_(*plan.kernel),
        cost_(plan.tile_cycles),
        run_(run),
        taps_(taps),
        skips_(padding_adds_nothing(plan, run)),
        channel_(group * plan.shape.group_in()),
        whole_(kernel_.rhs_layout.steps(taps.depth) +
               (plan.shape.groups - 1 - group) * plan.shape.group_in()) {}

  // Writes the bytes from a row in one tap to the same row in the next: taps.count - 1 values.
  void tap_steps(ptrdiff_t* out) const {
    const ptrdiff_t across = (ptrdiff_t)(s_.dilation_w * run_.lhs_pixel),
                    down = (ptrdiff_t)(s_.dilation_h * run_.lhs_row);
    for (size_t tap = 1; tap < taps_.count; ++tap)
      *out++ = tap % s_.kernel_w ? across : down - (ptrdiff_t)(s_.kernel_w - 1) * across;
  }
  size_t row_stride() const { return s_.stride_w * run_.lhs_pixel; }

  // Cuts `rows` contiguous pixels, from `pixel` of the whole run on, into tiles. Returns the number
  // of tiles; pointers are those of tile 0, then tile 1.
  size_t point_pixels(size_t pixel, size_t rows, const uint8_t** pointers, BlockTile* tiles) {
    // Copied rows may be tall tiles, where all columns are one micro-panel
    const Tiling tiling(rows, kernel_, kernel_.copy_rows ? s_.group_out() : SIZE_MAX);
    size_t x = pixel % run_.out_w, line = pixel / run_.out_w;
    for (size_t t = 0, row = 0; t < tiling.count; row += tiles[t++].rows) {
      const size_t height = tiling.rows(t);
      begin();
      const uint8_t* const base = x + height <= run_.out_w ? uniform(line, x, height) : nullptr;
      for (size_t i = 0; i < height;) {
        const size_t count = smaller(height - i, run_.out_w - x);
        if (!base) point_line(line, x, count, pointers + i, height);
        i += count;
        x += count;
        if (x == run_.out_w) x = 0, ++line;
      }
      tiles[t] = tile(row, 1, height, base, pointers);
      pointers += taps_.count * height;
    }
    return tiling.count;
  }

  // Cuts whole lines of one image, from `line` of all on, other than by rows. A tile skips kernel
  // lines that are padding for all its pixels, and kernel columns where padding adds nothing; none
  // if all taps are. Wide pieces are cut line by line, narrow pieces column by column.
  size_t point_lines(Cut cut, size_t line, size_t lines, const uint8_t** pointers,
                     BlockTile* tiles) {
    size_t count = 0;
    for (size_t x = 0, width; x < run_.out_w; x += width) {
      const Piece piece = piece_at(cut, x, lines);
      const Sides sides = piece.sides;
      const bool across = piece.across;
      width = piece.width;
      for (size_t micro_panel = 0; micro_panel < piece.micro_panels; ++micro_panel) {
        const auto add = [&](size_t at, size_t rows, const uint8_t* base) {
          const size_t pixel =
              across ? micro_panel * run_.out_w + x + at : at * run_.out_w + x + micro_panel;
          tiles[count] = tile(pixel, across ? 1 : run_.out_w, rows, base, pointers);
          tiles[count].before = skips_ ? sides.before : 0;
          tiles[count++].after = skips_ ? sides.after : 0;
        };
        begin();
        if (across && sides.none())
          if (const uint8_t* const base = uniform(line + micro_panel, x, piece.length)) {
            add(0, piece.length, base);
            continue;
          }
        for_each_tile(cut, piece, line % run_.out_h, [&](size_t at, size_t height) {
          begin();
          if (across) point_line(line + micro_panel, x + at, height, pointers, height);
          for (size_t i = 0; !across && i < height; ++i)
            point_line(line + at + i, x + micro_panel, 1, pointers + i, height);
          add(at, height, nullptr);
          pointers += taps_.count * height;
        });
      }
    }
    return count;
  }

  // Turns tiles and pointers of a group to the next one, whose channels lie behind: the rows of
  // zero points have a byte for each channel, too. Cheaper than looking every row up again.
  __attribute__((noinline)) void next_group(const uint8_t** pointers, BlockTile* tiles,
                                            size_t count) const {
    const size_t step = s_.group_in();
    for (size_t t = 0; t < count; ++t) {
      if (tiles[t].base) {
        tiles[t].base += step;
        continue;
      }
      const uint8_t** const first = pointers + (tiles[t].pointers - pointers);
      const size_t rows = tiles[t].taps.count() * tiles[t].rows;
      for (size_t i = 0; i < rows; ++i) first[i] += step;
    }
  }

  // How pixels are cut into tiles that skip padding. rows: those of a block.
  Cut best_cut(size_t rows) const;

 private:
  // True if cuts skip any taps.
  bool passes_sides() const {
    for (size_t x = 0; x < run_.out_w; ++x)
      if (!sides_at(x).none()) return true;
    return false;
  }
  // The way to cut an image that takes fewest cycles, by columns only if `passes`; without cuts, a
  // tile holds pixels of several images.
  Cut fastest_cut(size_t rows, bool passes) const;

  // Taps of each kernel line or column that lie beyond both sides of an axis, for one output. Both
  // are 0 if all taps do.
  struct Sides {
    uint32_t before, after;
    bool operator==(const Sides& o) const { return before == o.before && after == o.after; }
    size_t count() const { return before + after; }
    bool none() const { return count() == 0; }
  };
  static Sides sides_of(size_t first, size_t kernel, size_t dilation, size_t pad, size_t in) {
    const size_t last = first + (kernel - 1) * dilation, end = pad + in;
    const auto taps = [&](size_t inputs) {  // avoids a division
      return dilation == 1 ? inputs : divide_up(inputs, dilation);
    };
    const size_t before = first < pad ? taps(pad - first) : 0,
                 after = last >= end ? taps(last - end + 1) : 0;
    return before + after < kernel ? Sides{(uint32_t)before, (uint32_t)after} : Sides{0, 0};
  }
  Sides sides_at(size_t x) const {
    return sides_of(x * s_.stride_w, s_.kernel_w, s_.dilation_w, run_.pad_left, run_.in_w);
  }
  Sides ends_at(size_t y) const {
    return sides_of(y * s_.stride_h, s_.kernel_h, s_.dilation_h, run_.pad_top, run_.in_h);
  }

  // Neighbouring columns with the same Sides; their tiles run across the lines or down the columns.
  struct Piece {
    Sides sides;
    size_t width;
    bool across;
    size_t micro_panels, length;
  };
  Piece piece_at(Cut cut, size_t x, size_t lines) const {
    if (cut == Cut::kLines) return {{0, 0}, run_.out_w, true, lines, run_.out_w};
    const Sides sides = sides_at(x);
    size_t width = 1;
    while (x + width < run_.out_w && sides_at(x + width) == sides) ++width;
    const bool across = width >= kernel_.mr / 2u || width >= lines;
    return {sides, width, across, across ? lines : width, across ? width : lines};
  }

  // Calls f(at, height) for the tiles of a piece of lines from y on, `at` counted along the piece.
  template <typename F>
  void for_each_tile(Cut cut, const Piece& piece, size_t y, const F& f) const {
    for (size_t at = 0, run; at < piece.length; at += run) {
      run = piece.length - at;
      if (cut == Cut::kSides && !piece.across) {
        const Sides ends = ends_at(y + at);
        for (run = 1; at + run < piece.length && ends_at(y + at + run) == ends;) ++run;
      }
      const Tiling tiling(run, kernel_);
      for (size_t t = 0, first = at, height; t < tiling.count; ++t, first += height) {
        height = tiling.rows(t);
        f(first, height);
      }
    }
  }

  // The predicted cycles of a tile of rows in lines y to last of an image, whose kernel lines have
  // so many taps.
  double cycles(size_t rows, size_t y, size_t last, size_t taps) const;
  // ... of an image, where `rows` rows of images side by side are cut into tiles.
  double row_cycles(size_t rows) const;
  // ... of an image that is cut other than by rows, in one block.
  double line_cycles(Cut cut) const;

  void begin() {
    first_ = (uint32_t)s_.kernel_h;
    end_ = 0;
    furthest_ = nullptr;
  }

  // pointers: those of all taps.
  BlockTile tile(size_t pixel, size_t step, size_t rows, const uint8_t* base,
                 const uint8_t* const* pointers) const {
    const bool reads_to_groups = !furthest_ || (size_t)(run_.lhs_end - furthest_) >= whole_;
    const uint32_t end = base ? (uint32_t)s_.kernel_h : end_,
                   first = base || first_ >= end_ ? 0 : first_;
    const TapRange taps = {first * s_.kernel_w, end * s_.kernel_w};
    return {pixel,
            step,
            (uint32_t)rows,
            first,
            end,
            0,
            0,
            taps,
            reads_to_groups,
            base,
            pointers + taps.first * rows};
  }

  // The address of row 0 in tap 0 if all windows of a tile, which lies in one output line, are
  // inside the image; else null.
  const uint8_t* uniform(size_t line, size_t x, size_t rows) {
    const size_t image = line / run_.out_h, top = line % run_.out_h * s_.stride_h,
                 left = x * s_.stride_w;
    const size_t bottom = top + (s_.kernel_h - 1) * s_.dilation_h,
                 right = left + (rows - 1) * s_.stride_w + (s_.kernel_w - 1) * s_.dilation_w;
    if (top < run_.pad_top || left < run_.pad_left || bottom - run_.pad_top >= run_.in_h ||
        right - run_.pad_left >= run_.in_w ||
        run_.lines_together(top - run_.pad_top) <= bottom - top)
      return nullptr;
    const uint8_t* const input = run_.line(image, top - run_.pad_top) + channel_;
    furthest_ = input + (bottom - top) * run_.lhs_row + (right - run_.pad_left) * run_.lhs_pixel;
    return input + (left - run_.pad_left) * run_.lhs_pixel;
  }

  // Points at pixels x .. x + count - 1 of an output line: out[tap * stride + i] for the i-th.
  void point_line(size_t line, size_t x, size_t count, const uint8_t** out, size_t stride) {
    const size_t image = line / run_.out_h, y = line % run_.out_h;
    const uint8_t* const zeros = run_.zero_row(image);
    for (size_t ky = 0; ky < s_.kernel_h; ++ky) {
      const ptrdiff_t iy =
          (ptrdiff_t)(y * s_.stride_h + ky * s_.dilation_h) - (ptrdiff_t)run_.pad_top;
      const bool inside = iy >= 0 && iy < (ptrdiff_t)run_.in_h;
      const uint8_t* const row = inside ? run_.line(image, (size_t)iy) + channel_ : nullptr;
      if (inside) {
        first_ = ky < first_ ? (uint32_t)ky : first_;
        end_ = (uint32_t)ky + 1 > end_ ? (uint32_t)ky + 1 : end_;
      }
      for (size_t kx = 0; kx < s_.kernel_w; ++kx, out += stride) {
        if (!inside)
          fill(out, 0, count, zeros);
        else
          point_row(row, zeros,
                    (ptrdiff_t)(x * s_.stride_w + kx * s_.dilation_w) - (ptrdiff_t)run_.pad_left,
                    count, out);
      }
    }
  }

  // Points at input columns ix, ix + stride_w, ...
  void point_row(const uint8_t* row, const uint8_t* zeros, ptrdiff_t ix, size_t count,
                 const uint8_t** out) {
    const ptrdiff_t step = (ptrdiff_t)s_.stride_w, width = (ptrdiff_t)run_.in_w;
    const auto steps = [&](ptrdiff_t way) {
      return step == 1 ? (size_t)way : quotient((size_t)(way + step - 1), (size_t)step);
    };
    const size_t before = ix >= 0 ? 0 : smaller(count, steps(-ix));
    const size_t end = ix >= width ? before : larger(before, smaller(count, steps(width - ix)));
    fill(out, 0, before, zeros);
    if (before < end)
      advance(out, before, end, row + (size_t)(ix + (ptrdiff_t)before * step) * run_.lhs_pixel);
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
  const MicroKernel& kernel_;
  const TileCycles& cost_;
  const ConvRun& run_;
  const Taps& taps_;
  const bool skips_;  // kernel columns that are padding
  size_t channel_;
  size_t whole_;  // from a row to the end of its last channel group, with a depth of whole groups
  uint32_t first_ = 0, end_ = 0;
  const uint8_t* furthest_ = nullptr;  // the last pixel that the tile reads
};

}  // namespace octet
