// SPDX-License-Identifier: Apache-2.0
// Cuts a convolution's weights into taps for the direct algorithm.
//
// A tap is a part of an output channel's depth whose input is contiguous, rounded up to the
// layout's kr. It is one kernel position with its channels; for few channels it is the whole
// window, which is copied together first, or a line of it. Taps come in groups, so that a kernel
// can be given a range of them. A group is
// - a row of the kernel: rows above or below the image are skipped;
// - in a transposed convolution, the kernel positions that reach one output phase (y % stride_h, x
// % stride_w).
#pragma once

#include "kernels/macro/taps.h"
#include "operators/conv/algorithms/algorithm.h"

namespace octet {

// Joins groups that have fewer output channels than a panel has lanes: as many groups as fill the
// lanes are multiplied together. Each lane has zero weights for the inputs of the other groups.
// This costs no more products than empty lanes would, and there are fewer tiles. Sparse weights are
// not joined: a group of four might get the channels of two groups. Returns the shape that kernels
// see.
inline ConvShape joined_groups(const RhsLayout& layout, const ConvShape& given) {
  ConvShape s = given;
  s.sparse = layout.sparse();
  if (s.sparse) return s;
  size_t joined = 1;
  for (size_t more = 2; more * s.group_out() <= layout.width && more <= s.groups; ++more)
    if (s.groups % more == 0) joined = more;
  s.groups /= joined;
  return s;
}

// For few channels, rounding each kernel position up to kr and starting anew at each costs more
// than copying the rows of the windows, which are contiguous in an input without gaps. Sparse
// weights are excluded: their groups of four must not span positions.
constexpr size_t kFewChannels = 32;
constexpr bool copies_windows(const ConvShape& s) {
  return !s.sparse && s.kernel_w > 1 && s.dilation_w == 1 && s.groups == 1 &&
         s.in_channels < kFewChannels && !s.transposed;
}

// True if kernels may read windows line by line. Layouts of deep groups are excluded, of which a
// line would have few, and layouts with tables, which they have for each tap.
constexpr size_t kDeepestGroup = 4;
inline bool may_read_lines(const RhsLayout& layout, const ConvShape& s) {
  return copies_windows(s) && layout.kr <= kDeepestGroup && !layout.has_tables();
}

// The depth of a window's line in packed weights. Padded lines end with zero weights, for which a
// copy or a kernel reads whatever follows the line in the input.
constexpr size_t line_depth(const ConvShape& s) {
  const size_t depth = s.kernel_w * s.in_channels;
  return s.padded_lines ? round_up(depth, kDeepestGroup) : depth;
}

// True if kernels that read rows in place, nr columns at a time, read windows where they lie in the
// staged input, line by line. The lines fill whole groups, so weights packed for whole windows and
// for their lines are the same bytes. The windows are rather copied where a tile, which ends with a
// line of output, would have few rows, and where several micro-panels use each copy.
constexpr size_t kLeastRows = 12;
inline bool has_whole_lines(const RhsLayout& layout, const ConvShape& s) {
  return may_read_lines(layout, s) && line_depth(s) % layout.kr == 0;
}
inline bool reads_lines(const RhsLayout& layout, size_t nr, const ConvShape& s) {
  return has_whole_lines(layout, s) && s.out_channels <= nr && conv_out_w(s, s.in_w) >= kLeastRows;
}
// True if lines had better be padded for that: the zero weights cost less than the copies. It does
// not depend on the input's size, so a blob serves all sizes.
constexpr double kMostPadding = 1.3;
inline bool pads_lines(const RhsLayout& layout, size_t nr, const ConvShape& s) {
  const size_t line = s.kernel_w * s.in_channels;
  return may_read_lines(layout, s) && s.out_channels <= nr && line % layout.kr != 0 &&
         (double)(s.kernel_h * round_up(line, kDeepestGroup)) <=
             kMostPadding * (double)layout.steps(s.kernel_h * line);
}
// The shape that such kernels see: a line of the kernel is one position with all of its channels.
inline ConvShape lines_as_positions(ConvShape s) {
  s.in_channels = line_depth(s);
  s.kernel_w = 1;
  s.padded_lines = false;
  return s;
}

// The most kernel positions along one axis that an output pixel of a transposed convolution uses:
// they are so many strides apart.
constexpr size_t most_of_a_phase(size_t kernel, size_t stride, size_t dilation) {
  size_t a = stride, b = dilation;
  while (b) {
    const size_t rest = a % b;
    a = b;
    b = rest;
  }
  return divide_up(kernel, stride / a);
}

// True if the phases along a line become columns of one product. All phases read the same pixels,
// if phases with a kernel position fewer get one more with zero weights. With few channels one
// product for all phases reads each pixel once, fills the lanes, and writes output pixels side by
// side. Where the stride does not divide the kernel, phases are joined only if the lanes of missing
// positions cost less than is saved.
constexpr size_t kJoinedColumns = 64, kSparedProducts = 256;
inline bool joins_phases(const RhsLayout& layout, const ConvShape& s) {
  if (!s.transposed || s.sparse || s.groups > 1 || s.dilation_w > 1 ||
      s.out_channels > kJoinedColumns / s.stride_w)
    return false;
  const size_t positions = divide_up(s.kernel_w, s.stride_w),
               joined = positions * layout.lanes(s.out_channels * s.stride_w);
  const size_t apart = s.kernel_w * layout.lanes(s.out_channels);
  return s.kernel_w % s.stride_w == 0 || joined <= apart ||
         (joined - apart) * s.in_channels <= kSparedProducts;
}
inline ConvShape joined_phases(const RhsLayout& layout, const ConvShape& given) {
  ConvShape s = joined_groups(layout, given);
  if (given.groups == 1 && joins_phases(layout, s)) s.phases = s.stride_w;
  return s;
}
// The shape whose output channels are these columns; it has no stride along a line.
inline ConvShape as_columns(ConvShape s) {
  s.out_channels *= s.phases;
  s.full_phases = s.kernel_w % s.phases;
  s.kernel_w = divide_up(s.kernel_w, s.phases);
  s.stride_w /= s.phases;
  return s;
}
inline ConvShape direct_columns(const RhsLayout& layout, const ConvShape& given) {
  return as_columns(joined_phases(layout, given));
}

// The taps of a shape with its groups joined and its phases as columns.
inline Taps direct_taps(const ConvShape& s) {
  if (copies_windows(s)) return {1, s.kernel_h * line_depth(s), s.kernel_h, 1};
  if (!s.transposed) return {s.taps(), s.group_in(), s.kernel_h, s.taps()};
  return {s.taps(), s.group_in(), s.stride_h * s.stride_w,
          most_of_a_phase(s.kernel_h, s.stride_h, s.dilation_h) *
              most_of_a_phase(s.kernel_w, s.stride_w, s.dilation_w)};
}

// Calls f(ky, kx) for the kernel positions of a group, in the order of its taps.
template <typename F>
void for_each_position(const ConvShape& s, size_t group, const F& f) {
  if (!s.transposed) {
    for (size_t kx = 0; kx < s.kernel_w; ++kx) f(group, kx);
    return;
  }
  const auto in_phase = [&](size_t ky, size_t kx) {
    return ky * s.dilation_h % s.stride_h == group / s.stride_w &&
           kx * s.dilation_w % s.stride_w == group % s.stride_w;
  };
  if (s.full_phases) {  // positions that some phases lack come last
    for (size_t kx = 0; kx < s.kernel_w; ++kx)
      for (size_t ky = 0; ky < s.kernel_h; ++ky)
        if (in_phase(ky, kx)) f(ky, kx);
    return;
  }
  for (size_t ky = 0; ky < s.kernel_h; ++ky)
    for (size_t kx = 0; kx < s.kernel_w; ++kx)
      if (in_phase(ky, kx)) f(ky, kx);
}

}  // namespace octet
