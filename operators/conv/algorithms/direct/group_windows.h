// SPDX-License-Identifier: Apache-2.0
// Windows of one group of channels, copied from some lines such that the windows of all outputs lie
// at one stride, across line ends, too, and each line of a window is one tap:
//
//   kernel line 0    line 0 of the input, line stride_h, ...    (channels of the group only)
//   kernel line 1    line 1, line stride_h + 1, ...             of as many kernel lines as differ
//
// The outputs at the sides, whose windows reach into the line before or behind, read edges: copies
// of what one input line has of such a window, with the borders.
#pragma once

#include <string.h>

#include "operators/conv/algorithms/direct/direct.h"

namespace octet {

class GroupWindows {
 public:
  // Whether runs of some widths, with the plan's pads, copy them: where kernels multiply all rows
  // of some taps in one call. Positions fill whole groups of the layout, so weights packed for
  // them and for lines are the same bytes.
  static bool suit(const ConvPlan& plan) {
    const ConvShape& s = plan.shape;
    const MicroKernel& kernel = *plan.kernel;
    return s.groups > 1 && !s.transposed && !s.sparse && kernel.micro_panel.taps &&
           kernel.nr <= kMostColumns && !kernel.rhs_layout.has_tables() &&
           s.group_in() % kernel.rhs_layout.kr == 0 &&
           larger(s.group_in(), s.group_out()) < kFewChannels && s.kernel_w > 1 &&
           s.kernel_w * s.group_in() <= kernel.micro_panel.most &&
           larger(s.kernel_w, s.pad_left) * s.group_in() <= kSlack && s.dilation_w == 1 &&
           (s.stride_h == 1 || s.dilation_h == 1) && !plan.runtime_zero_point &&
           !plan.columns.zero_point && !plan.epilogue.has_residual;
  }
  static bool suit(const ConvPlan& plan, const ConvRun& run) {
    const ConvShape& s = plan.shape;
    return suit(plan) && run.pad_left == s.pad_left && run.out_w == conv_out_w(s, run.in_w) &&
           run.in_w <= run.out_w * s.stride_w && run.out_w >= kLeastRows &&
           kOutputsForEdge * edges(s, run.in_w, run.out_w) <= run.out_w;
  }
  // Bytes of a task, for runs of at most these sizes: a narrower image may suit where this one does
  // not, by the pixels that a stride leaves over and by the outputs at the sides.
  static size_t bytes(const ConvPlan& plan, size_t out_h, size_t out_w) {
    if (!suit(plan) || out_w < kLeastRows) return 0;
    const ConvShape& s = plan.shape;
    // Fewer lines of a wider image may take less
    const size_t line = line_bytes(s, out_w), image = out_h + further_lines(s),
                 lines = smaller(image, kLines + further_lines(s)),
                 most = smaller(image * line, kBytes + (1 + further_lines(s)) * line);
    return phases(s) * (2 * kSlack + most + most_edges(s) * lines * edge_bytes(s)) + kSlack;
  }

  GroupWindows(const ConvPlan& plan, const ConvRun& run, uint8_t* workspace)
      : plan_(plan),
        s_(plan.shape),
        run_(run),
        left_(divide_up(run.pad_left, s_.stride_w)),
        edges_(edges(s_, run.in_w, run.out_w)),
        workspace_(workspace) {}

  // Output lines that are best computed together.
  size_t most_lines() const {
    return larger(smaller(kBytes / line_bytes(s_, run_.out_w), kLines), 1);
  }

  // The outputs of some lines of an image: those whose windows are copied, or the edges.
  struct Part {
    size_t tiles, row_stride;
  };
  // Copies the windows of a group that output lines y to y + lines - 1 read. Afterwards each part
  // is described by its tiles and by the steps between its taps.
  void copy(size_t image, size_t group, size_t y, size_t lines) {
    const size_t line = line_bytes(s_, run_.out_w), each = lines + further_lines(s_),
                 phase = each * line + 2 * kSlack;
    phase_ = phase, line_ = line;
    edge_line_ = edge_bytes(s_), edge_column_ = phases(s_) * each * edge_line_;
    edge_phase_ = each * edge_line_;
    windows_ = workspace_ + kSlack, edge_ = workspace_ + phases(s_) * phase;
    for (size_t p = 0; p < phases(s_); ++p) {
      uint8_t* const to = windows_ + p * phase;
      for (size_t i = 0; i < each; ++i)
        copy_line(image, group, (y + i) * s_.stride_h + p, to + i * line);
      for (size_t e = 0; e < edges_; ++e)
        copy_edge(to, each, zero(image), column(e), edge_ + e * edge_column_ + p * edge_phase_);
    }
  }
  Part inside(size_t lines, ptrdiff_t* steps, BlockTile* tiles) const {
    tap_steps(phase_, line_, steps);
    tiles[0] = tile(0, 1, lines * run_.out_w, windows_ - run_.pad_left * s_.group_in());
    return {1, s_.stride_w * s_.group_in()};
  }
  Part edges(size_t lines, ptrdiff_t* steps, BlockTile* tiles) const {
    tap_steps(edge_phase_, edge_line_, steps);
    for (size_t e = 0; e < edges_; ++e)
      tiles[e] = tile(column(e), run_.out_w, lines, edge_ + e * edge_column_);
    return {edges_, edge_line_};
  }

