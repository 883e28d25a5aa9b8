// Weights in the GEMM's panels: the payload of the direct and of the im2col form.
//
//     group sums, s32[tap groups][output channels, rounded up to 16]
//     | per group of channels: panels, lanes(group_out) x padded depth
//
// A group sum is the sum of w - zero_point over the taps of a group; a run needs it where a tile
// leaves groups out.
#pragma once

#include "operators/conv/algorithms/taps.h"

namespace octet {

using ConvShapeFn = ConvShape(const RhsLayout& layout, const ConvShape& given);

struct ConvPanels {
  const int32_t* group_sums;
  size_t group_sums_stride;  // elements from one tap group to the next
  const uint8_t* panels;
  size_t panels_stride;  // bytes from one group of channels to the next
  size_t lanes, depth;   // of the panels of a group of channels, in the layout's terms

  const uint8_t* of_group(size_t group) const { return panels + group * panels_stride; }
};

// Shapes with their groups joined and phases as columns, but for `given`, which the filter is
// stored for.
// 0 if they leave size_t
size_t panels_bytes(const RhsLayout& layout, const ConvShape& shape, const Taps& taps);
bool pack_panels(const RhsLayout& layout, const ConvShape& given, const ConvShape& shape,
                 const Taps& taps, const FilterView& filter, const ColumnSums& sums,
                 uint8_t* payload);

// Without a payload, how they would lie.
ConvPanels read_panels(const RhsLayout& layout, const ConvShape& shape, const Taps& taps,
                       const uint8_t* payload);

// A method's payload_bytes, pack and pairs, with the shape that it makes of the given one and the
// taps it cuts the weights into.
template <Taps (*taps_of)(const ConvShape&), ConvShapeFn shape_of>
size_t panels_payload_bytes(const RhsLayout& layout, const ConvShape& given) {
  const ConvShape shape = shape_of(layout, given);
  return panels_bytes(layout, shape, taps_of(shape));
}
template <Taps (*taps_of)(const ConvShape&), ConvShapeFn shape_of>
bool pack_payload(const RhsLayout& layout, const ConvShape& given, const FilterView& filter,
                  const float*, const ColumnSums& sums, uint8_t* payload) {
  const ConvShape shape = shape_of(layout, given);
  return pack_panels(layout, given, shape, taps_of(shape), filter, sums, payload);
}

template <Taps (*taps_of)(const ConvShape&), ConvShapeFn shape_of>
PairedWeights panels_in_pairs(const RhsLayout& layout, const ConvShape& given,
                              const uint8_t* payload) {
  const ConvShape shape = shape_of(layout, given);
  const Taps taps = taps_of(shape);
  const ConvPanels p = read_panels(layout, shape, taps, payload);
  return {p.lanes, taps.count, taps.depth, shape.groups, p.panels_stride, p.panels};
}

// Whether the bytes that stand for 0 where a channel's inputs are another group's, or a phase lacks
// a position, include -128 in s8. Of the direct form.
bool fills_with_int8_min(const RhsLayout& layout, const ConvShape& given, const FilterView& filter);

}  // namespace octet
