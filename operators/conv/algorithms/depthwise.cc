// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution: each output channel reads one input channel.
#include <string.h>

#include "operators/conv/algorithms/channelwise.h"
#include "operators/conv/algorithms/estimate.h"

namespace octet {
namespace {

const char* refuse(const ConvShape& shape, const ZeroPointRange&) {
  if (shape.transposed) return "the convolution is transposed";
  if (shape.group_in() != 1) return "a group has more than one input channel";
  return nullptr;
}

size_t payload_bytes(const RhsLayout& layout, const ConvShape& shape) {
  size_t bytes, slots;
  if (__builtin_mul_overflow(shape.kernel_h, shape.kernel_w, &slots) || slots > SIZE_MAX - 3 ||
      shape.out_channels > SIZE_MAX - layout.width)
    return 0;
  return __builtin_mul_overflow(round_up(shape.out_channels, layout.width),
                                slot_groups(shape) * layout.kr * element_size(layout.element_type),
                                &bytes)
             ? 0
             : bytes;
}

// Writes one weight per channel. value(o, byte) converts a weight of output channel o.
template <typename Weight, typename Value>
void pack_weights(const ConvShape& shape, const FilterView& filter, const Value& value,
                  uint8_t* payload) {
  for (size_t o = 0; o < shape.out_channels; ++o) {
    Weight* const panel = (Weight*)payload + weights_at(shape, o);
    for (size_t ky = 0; ky < shape.kernel_h; ++ky)
      for (size_t kx = 0; kx < shape.kernel_w; ++kx) {
        const size_t slot = slot_of(shape, ky, kx);
        panel[slot / 4 * kDepthwiseGroup + slot % 4] =
            (Weight)value(o, filter.weight(shape, o, ky, kx, 0));
      }
  }
}

// int8 weights are stored as they are, int16 weights minus their zero points.
bool pack(const WeightFormat& format, const ConvShape& shape, const FilterView& filter,
          const float*, const ColumnSums& sums, uint8_t* payload) {
  memset(payload, 0, payload_bytes(format.layout, shape));
  if (format.layout.element_type == ElementType::kS16) {
    pack_weights<int16_t>(
        shape, filter,
        [&](size_t o, uint8_t w) {
          return (filter.type() == ElementType::kU8 ? w : (int8_t)w) - filter.zero_point(o);
        },
        payload);
  } else {
    const uint8_t flip = filter.type() == ElementType::kU8 ? 0x80 : 0;
    pack_weights<uint8_t>(
        shape, filter, [&](size_t, uint8_t w) { return w ^ flip; }, payload);
  }
  return sum_filter(shape, filter, sums);
}

// Cycles per byte of a copied line, in which a channel is repeated as often as outputs read it.
double spread(size_t multiplier) {
  return multiplier == 1   ? 0
         : multiplier == 2 ? 0.5
         : multiplier == 4 ? 0.3
                           : 0.25 + 2.4 / (double)multiplier;
}

// The share of panels with zero points that the int16 kernel multiplies, a guess: Int8Panels says
// why few need it.
constexpr double kInt16Panels = 0.25;

// Fewer taps take no less time: pointing at them and the epilogue bound such tiles (AVX2 and both
// VNNI tiers, Emerald Rapids, 2026-12-01).
constexpr size_t kLeastTaps = 7;

Estimate estimate(const ConvWork& w) {
  const ConvShape& s = w.shape;
  const TierCosts& cost = w.cost;
  const double int16 = w.layout.element_type == ElementType::kS16 ? kInt16Panels : 0;
  const double blocks = (double)divide_up(s.out_channels, cost.depthwise_lanes);
  Estimate e = {};
  e.macs = w.outputs * (double)s.taps();
  e.bytes = w.traffic();
  e.compute =
      microseconds(w.pixels * blocks * (double)cost.depthwise_lanes * cost.depthwise *
                       (1 + int16 * (cost.depthwise_int16 - 1)) * (s.stride_w > 1 ? 1.5 : 1) *
                       (double)larger(s.taps(), kLeastTaps) / 9 +
                   (double)s.batch * w.out_h * blocks * cost.depthwise_line);
  e.memory = microseconds(e.bytes / w.bandwidth(e.bytes));
  e.transform =
      microseconds(w.inputs * (double)s.group_out() * spread(s.group_out()) + w.epilogue_cycles());
  return e;
}

}  // namespace

const ConvAlgorithm depthwise_algorithm = channelwise({
    .name = "depthwise",
    .operands = KernelKind::kDepthwise,
    .refuse = refuse,
    .payload_bytes = payload_bytes,
    .pack = pack,
    .estimate = estimate,
});

}  // namespace octet
