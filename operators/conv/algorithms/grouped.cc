// SPDX-License-Identifier: Apache-2.0
// Grouped convolution: each group has as many output channels as input channels, 2 to 16. The GEMM
// kernels would multiply zeros: their panels hold several groups, which read different inputs.
#include <string.h>

#include "operators/conv/algorithms/channelwise.h"
#include "operators/conv/algorithms/estimate.h"

namespace octet {
namespace {

const char* refuse(const ConvShape& s, const ZeroPointRange& zero_points) {
  if (s.transposed) return "the convolution is transposed";
  const size_t group = s.group_in();
  if (group != s.group_out() || (group != 2 && group != 4 && group != 8 && group != 16))
    return "groups do not have 2, 4, 8 or 16 channels, as many output as input channels";
  if (zero_points.widest() > 254) return "weights may be 255 from their zero points";
  return nullptr;
}

size_t payload_bytes(const RhsLayout& layout, const ConvShape& s) {
  const bool split = layout == kGroupedSplitLayout;
  size_t taps, slots, bytes, heads = 0;
  if (__builtin_mul_overflow(s.kernel_h, s.kernel_w, &taps) || taps > SIZE_MAX / 1024 ||
      s.out_channels > SIZE_MAX - layout.width ||
      __builtin_mul_overflow(taps, (split ? 2 : 1) * 4 * quads_of(s), &slots) ||
      __builtin_mul_overflow(layout.lanes(s.out_channels), slots, &bytes) ||
      (split && __builtin_mul_overflow(divide_up(s.out_channels, layout.width), split_head_bytes(s),
                                       &heads)) ||
      __builtin_add_overflow(bytes, heads, &bytes))
    return 0;
  return bytes;
}

int32_t minus_zero_point(const FilterView& filter, size_t o, uint8_t w) {
  return (filter.type() == ElementType::kU8 ? w : (int8_t)w) - filter.zero_point(o);
}

// Part 0 and 1 of a difference of at most 254. No part is -128.
int8_t part_of(int32_t difference, int part) {
  const int32_t first = difference > 127 ? 127 : difference < -127 ? -127 : difference;
  return (int8_t)(part ? difference - first : first);
}

// Writes the weights of output channel o for a tap. Two groups of two channels share a group of
// four, which holds zeros for the other group's channels. value(w) is the byte of a weight.
template <typename Value>
void write_tap(const ConvShape& s, const FilterView& filter, size_t o, size_t tap,
               const Value& value, uint8_t* to) {
  const size_t quads = quads_of(s), in = s.group_in();
  const size_t first = o / in * in % (4 * quads);  // first input channel of the joined group
  for (size_t i = 0; i < in; ++i)
    to[grouped_position(quads, o % kGroupedBlock, (first + i) / 4) + (first + i) % 4] =
        (uint8_t)value(filter.weight(s, o, tap / s.kernel_w, tap % s.kernel_w, i));
}

void pack_bytes(const ConvShape& s, const FilterView& filter, uint8_t* payload) {
  const uint8_t flip = filter.type() == ElementType::kU8 ? 0x80 : 0;
  for (size_t o = 0; o < s.out_channels; ++o) {
    uint8_t* const block = payload + weights_at(s, o / kGroupedBlock * kGroupedBlock);
    for (size_t tap = 0; tap < s.taps(); ++tap)
      write_tap(
          s, filter, o, tap, [&](uint8_t w) { return w ^ flip; },
          block + tap * kGroupedBlock * 4 * quads_of(s));
  }
}

// True if a weight of the tap, of channels [n0, n1), has a second part.
bool has_second(const ConvShape& s, const FilterView& filter, size_t n0, size_t n1, size_t tap) {
  for (size_t o = n0; o < n1; ++o)
    for (size_t i = 0; i < s.group_in(); ++i)
      if (part_of(minus_zero_point(filter, o,
                                   filter.weight(s, o, tap / s.kernel_w, tap % s.kernel_w, i)),
                  1))
        return true;
  return false;
}

void pack_split(const ConvShape& s, const FilterView& filter, uint8_t* payload) {
  constexpr size_t kPanel = kGroupedSplitLayout.width;
  const size_t taps = s.taps(), tap_bytes = kGroupedBlock * 4 * quads_of(s);
  for (size_t n0 = 0; n0 < s.out_channels; n0 += kPanel) {
    const size_t n1 = smaller(n0 + kPanel, s.out_channels);
    uint32_t* const head = (uint32_t*)(payload + split_panel_at(s, n0));
    uint32_t seconds = 0;
    for (size_t tap = 0; tap < taps; ++tap)
      if (has_second(s, filter, n0, n1, tap)) head[1 + seconds++] = (uint32_t)tap;
    *head = seconds;
    for (size_t o = n0; o < n1; ++o) {
      const SplitPanel panel(s, payload, o / kGroupedBlock * kGroupedBlock);
      for (size_t slot = 0; slot < panel.slots(); ++slot)
        write_tap(
            s, filter, o, slot < taps ? slot : panel.tap(slot - taps),
            [&](uint8_t w) { return part_of(minus_zero_point(filter, o, w), slot >= taps); },
            payload + (panel.weights() - payload) + slot * tap_bytes);
    }
  }
}

bool pack(const WeightFormat& format, const ConvShape& s, const FilterView& filter, const float*,
          const ColumnSums& sums, uint8_t* payload) {
  const bool split = format.layout == kGroupedSplitLayout;
  memset(payload, 0, payload_bytes(format.layout, s));
  (split ? pack_split : pack_bytes)(s, filter, payload);
  return sum_filter(s, filter, sums) && !split;
}

// Slots per tap of weights with zero points, a guess: of real weights only the largest have second
// parts, so most panels have few.
constexpr double kSplitSlots = 1.25;

Estimate estimate(const ConvWork& w) {
  const ConvShape& s = w.shape;
  const TierCosts& cost = w.cost;
  const double blocks = (double)divide_up(s.out_channels, kGroupedLayout.width),
               lanes = (double)kGroupedLayout.lanes(s.out_channels),
               slots = (double)s.taps() * (w.layout == kGroupedSplitLayout ? kSplitSlots : 1),
               depth = slots * (double)(4 * quads_of(s)),
               partial = s.out_channels % kGroupedBlock ? cost.grouped_partial : 0;
  Estimate e = {};
  e.macs = w.outputs * (double)(s.taps() * s.group_in());
  e.bytes = w.traffic();
  e.compute =
      microseconds(w.pixels * lanes * (depth / cost.grouped_macs + cost.grouped_store) +
                   w.pixels * partial + (double)s.batch * w.out_h * blocks * cost.depthwise_line);
  e.memory = microseconds(e.bytes / w.bandwidth(e.bytes));
  e.transform = microseconds(w.epilogue_cycles());
  return e;
}

}  // namespace

const ConvAlgorithm grouped_algorithm = channelwise({
    .name = "grouped",
    .operands = KernelKind::kGrouped,
    .keeps_u8 = false,
    .refuse = refuse,
    .payload_bytes = payload_bytes,
    .pack = pack,
    .estimate = estimate,
});

}  // namespace octet
