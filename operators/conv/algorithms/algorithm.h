// The vocabulary of convolutions: geometry, weights as the caller stores them, what is fixed by
// create, what comes with a run, and what an algorithm is. No ISA, no argument checks.
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
#include "kernels/core/winograd_ops.h"
#include "kernels/macro/macro_kernel.h"
#include "kernels/macro/partition.h"
#include "packing/packed_rhs.h"
#include "packing/paired.h"

namespace octet {

struct ConvShape {
  size_t batch, in_h, in_w;  // declared maxima
  size_t in_channels, out_channels, groups;
  size_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
  size_t pad_top, pad_bottom, pad_left, pad_right;
  bool transposed;
  size_t output_padding_h, output_padding_w;
  bool sparse = false;  // 2:4 weights: each kernel position's channels are cut into fours
  // Transposed: phases along a line that are columns of one product (taps.h); where the others lack
  // a kernel position, how many have all, else 0
  size_t phases = 1, full_phases = 0;

  constexpr size_t group_in() const { return in_channels / groups; }
  constexpr size_t group_out() const { return out_channels / groups; }
  constexpr size_t taps() const { return kernel_h * kernel_w; }
  // What a kernel position takes of the depth where positions follow each other
  constexpr size_t position() const { return sparse ? round_up(group_in(), 4) : group_in(); }
  constexpr bool pointwise() const {
    return taps() == 1 && stride_h == 1 && stride_w == 1 &&
           !(pad_top | pad_bottom | pad_left | pad_right) && !transposed;
  }
  constexpr bool is_3x3(size_t stride) const {
    return kernel_h == 3 && kernel_w == 3 && stride_h == stride && stride_w == stride &&
           dilation_h == 1 && dilation_w == 1 && !transposed;
  }
};

// A transposed convolution has a form of its taps for each of stride_h x stride_w phases.
constexpr size_t kMaxPhases = (size_t)1 << 16;

// Output sizes; the checks of dispatch keep them from being zero or overflowing.
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

// Of a filter's zero points, in s8.
struct ZeroPointRange {
  int32_t least, most;
  constexpr bool any() const { return least || most; }
  // That |w - zero_point| may reach.
  constexpr int32_t widest() const { return 128 + most > 127 - least ? 128 + most : 127 - least; }
};

// Weights as the caller stores them: output channel o (of all), kernel position, input channel i of
// its group. Strides in bytes.
struct FilterView {
  const uint8_t* data;
  // o_stride: between output channels of one group
  size_t group_stride, o_stride, y_stride, x_stride, i_stride;
  bool is_u8;
  const int32_t* zero_points;  // null = 0
  size_t zero_point_count;     // 1 or out_channels

  const uint8_t* at(const ConvShape& s, size_t o, size_t ky, size_t kx, size_t i) const {
    return data + o / s.group_out() * group_stride + o % s.group_out() * o_stride + ky * y_stride +
           kx * x_stride + i * i_stride;
  }
  int32_t zero_point(size_t o) const {
    return zero_points ? zero_points[zero_point_count == 1 ? 0 : o] : 0;
  }
  ZeroPointRange zero_point_range() const;
  // Whether an output channel's weights lie side by side, in any order; and in the order of lines,
  // columns, channels.
  bool dense(const ConvShape& s) const { return o_stride == s.taps() * s.group_in(); }
  bool in_order(const ConvShape& s) const { return dense(s) && i_stride == 1; }

  // Of a kernel position of output channel o: `channels` input channels, from i on.
  WeightSums sum_position(const ConvShape& s, size_t o, size_t ky, size_t kx, size_t i,
                          size_t channels) const {
    return sum_weights(at(s, o, ky, kx, i), i_stride, channels, is_u8, zero_point(o));
  }
  WeightSums sum_channel(const ConvShape& s, size_t o) const;
};

// All output channels' sums. Returns whether a weight is -128 in s8.
bool sum_filter(const ConvShape& shape, const FilterView& filter, const ColumnSums& sums);

// What the blob holds besides its payload, per output channel and over w - zero_point.
struct FilterSums {
  const int32_t* positive;  // sum of the positive values
  const int32_t* negative;
  const int32_t* zero_points;  // in the layout's domain; null when all are 0
};

struct ConvAlgorithm;
struct ConvWork;  // estimate.h
struct Estimate;

// Everything that does not change from run to run. Arrays over output channels are padded by at
// least 64 readable values.
struct ConvPlan {
  ConvShape shape;
  const ConvAlgorithm* implementation;
  const MicroKernel* kernel;         // null for depthwise
  const DepthwiseKernel* depthwise;  // null for all others
  const TierOps* ops;                // of the kernel's tier
  const WinogradOps* transforms;     // likewise
  bool lhs_u8;                       // as the caller has it
  uint8_t lhs_flip;                  // 0x80 if the kernels want the other sign
  int32_t lhs_shift;                 // what the flip adds to the caller's zero point
  bool runtime_zero_point;           // one zero point and scale per image come with the run
  int32_t static_zero_point;         // as the caller has it
  bool requantize_in_kernel;         // certified: kernels may finish to 8 bits with `narrow`
  Requantization requantization;
  Epilogue epilogue;
  size_t dst_bytes;        // of one output
  size_t cache_bytes;      // of L2, or of what the Choice says
  size_t block;            // what the method does together, as its `block` says
  size_t pass;             // channels that meet all of a task before the next ones do; 0 = all
  TaskLimits tasks;        // along units and along channels
  Columns columns;         // one per output channel; weight_sum is always there
  const uint8_t* payload;  // what method->pack wrote
  MemoryTraceFn touch;     // told of what plain code copies; null but in a model of memory
};

// One run, in NHWC: of whole images, or of lines of one (lines.h). The input may be the caller's
// tensor or a staged copy with its borders already filled, and then the pads here are 0.
struct ConvRun {
  size_t batch, in_h, in_w, out_h, out_w;
  size_t pad_top, pad_left;
  const uint8_t* lhs;
  const uint8_t* lhs_end;                // bytes from lhs up to here may be read
  size_t lhs_pixel, lhs_row, lhs_image;  // strides in bytes
  // Not 0: a ring of so many lines; line y of the only image is at (lhs_first + y) % lhs_ring
  size_t lhs_ring, lhs_first;
  // Per image in_channels bytes, rounded up to 64 and 64 more, of the zero point as the caller has
  // it
  const uint8_t* zero_rows;
  size_t zero_row_stride;          // 0 when all images share one
  const int32_t* lhs_zero_points;  // run-time: per image, as the caller has them; null = 0
  const float* lhs_scales;         // run-time: per image; null = 1
  Output to;                       // a row is a pixel, in lines and images without gaps

