// SPDX-License-Identifier: Apache-2.0
// Multiplies a block of output pixels tap by tap, while their sums wait in memory:
//
//     for each micro-panel of weights
//       for each tap: sums[pixel] += input[pixel, tap] * weights[tap], of the pixels whose input in
//                     this tap is inside the image
//       epilogue
//
// Tiles have pixels of any lines, so none is padding, and a tap's weights are read from L2 once.
// The pixels of a transposed convolution have the taps of their phase.
#pragma once

#include <string.h>

#include "operators/conv/algorithms/direct/direct.h"

namespace octet {

// One axis of an image.
struct TapAxis {
  size_t in, out, stride, dilation, pad;
  bool transposed;

  // The outputs that have a kernel position, and their inputs, modulo 2^64: those from `in` on are
  // outside.
  struct Walk {
    size_t output, output_step, input, input_step;
  };
  Walk walk(size_t position) const {
    const size_t at = position * dilation;
    if (!transposed) return {0, 1, at - pad, stride};
    const size_t first = (at + round_up(pad, stride) - pad) % stride;
    return {first, stride, (size_t)((ptrdiff_t)(first + pad - at) / (ptrdiff_t)stride), 1};
  }
  // The share of the taps of all outputs that have an input.
  double inside(size_t kernel) const {
    size_t taps = 0, inputs = 0;
    for (size_t k = 0; k < kernel; ++k) {
      Walk w = walk(k);
      for (; w.output < out; w.output += w.output_step, w.input += w.input_step)
        ++taps, inputs += w.input < in;
    }
    return (double)inputs / (double)larger(taps, 1);
  }
};

class ByTaps {
 public:
  // The share of a shape's products that are not padding.
  static double inside(const ConvShape& s, size_t in_h, size_t in_w, size_t out_h, size_t out_w) {
    if (out_h * out_w > kMostPixels) return 1;
    return lines_of(s, in_h, out_h, s.pad_top).inside(s.kernel_h) *
           columns_of(s, in_w, out_w, s.pad_left).inside(s.kernel_w);
  }
  // Whether this is faster for this share than tiles of a line, whose sums stay in registers, but
  // which multiply padding. Emerald Rapids, 2026-11-30: by 3x3, AVX-VNNI gains up to 10x10 and
  // loses at 12x12, and gains up to 45x45 where a dilation spares many products. AVX512-VNNI, whose
  // products take half as long as the sums' way, gains where it spares many, or some where tiles of
  // a line are small: half as wide, or cut at each side of an image of 5x5. pixels: of an image.
  static bool is_faster(double inside, size_t depth, size_t columns, size_t pixels, size_t panels) {
    if (panels == 1) return inside < 0.88 && (pixels <= 1024 || (1 - inside) * (double)depth >= 24);
    // Columns of padding, of which tiles of a line have less
    inside *=
        (double)round_up(columns, kMostWidth) / (double)round_up(columns, kMostWidth / panels);
    const bool narrow = columns <= kMostWidth, small = pixels > 4 && pixels <= 25;
    const double least = narrow ? 10 : small ? 24 : 56;
    return inside < 0.88 && pixels <= 1024 && (narrow || small || depth >= 256) &&
           (1 - inside) * (double)depth >= least;
  }
  // Whether a shape may be computed so by kernels with add_tap for so many panels, and be faster
  // for some image.
  static bool may(const RhsLayout& layout, const ConvShape& s, const Taps& taps, size_t panels) {
    return s.phases == 1 && !copies_windows(s) && taps.count > 1 && taps.count <= kMostTaps &&
           taps.depth % layout.kr == 0 && s.group_out() > (panels - 1) * layout.width;
  }
  // Whether a plan's tasks may be computed so, and whether those of a run are.
  static bool may(const ConvPlan& plan, const Taps& taps) {
    const MicroKernel& kernel = *plan.kernel;
    return kernel.add_tap && may(kernel.rhs_layout, plan.shape, taps, kernel.tap_panels) &&
           !plan.runtime_zero_point && !plan.columns.zero_point;
  }
  static bool suits(const ConvPlan& plan, const ConvRun& run, const Taps& taps) {
    if (!may(plan, taps) || run.out_w > kPixels) return false;
    double share = inside(plan.shape, run.in_h, run.in_w, run.out_h, run.out_w);
    // Where padding adds products, each tap has one more row, whose sums are added to those of the
    // pixels outside: an addition takes as long as a product of so many channels.
    constexpr double kAddition = 64;
    if (!padding_adds_nothing(plan, run))
      share += (1 - share) * kAddition / (double)taps.depth +
               1 / (double)(run.batch * run.out_h * run.out_w);
    return is_faster(share, taps.depth, plan.shape.group_out(), run.out_h * run.out_w,
                     plan.kernel->tap_panels);
  }
  static size_t bytes(const ConvPlan& plan, const Taps& taps, size_t pixels) {
    return may(plan, taps) ? Layout(plan, taps, pixels).bytes : 0;
  }

