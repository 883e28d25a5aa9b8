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
//
// Of few channels, the taps of a kernel line are joined: those that an output column has there lie
// side by side in the input, and are one run, for which sums come and go once.
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
  // which multiply padding. Emerald Rapids, 2026-12-01: by 3x3, AVX2 and AVX-VNNI gain up to 10x10.
  // AVX-VNNI loses at 12x12, gains up to 45x45 where a dilation spares many products, and gains
  // wherever there is padding for at most 8 columns: other tiles of fewer rows than four take the
  // time of 16. AVX512-VNNI, whose products take half as long as the sums' way, gains where it
  // spares many, or some where tiles of a line are small: half as wide, or cut at each side of an
  // image of 5x5; other tiles of up to 8 columns have faster ways. The VNNI tiers gain sooner where
  // taps are joined. pixels: of an image; pairs: whether the weights are pairs, as AVX2's.
  static bool is_faster(double inside, const RhsLayout& layout, bool pairs, const ConvShape& s,
                        const Taps& taps, bool joined, size_t pixels, size_t panels) {
    const size_t columns = s.group_out();
    const double spared = (1 - inside) * (double)taps.depth * (joined ? (double)s.kernel_w : 1);
    double most = 0.88;
    if (panels == 1) {
      if (joined && taps.depth <= 48) most = 0.91;
      if (columns <= layout.width / 2u && !pairs) most = 0.97;
      return inside < most && (pixels <= 1024 || spared >= 24);
    }
    const bool one = columns <= layout.width, narrow = columns <= kMostWidth,
               small = (pixels > 4 && pixels <= 25) || (joined && s.kernel_w >= 5);
    const double least = one ? 5 : narrow ? 10 : small ? 24 : 56;
    if (one) most = columns <= 4 ? 0.77 : columns <= 8 ? 0.8 : 0.94;
    return inside < most && pixels <= 1024 && (narrow || small || taps.depth >= 256) &&
           spared >= least;
  }
  // Whether a shape's taps of a kernel line, which are one row of an output without gaps between
  // pixels, are multiplied together. Sums of many channels take little of the time, and single taps
  // have more pixels; there are no more runs than taps.
  static bool may_join(bool pairs, const ConvShape& s, const Taps& taps, size_t out_h) {
    return !pairs && !s.transposed && s.groups == 1 && s.dilation_w == 1 && s.kernel_w > 1 &&
           s.pad_left + s.pad_right < s.kernel_w && out_h >= kLeastLines &&
           taps.depth <= smaller(kMostJoined, 16 * out_h);
  }
  // Whether kernels with add_tap may compute a shape so.
  static bool may(const RhsLayout& layout, const ConvShape& s, const Taps& taps) {
    return s.phases == 1 && !copies_windows(s) && taps.count > 1 && taps.count <= kMostTaps &&
           taps.depth % layout.kr == 0;
  }
  // Whether a plan's tasks may be computed so, and whether those of a run are.
  static bool may(const ConvPlan& plan, const Taps& taps) {
    const MicroKernel& kernel = *plan.kernel;
    return kernel.add_tap && may(kernel.rhs_layout, plan.shape, taps) && !plan.runtime_zero_point &&
           !plan.columns.zero_point;
  }
  static bool suits(const ConvPlan& plan, const ConvRun& run, const Taps& taps) {
    if (!may(plan, taps) || run.out_w > kPixels) return false;
    const RhsLayout& layout = plan.kernel->rhs_layout;
    double share = inside(plan.shape, run.in_h, run.in_w, run.out_h, run.out_w);
    // Where padding adds products, each tap has one more row, whose sums are added to those of the
    // pixels outside: an addition takes as long as a product of so many channels.
    constexpr double kAddition = 64;
    if (!padding_adds_nothing(plan, run))
      share += (1 - share) * kAddition / (double)taps.depth +
               1 / (double)(run.batch * run.out_h * run.out_w);
    return is_faster(share, layout, layout.has_tables(), plan.shape, taps, joins(plan, run, taps),
                     run.out_h * run.out_w, plan.kernel->tap_panels);
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
        joined_(joins(plan, run, taps)),
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
  static constexpr size_t kMostJoined = 128, kLeastLines = 5;  // see may_join
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

  // Taps that a call multiplies, side by side in a kernel line.
  struct Run {
    uint16_t tap, taps;        // the first, and their number
    uint16_t inside, outside;  // rows: see rows_of
  };
  // A run's rows: first those inside the image, then perhaps one of zero points; the places of
  // pixels whose input is outside are the last ones.
  const uint8_t** rows_of(size_t run) const { return rows_ + run * (at_.pixels + 1); }
  uint16_t* places_of(size_t run) const { return places_ + run * (at_.pixels + 1); }

  // Whether runs are the taps that an output has in a kernel line.
  static bool joins(const ConvPlan& plan, const ConvRun& run, const Taps& taps) {
    return may_join(plan.kernel->rhs_layout.has_tables(), plan.shape, taps, run.out_h) &&
           run.lhs_pixel == taps.depth && padding_adds_nothing(plan, run);
  }

  // Points at the inputs of lines [line, line + lines) of all, in each run.
  void point(size_t group, size_t line, size_t lines) {
    const size_t channel = group * s_.group_in();
    size_t tap = 0;
    runs_ = 0;
    for (size_t g = 0; g < taps_.groups; ++g) {
      if (joined_)
        point_joined(g, channel, line, lines);
      else
        for_each_position(s_, g, [&](size_t ky, size_t kx) {
          point_run(tap++, 1, ky, kx, channel, line, lines, 0, run_.out_w);
        });
    }
  }
  // ... in the runs of kernel line ky, one for neighbouring output columns that have the same taps.
  void point_joined(size_t ky, size_t channel, size_t line, size_t lines) {
    for (size_t x = 0, end; x < run_.out_w; x = end) {
      const TapRange taps = taps_inside(x);
      const auto is_alike = [&](const TapRange& other) {
        return other.first == taps.first && other.end == taps.end;
      };
      for (end = x + 1; end < run_.out_w && is_alike(taps_inside(end));) ++end;
      if (taps.count())
        point_run(ky * s_.kernel_w + taps.first, taps.count(), ky, taps.first, channel, line, lines,
                  x, end);
    }
  }
  // The kernel columns of output x that are inside the image.
  TapRange taps_inside(size_t x) const {
    const size_t begin = x * columns_.stride, right = columns_.in + columns_.pad,
                 first = smaller(begin < columns_.pad ? columns_.pad - begin : 0, s_.kernel_w),
                 end = smaller(s_.kernel_w, begin < right ? right - begin : 0);
    return {first, larger(first, end)};
  }
  // Points at the inputs of outputs [from, end) of these lines: the next run, of `taps` taps from
  // (ky, kx) on, `tap` in their order.
  void point_run(size_t tap, size_t taps, size_t ky, size_t kx, size_t channel, size_t line,
                 size_t lines, size_t from, size_t end) {
    const uint8_t** rows = rows_of(runs_);
    uint16_t *places = places_of(runs_), *const last = places + at_.pixels + 1, *outside = last;
    const TapAxis::Walk down = lines_.walk(ky), right = columns_.walk(kx);
    // Outputs with an input: a range, for inputs follow each other as outputs do
    const size_t begin = right.output + from, step = right.output_step;
    size_t first = begin, x = right.input + from * right.input_step;  // modulo 2^64
    for (; first < end && x >= run_.in_w; first += step, x += right.input_step) {
    }
    size_t behind = first;
    for (size_t at = x; behind < end && at < run_.in_w; at += right.input_step) behind += step;
    const size_t row_step = right.input_step * run_.lhs_pixel;
    size_t place = 0, image = line / run_.out_h, out_y = line % run_.out_h;
    for (size_t i = 0; i < lines; ++i, place += run_.out_w, ++out_y) {
      if (out_y == run_.out_h) out_y = 0, ++image;
      const size_t ahead = out_y - down.output,                              // modulo 2^64
          steps = down.output_step == 1 ? ahead : ahead / down.output_step;  // avoids a division
      if (out_y < down.output || steps * down.output_step != ahead) continue;
      const size_t y = down.input + steps * down.input_step;
      const bool inside = y < run_.in_h;
      if (inside && first < behind) {
        const uint8_t* row = run_.line(image, y) + channel + x * run_.lhs_pixel;
        for (size_t j = first; j < behind; j += step, row += row_step) {
          *rows++ = row;
          *places++ = (uint16_t)(place + j);
        }
      }
      if (!zero_point_) continue;
      for (size_t j = begin; j < end; j += step)
        if (!inside || j < first || j >= behind) *--outside = (uint16_t)(place + j);
    }
    Run& run = run_of_[runs_];
    run = {(uint16_t)tap, (uint16_t)taps, (uint16_t)(rows - rows_of(runs_)),
           (uint16_t)(last - outside)};
    if (run.outside) {
      *rows = run_.zero_row(0);
      *places = (uint16_t)at_.pixels;
    }
    ++runs_;
  }

  // The block's first pixel is that of a line.
  void multiply(size_t group, size_t line, size_t pixels, size_t n0, size_t n1) {
    const Weights weights = weights_of(plan_, taps_, group);
    const RhsLayout& layout = plan_.kernel->rhs_layout;
    const size_t tap_bytes = layout.width * layout.lane_bytes(taps_.depth);
    TapRows t = {};
    t.panel_stride = layout.width * weights.lane_bytes;
    t.lhs_flip = plan_.lhs_flip ? 0x80808080u : 0;
    t.sums = sums_;
    for (size_t n = n0; n < n1; n += width_) {
      start(weights, line, pixels, n);
      t.columns = smaller(n1 - n, width_);
      const uint8_t* const panels = weights.panels + (n - weights.first) * weights.lane_bytes;
      for (size_t r = 0; r < runs_; ++r) {
        const Run& run = run_of_[r];
        t.rows = rows_of(r);
        t.places = places_of(r);
        t.count = run.inside + (run.outside ? 1u : 0u);
        t.depth = run.taps * taps_.depth;
        t.rhs = panels + run.tap * tap_bytes;
        if (run.outside) memset(sums_ + at_.pixels * width_, 0, width_ * sizeof *sums_);
        if (t.count) plan_.kernel->add_tap(t);
        for (size_t i = 0; i < run.outside; ++i)
          add(sums_ + at_.pixels * width_, sums_ + t.places[at_.pixels - i] * width_);
      }
      leave(line * run_.out_w, pixels, n, t.columns);
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
  const bool joined_;
  const size_t width_;  // columns of a micro-panel
  const Layout at_;
  int32_t* const sums_;
  const uint8_t** const rows_;
  uint16_t* const places_;
  const int32_t zero_point_;  // 0 where padding adds nothing
  Run run_of_[kMostTaps];
  size_t runs_ = 0;
};

}  // namespace octet
