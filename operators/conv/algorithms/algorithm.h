// SPDX-License-Identifier: Apache-2.0
// The types of convolution: geometry, weights as the caller stores them, the plan that create
// makes, the arguments of a run, and the interface of an algorithm. No ISA, no argument checks.
//
// With l', w' the bytes as the kernels see them (DESIGN.md, "One normal form") and positions
// outside the input holding the zero point,
//     acc[p,n] = sum l' w' + bias[n] - lhs_zp' * weight_sum[n] - zero_point[n] * window_sum
//
// where window_sum is the sum of l' over the window.
#pragma once

#include "kernels/core/depthwise_kernel.h"
#include "kernels/core/kernel_kind.h"
#include "kernels/core/memory_trace.h"
#include "kernels/core/s16.h"
#include "kernels/core/winograd_ops.h"
#include "kernels/macro/macro_kernel.h"
#include "kernels/macro/partition.h"
#include "packing/format.h"
#include "packing/int4.h"
#include "packing/packed_rhs.h"

namespace octet {

struct ConvShape {
  size_t batch, in_h, in_w;  // declared maxima
  size_t in_channels, out_channels, groups;
  size_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
  size_t pad_top, pad_bottom, pad_left, pad_right;
  bool transposed;
  size_t output_padding_h, output_padding_w;
  // 2:4 weights: the channels of each kernel position are cut into groups of four
  bool sparse = false;
  // Transposed: the phases along a line that are columns of one product (taps.h). full_phases: how
  // many of them have all kernel positions, where the others lack one; else 0
  size_t phases = 1, full_phases = 0;
  // The direct algorithm's windows of few channels: each of their lines is packed as whole groups
  // (taps.h)
  bool padded_lines = false;

  constexpr size_t group_in() const { return quotient(in_channels, groups); }
  constexpr size_t group_out() const { return quotient(out_channels, groups); }
  constexpr size_t taps() const { return kernel_h * kernel_w; }
  // Depth of one kernel position in packed weights, where positions follow each other
  constexpr size_t position() const { return sparse ? round_up(group_in(), 4) : group_in(); }
  constexpr bool pointwise() const {
    return taps() == 1 && stride_h == 1 && stride_w == 1 &&
           !(pad_top | pad_bottom | pad_left | pad_right) && !transposed;
  }
  // A 1x1 kernel that reads some pixels of a line only
  constexpr bool skips_pixels() const { return taps() == 1 && stride_w > 1 && !transposed; }
  constexpr bool is_square(size_t kernel, size_t stride) const {
    return kernel_h == kernel && kernel_w == kernel && stride_h == stride && stride_w == stride &&
           dilation_h == 1 && dilation_w == 1 && !transposed;
  }
};

// A transposed convolution keeps an order of its taps for each of stride_h x stride_w phases.
constexpr size_t kMaxPhases = (size_t)1 << 16;

// Output sizes. The checks of descriptors keep them from being zero and from overflowing.
constexpr size_t conv_out(size_t in, size_t before, size_t after, size_t kernel, size_t stride,
                          size_t dilation, bool transposed, size_t extra) {
  return transposed ? (in - 1) * stride + dilation * (kernel - 1) + 1 + extra - before - after
                    : (in + before + after - dilation * (kernel - 1) - 1) / stride + 1;
}
constexpr size_t conv_out_h(const ConvShape& s, size_t in_h) {
  return conv_out(in_h, s.pad_top, s.pad_bottom, s.kernel_h, s.stride_h, s.dilation_h, s.transposed,
                  s.output_padding_h);
}
constexpr size_t conv_out_w(const ConvShape& s, size_t in_w) {
  return conv_out(in_w, s.pad_left, s.pad_right, s.kernel_w, s.stride_w, s.dilation_w, s.transposed,
                  s.output_padding_w);
}

// The range of a filter's zero points, in s8.
struct ZeroPointRange {
  int32_t least, most;
  constexpr bool any() const { return least || most; }
  // The largest possible |w - zero_point|.
  constexpr int32_t widest() const { return 128 + most > 127 - least ? 128 + most : 127 - least; }
};

// Weights as the caller stores them: output channel o (of all), kernel position, input channel i of
// its group. Strides in elements. Weights of 4 bits are read as s8, u4 less 8, and so are their
// zero points.
struct FilterView {
  const uint8_t* data;
  // o_stride: between output channels of one group
  size_t group_stride, o_stride, y_stride, x_stride, i_stride;
  ElementType stored;          // of data
  const int32_t* zero_points;  // null = 0
  size_t zero_point_count;     // 1 or out_channels

