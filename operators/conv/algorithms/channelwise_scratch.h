// SPDX-License-Identifier: Apache-2.0
// The workspace of a task of a depthwise or grouped convolution, the loop that its kernel runs, and
// the copies of input lines.
#pragma once

#include <string.h>

#include "kernels/core/compiler.h"
#include "kernels/core/sections.h"
#include "operators/conv/algorithms/channelwise.h"

namespace octet {
namespace {

constexpr size_t kPanel = kDepthwiseLayout.width;
// Columns between two calls of the epilogue: so many of a whole panel, more where there are fewer
// channels. The call of a short line takes longer than its outputs.
constexpr size_t kEpilogueColumnsMost = 32;
constexpr size_t kEpilogueSums = kEpilogueColumnsMost * kPanel;
constexpr size_t kEpiloguePixels = kEpilogueSums / kGroupedBlock;  // most of one call
// Most input lines of the tiles that a kernel takes at once, and most bytes of them where they are
// copied, which leaves room in L1.
constexpr size_t kLinesTogether = 32, kCopiesTogether = 16384;

// Of one output channel per input channel, any stride.
inline bool is_plain_5x5(const ConvShape& s) {
  return s.kernel_h == 5 && s.kernel_w == 5 && s.dilation_h == 1 && s.dilation_w == 1 &&
         s.in_channels == s.out_channels && is_depthwise(s);
}

inline DepthwiseLoop loop_of(const ConvPlan& plan) {
  const ConvShape& s = plan.shape;
  const DepthwiseLoop walk = s.is_square(3, 1)   ? DepthwiseLoop::kWalk
                             : s.is_square(3, 2) ? DepthwiseLoop::kWalkBy2
                             : s.is_square(5, 1) ? DepthwiseLoop::kWalk5x5
                             : s.is_square(5, 2) ? DepthwiseLoop::kWalk5x5By2
                                                 : DepthwiseLoop::kTaps;
  if (knows(*plan.depthwise, walk) && walk != DepthwiseLoop::kTaps) return walk;
  return plan.depthwise->copied_5x5 && is_plain_5x5(s) ? DepthwiseLoop::kCopied5x5
                                                       : DepthwiseLoop::kTaps;
}

// Output lines of a tile.
inline size_t rows_of(const ConvPlan& plan) {
  const ConvShape& s = plan.shape;
  const DepthwiseLoop loop = loop_of(plan);
  if (loop == DepthwiseLoop::kWalk) return plan.depthwise->walk_rows;
  if (loop != DepthwiseLoop::kTaps) return 1;
  const bool share = s.dilation_h == 1 && s.stride_h < s.kernel_h && !by_columns(s);
  return share ? plan.depthwise->rows : 1;
}

// Bytes of a copied pixel; those of the plan's kernel are the most.
inline size_t staged_bytes(const DepthwiseKernel& kernel, DepthwiseLoop loop) {
  return loop == DepthwiseLoop::kCopied5x5 ? copied_bytes(kernel) : kPanel * input_bytes(kernel);
}

// Input lines that so many output lines read.
inline size_t lines_of(const ConvShape& s, size_t rows) {
  return s.kernel_h + (rows - 1) * s.stride_h;
}
inline size_t set_groups_of(const ConvPlan& plan) {
  const size_t rows = rows_of(plan);
  return loop_of(plan) == DepthwiseLoop::kTaps && rows > 1
             ? divide_up(lines_of(plan.shape, rows) * plan.shape.kernel_w,
                         slots_per_group(plan.shape))
             : slot_groups(plan.shape);
}

// Columns of a copied line with filled borders.
inline size_t padded_width(const ConvShape& s, size_t out_w) {
  return (out_w - 1) * s.stride_w + (s.kernel_w - 1) * s.dilation_w + 1;
}

// Input pixels between two neighbouring outputs. A line of a single output may have any stride.
inline size_t step_of(const ConvShape& s, size_t out_w) { return out_w > 1 ? s.stride_w : 0; }

// True if taps read from a copy of the line with filled borders. Grouped kernels always do: they
// read several pixels at a time, in their own sign. Otherwise an output at a border, whose pixels
// are looked up one by one, costs as much as copying some 20 pixels.
inline bool pads_lines(const ConvPlan& plan, size_t pad_left, size_t in_w, size_t out_w) {
  const ConvShape& s = plan.shape;
  if (loop_of(plan) == DepthwiseLoop::kCopied5x5) return true;
  if (loop_of(plan) != DepthwiseLoop::kTaps) return false;
  if (s.group_out() > s.group_in() || !is_depthwise(s)) return true;
  const size_t left = divide_up(pad_left, s.stride_w), wide = padded_width(s, out_w),
               held = pad_left + in_w;
  const size_t right = wide > held ? divide_up(wide - held, s.stride_w) : 0;
  return (left + right) * 20 > out_w * s.stride_h * s.stride_w;
}

// An input line as a kernel reads it. data: the block's first channel at column 0; step: bytes
// between columns, 0 outside the input.
struct Line {
  const uint8_t* data;
  size_t step;
};

// A task's workspace, cut into pieces, and the values that all its blocks share.
struct Scratch {
  DepthwiseLoop loop;
  size_t rows, set_groups;  // of a tile
  size_t together;          // most tiles that a kernel takes at once
  bool padded;              // staged lines have their borders filled
  uint8_t* prepared;
  int32_t* init;           // accumulator start of a block, for a run-time zero point
  const uint8_t** pixels;  // pointers of a tile
  size_t* steps;
  Line* lines;     // kernel_h lines, or the lines of a walk
  size_t* staged;  // for each slot of the ring, the input line that it holds
  size_t ring;     // number of slots; one more line holds zero points
  // Of the copies' borders that are filled: channels, and bytes of a pixel
  size_t bordered, bordered_pixel;
  uint8_t* ring_data;
  size_t ring_line;  // bytes of a line
  uint8_t* tile;     // accumulators for the epilogue
  uint8_t* sums;     // of a line's windows, where grouped weights may have offsets
  size_t bytes;
};

inline Scratch cut(const ConvPlan& plan, size_t in_w, size_t out_w, uint8_t* workspace) {
  const ConvShape& s = plan.shape;
  Scratch c = {};
  Sections sections;
  const auto take = [&](size_t bytes) {
    const size_t at = sections.take(bytes);
    return workspace ? workspace + at : nullptr;  // a null workspace asks for the size
  };
  c.loop = loop_of(plan), c.rows = rows_of(plan), c.set_groups = set_groups_of(plan);
  const size_t rows = c.rows, groups = c.set_groups, lines = larger(lines_of(s, rows), 4),
               slots = larger(slots_per_group(s) * groups, kLinesTogether);
  c.prepared = take(depthwise_prepared_bytes(kPanel, rows * groups * quads_of(s)));
  c.init = (int32_t*)take(kPanel * sizeof(int32_t));
  c.pixels = (const uint8_t**)take(slots * sizeof(uint8_t*));
  c.steps = (size_t*)take(slots * sizeof(size_t));
  c.lines = (Line*)take(lines * sizeof(Line));
  const size_t pixel = staged_bytes(*plan.depthwise, c.loop);
  c.ring_line = larger(in_w, padded_width(s, out_w)) * pixel;
  const size_t one_tile = s.dilation_h * (s.kernel_h - 1) + (rows - 1) * s.stride_h + 1;
  const bool copies = c.loop == DepthwiseLoop::kCopied5x5;
  size_t together = kLinesTogether;
  if (copies) together = smaller(together, quotient(kCopiesTogether, c.ring_line));
  c.together = one_tile < together ? 1 + quotient(together - one_tile, rows * s.stride_h) : 1;
  c.ring = copies ? one_tile + (c.together - 1) * s.stride_h : one_tile;
  // The room of as many lines as fit together, so that shorter lines, of which more fit, take no
  // larger workspace
  const size_t ring_bytes = larger(one_tile * c.ring_line, copies ? kCopiesTogether : 0);
  c.staged = (size_t*)take((larger(one_tile, copies ? kLinesTogether : 0) + 1) * sizeof(size_t));
  // Kernels may read past a pixel, grouped kernels past the pixels of three outputs
  const size_t past = is_depthwise(s) ? 1 : 3 * step_of(s, out_w);
  c.ring_data = take(ring_bytes + c.ring_line + past * pixel);
  c.tile = take(rows * kEpilogueSums * sizeof(int32_t));
  c.sums = plan.offsets ? take(grouped_sums_bytes(padded_width(s, out_w), s.stride_w)) : nullptr;
  c.bytes = sections.bytes;
  return c;
}

}  // namespace

// Writes a byte (or, by `widen`, an int16) per output channel of the block for each pixel.
class ChannelCopy {
 public:
  // channels: of s16 values, which have no multiplier and no flip, their bytes.
  // multiplier: output channels that read one input channel; n0: the block's first output channel;
  // staged: bytes between copied pixels; flip: changes the bytes' sign, where multiplier is 1.
  ChannelCopy(const DepthwiseKernel& kernel, DepthwiseLoop loop, size_t n0, size_t channels,
              size_t multiplier, size_t staged, uint8_t flip)
      : widen_(loop == DepthwiseLoop::kCopied5x5 ? kernel.widen_5x5 : kernel.widen),
        channels_(channels),
        multiplier_(multiplier),
        turn_(n0 % multiplier),
        staged_(staged),
        flip_(flip) {}

