// What a depthwise kernel is: each output channel reads one input channel, or the handful of its
// group. Like a MicroKernel, one constant value.
//
// One input channel: the weights' taps are packed in groups of four, so that one channel's group is
// the 32-bit lane of a dot product (the slots of operators/conv/algorithms/channelwise.h say which tap lies
// where). Output channels come in panels of 64. Within a panel's group, the order is what
// interleaving the bytes of four pixels gives, in vectors of any width:
//
//     panel(group, channel, i) = group * 256 + channel / 4 % 4 * 64 + channel / 16 * 16
//                                + channel % 4 * 4 + i
//
// so a kernel with vectors of 16 * n bytes reads the first 16 * n of each 64. All tiers of all
// architectures share this layout. There is one of words, too: weights with zero points lie in it
// without them, for w - zero_point has 9 bits.
//
// Grouped: as many output channels as input channels in each group, 4, 8 or 16 (groups of 2 are
// joined to 4, with zeros). 16 bytes of a pixel then are all that a block of 16 output channels
// reads. In groups of 4 and 8 they stay where they are: a 128-bit lane of weights has four quads of
// channels, as the pixel has, each with its weights for one output channel that reads it. Which one
// differs from lane to lane, so that copies of the pixel in as many lanes as a vector has meet all
// their weights; a channel's sum is that of the `quads` neighbours in its lane. Groups of 16 are
// taken by half a pixel in 64-bit lanes, which spares additions: a channel's sum is that of two.
//
//     block(tap, channel, q, i) = tap * 64 * quads + grouped_position(quads, channel, q) + i
//
// with (q, i) the input channel 4 * q + i of the group, and 4 * quads channels in one. Grouped
// kernels know kTaps only, a slot per tap and all steps the same, of lhs bytes in their own sign,
// and may read up to seven pixels at a time.
#pragma once

#include "kernels/core/epilogue.h"
#include "kernels/core/lhs_rows.h"
#include "kernels/core/micro_kernel.h"

namespace octet {

constexpr RhsLayout kDepthwiseLayout = {64, 64, 4, ElementType::kS8};
constexpr RhsLayout kDepthwiseInt16Layout = {64, 64, 4, ElementType::kS16};
constexpr size_t kDepthwiseGroup = 256;  // weights of a panel's group
constexpr size_t depthwise_position(size_t channel) {
  return channel / 4 % 4 * 64 + channel / 16 * 16 + channel % 4 * 4;
}

constexpr RhsLayout kGroupedLayout = {64, 16, 4, ElementType::kS8};
constexpr size_t kGroupedBlock = 16;
constexpr size_t grouped_position(size_t quads, size_t channel, size_t quad) {
  const size_t group = 4 * quads;
  return quads == 4
             ? quad / 2 * 128 + channel * 8 + quad % 2 * 4
             : (channel % group / 4 * 16 + channel % 4 * 4 + channel / group * quads + quad) * 4;
}

// How a kernel goes about its work. The walks interleave each column of pixels once and use it for
// all outputs that need it.
enum class DepthwiseLoop : uint8_t {
  kTaps,     // any: four taps after the other; two output lines share the pixels that both need
  kWalk,     // 3x3, stride 1
  kWalkBy2,  // 3x3, stride 2 along a line
};

// One block of channels, prepared once and used for many tiles.
struct DepthwiseBlock {
  DepthwiseLoop format;
  size_t groups;           // of the payload
  const uint8_t* weights;  // bytes or words: the block's part of its panel's first group
  // kTaps with two output lines has two sets of weights over the pixels of both: the second line's
  // window begins so many slots later.
  size_t sets, set_groups, shift;
  const int32_t* init;  // bias and zero points, readable for all channels of a block
  const float* scale;   // for the narrow exit and for `leave`, or null
  size_t tflite_apart;  // with scale: as in Narrow
  // Grouped: channels of a group / 4, and of the block, which tiles have as well
  size_t quads = 1, channels = 0;
};

// Some output lines, side by side columns, one block of channels. Pointers are to the block's first
// channel.
struct DepthwiseTile {
  DepthwiseLoop format;
  bool flip;             // lhs bytes are of the other sign
  size_t rows, columns;  // outputs
  // The kernel's; fewer where it stores partial blocks. Grouped: those of the block, and if they do
  // not leave narrow, up to a multiple of 16
  size_t channels;
  // kTaps: pixel of each slot (4 * groups) for the first output, and bytes to that of the next
  // column. Walks: pixel of each input line at the first column inside, and bytes to the next
  // column. Lines outside stay at the zero pixel: 0 bytes.
  const uint8_t* const* pixels;
  const size_t* steps;
  size_t groups;     // kTaps: of this tile, in each set
  size_t quads = 1;  // as prepared
  // walks: the input column of the first tap; outside if it is not below in_w, so -1 is the largest
  // size_t
  size_t first_column, in_w;
  const uint8_t* zero;  // walks: a pixel outside
  const void* prepared;
  size_t sets, set_groups;               // kTaps: as prepared
  const Requantization* requantization;  // null: s32, always a whole block
  bool raw = false;                      // s32 for `leave`: in the kernel's own order
  uint8_t* dst;
  size_t dst_pixel, dst_line;  // bytes to the next column and row
};

// A line of raw accumulators and where their bytes go.
struct DepthwiseRaw {
  const void* prepared;
  const int32_t* acc;
  size_t acc_pixel;  // to the next pixel, in elements
  size_t pixels, channels;
  const Requantization* requantization;
  uint8_t* dst;
  size_t dst_pixel;  // bytes
  size_t quads = 1;
};

// Copies pixels `step` bytes apart to words 64 apart, each byte flipped before.
using WidenPixelsFn = void (*)(const uint8_t* from, size_t step, size_t pixels, size_t channels,
                               uint8_t flip, uint16_t* to);

struct DepthwiseKernel {
  const char* name;  // {isa}_{types}_dw{channels} or _group{channels}
  Isa isa;
  ElementType lhs_element_type;
  uint16_t flags = 0;  // KernelFlags
  RhsLayout layout;    // of the packed weights
  uint8_t channels;    // of a block; divides the layout's width
  // Bytes from a pixel's first one that may be read, whatever tile.channels says
  uint8_t reach;
  uint8_t rows;           // output lines of a kTaps at most
  uint8_t walk_rows = 0;  // of a kWalk; 0: knows kTaps only
  // Grouped, instead of copies of lines as they are: to words, which then are what multiply reads;
  // or null
  WidenPixelsFn widen = nullptr;
  bool partial = false;                   // stores fewer channels than a block's, when narrow
  const DepthwiseKernel* tail = nullptr;  // does a last block of at most its channels; or null
  void (*prepare)(const DepthwiseBlock& block, void* prepared);
  void (*multiply)(const DepthwiseTile& tile);
  // TFLite mode, from accumulators that multiply has left raw; or null
  void (*leave)(const DepthwiseRaw& raw) = nullptr;
};

// Bytes of a channel of what multiply reads
constexpr size_t input_bytes(const DepthwiseKernel& kernel) { return kernel.widen ? 2 : 1; }

// Bytes that `prepare` writes at most: per channel an accumulator, or as many as grouped kernels
// add up in the end; a scale or TFLite's rows; and per slot a word.
constexpr size_t depthwise_prepared_bytes(size_t channels, size_t groups) {
  return channels * (20 + 4 * kTfliteRows + 8 * groups);
}

}  // namespace octet
