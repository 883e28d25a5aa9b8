// SPDX-License-Identifier: Apache-2.0
// Packs a filter into the GEMM's panels.
#include "operators/conv/algorithms/panels.h"

#include <string.h>

#include "kernels/core/limits.h"

namespace octet {
namespace {

size_t sums_stride(const ConvShape& s) {
  return round_up(s.out_channels, kAlignment / sizeof(int32_t));
}
size_t sums_bytes(const ConvShape& s, const Taps& taps) {
  return taps.groups * sums_stride(s) * sizeof(int32_t);
}

// Bytes of the panels of a channel group.
size_t group_bytes(const RhsLayout& layout, const ConvShape& s, size_t lane_bytes) {
  return round_up(layout.lanes(s.group_out()) * lane_bytes, kAlignment);
}

// Packs the view, which begins at `element` of the filter, as Packing::pack_lanes does.
void pack_lanes(const WeightFormat& format, const FilterView& f, const LaneView& view,
                size_t element, const uint8_t* zeros, size_t width, size_t offset, uint8_t* panel) {
  f.for_each_part(view, element, [&](const LaneView& part, size_t lane, size_t k) {
    format.packing->pack_lanes(format.layout, part, zeros + lane, width, offset + k,
                               panel + lane * format.layout.group_bytes());
  });
}

// Adds a column's sums for each group of taps, where columns are phases of output channels.
void sum_phase(const FilterView& f, const ConvShape& given, const ConvShape& s, const Taps& taps,
               size_t column, size_t stride, int32_t* group_sums) {
  const size_t o = column % given.out_channels, phase = column / given.out_channels;
  for (size_t t = 0; t < taps.groups; ++t) {
    WeightSums group = {};
    for_each_position(s, t, [&](size_t ky, size_t kx) {
      const size_t x = kx * s.phases + phase;
      if (x < given.kernel_w) group += f.sum_position(given, o, ky, x, 0, given.group_in());
    });
    group_sums[t * stride + column] = group.total();
  }
}

// Sums of all weights of an output channel, and of each group of taps.
WeightSums sum_taps(const FilterView& f, const ConvShape& given, const Taps& taps, size_t o,
                    size_t stride, int32_t* group_sums) {
  if (taps.groups == 1) {
    const WeightSums all = f.sum_channel(given, o);
    group_sums[o] = all.total();
    return all;
  }
  // Each group is a kernel row, whose weights are contiguous
  const bool rows = f.in_order(given) && !given.transposed;
  WeightSums all = {};
  for (size_t t = 0; t < taps.groups; ++t) {
    WeightSums group = {};
    if (rows)
      group = f.sum_position(given, o, t, 0, 0, given.kernel_w * given.group_in());
    else
      for_each_position(given, t, [&](size_t ky, size_t kx) {
        group += f.sum_position(given, o, ky, kx, 0, given.group_in());
      });
    group_sums[t * stride + o] = group.total();
    all += group;
  }
  return all;
}

// Stores the sums of columns [column, end). Returns true if a weight is -128 in s8.
bool sum_columns(const FilterView& f, const ConvShape& given, const ConvShape& s, const Taps& taps,
                 size_t column, size_t end, const ColumnSums& sums, int32_t* group_sums) {
  const size_t stride = sums_stride(s);
  bool has_int8_min = false;
  for (; column < end; ++column)
    if (s.phases > 1)
      sum_phase(f, given, s, taps, column, stride, group_sums);
    else
      has_int8_min |= sums.store(column, sum_taps(f, given, taps, column, stride, group_sums));
  return has_int8_min;
}

}  // namespace

size_t panels_bytes(const RhsLayout& layout, const ConvShape& s, const Taps& taps) {
  size_t bytes, sums;
  if (__builtin_mul_overflow(taps.groups, sums_stride(s) * sizeof(int32_t), &sums) ||
      __builtin_mul_overflow(s.groups, round_up(layout.lanes(s.group_out()), kAlignment), &bytes) ||
      __builtin_mul_overflow(bytes, taps.lane_bytes(layout), &bytes) ||
      __builtin_add_overflow(bytes, sums, &bytes))
    return 0;
  const size_t group = group_bytes(layout, s, taps.lane_bytes(layout));
  return sums + s.groups * group;
}

bool fills_with_int8_min(const RhsLayout& layout, const ConvShape& given,
                         const FilterView& filter) {
  const ConvShape s = direct_columns(layout, given);
  if ((s.groups == given.groups && !s.full_phases) || layout.element_type != ElementType::kS8)
    return false;
  const int32_t least = filter.type() == ElementType::kU8 ? 0 : -128;
  bool fills = false;
  for (size_t i = 0; i < larger(filter.zero_point_count, 1); ++i)
    fills |= filter.zero_point(i) == least;
  return fills;
}

bool pack_panels(const WeightFormat& format, const ConvShape& given, const ConvShape& s,
                 const Taps& taps, const FilterView& filter, const ColumnSums& sums,
                 uint8_t* payload) {
  const RhsLayout& layout = format.layout;
  const Packing& packing = *format.packing;
  int32_t* const group_sums = (int32_t*)payload;
  memset(payload, 0, sums_bytes(s, taps));
  bool has_int8_min = fills_with_int8_min(layout, given, filter);
  const ConvPanels p = read_panels(layout, s, taps, payload);
  // Positions are taps of their own, or follow each other in the only one
  const bool one_tap = taps.count == 1;
  const size_t step = one_tap ? s.position() : layout.steps(taps.depth),
               tap_lane = layout.lane_bytes(taps.depth);
  const uint8_t flip = type_shift(filter.type(), layout.element_type) ? 0x80 : 0;
  const bool joined = given.groups != s.groups,
             no_gaps = step == given.group_in() && (one_tap || !layout.has_tables()),
             at_once =
                 no_gaps && !joined && filter.in_order(given) && !s.transposed && !s.padded_lines,
             fills = no_gaps && layout.bits == 8 && step * s.taps() == p.lane_bytes;
  // Packs lanes together if they are of one of the caller's groups or phases and contiguous in one
  // panel.
  const size_t together = joined || s.phases > 1 ? given.group_out() : layout.width;
  for (size_t g = 0; g < s.groups; ++g) {
    uint8_t* const group = (uint8_t*)p.of_group(g);
    const size_t used = p.lanes * p.lane_bytes;
    memset(group + used, 0, p.panels_stride - used);
    for (size_t local = 0, lanes; local < s.group_out(); local += lanes) {
      const size_t panel = local / layout.width * layout.width, column = g * s.group_out() + local,
                   o = column % given.out_channels, phase = column / given.out_channels;
      lanes = smaller(smaller(together - local % together, panel + layout.width - local),
                      s.group_out() - local);
      const size_t width = layout.panel_width(panel, s.group_out());
      uint8_t* first = group + panel * p.lane_bytes + (local - panel) * layout.group_bytes();
      if (local == panel && (!fills || lanes != width || s.full_phases))
        memset(first, 0, width * p.lane_bytes);
      // Sums are taken while the weights are in the cache.
      has_int8_min |= sum_columns(filter, given, s, taps, column, column + lanes, sums, group_sums);
      uint8_t zeros[kMaxTileColumns];
      for (size_t lane = 0; lane < lanes; ++lane)
        zeros[lane] = (uint8_t)filter.zero_point(o + lane);
      LaneView view = {nullptr, filter.o_stride, filter.i_stride, lanes, given.group_in(), flip};
      if (at_once) {
        view.depth *= s.taps();
        pack_lanes(format, filter, view, filter.at(given, o, 0, 0, 0), zeros, width, 0, first);
        continue;
      }
      // Where the channels' own inputs begin
      const size_t own = joined ? local / given.group_out() * given.group_in() : 0;
      size_t offset = 0;
      for (size_t t = 0; t < taps.groups; ++t) {
        if (s.padded_lines) offset = t * line_depth(s);
        for_each_position(s, t, [&](size_t ky, size_t kx) {
          // Weights that stand for 0 fill the places of inputs that belong to other groups of a
          // joined group, and of positions that a phase lacks.
          const size_t x = kx * s.phases + phase;
          for (size_t lane = 0; (joined || x >= given.kernel_w) && lane < lanes; ++lane)
            if (zeros[lane] != flip)
              packing.pack_lanes(layout, {&zeros[lane], 0, 0, 1, s.group_in(), flip}, &zeros[lane],
                                 width, offset, first + lane * layout.group_bytes());
          if (x < given.kernel_w) {
            pack_lanes(format, filter, view, filter.at(given, o, ky, x, 0), zeros, width,
                       offset + own, first);
          }
          if (one_tap)
            offset += step;
          else
            first += width * tap_lane;
        });
      }
    }
    if (packing.complete) packing.complete(layout, p.lanes, taps.count, taps.depth, group);
  }
  if (s.phases > 1) has_int8_min |= sum_filter(given, filter, sums);
  if (!packing.holds_int8_min) return has_int8_min;
  bool found = false;
  for (size_t g = 0; g < s.groups; ++g)
    found |= packing.holds_int8_min(layout, p.of_group(g), p.lanes * p.lane_bytes);
  return found;
}

ConvPanels read_panels(const RhsLayout& layout, const ConvShape& s, const Taps& taps,
                       const uint8_t* payload) {
  const size_t lane_bytes = taps.lane_bytes(layout);
  return {(const int32_t*)payload,
          sums_stride(s),
          payload ? payload + sums_bytes(s, taps) : nullptr,
          group_bytes(layout, s, lane_bytes),
          layout.lanes(s.group_out()),
          lane_bytes};
}

}  // namespace octet