  const uint8_t* zero_row(size_t image) const { return zero_rows + image * zero_row_stride; }
  const uint8_t* line(size_t image, size_t y) const {
    return lhs + image * lhs_image + (lhs_ring ? (lhs_first + y) % lhs_ring : y) * lhs_row;
  }
  // Of the lines from y on, how many lie one after the other
  size_t lines_together(size_t y) const {
    return lhs_ring ? lhs_ring - (lhs_first + y) % lhs_ring : in_h - y;
  }
};

// What one task computes: of the grain's units, counted through all images, [first, end); and
// output channels [n0, n1).
struct ConvTask {
  size_t first, end, n0, n1;
};

// The cut of work that an algorithm can follow. A unit is an output line where nothing else is
// said.
struct ConvGrain {
  size_t units;     // of an image
  size_t channels;  // tasks begin at multiples of this
  size_t lines;     // output lines that are best computed together
};

// An algorithm is one constant value, like a kernel.
struct ConvAlgorithm {
  const char* name;
  KernelKind operands;       // that it multiplies, hence which kernels and forms it needs
  bool approximate = false;  // only for filters that allow it
  // Packs u8 weights as they are where the tier can; else, or if it makes its own of them, as s8
  bool keeps_u8 = true;
  // Null if it can compute the shape exactly, else why not, in a clause that completes "cannot be
  // used: ".
  const char* (*refuse)(const ConvShape& shape, const ZeroPointRange& zero_points);
  // Bytes of the weights in this form for a layout; 0 if they leave size_t. Never depends on the
  // weights' values.
  size_t (*payload_bytes)(const RhsLayout& layout, const ConvShape& shape);
  // Writes all payload_bytes, and the sums of each output channel. Returns whether a weight is -128
  // in s8.
  bool (*pack)(const RhsLayout& layout, const ConvShape& shape, const FilterView& filter,
               const float* tap_ranges, const ColumnSums& sums, uint8_t* payload);
  // Of methods that multiply bytes: its weights in a layout in pairs. Without a payload, how they
  // would lie
  PairedWeights (*pairs)(const RhsLayout& layout, const ConvShape& shape,
                         const uint8_t* payload) = nullptr;
  // What it would cost on a tier. Pure.
  Estimate (*estimate)(const ConvWork& work);
  // Pixels, tiles or units that are best done together at the declared sizes. Pure: from the plan's
  // shape, kernel, dst_bytes and cache_bytes.
  size_t (*block)(const ConvPlan& plan);
  bool block_of_tiles = false;  // it is a multiple of the kernel's mr
  bool passes = false;          // its weights may be worth passes: each block reads them all
  ConvGrain (*grain)(const ConvPlan& plan, size_t out_h, size_t out_w);
  // Of each task, for runs with at most these sizes; grows with each of them.
  size_t (*task_workspace)(const ConvPlan& plan, size_t in_h, size_t in_w, size_t out_h,
                           size_t out_w);
  void (*run)(const ConvPlan& plan, const ConvRun& run, const ConvTask& task, uint8_t* workspace);
  // Whether it wants the input without gaps between pixels and with its borders filled in; null =
  // never. Then the pads of the run are 0.
  bool (*wants_borders)(const ConvShape& shape) = nullptr;
  // The shape that plan.shape is to hold, if not the given one: same tensors and outputs, but other
  // groups, or phases that have columns of their own in the plan's arrays.
  ConvShape (*rewrite)(const RhsLayout& layout, const ConvShape& shape) = nullptr;
  // Where a rewritten shape has phases: of each column the sum of w - zero_point, from the payload.
  void (*sum_phases)(const RhsLayout& layout, const ConvShape& rewritten, const uint8_t* payload,
                     int32_t* sums) = nullptr;
  bool takes_sparse = false;  // packs and multiplies 2:4 weights, too
  // How many times the largest exact accumulator its own may reach, where they are approximate;
  // null = 1.
  double (*stretch)(const ConvShape& shape) = nullptr;
};

extern const ConvAlgorithm direct_algorithm, im2col_algorithm, depthwise_algorithm,
    grouped_algorithm, winograd_2x2_algorithm, winograd_4x4_algorithm, winograd_2x2_s2_algorithm,
    winograd_2x2_int8_algorithm;

}  // namespace octet
