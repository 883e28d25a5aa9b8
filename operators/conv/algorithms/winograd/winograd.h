// SPDX-License-Identifier: Apache-2.0
// Winograd's algorithm for 3x3 kernels: schemes, payload and functions shared by its files.
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
// matrix per tap, group_in deep. All panels are whole.
struct WinogradPayload {
  size_t table_row;                       // in elements
  size_t tap_scale, correction, weights;  // offsets
  size_t tap_bytes, panel_bytes, group_bytes;
  constexpr WinogradPayload(const WinogradScheme& s, const RhsLayout& layout,
                            const ConvShape& shape)
      : table_row(round_up(shape.out_channels, 64) + 64),  // output transforms read whole vectors
        tap_scale(sizeof(WinogradHeader)),
        correction(tap_scale + (s.int8() ? s.taps() * table_row * sizeof(float) : 0)),
        weights(correction + (s.int8() ? s.taps() * table_row * sizeof(int32_t) : 0)),
        tap_bytes(layout.lane_bytes(shape.group_in()) * layout.width),
        panel_bytes(s.taps() * tap_bytes),
        group_bytes(divide_up(shape.group_out(), layout.width) * panel_bytes) {}

  // Offset of the weight of output channel o, input channel i within its group, tap 0.
  constexpr size_t offset(const RhsLayout& layout, const ConvShape& shape, size_t o,
                          size_t i) const {
    const size_t lane = o % shape.group_out(),
                 element = (i / layout.kr * layout.width + lane % layout.width) * layout.kr +
                           i % layout.kr;
    return weights + o / shape.group_out() * group_bytes + lane / layout.width * panel_bytes +
           element * element_size(layout.element_type);
  }
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