  ByTaps(const ConvPlan& plan, const ConvRun& run, const Taps& taps, uint8_t* workspace)
      : plan_(plan),
        s_(plan.shape),
        run_(run),
        taps_(taps),
        lines_(lines_of(s_, run.in_h, run.out_h, run.pad_top)),
        columns_(columns_of(s_, run.in_w, run.out_w, run.pad_left)),
        width_(width_of(plan)),
        at_(plan, taps, run.batch * run.out_h * run.out_w),
        sums_((int32_t*)(workspace + at_.sums)),
        rows_((const uint8_t**)(workspace + at_.rows)),
        places_((uint16_t*)(workspace + at_.places)),
        zero_point_(padding_adds_nothing(plan, run) ? 0 : zero_point_of(plan, run, 0)) {}

  void compute(const ConvTask& task) {
    const size_t group_out = s_.group_out(), most = larger(at_.pixels / run_.out_w, 1);
    for (size_t line = task.first, lines; line < task.end; line += lines) {
      lines = next_block(task.end - line, most, 1);
      for (size_t g = task.n0 / group_out; g * group_out < task.n1; ++g) {
        point(g, line, lines);
        multiply(g, line, lines * run_.out_w, larger(task.n0, g * group_out),
                 smaller(task.n1, (g + 1) * group_out));
      }
    }
  }

 private:
  static constexpr size_t kMostTaps = 49, kMostWidth = 32, kMostPixels = 2048;
  static constexpr size_t kPixels = 224;  // of a block: sums of a panel stay in L1

  static TapAxis lines_of(const ConvShape& s, size_t in, size_t out, size_t pad) {
    return {in, out, s.stride_h, s.dilation_h, pad, s.transposed};
  }
  static TapAxis columns_of(const ConvShape& s, size_t in, size_t out, size_t pad) {
    return {in, out, s.stride_w, s.dilation_w, pad, s.transposed};
  }
  static size_t width_of(const ConvPlan& plan) {
    return plan.kernel->tap_panels * plan.kernel->rhs_layout.width;
  }

  struct Layout {
    size_t pixels;              // of a block
    size_t sums, rows, places;  // offsets
    size_t bytes;
    Layout(const ConvPlan& plan, const Taps& taps, size_t all) : pixels(smaller(all, kPixels)) {
      Sections sections;
      // Behind the pixels' sums, those of a row of zero points
      sums = sections.take((pixels + 1) * width_of(plan) * sizeof(int32_t));
      rows = sections.take(taps.count * (pixels + 1) * sizeof(void*));
      places = sections.take(taps.count * (pixels + 1) * sizeof(uint16_t));
      bytes = sections.bytes;
    }
  };

  // A tap's rows: first those inside the image, then perhaps one of zero points; the places of
  // pixels whose input is outside are the last ones.
  const uint8_t** rows_of(size_t tap) const { return rows_ + tap * (at_.pixels + 1); }
  uint16_t* places_of(size_t tap) const { return places_ + tap * (at_.pixels + 1); }

  // Points at the inputs of lines [line, line + lines) of all, in each tap.
  void point(size_t group, size_t line, size_t lines) {
    size_t tap = 0;
    for (size_t g = 0; g < taps_.groups; ++g)
      for_each_position(s_, g, [&](size_t ky, size_t kx) {
        point_tap(tap++, ky, kx, group * s_.group_in(), line, lines);
      });
  }
  void point_tap(size_t tap, size_t ky, size_t kx, size_t channel, size_t line, size_t lines) {
    const uint8_t** rows = rows_of(tap);
    uint16_t *places = places_of(tap), *const last = places + at_.pixels + 1, *outside = last;
    const TapAxis::Walk down = lines_.walk(ky), right = columns_.walk(kx);
    size_t place = 0;
    for (size_t i = line; i < line + lines; ++i, place += run_.out_w) {
      const size_t ahead = i % run_.out_h - down.output;  // modulo 2^64
      if (ahead % down.output_step || i % run_.out_h < down.output) continue;
      const size_t y = down.input + ahead / down.output_step * down.input_step;
      const bool inside = y < run_.in_h;
      const uint8_t* const from = inside ? run_.line(i / run_.out_h, y) + channel : nullptr;
      size_t x = right.input;
      for (size_t j = right.output; j < run_.out_w; j += right.output_step, x += right.input_step) {
        if (inside && x < run_.in_w) {
          *rows++ = from + x * run_.lhs_pixel;
          *places++ = (uint16_t)(place + j);
        } else {
          *--outside = (uint16_t)(place + j);
        }
      }
    }
    inside_[tap] = (uint16_t)(rows - rows_of(tap));
    outside_[tap] = zero_point_ ? (uint16_t)(last - outside) : 0;
    if (outside_[tap]) {
      *rows = run_.zero_row(0);
      *places = (uint16_t)at_.pixels;
    }
  }

