// SPDX-License-Identifier: Apache-2.0
// Grouped convolution: each group has as many output channels as input channels, 2 to 16. The GEMM
// kernels would multiply zeros: their panels hold several groups, which read different inputs.
#include <string.h>

#include "operators/conv/algorithms/byte_windows.h"
#include "operators/conv/algorithms/channelwise.h"
#include "operators/conv/algorithms/estimate.h"

namespace octet {
namespace {

const char* refuse(const ConvShape& s, const ZeroPointRange& zero_points) {
  if (s.transposed) return "the convolution is transposed";
  const size_t group = s.group_in();
  if (group != s.group_out() || (group != 2 && group != 4 && group != 8 && group != 16))
    return "groups do not have 2, 4, 8 or 16 channels, as many output as input channels";
  if (zero_points.any() && s.taps() > kMostOffsetPixels / group)
    return "windows of weights with zero points are too large";
  return nullptr;
}

size_t payload_bytes(const RhsLayout& layout, const ConvShape& s) {
  const bool offsets = layout == kGroupedOffsetLayout;
  size_t taps, slots, bytes, heads = 0;
  if (__builtin_mul_overflow(s.kernel_h, s.kernel_w, &taps) || taps > SIZE_MAX / 1024 ||
      s.out_channels > SIZE_MAX - layout.width ||
      __builtin_mul_overflow(taps, 4 * quads_of(s), &slots) ||
      __builtin_mul_overflow(layout.lanes(s.out_channels), slots, &bytes) ||
      (offsets &&
       __builtin_mul_overflow(divide_up(s.out_channels, layout.width), kOffsetHeadBytes, &heads)) ||
      __builtin_add_overflow(bytes, heads, &bytes))
    return 0;
  return bytes;
}

int32_t minus_zero_point(const FilterView& filter, size_t o, uint8_t w) {
  return (filter.type() == ElementType::kU8 ? w : (int8_t)w) - filter.zero_point(o);
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

// Writes an output channel's weights.
template <typename Value>
void write_channel(const ConvShape& s, const FilterView& filter, size_t o, const Value& value,
                   uint8_t* block) {
  for (size_t tap = 0; tap < s.taps(); ++tap)
    write_tap(s, filter, o, tap, value, block + tap * kGroupedBlock * 4 * quads_of(s));
}

// What an output channel's differences w - zero_point exceed int8 by, so that 0 less it is int8,
// too.
int32_t offset_of(const ConvShape& s, const FilterView& filter, size_t o) {
  int32_t least = 0, most = 0;
  for (size_t tap = 0; tap < s.taps(); ++tap)
    for (size_t i = 0; i < s.group_in(); ++i) {
      const int32_t difference =
          minus_zero_point(filter, o, filter.weight(s, o, tap / s.kernel_w, tap % s.kernel_w, i));
      least = difference < least ? difference : least;
      most = difference > most ? difference : most;
    }
  return most > 127 ? most - 127 : least < -128 ? least + 128 : 0;
}

bool pack(const WeightFormat& format, const ConvShape& s, const FilterView& filter, const float*,
          const ColumnSums& sums, uint8_t* payload) {
  const bool offsets = format.layout == kGroupedOffsetLayout;
  const uint8_t flip = filter.type() == ElementType::kU8 ? 0x80 : 0;
  memset(payload, 0, payload_bytes(format.layout, s));
  for (size_t o = 0; o < s.out_channels; ++o) {
    const size_t first = o / kGroupedBlock * kGroupedBlock;
    if (!offsets) {
      write_channel(
          s, filter, o, [&](uint8_t w) { return w ^ flip; }, payload + weights_at(s, first));
      continue;
    }
    const OffsetPanel panel(s, payload, first);
    const int32_t offset = offset_of(s, filter, o);
    // Of two groups of two channels each has the other's pixels in its sum
    for (size_t slot = 0; slot < s.taps() * quads_of(s); ++slot)
      memset((uint8_t*)panel.weights() + slot / quads_of(s) * kGroupedBlock * 4 * quads_of(s) +
                 grouped_position(quads_of(s), o - first, slot % quads_of(s)),
             (uint8_t)-offset, 4);
    ((int16_t*)panel.offsets())[o - first] = (int16_t)offset;
    write_channel(
        s, filter, o, [&](uint8_t w) { return minus_zero_point(filter, o, w) - offset; },
        (uint8_t*)panel.weights());
  }
  return sum_filter(s, filter, sums) && !offsets;
}

Estimate estimate(const ConvWork& w) {
  const ConvShape& s = w.shape;
  const TierCosts& cost = w.cost;
  const double
      blocks = (double)divide_up(s.out_channels, kGroupedLayout.width),
      lanes = (double)kGroupedLayout.lanes(s.out_channels),
      // Of real weights only the largest differences leave int8, so few panels have offsets
      slots = (double)s.taps() + (w.layout == kGroupedOffsetLayout ? 0.5 : 0),
      depth = slots * (double)(4 * quads_of(s)),
      partial = s.out_channels % kGroupedBlock ? cost.grouped_partial : 0;
  Estimate e = {};
  e.macs = w.outputs * (double)(s.taps() * s.group_in());
  e.bytes = w.traffic();
  e.compute =
      microseconds(w.pixels * lanes * (depth / cost.grouped_macs + cost.grouped_store) +
                   w.pixels * partial + (double)s.batch * w.out_h * blocks * cost.depthwise_line);
  e.compute *= byte_windows_share(w);
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
