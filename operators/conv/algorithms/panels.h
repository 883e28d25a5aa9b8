// SPDX-License-Identifier: Apache-2.0
// Weights in the GEMM's panels: the payload of the direct and im2col algorithms.
//
//   group sums, s32[tap groups][output channels, rounded up to 16] |
//   per group of channels: panels, lanes(group_out) x padded depth
//
// A group sum is the sum of w - zero_point over the taps of a group; a run needs it where a tile
// skips groups.
#pragma once

#include "operators/conv/algorithms/taps.h"

namespace octet {

using ConvShapeFn = ConvShape(const RhsLayout& layout, const ConvShape& given);

struct ConvPanels {
  const int32_t* group_sums;
  size_t group_sums_stride;  // elements from one tap group to the next
  const uint8_t* panels;
  size_t panels_stride;      // bytes from one group of channels to the next
  size_t lanes, lane_bytes;  // of a channel group's panels

  const uint8_t* of_group(size_t group) const { return panels + group * panels_stride; }
};

// Shapes have their groups joined and phases as columns, except `given`, the shape of the stored
// filter. 0 if the bytes exceed size_t
size_t panels_bytes(const RhsLayout& layout, const ConvShape& shape, const Taps& taps);
bool pack_panels(const WeightFormat& format, const ConvShape& given, const ConvShape& shape,
                 const Taps& taps, const FilterView& filter, const ColumnSums& sums,
                 uint8_t* payload);

// Reads the payload's parts. Without a payload, only their arrangement.
ConvPanels read_panels(const RhsLayout& layout, const ConvShape& shape, const Taps& taps,
                       const uint8_t* payload);

// An algorithm's payload_bytes, pack and panels. shape_of rewrites the caller's shape, taps_of cuts
// the weights into taps.
template <Taps (*taps_of)(const ConvShape&), ConvShapeFn shape_of>
size_t panels_payload_bytes(const RhsLayout& layout, const ConvShape& given) {
  const ConvShape shape = shape_of(layout, given);
  return panels_bytes(layout, shape, taps_of(shape));
}
template <Taps (*taps_of)(const ConvShape&), ConvShapeFn shape_of>
bool pack_payload(const WeightFormat& format, const ConvShape& given, const FilterView& filter,
                  const float*, const ColumnSums& sums, uint8_t* payload) {
  const ConvShape shape = shape_of(format.layout, given);
  return pack_panels(format, given, shape, taps_of(shape), filter, sums, payload);
}

template <Taps (*taps_of)(const ConvShape&), ConvShapeFn shape_of>
PackedPanels panels_of_payload(const RhsLayout& layout, const ConvShape& given,
                               const uint8_t* payload) {
  const ConvShape shape = shape_of(layout, given);
  const Taps taps = taps_of(shape);
  const ConvPanels p = read_panels(layout, shape, taps, payload);
  return {p.lanes, taps.count, taps.depth, shape.groups, p.panels_stride, p.panels};
}

// True if a byte that stands for 0 (a joined channel's other inputs, a phase's missing position) is
// -128 in s8. For the direct algorithm.
bool fills_with_int8_min(const RhsLayout& layout, const ConvShape& given, const FilterView& filter);

}  // namespace octet