  ElementType type() const { return is_4bit(stored) ? ElementType::kS8 : stored; }
  size_t at(const ConvShape& s, size_t o, size_t ky, size_t kx, size_t i) const {
    return o / s.group_out() * group_stride + o % s.group_out() * o_stride + ky * y_stride +
           kx * x_stride + i * i_stride;
  }
  uint8_t weight(const ConvShape& s, size_t o, size_t ky, size_t kx, size_t i) const {
    const size_t element = at(s, o, ky, kx, i);
    return is_4bit(stored) ? (uint8_t)int4_as_int8(data, stored, element) : data[element];
  }
  int32_t zero_point(size_t o) const {
    const int32_t given = zero_points ? zero_points[zero_point_count == 1 ? 0 : o] : 0;
    return given + type_shift(stored, type());
  }
  // Calls f(part, lane, k) for views of bytes, which together are the weights from element `first`
  // on: lanes and depth with these strides. Weights of 8 bits are one part.
  template <typename F>
  void for_each_part(LaneView view, size_t first, const F& f) const {
    view.data = is_4bit(stored) ? data : data + first;
    if (is_4bit(stored))
      for_each_int8_part(view, stored, first, f);
    else
      f(view, 0, 0);
  }
  ZeroPointRange zero_point_range() const;
  // True if an output channel's weights are contiguous, in any order (dense), or in the order of
  // lines, columns, channels (in_order).
  bool dense(const ConvShape& s) const { return o_stride == s.taps() * s.group_in(); }
  bool in_order(const ConvShape& s) const { return dense(s) && i_stride == 1; }

  // Sums of output channel o at one kernel position, over `channels` input channels from i on.
  WeightSums sum_position(const ConvShape& s, size_t o, size_t ky, size_t kx, size_t i,
                          size_t channels) const {
    return sum_run(at(s, o, ky, kx, i), i_stride, channels, zero_point(o));
  }
  WeightSums sum_channel(const ConvShape& s, size_t o) const;