  // Pixels are `step` bytes apart; `from` is the block's first channel of the first one.
  void copy(const uint8_t* from, size_t step, size_t pixels, uint8_t* to) const {
    if (widen_) return widen_(from, step, pixels, channels_, flip_, (uint16_t*)to);
    if (multiplier_ == 1) {
      if (channels_ == 64) return copy_pixels<64>(from, step, pixels, to);
      if (channels_ == 32) return copy_pixels<32>(from, step, pixels, to);
      if (channels_ == 16) return copy_pixels<16>(from, step, pixels, to);
      return copy_pixels<0>(from, step, pixels, to);
    }
    for (; pixels; --pixels, from += step, to += staged_) spread(from, to);
  }

 private:
  // bytes: channels_, or 0 for any number.
  template <size_t bytes>
  void copy_pixels(const uint8_t* from, size_t step, size_t pixels, uint8_t* to) const {
    typedef uint8_t Piece __attribute__((vector_size(16)));
    // In a register: a load of it could wait for stores to the copy whose addresses look alike
    const Piece flip = Piece{} + flip_;
    const size_t channels = channels_, staged = staged_;
    const auto copy_piece = [&](size_t i) {
      Piece piece;
      memcpy(&piece, from + i, sizeof piece);
      piece ^= flip;
      memcpy(to + i, &piece, sizeof piece);
    };
    if constexpr (bytes == 16)
      for (; pixels >= 4 && staged == bytes; pixels -= 4, to += 4 * bytes)
        unroll<4>([&](auto i) OCTET_INLINE {
          Piece piece;
          memcpy(&piece, from, sizeof piece);
          piece ^= flip;
          memcpy(to + bytes * i, &piece, sizeof piece);
          from += step;
        });
    for (; pixels; --pixels, from += step, to += staged) {
      if constexpr (bytes) {  // loads do not wait for stores whose addresses look alike
        Piece pieces[bytes / sizeof flip];
        unroll<bytes / sizeof flip>([&](auto i) OCTET_INLINE {
          memcpy(&pieces[i], from + i * sizeof flip, sizeof flip);
          pieces[i] ^= flip;
        });
        unroll<bytes / sizeof flip>(
            [&](auto i) OCTET_INLINE { memcpy(to + i * sizeof flip, &pieces[i], sizeof flip); });
      } else {
        size_t i = 0;
        for (; i + sizeof flip <= channels; i += sizeof flip) copy_piece(i);
        if (i && i < channels) {
          copy_piece(channels - sizeof flip);  // overlaps the piece before
          i = channels;
        }
        for (; i < channels; ++i) to[i] = from[i] ^ flip_;
      }
    }
  }

