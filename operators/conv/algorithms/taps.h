// A convolution's weights as a direct kernel walks them.
//
// The depth of one output channel is cut into taps: runs of the input that lie side by side in
// memory, each rounded up to the layout's kr. A tap is one kernel position with its channels; where
// channels are few, the whole window, which is then copied together first. Taps with something in
// common stand next to each other, so that a kernel can be given a range of them. Such a group is
//   - a row of the kernel: rows of taps above or below the image are left out;
//   - in a transposed convolution, the kernel positions that reach one output phase (y %
//     stride_h, x % stride_w).
#pragma once

#include "kernels/macro/taps.h"
#include "operators/conv/algorithms/algorithm.h"

namespace octet {

// Groups with fewer output channels than a panel has lanes are multiplied together, as many as fill
// the lanes: each lane has zeros where its input channels are another group's. The lanes that
// rounding up would waste cost the same products, and there are fewer tiles. Sparse weights stay as
// they are: a four of theirs might get channels of two. The shape as kernels see it:
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

// Few channels: rounding every kernel position up to kr, and starting anew at each, costs more than
// copying the windows' rows, whose bytes are neighbours in an input without gaps. Fours of sparse
// weights must not span positions.
constexpr size_t kFewChannels = 32;
constexpr bool copies_windows(const ConvShape& s) {
  return !s.sparse && s.kernel_w > 1 && s.dilation_w == 1 && s.groups == 1 &&
         s.in_channels < kFewChannels && !s.transposed;
}

// The kernel positions along one axis that an output pixel of a transposed convolution uses at
// most: they are so many strides apart.
constexpr size_t most_of_a_phase(size_t kernel, size_t stride, size_t dilation) {
  size_t a = stride, b = dilation;
  while (b) {
    const size_t rest = a % b;
    a = b;
    b = rest;
  }
  return divide_up(kernel, stride / a);
}

// All phases along a line read the same pixels, if those with a kernel position fewer than others
// read one more, with weights that stand for 0. Of few channels they become columns of one product,
// phase after phase: it reads each pixel once for all of them, fills the lanes, and writes output
// pixels side by side. Where the stride does not divide the kernel, that is done as far as the
// lanes of the positions that are missing cost less than what is spared.
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
// The columns of such a shape as output channels of one that has no stride along a line.
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

// Of a shape with its groups joined, and its phases as columns.
inline Taps direct_taps(const ConvShape& s) {
  if (copies_windows(s)) return {1, s.taps() * s.in_channels, s.kernel_h, 1};
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
  if (s.full_phases) {  // what some lack comes last
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