 private:
  // Kernels read a few bytes before and behind the copies of a phase
  static constexpr size_t kSlack = 256, kOutputsForEdge = 6;
  // Kernels of wider tiles gain nothing: calls cost them less
  static constexpr size_t kMostColumns = 16;
  // The copy stays in L1, but for wide images
  static constexpr size_t kBytes = 24 * 1024, kLines = 56;

  // Without a stride or without a dilation between lines.
  static size_t phases(const ConvShape& s) { return smaller(s.stride_h, s.kernel_h); }
  // Lines of a phase beyond one for each output line
  static size_t further_lines(const ConvShape& s) {
    return (s.kernel_h - 1) * s.dilation_h / s.stride_h;
  }
  static size_t line_bytes(const ConvShape& s, size_t out_w) {
    return out_w * s.stride_w * s.group_in();
  }
  static size_t edge_bytes(const ConvShape& s) {
    return round_up(s.kernel_w * s.group_in() + kCopySlack, 64);
  }
  // Outputs of a line whose windows reach beyond it.
  static size_t edges(const ConvShape& s, size_t in_w, size_t out_w) {
    size_t x = out_w;
    while (x > 0 && (x - 1) * s.stride_w + s.kernel_w > s.pad_left + in_w) --x;
    return divide_up(s.pad_left, s.stride_w) + (out_w - x);
  }
  static size_t most_edges(const ConvShape& s) {
    return divide_up(s.pad_left, s.stride_w) + divide_up(s.pad_right, s.stride_w);
  }
  size_t column(size_t e) const { return e < left_ ? e : run_.out_w - edges_ + e; }
  uint8_t zero(size_t image) const { return run_.zero_row(image)[0]; }

  __attribute__((noinline)) void tap_steps(size_t phase, size_t line, ptrdiff_t* steps) const {
    const auto at = [&](size_t ky) {
      const size_t down = ky * s_.dilation_h;
      return (ptrdiff_t)(down % s_.stride_h * phase + down / s_.stride_h * line);
    };
    for (size_t ky = 1; ky < s_.kernel_h; ++ky) *steps++ = at(ky) - at(ky - 1);
  }
  BlockTile tile(size_t pixel, size_t step, size_t rows, const uint8_t* base) const {
    return {pixel, step, (uint32_t)rows, 0, (uint32_t)s_.kernel_h, 0, 0, {0, s_.kernel_h},
            true,  base, nullptr};
  }

  // Copies the group's channels of input line `at`, counted with the padding above.
  void copy_line(size_t image, size_t group, size_t at, uint8_t* to) const {
    const size_t bytes = s_.group_in();
    if (at < run_.pad_top || at - run_.pad_top >= run_.in_h) {
      memset(to, zero(image), line_);
      return;
    }
    const uint8_t* const from = run_.line(image, at - run_.pad_top) + group * bytes;
    Windows w = {};
    w.from = from, w.step = run_.lhs_pixel, w.lines = 1, w.bytes = bytes;
    w.to = to, w.stride = bytes, w.count = run_.in_w;
    copy_windows_of(plan_, run_.lhs_end, w);
  }
  // Copies what each copied line has of the window of output x.
  __attribute__((noinline)) void copy_edge(const uint8_t* line, size_t lines, uint8_t zero,
                                           size_t x, uint8_t* to) const {
    const size_t bytes = s_.group_in(), first = x * s_.stride_w, pad = run_.pad_left,
                 before = first < pad ? smaller(pad - first, s_.kernel_w) : 0,
                 from = first + before - pad,
                 inside = before < s_.kernel_w && from < run_.in_w
                              ? smaller(s_.kernel_w - before, run_.in_w - from)
                              : 0,
                 after = s_.kernel_w - before - inside;
    if (inside) {  // else there may be no input pixel `from`
      Windows w = {};
      w.from = line + from * bytes, w.step = line_, w.lines = 1, w.bytes = inside * bytes;
      w.to = to + before * bytes, w.stride = edge_line_, w.count = lines;
      plan_.ops->copy_windows(w);
    }
    for (size_t i = 0; i < lines; ++i, to += edge_line_) {
      memset(to, zero, before * bytes);
      memset(to + (before + inside) * bytes, zero, after * bytes);
    }
  }

  const ConvPlan& plan_;
  const ConvShape& s_;
  const ConvRun& run_;
  const size_t left_, edges_;
  uint8_t* const workspace_;
  uint8_t *windows_ = nullptr, *edge_ = nullptr;
  // Bytes between phases, lines, and columns of edges
  size_t phase_ = 0, line_ = 0, edge_line_ = 0, edge_phase_ = 0, edge_column_ = 0;
};

}  // namespace octet
