// SPDX-License-Identifier: Apache-2.0
// Describes a depthwise or grouped kernel as one constant value, like a MicroKernel. Each output
// channel reads one input channel (depthwise) or the few channels of its group (grouped).
//
// Depthwise: taps are packed in groups of four, so that one channel's group is a 32-bit lane of a
// dot product (the slots of operators/conv/algorithms/channelwise.h say where each tap lies).
// Output channels come in panels of 64. Within a panel's group, the order is the one that
// interleaving the bytes of four pixels gives, in vectors of any width:
//
//     panel(group, channel, i) = group * 256 + channel / 4 % 4 * 64 + channel / 16 * 16
//                                + channel % 4 * 4 + i
//
// so a kernel with vectors of 16 * n bytes reads the first 16 * n of each 64. All tiers of all
// architectures share this layout. The int16 layout is the same with two bytes per weight; it holds
// weights that have zero points, as w - zero_point, which has 9 bits.
//
// Grouped: each group has as many output as input channels: 4, 8 or 16 (groups of 2 are joined to
// 4, with zeros). So a block of 16 output channels reads 16 bytes of a pixel. In groups of 4 and 8
// these bytes stay in place: a 128-bit lane of weights holds, for each group of 4 channels of the
// pixel (a quad), the weights of one output channel that reads it. That output channel differs from
// lane to lane, so a vector of copies of the pixel meets all weights; a channel's sum is the sum of
// `quads` neighbours in its lane. Groups of 16 use half a pixel per 64-bit lane, which saves
// additions: a channel's sum is the sum of two neighbours.
//
//     block(tap, channel, q, i) = tap * 64 * quads + grouped_position(quads, channel, q) + i
//
// where (q, i) is input channel 4 * q + i of the group, and a group has 4 * quads channels. Grouped
// kernels know kTaps only, with equal steps of all slots, take lhs bytes of their own sign
// only, and may read up to seven pixels at a time. Where weights have offsets, one per output
// channel, a kernel adds each offset times the sum of the window's pixels of the channel's group,
// which it makes once per line for all channels of a block; kernels of int16 add it to the weights.
#pragma once

#include "kernels/core/epilogue.h"
#include "kernels/core/lhs_rows.h"
#include "kernels/core/micro_kernel.h"