  // Repeats each channel as often as outputs read it, eight bytes at a time.
  void spread(const uint8_t* from, uint8_t* to) const {
    size_t i = 0, turn = turn_;
    // Blocks begin at multiples of 16, so these begin with a channel's first output
    if (multiplier_ == 2)
      for (; i + 8 <= channels_; i += 8, from += 4) store(two_of_four(from), to + i);
    if (multiplier_ == 4)
      for (; i + 8 <= channels_; i += 8, from += 2)
        store((from[0] | (uint64_t)from[1] << 32) * 0x01010101, to + i);
    for (; i < channels_; turn = 0, ++from) {
      const size_t end = smaller(i + multiplier_ - turn, channels_);
      const uint64_t eight = *from * 0x0101010101010101u;
      // Bytes written too far are overwritten by the next channel, or lie in the staged pixel's
      // padding
      for (; i < end && i + 8 <= staged_; i += 8) store(eight, to + i);
      for (; i < end; ++i) to[i] = *from;
      i = end;
    }
  }
  static void store(uint64_t eight, uint8_t* to) { memcpy(to, &eight, sizeof eight); }
  static uint64_t two_of_four(const uint8_t* from) {
    uint32_t four;
    memcpy(&four, from, sizeof four);
    uint64_t apart = (four | (uint64_t)four << 16) & 0x0000ffff0000ffff;
    apart = (apart | apart << 8) & 0x00ff00ff00ff00ff;
    return apart | apart << 8;
  }

  const WidenPixelsFn widen_;
  const size_t channels_, multiplier_, turn_, staged_;
  const uint8_t flip_;
};

}  // namespace octet
