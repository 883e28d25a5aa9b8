// SPDX-License-Identifier: Apache-2.0
// Convolutions whose output channels read few input channels: one (depthwise), or a small group
// (grouped). Their kernels compute a block of channels, pixel by pixel.
//
// Loops, from the outside: bands of lines, so that each line comes from memory once; blocks of
// channels, because a block's weights are prepared once and its part of a pixel is a cache line;
// output lines (pairs of lines, in the walk of a 3x3).
//
// The input is read in place, by a pointer per input line (or per tap). Lines and columns outside
// are read from the zero point's row. A line is copied into the workspace only if reading whole
// vectors would leave the input (mostly the last line), if several output channels share an input
// channel, or if the kernel's loop is kCopied5x5; the copy holds one byte per output channel.
#pragma once

#include "operators/conv/algorithms/algorithm.h"

namespace octet {

// Without a division, because tiles call it.
inline bool is_depthwise(const ConvShape& s) { return s.groups == s.in_channels; }

// A kernel position is a slot; slots come in groups. In a depthwise convolution a group is the
// four slots that a channel's 32-bit lane multiplies at once; in a grouped one it is four channels
// of one slot. The depthwise slots of a 3x3 are ordered by columns, for walks.
inline size_t slots_per_group(const ConvShape& s) { return is_depthwise(s) ? 4 : 1; }
inline bool by_columns(const ConvShape& s) {
  return is_depthwise(s) && s.kernel_h == 3 && s.kernel_w == 3;
}
inline size_t slot_groups(const ConvShape& s) {
  return by_columns(s) ? 3 : is_depthwise(s) ? divide_up(s.taps(), 4) : s.taps();
}
inline size_t slot_of(const ConvShape& s, size_t ky, size_t kx) {
  return by_columns(s) ? 4 * kx + ky : ky * s.kernel_w + kx;
}

// Groups of four weights that an output channel has in a group of slots.
inline size_t quads_of(const ConvShape& s) { return divide_up(s.group_in(), 4); }

// Offset in the payload, in weights, of the channels from n0 on; n0: a multiple of the kernel's
// block.
inline size_t weights_at(const ConvShape& s, size_t n0) {
  constexpr size_t panel = kDepthwiseLayout.width;
  return is_depthwise(s)
             ? n0 / panel * slot_groups(s) * kDepthwiseGroup + depthwise_position(n0 % panel)
             : n0 * s.taps() * 4 * quads_of(s);
}

// Panels of depthwise weights, and weights of each.
inline size_t depthwise_panels(const ConvShape& s) {
  return divide_up(s.out_channels, kDepthwiseLayout.width);
}
inline size_t depthwise_panel_weights(const ConvShape& s) {
  return slot_groups(s) * kDepthwiseGroup;
}
// Fills the arrays. payload: int16 weights; null: those of an outline, which does not run.
inline void copy_int8_panels(const ConvShape& s, const uint8_t* payload, const Int8Panels& to) {
  if (!payload) return;
  const int16_t* from = (const int16_t*)payload;
  uint8_t* weights = to.payload;
  const size_t count = depthwise_panel_weights(s);
  for (size_t panel = 0; panel < depthwise_panels(s); ++panel, from += count, weights += count) {
    bool fits = true;
    for (size_t i = 0; i < count; ++i) {
      weights[i] = (uint8_t)from[i];
      fits &= (int8_t)weights[i] == from[i];
    }
    to.fits[panel] = fits;
  }
}

// Grouped weights that have zero points: the differences w - zero_point of an output channel span
// at most 256 values, so they are int8 after an offset is taken off, 0 where they fit already.
//
// A panel of 64 channels is a head, the offset of each, and then the weights as kernels read them.
constexpr size_t kOffsetHeadBytes = kGroupedOffsetLayout.width * sizeof(int16_t);
inline size_t offset_panel_at(const ConvShape& s, size_t n0) {
  constexpr size_t panel = kGroupedOffsetLayout.width;
  return n0 / panel * (kOffsetHeadBytes + panel * s.taps() * 4 * quads_of(s));
}

// The panel of channel n0.
class OffsetPanel {
 public:
  OffsetPanel(const ConvShape& s, const uint8_t* payload, size_t n0)
      : n0_(n0 % kGroupedOffsetLayout.width),
        slots_(s.taps() * 4 * quads_of(s)),
        head_(payload + offset_panel_at(s, n0)) {}
  const int16_t* offsets() const { return (const int16_t*)head_ + n0_; }  // of n0 and following
  const uint8_t* weights() const { return head_ + kOffsetHeadBytes + n0_ * slots_; }
  // Whether one of the channels' offsets is not 0
  bool any(size_t channels) const {
    int any = 0;
    for (size_t c = 0; c < channels; ++c) any |= offsets()[c];
    return any;
  }

 private:
  size_t n0_, slots_;
  const uint8_t* head_;
};

// Shared by the depthwise and the grouped algorithm. A unit of the grain, and of the block, is as
// many lines as a tile has.
size_t channelwise_block(const ConvPlan& plan);
ConvGrain channelwise_grain(const ConvPlan& plan, size_t out_h, size_t out_w);
size_t channelwise_workspace(const ConvPlan& plan, size_t in_h, size_t in_w, size_t out_h,
                             size_t out_w);
void run_channelwise(const ConvPlan& plan, const ConvRun& run, const ConvTask& task,
                     uint8_t* workspace);

// Adds those to an algorithm.
constexpr ConvAlgorithm channelwise(ConvAlgorithm algorithm) {
  algorithm.block = channelwise_block;
  algorithm.grain = channelwise_grain;
  algorithm.task_workspace = channelwise_workspace;
  algorithm.run = run_channelwise;
  return algorithm;
}

}  // namespace octet
