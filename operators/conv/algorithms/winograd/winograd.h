// SPDX-License-Identifier: Apache-2.0
// Winograd's algorithm for 3x3 kernels, and larger ones as sums of these: schemes, payload and
// functions shared by its files.
//
//   Y = A^T [ (G w G^T) .* (B^T x B) ] A
//
// per input channel; summed over the channels, the product in the middle is one matrix product per
// tap. G, B and A here are the integer matrices, so Y is multiplied by a constant that the output
// transform removes. In the exact schemes all of it is exact modulo 2^32.
#pragma once

#include "kernels/core/winograd_ops.h"
#include "operators/conv/algorithms/algorithm.h"

namespace octet {

struct WinogradScheme {
  Winograd variant;
  // Per axis: inputs that a tile reads, outputs that it computes, stride between outputs
  uint8_t patch, out, stride;
  int8_t g[kMaxPatch][3];  // weights of one axis -> taps
  // The factor can be removed while |y| < 128 * weight_limit in int32, where weight_limit bounds
  // the sum of |w| over the input channels that are added before that.
  int32_t weight_limit;
  double adds;  // cost of transforming a value, relative to k4x4

  constexpr size_t taps() const { return (size_t)patch * patch; }
  constexpr bool int8() const { return variant == Winograd::k2x2Int8; }
  // The largest tap over the largest weight.
  constexpr int32_t growth() const {
    int32_t most = 0;
    for (size_t y = 0; y < patch; ++y) {
      int32_t sum = 0;
      for (const int8_t v : g[y]) sum += v < 0 ? -v : v;
      if (sum > most) most = sum;
    }
    return most * most;
  }
};

// An axis of a larger kernel, or of one at a stride, cut into parts of up to three taps that lie
// `step` apart: F(4,3) of each part, of as many inputs, adds up to the outputs. Where a part has
// fewer taps, the others' weights are 0, and so are, at one end or at both, its points.
struct WinogradAxis {
  static constexpr size_t kMost = 3;
  struct Part {
    uint8_t first, taps, before;  // taps of the kernel; weights of 0 before them
    // The tap of the kernel that weight i of three is, if it is one
    constexpr size_t tap(size_t i, size_t step) const { return first + (i - before) * step; }
    constexpr bool has(size_t i) const { return i - before < taps; }
    constexpr bool needs(size_t point, size_t last) const {
      return taps == 3 || (point != last && (taps == 2 || point));
    }
  };
  Part parts[kMost] = {};        // those of the most taps first
  size_t count = 0, longer = 0;  // parts; those of the most taps. No parts: it is not known

  constexpr WinogradAxis(size_t kernel, size_t step) {
    size_t all = 0, kinds = 0;
    for (size_t taps = 3; taps; --taps) {
      const size_t before = all;
      for (size_t phase = 0; phase < step; ++phase)
        for (size_t first = phase; first < kernel && all <= kMost; first += 3 * step) {
          const size_t left = smaller(divide_up(kernel - first, step), 3);
          if (left == taps && all++ < kMost)
            parts[all - 1] = {(uint8_t)first, (uint8_t)taps, (uint8_t)(taps == 1)};
        }
      kinds += all > before;
      if (!before) longer = all;
    }
    const bool known = all <= kMost && kinds <= 2;
    count = known ? all : 0, longer = known ? longer : 0;
  }
  // How many of the parts need a point, of which `last` is the last one: none, the longer, or all.
  constexpr size_t needing(size_t point, size_t last) const {
    if (!count) return 0;
    return parts[count - 1].needs(point, last) ? count : parts[0].needs(point, last) ? longer : 0;
  }
};

// The parts of a kernel, each of which has the input channels of a group. Those that meet a tap are
// neighbours.
struct WinogradParts {
  size_t step;  // of the taps of a part
  WinogradAxis y, x;
  struct {
    WinogradAxis::Part y, x;
  } parts[WinogradAxis::kMost * WinogradAxis::kMost] = {};

  WinogradParts(const WinogradScheme& s, const ConvShape& shape);
  size_t count() const { return y.count * x.count; }
  // The parts that a tap meets.
  struct Range {
    size_t begin, end;
  };
  Range range(const WinogradScheme& s, size_t tap) const {
    const size_t ys = y.needing(tap / s.patch, s.patch - 1u),
                 xs = x.needing(tap % s.patch, s.patch - 1u), skipped = y.longer * (x.count - xs);
    if (!ys || !xs) return {0, 0};
    return {skipped, skipped + ys * xs};
  }
};

// The payload begins with this. The payload's size does not depend on these values.
struct WinogradHeader {
  // Input channels that are added up before the factor is removed; a multiple of the layout's kr
  uint32_t chunk;
  int16_t factors[16];  // int8: scale factors of the input's taps, see WinogradInput
  uint32_t reserved[7];
};
static_assert(sizeof(WinogradHeader) == 64, "the panels are aligned");

// The rest of the payload. First, for int8 only, two tables with one value per tap and output
// channel: tap_scale (see WinogradOutput), and correction, which products lack if the kernel reads
// the input's taps 128 higher, as u8. Then, per group of channels and panel of the layout, one
// matrix per tap, as deep as the parts that it meets. All panels are whole.
struct WinogradPayload {
  WinogradParts parts;
  size_t channels;                        // of a part
  size_t table_row;                       // in elements
  size_t tap_scale, correction, weights;  // offsets
  size_t part_bytes, panel_bytes, group_bytes;
  uint16_t before[kMaxTaps + 1];  // parts of the taps before each one
  WinogradPayload(const WinogradScheme& s, const RhsLayout& layout, const ConvShape& shape);

  // Offset of the weight of output channel o, input channel i of those that a tap meets.
  size_t offset(const RhsLayout& layout, const ConvShape& shape, size_t o, size_t tap,
                size_t i) const {
    const size_t lane = o % shape.group_out(),
                 element = (i / layout.kr * layout.width + lane % layout.width) * layout.kr +
                           i % layout.kr;
    return weights + o / shape.group_out() * group_bytes + lane / layout.width * panel_bytes +
           before[tap] * part_bytes + element * element_size(layout.element_type);
  }
  size_t tap_bytes(size_t tap) const { return (before[tap + 1] - before[tap]) * part_bytes; }
};

const char* winograd_refuse(const WinogradScheme& s, const ConvShape& shape,
                            const ZeroPointRange& zero_points);
size_t winograd_payload_bytes(const WinogradScheme& s, const RhsLayout& layout,
                              const ConvShape& shape);
PackedPanels winograd_panels(const WinogradScheme& scheme, const RhsLayout& layout,
                             const ConvShape& shape, const uint8_t* payload);
bool winograd_pack(const WinogradScheme& s, const WeightFormat& format, const ConvShape& shape,
                   const FilterView& filter, const float* tap_ranges, const ColumnSums& sums,
                   uint8_t* payload);
// Tiles of an image, which are the units of tasks
size_t winograd_tiles(const WinogradScheme& s, size_t out_h, size_t out_w);
size_t winograd_block(const WinogradScheme& s, const ConvPlan& plan);  // in tiles
size_t winograd_task_workspace(const WinogradScheme& s, const ConvPlan& plan, size_t in_h,
                               size_t in_w, size_t out_h, size_t out_w);
void winograd_run(const WinogradScheme& s, const ConvPlan& plan, const ConvRun& run,
                  const ConvTask& task, uint8_t* workspace);

}  // namespace octet