 private:
  WeightSums sum_run(size_t first, size_t stride, size_t count, int32_t zero_point) const;
};

// Writes the sums of all output channels. Returns true if a weight is -128 in s8.
bool sum_filter(const ConvShape& shape, const FilterView& filter, const ColumnSums& sums);

// Sums that the blob holds beside its payload, per output channel, of w - zero_point.
struct FilterSums {
  const int32_t* positive;  // sum of the positive values
  const int32_t* negative;
  const int32_t* zero_points;  // in the layout's element type; null when all are 0
};

// Depthwise weights with zero points are packed minus these, as int16. Only the differences of a
// tensor's largest weights leave int8, so create copies the panels of channels whose differences
// fit, and an int8 kernel multiplies those.
struct Int8Panels {
  const DepthwiseKernel* kernel;  // null: there are none, and the fields below are not set
  bool* fits;                     // of each panel
  uint8_t* payload;               // int8 weights as packed where there are no zero points
};

// Predicted cycles of a dense kernel's tiles, one for each micro-panel of a group's columns.
struct TileCycles {
  double row,   // of each row and tap
      weights,  // of each tap, at least: to read its weights
      tap,      // of each tap besides
      tile;     // of each tile besides
};

struct ConvAlgorithm;
struct ConvWork;  // estimate.h
struct Estimate;

// Everything that does not change between runs. Arrays over output channels are padded by at least
// 64 readable values.
struct ConvPlan {
  ConvShape shape;
  const ConvAlgorithm* implementation;
  const MicroKernel* kernel;              // null for depthwise
  const DepthwiseKernel* depthwise;       // null for all others
  const ByteWindowsKernel* byte_windows;  // of groups and panels, or null
  const TierOps* ops;                     // of the kernel's tier
  const WinogradOps* transforms;          // of the kernel's tier
  // kS8 or kU8, as the caller has it; of an s16 lhs kS16, or the type of the bytes that s16 values
  // are split into
  ElementType lhs_type;
  uint8_t lhs_flip;           // 0x80 if the kernels want the other sign
  uint8_t staged_flip;        // instead of lhs_flip where lines are staged, which costs less
  int32_t lhs_shift;          // what the flip adds to the caller's zero point
  bool runtime_zero_point;    // one zero point and scale per image come with the run
  int32_t static_zero_point;  // in the caller's element type
  bool requantize_in_kernel;  // certified: kernels may requantize to 8 bits in registers
  Requantization requantization;
  Epilogue epilogue;
  size_t dst_bytes;    // bytes of one output value
  size_t cache_bytes;  // size of L2, or the size in the Choice
  size_t block;        // amount of work done together; the algorithm's `block` gives its unit
  // channels that all rows of a task are multiplied by before the next channels; 0 = all
  size_t pass;
  TaskLimits tasks;        // most tasks along units and along channels
  Columns columns;         // one entry per output channel; weight_sum is always set
  const uint8_t* payload;  // written by implementation->pack
  Int8Panels int8_panels;
  TileCycles tile_cycles;  // direct: at the declared sizes
  bool offsets;            // grouped: the payload consists of OffsetPanels (channelwise.h)
  MemoryTraceFn touch;     // memory trace of copies; null except in the model of memory traffic
  // Of an s16 lhs; else the mode is kNone. The algorithm takes s16 values as they are (lhs_type is
  // kS16) or convolves bytes to s32, with a zero point per image: image i of s16 values is its
  // images 2 i, of high bytes, and 2 i + 1, of low bytes.
  S16Epilogue s16;
  S16Offsets s16_offsets;  // S16Tile::offset
};
inline bool splits_s16(const ConvPlan& plan) {
  return plan.s16.mode != S16Mode::kNone && plan.lhs_type != ElementType::kS16;
}

// One run, in NHWC: of whole images, or of some lines of one image (lines.h). The input is the
// caller's tensor, or a staged copy whose borders are filled; then the pads here are 0.
struct ConvRun {
  size_t batch, in_h, in_w, out_h, out_w;
  size_t pad_top, pad_left;
  bool borders;  // the input has those that the algorithm wants
  const uint8_t* lhs;
  const uint8_t* lhs_end;                // bytes from lhs up to here are readable
  size_t lhs_pixel, lhs_row, lhs_image;  // strides in bytes
  // Not 0: the input is a ring of so many lines; line y of the only image is at (lhs_first + y) %
  // lhs_ring
  size_t lhs_ring, lhs_first;
  // Rows of the zero point as the caller has it, one per image: in_channels bytes, rounded up to
  // 64, plus 64
  const uint8_t* zero_rows;
  size_t zero_row_stride;  // 0 when all images share one
  // run-time zero points, per image, in the caller's type; null = 0
  const int32_t* lhs_zero_points;
  bool planes;              // zero points and rows are of two images, over and over: splits_s16
  const float* lhs_scales;  // run-time scales, per image; null = 1
  Output to;                // output: a row is a pixel, and lines and images have no gaps