  // The block's first pixel is that of a line.
  void multiply(size_t group, size_t line, size_t pixels, size_t n0, size_t n1) {
    const Weights weights = weights_of(plan_, taps_, group);
    const RhsLayout& layout = plan_.kernel->rhs_layout;
    TapRows t = {};
    t.depth = taps_.depth;
    t.lhs_flip = plan_.lhs_flip ? 0x80808080u : 0;
    t.sums = sums_;
    for (size_t n = n0; n < n1; n += width_) {
      start(weights, line, pixels, n);
      t.rhs = weights.panels + (n - weights.first) * weights.lane_bytes;
      // The last micro-panel may have fewer panels; sums of one again are not used
      t.panel_stride =
          n - weights.first + layout.width < weights.lanes ? layout.width * weights.lane_bytes : 0;
      for (size_t tap = 0; tap < taps_.count; ++tap) {
        t.rows = rows_of(tap);
        t.places = places_of(tap);
        t.count = inside_[tap] + (outside_[tap] ? 1u : 0u);
        if (outside_[tap]) memset(sums_ + at_.pixels * width_, 0, width_ * sizeof *sums_);
        if (t.count) plan_.kernel->add_tap(t);
        for (size_t i = 0; i < outside_[tap]; ++i)
          add(sums_ + at_.pixels * width_, sums_ + t.places[at_.pixels - i] * width_);
        t.rhs += layout.width * layout.lane_bytes(taps_.depth);
      }
      leave(line * run_.out_w, pixels, n, smaller(n1 - n, width_));
    }
  }
  void add(const int32_t* sums, int32_t* to) const {
    for (size_t j = 0; j < width_; ++j) to[j] = (int32_t)((uint32_t)to[j] + (uint32_t)sums[j]);
  }

  // Sets the sums of all pixels to their columns' bias, which holds the zero point's products with
  // all taps; those of a transposed convolution have only their phase's.
  void start(const Weights& weights, size_t line, size_t pixels, size_t n) {
    const bool phases = s_.transposed && zero_point_;
    int32_t bias[kMostWidth];
    memcpy(bias, plan_.columns.bias + n, width_ * sizeof *bias);
    for (size_t i = 0; i < pixels; ++i) {
      if (phases) start_phase(weights, line + i / run_.out_w, i % run_.out_w, n, bias);
      int32_t* const to = sums_ + i * width_;
      for (size_t part = 0; part < width_; part += 16)
        memcpy(to + part, bias + part, 16 * sizeof *bias);
    }
  }
  void start_phase(const Weights& weights, size_t line, size_t x, size_t n, int32_t* bias) const {
    const size_t y = line % run_.out_h, phase = (y + run_.pad_top) % s_.stride_h * s_.stride_w +
                                                (x + run_.pad_left) % s_.stride_w;
    const int32_t* const sums =
        weights.group_sums + phase * weights.group_sums_stride + (n - weights.first);
    for (size_t j = 0; j < width_; ++j)
      bias[j] = (int32_t)((uint32_t)plan_.columns.bias[n + j] +
                          (uint32_t)zero_point_ *
                              ((uint32_t)plan_.columns.weight_sum[n + j] - (uint32_t)sums[j]));
  }

  void leave(size_t pixel, size_t pixels, size_t n, size_t columns) const {
    const Output to = run_.to.from(pixel).column(n, plan_.dst_bytes);
    if (plan_.epilogue.mode != EpilogueMode::kS32)
      return plan_.ops->epilogue(plan_.epilogue, {sums_, width_, pixels, columns, n, nullptr, to});
    for (size_t i = 0; i < pixels; ++i)
      memcpy(to.dst + i * to.stride, sums_ + i * width_, columns * sizeof *sums_);
  }

  const ConvPlan& plan_;
  const ConvShape& s_;
  const ConvRun& run_;
  const Taps& taps_;
  const TapAxis lines_, columns_;
  const size_t width_;  // columns of a micro-panel
  const Layout at_;
  int32_t* const sums_;
  const uint8_t** const rows_;
  uint16_t* const places_;
  const int32_t zero_point_;  // 0 where padding adds nothing
  uint16_t inside_[kMostTaps], outside_[kMostTaps];
};

}  // namespace octet