namespace octet {

constexpr RhsLayout kDepthwiseLayout = {64, 64, 4, ElementType::kS8};
constexpr RhsLayout kDepthwiseInt16Layout = {64, 64, 4, ElementType::kS16, 16};
constexpr RhsLayout depthwise_layout(size_t weight_bytes) {
  return weight_bytes == 1 ? kDepthwiseLayout : kDepthwiseInt16Layout;
}
constexpr size_t kDepthwiseGroup = 256;  // weights in a panel's group
constexpr size_t depthwise_position(size_t channel) {
  return channel / 4 % 4 * 64 + channel / 16 * 16 + channel % 4 * 4;
}

constexpr RhsLayout kGroupedLayout = {64, 16, 4, ElementType::kS8};
// For weights that have zero points: w - zero_point as an int8 and an offset of its channel
// (OffsetPanel in channelwise.h), which the same kernels read. The element is kS16, as in all
// formats that hold the difference: it tells that the blob has no zero points beside the weights.
constexpr RhsLayout kGroupedOffsetLayout = {64, 16, 4, ElementType::kS16, 16};
constexpr size_t kGroupedBlock = 16;
constexpr size_t grouped_position(size_t quads, size_t channel, size_t quad) {
  const size_t group = 4 * quads;
  return quads == 4
             ? quad / 2 * 128 + channel * 8 + quad % 2 * 4
             : (channel % group / 4 * 16 + channel % 4 * 4 + channel / group * quads + quad) * 4;
}

// The loop of a kernel. The walks interleave each column of pixels once and use it for all outputs
// that need it.
enum class DepthwiseLoop : uint8_t {
  kTaps,        // any shape: four taps at a time; two output lines share the pixels that both need
  kWalk,        // 3x3, stride 1
  kWalkBy2,     // 3x3, stride 2 along a line
  kWalk5x5,     // 5x5, stride 1; one output line at a time
  kWalk5x5By2,  // 5x5, stride 2
  kCopied5x5,   // 5x5 from copied lines, whose pixels are the kernel's channels apart
};

// One block of channels; `prepare` runs once for many tiles.
struct DepthwiseBlock {
  DepthwiseLoop loop;
  size_t groups;           // of the payload
  const uint8_t* weights;  // int8 or int16: the block's part of its panel's first group
  // kTaps with two output lines has two sets of weights over the pixels of both lines: the second
  // line's window begins `shift` slots later.
  size_t sets, set_groups, shift;
  const int32_t* init;  // bias and zero points, readable for all channels of a block
  const float* scale;   // for requantizing, in multiply or in `requantize`; or null
  size_t tflite_apart;  // with scale: as in Requantization
  // Grouped: a quarter of a group's channels; channels of the block, the same as in its tiles
  size_t quads = 1, channels = 0;
  const int16_t* offsets = nullptr;  // grouped: added to each weight of a channel; or null
  // f32 output, with scale, for kStoresFloats: the lhs's scale multiplies the columns' first
  bool to_floats = false;
  const float* bias_f32 = nullptr;  // null: none
  float lhs_scale = 1;
};

// A tile: some output lines, adjacent columns, one block of channels. Pointers are to the block's
// first channel.
struct DepthwiseTile {
  DepthwiseLoop loop;
  bool flip;             // lhs bytes have the other sign
  size_t rows, columns;  // of outputs
  // kCopied5x5, and walks with DepthwiseKernel::walks_tiles: so many tiles, one below the other.
  // The lines of each begin rows * stride entries of pixels and steps after those before
  size_t tiles = 1;
  // The kernel's channels; fewer where it stores partial blocks. Grouped: the block's channels,
  // rounded up to a multiple of 16 where they are stored as s32; f32 are stored for multiples only
  size_t channels;
  // kTaps: the pixel of each slot (4 * groups) for the first output, and the bytes to the next
  // column's. Walks: the pixel of each input line at its first column inside the image, and the
  // bytes to the next column. A line outside the image points at the zero pixel with a step of 0.
  // kCopied5x5: the first pixel of each input line; steps[0] is the bytes to the next output's,
  // steps[1] the lines to the next tile's
  const uint8_t* const* pixels;
  const size_t* steps;
  size_t groups;     // of this tile, in each set; unused by walks
  size_t quads = 1;  // as in DepthwiseBlock
  // Grouped, of a block with offsets: room for the sums of the line's windows; columns of a window
  uint8_t* sums = nullptr;
  size_t kernel_w = 1;
  // Walks: the input column of the first tap; it is outside the image if >= in_w (-1 is SIZE_MAX)
  size_t first_column, in_w;
  const uint8_t* zero;  // walks: a pixel outside the image
  const void* prepared;
  size_t sets, set_groups;               // kTaps: as in DepthwiseBlock
  const Requantization* requantization;  // null: store s32, always a whole block
  // Set in place of `requantization` for f32 outputs, by grouped kernels themselves, so that the
  // usual stores, of bytes, test one pointer
  const Requantization* floats = nullptr;
  bool raw = false;  // store s32 in the kernel's own order, for `requantize`
  uint8_t* dst;
  size_t dst_pixel, dst_line;  // bytes to the next column and row
  // Null, or the epilogue with a residual in float mode, for adds_residual(); bytes from an
  // output to its residual
  const Epilogue* adds = nullptr;
  ptrdiff_t residual = 0;
};

// A line of raw accumulators and its output.
struct DepthwiseRaw {
  const void* prepared;
  const int32_t* acc;
  size_t acc_pixel;  // to the next pixel, in elements
  size_t pixels, channels;
  const Requantization* requantization;
  uint8_t* dst;
  size_t dst_pixel;  // bytes
  size_t quads = 1;
  // Null, or the epilogue with a residual, of depthwise only: float mode's, or TFLite mode's that
  // has a TfliteAdd
  const Epilogue* adds = nullptr;
  const uint8_t* residual = nullptr;
  size_t residual_pixel = 0;  // bytes
};

// Flips each byte of pixels that are `step` bytes apart and copies them to int16, 64 apart
// (`widen_5x5`: the kernel's channels apart).
using WidenPixelsFn = void (*)(const uint8_t* from, size_t step, size_t pixels, size_t channels,
                               uint8_t flip, uint16_t* to);

// ---- windows as bytes --------------------------------------------------------------------------
//
// A kernel of convolutions of few channels that multiplies u8 by s8 in an instruction that adds
// neighbours in 16 bits and saturates. No pair of a pixel's neighbours that sum to at most
// kMostOfPair saturates, whatever the weights. So pixels are copied first, and what a crowded pair
// exceeds that by is taken off the copy, once for all windows and outputs that read it, and
// multiplied apart, into the accumulators that these outputs start from.

// Two outputs side by side.
struct WindowPair {
  uint32_t window;  // bytes from ByteWindows::windows to the first one's window
  uint32_t output;  // pixels from ByteWindows::dst to the first one
};

// The outputs of one band of lines, of eight channels.
struct ByteWindows {
  const uint8_t* windows;
  const WindowPair* pairs;
  size_t count;             // of pairs; at least ByteWindowsKernel::kPairs
  size_t step;              // bytes from an output's window to the next output's
  const uint32_t* offsets;  // bytes from a window's begin to each four of its values
  size_t quads;             // of a window
  const uint8_t* weights;   // of each quad: four bytes of each of eight channels
  const uint8_t* init;      // s32 of eight channels, ...
  const uint32_t* rows;     // ... so many bytes further for each output of the pairs
  const float* scale;
  const Requantization* requantization;  // of u8, s8 or f32 outputs
  uint8_t* dst;
  size_t dst_stride;  // bytes between pixels
};

// Pixels to copy, `step` bytes apart, to a copy that has them `to_step` bytes apart. Each is read
// and written as kPixel bytes, in order.
struct BytePixels {
  const uint8_t* from;
  size_t step, count;
  uint8_t flip;  // 0 or 0x80, xor-ed to the bytes
  uint8_t* to;
  size_t to_step;
  uint32_t bytes;  // a bit for each byte of a pixel that counts
};

struct ByteWindowsKernel {
  static constexpr size_t kPairs = 6, kChannels = 8, kPixel = 32;
  static constexpr int kMostOfPair = 256;
  // Copies pixels from the first on; returns how many until one with a crowded pair, with that one,
  // whose crowded bytes are set in *crowded then; or all, and 0.
  size_t (*copy)(const BytePixels& pixels, uint32_t* crowded);
  // Writes two quads' weights of eight channels, whose eight bytes lie `apart` bytes apart.
  void (*arrange)(const uint8_t* from, size_t apart, uint8_t* to);
  // Of two neighbours of each window position's bytes, of which there are 4 * quads: raises most[i]
  // to the largest sum of weights of one sign that bytes 2 * i and 2 * i + 1 meet. taps: positions
  void (*find_most)(const uint8_t* weights, size_t taps, size_t quads, int16_t* most);
  // Adds a quad times eight channels' weights to their accumulators. One byte of it is not 0.
  void (*add)(uint32_t quad, const uint8_t* weights, int32_t* sums);
  void (*multiply)(const ByteWindows& windows);
};

// ------------------------------------------------------------------------------------------------

struct DepthwiseKernel {
  const char* name;  // {isa}_{types}_dw{channels} or _group{channels}
  TierId tier_id;
  ElementType lhs_element_type;
  uint16_t flags = 0;  // KernelFlags
  RhsLayout layout;    // of the packed weights
  uint8_t channels;    // of a block; divides the layout's width
  // Bytes that the kernel may read from the start of a pixel, whatever tile.channels is
  uint8_t reach;
  uint8_t rows;              // most output lines of a kTaps tile
  uint8_t walk_rows = 0;     // most output lines of a walk; 0: the kernel knows kTaps only
  bool walks_tiles = false;  // walks take several tiles
  bool walks_5x5 = false;    // the kernel and its tail know the walks of 5x5
  bool copied_5x5 = false;   // knows kCopied5x5, with lhs bytes in its own sign
  // Copy lines as int16, which multiply reads then: of grouped kernels and of kCopied5x5. Null:
  // multiply reads int8
  WidenPixelsFn widen = nullptr, widen_5x5 = nullptr;
  bool adds = false;           // walks of 3x3 add a residual in registers, in float mode
  bool tflite_floats = false;  // requantizes by TfliteForm::kFloatsUp, too
  bool partial = false;        // can store fewer channels than a block's as 8 bits or f32
  const DepthwiseKernel* tail = nullptr;  // takes a last block of at most its channels; or null
  // Multiplies s16 values (kS16) by the same weights to s32, at most kMostS16Taps of them; or null
  const DepthwiseKernel* s16 = nullptr;
  // Grouped: multiplies bytes where a run's values allow that, for panels, too; or null
  const ByteWindowsKernel* byte_windows = nullptr;
  void (*prepare)(const DepthwiseBlock& block, void* prepared);
  void (*multiply)(const DepthwiseTile& tile);
  // Requantizes raw accumulators in TFLite mode, or adds a residual; or null
  void (*requantize)(const DepthwiseRaw& raw) = nullptr;
};

constexpr DepthwiseLoop kDepthwiseLoops[] = {DepthwiseLoop::kTaps,       DepthwiseLoop::kWalk,
                                             DepthwiseLoop::kWalkBy2,    DepthwiseLoop::kWalk5x5,
                                             DepthwiseLoop::kWalk5x5By2, DepthwiseLoop::kCopied5x5};
constexpr bool is_5x5(DepthwiseLoop loop) {
  return loop == DepthwiseLoop::kWalk5x5 || loop == DepthwiseLoop::kWalk5x5By2 ||
         loop == DepthwiseLoop::kCopied5x5;
}
constexpr bool is_walk(DepthwiseLoop loop) {
  return loop != DepthwiseLoop::kTaps && loop != DepthwiseLoop::kCopied5x5;
}
// Of output columns, in input columns; kTaps has any.
constexpr size_t stride_of(DepthwiseLoop loop) {
  return loop == DepthwiseLoop::kWalkBy2 || loop == DepthwiseLoop::kWalk5x5By2 ? 2 : 1;
}
constexpr bool knows(const DepthwiseKernel& kernel, DepthwiseLoop loop) {
  if (!is_walk(loop)) return loop == DepthwiseLoop::kTaps || kernel.copied_5x5;
  return is_5x5(loop) ? kernel.walks_5x5 : kernel.walk_rows != 0;
}
// Whether a loop of the kernel stores f32: of x86's depthwise kernels, which have `requantize`,
// walks of 3x3 only.
constexpr bool knows_floats(const DepthwiseKernel& kernel, DepthwiseLoop loop) {
  return (kernel.flags & kStoresFloats) && (!kernel.requantize || kernel.layout == kGroupedLayout ||
                                            (is_walk(loop) && !is_5x5(loop)));
}

// Whether a loop of the kernel adds a residual in registers.
constexpr bool adds_residual(const DepthwiseKernel& kernel, DepthwiseLoop loop) {
  return kernel.adds && is_walk(loop) && !is_5x5(loop);
}

constexpr bool reads(const DepthwiseKernel& kernel, const RhsLayout& layout) {
  return layout == kernel.layout ||
         (layout == kGroupedOffsetLayout && kernel.layout == kGroupedLayout);
}

// Bytes per channel of the pixels that multiply reads
constexpr size_t input_bytes(const DepthwiseKernel& kernel) {
  return kernel.widen ? 2 : element_size(kernel.lhs_element_type);
}
// Bytes of a pixel of kCopied5x5
constexpr size_t copied_bytes(const DepthwiseKernel& kernel) {
  return kernel.channels * (kernel.widen_5x5 ? 2 : 1);
}

// The sum of so many u8 pixels is below 2^22, so that kernels may cut it into two int16.
constexpr size_t kMostOffsetPixels = ((1 << 22) - 1) / 255;
// Bytes of `sums` of a line whose windows read so many columns, of three more windows, and of three
// more columns.
constexpr size_t grouped_sums_bytes(size_t columns, size_t stride) {
  return (columns + 3 * stride + 3) * kGroupedLayout.width;
}

// So many products of an s16 value and an s8 fit int32, whatever their values.
constexpr size_t kMostS16Taps = 511;
static_assert(kMostS16Taps * 32768 * 128 <= INT32_MAX, "sums of s16 values");

// The most bytes that `prepare` writes. Per channel: an accumulator (grouped: all that are summed
// in the end), a scale or TFLite's rows, and an int16 per slot.
constexpr size_t depthwise_prepared_bytes(size_t channels, size_t groups) {
  return channels * (20 + 4 * kTfliteRows + 8 * groups);
}

}  // namespace octet