  size_t zero_of(size_t image) const { return planes ? image % 2 : image; }
  const uint8_t* zero_row(size_t image) const {
    return zero_rows + zero_of(image) * zero_row_stride;
  }
  const uint8_t* line(size_t image, size_t y) const {
    return lhs + image * lhs_image + (lhs_ring ? (lhs_first + y) % lhs_ring : y) * lhs_row;
  }
  // Number of lines from y on that are contiguous
  size_t lines_together(size_t y) const {
    return lhs_ring ? lhs_ring - (lhs_first + y) % lhs_ring : in_h - y;
  }
};

// The lhs zero point of an image as kernels see it.
inline int32_t zero_point_of(const ConvPlan& plan, const ConvRun& run, size_t image) {
  return (plan.runtime_zero_point
              ? run.lhs_zero_points ? run.lhs_zero_points[run.zero_of(image)] : 0
              : plan.static_zero_point) +
         plan.lhs_shift;
}

// Whether rows of zero points change no sum, so that taps that are padding may be skipped.
inline bool padding_adds_nothing(const ConvPlan& plan, const ConvRun& run) {
  return !plan.columns.zero_point && !plan.runtime_zero_point && zero_point_of(plan, run, 0) == 0;
}

inline LhsTerms lhs_terms(const ConvPlan& plan, const ConvRun& run, size_t image) {
  return {!plan.runtime_zero_point,
          zero_point_of(plan, run, image),
          nullptr,
          plan.runtime_zero_point,
          run.lhs_scales ? run.lhs_scales[image] : 1.0f,
          nullptr};
}

// Writes one row of initial values: the bias of channels [n, n + channels) minus zero_point times
// the sums of their weights.
inline void write_start(const ConvPlan& plan, size_t n, size_t channels, int32_t zero_point,
                        int32_t* start) {
  Init init = {};
  init.cols = channels;
  init.base = plan.columns.bias + n;
  init.lhs_zero_points = &zero_point;
  init.weight_sums = plan.columns.weight_sum + n;
  init.out = start;
  plan.ops->init(init);
}

// The work of one task: units [first, end) of the grain, counted through all images, and output
// channels [n0, n1).
struct ConvTask {
  size_t first, end, n0, n1;
};

// How an algorithm's work may be cut into tasks. A unit is an output line unless the algorithm says
// otherwise.
struct ConvGrain {
  size_t units;      // units of one image
  size_t channels;   // tasks begin at multiples of this
  size_t lines;      // output lines that are best computed together
  size_t start = 0;  // units that take as long as a task's own preparations
};

// An algorithm is one constant value, like a kernel. on_panels (block.h) and channelwise add the
// fields that two algorithms share; else every function is set whose comment says nothing of null.
struct ConvAlgorithm {
  const char* name;
  KernelKind operands;       // the kind of kernel that it uses; decides kernels and weight formats
  bool approximate = false;  // results are not exact; used only for filters that allow it
  // Packs u8 weights unflipped where the tier can; otherwise, or if it transforms them, as s8
  bool keeps_u8 = true;
  // Null if the algorithm can compute the shape, else the reason, a clause that completes "cannot
  // be used: ".
  const char* (*refuse)(const ConvShape& shape, const ZeroPointRange& zero_points) = nullptr;
  // Bytes of the payload in a layout; 0 if they exceed size_t. They never depend on the weights'
  // values.
  size_t (*payload_bytes)(const RhsLayout& layout, const ConvShape& shape) = nullptr;
  // Writes all payload_bytes and the sums of each output channel. Returns true if a weight is -128
  // in s8.
  bool (*pack)(const WeightFormat& format, const ConvShape& shape, const FilterView& filter,
               const float* tap_ranges, const ColumnSums& sums, uint8_t* payload) = nullptr;
  // int8 algorithms: the weights of a payload. Without a payload, only their arrangement
  PackedPanels (*panels)(const RhsLayout& layout, const ConvShape& shape,
                         const uint8_t* payload) = nullptr;
  // Predicts the cost on a tier. Pure.
  Estimate (*estimate)(const ConvWork& work);
  // Pixels, tiles or units that are best done together at the declared sizes. Pure: depends on the
  // plan's shape, kernel, dst_bytes and cache_bytes.
  size_t (*block)(const ConvPlan& plan) = nullptr;
  bool block_of_tiles = false;  // the block is a multiple of the kernel's mr
  // passes over the columns may pay, because each block reads all weights
  bool passes = false;
  ConvGrain (*grain)(const ConvPlan& plan, size_t out_h, size_t out_w) = nullptr;
  bool reads_in_place = false;  // makes nothing of its inputs that channels could share
  // Workspace of each task for runs of at most these sizes. It grows with each size.
  size_t (*task_workspace)(const ConvPlan& plan, size_t in_h, size_t in_w, size_t out_h,
                           size_t out_w) = nullptr;
  void (*run)(const ConvPlan& plan, const ConvRun& run, const ConvTask& task,
              uint8_t* workspace) = nullptr;
  // True if the input must have no gaps between pixels and filled borders; null = never. Then the
  // pads of the run are 0.
  bool (*wants_borders)(const ConvShape& shape) = nullptr;
  // Whether a run of images of in_w pixels a line, of the plan's pads, may have the caller's tensor
  // all the same, or a flipped copy of its lines: without gaps between pixels and without borders
  // (ConvRun::borders is false then). Null = never.
  bool (*does_without_borders)(const ConvPlan& plan, size_t in_w) = nullptr;
  // True if the shape had better be packed with padded_lines, for kernels that read rows in place,
  // nr columns at a time. Null: the algorithm knows no such lines.
  bool (*pads_lines)(const RhsLayout& layout, size_t nr, const ConvShape& shape) = nullptr;
  // The shape for plan.shape if it differs from the caller's: the same tensors and outputs, but
  // other groups, or phases with columns of their own in the plan's arrays.
  ConvShape (*rewrite)(const RhsLayout& layout, const ConvShape& shape) = nullptr;
  // For a rewritten shape with phases: writes each column's sum of w - zero_point, from the
  // payload.
  void (*sum_phases)(const RhsLayout& layout, const ConvShape& rewritten, const uint8_t* payload,
                     int32_t* sums) = nullptr;
  bool takes_sparse = false;  // packs and multiplies 2:4 weights
  // The largest accumulator of an approximate algorithm, relative to the largest exact one; null =
  // 1.
  double (*stretch)(const ConvShape& shape) = nullptr;
};

extern const ConvAlgorithm direct_algorithm, im2col_algorithm, depthwise_algorithm,
    grouped_algorithm, winograd_2x2_algorithm, winograd_4x4_algorithm, winograd_2x2_s2_algorithm,
    winograd_2x2_int8_algorithm;

inline bool wants_borders(const ConvPlan& plan) {
  return plan.implementation->wants_borders && plan.implementation->wants_borders(plan.shape);
}
// Whether lines of the sign that the kernel does not read are staged only to be flipped, once for
// all taps and columns that read a pixel. A copy takes as long as two such reads, or as one that
// flips a broadcast of each four bytes, by kernels that arrange no rows.
inline bool flips_lines(const ConvPlan& plan) {
  constexpr size_t kReads = 2;
  const ConvShape& s = plan.shape;
  const MicroKernel* const kernel = plan.kernel;
  if (!plan.lhs_shift || !kernel || !kernel->flip_rows || !plan.implementation->reads_in_place)
    return false;
  if (s.pointwise())
    return kernel->flip_columns && !kernel->arranges(s.group_out(), s.group_in(), true) &&
           s.group_out() >= (kernel->arrange_rows ? kernel->nr + 1u : kernel->flip_columns);
  if (s.skips_pixels()) return false;  // copies of single pixels are flipped
  return s.taps() * divide_up(s.group_out(), kernel->nr) >=
         kReads * (s.transposed ? 1 : s.stride_h * s.stride_w);
}

}  // namespace octet
