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
  if (zero_points.any()) return "weights have zero points";
  return nullptr;
}

size_t payload_bytes(const RhsLayout& layout, const ConvShape& s) {
  size_t slots, bytes;
  return __builtin_mul_overflow(s.kernel_h, s.kernel_w, &slots) ||
                 s.out_channels > SIZE_MAX - layout.step ||
                 __builtin_mul_overflow(slots, 4 * quads_of(s), &slots) ||
                 __builtin_mul_overflow(layout.lanes(s.out_channels), slots, &bytes)
             ? 0
             : bytes;
}

// Two groups of two channels share a group of four, which holds zeros for the other group's
// channels.
bool pack(const WeightFormat& format, const ConvShape& s, const FilterView& filter, const float*,
          const ColumnSums& sums, uint8_t* payload) {
  memset(payload, 0, payload_bytes(format.layout, s));
  const uint8_t flip = filter.type == ElementType::kU8 ? 0x80 : 0;
  const size_t quads = quads_of(s), in = s.group_in(), tap_bytes = kGroupedBlock * 4 * quads;
  for (size_t o = 0; o < s.out_channels; ++o) {
    const size_t first = o / in * in % (4 * quads);  // first input channel of the joined group
    uint8_t* tap = payload + weights_at(s, o / kGroupedBlock * kGroupedBlock);
    for (size_t ky = 0; ky < s.kernel_h; ++ky)
      for (size_t kx = 0; kx < s.kernel_w; ++kx, tap += tap_bytes)
        for (size_t i = 0; i < in; ++i)
          tap[grouped_position(quads, o % kGroupedBlock, (first + i) / 4) + (first + i) % 4] =
              *filter.at(s, o, ky, kx, i) ^ flip;
  }
  return sum_filter(s, filter, sums);
}

Estimate estimate(const ConvWork& w) {
  const ConvShape& s = w.shape;
  const TierCosts& cost = w.cost;
  const double blocks = (double)divide_up(s.out_channels, kGroupedLayout.width),
               lanes = (double)kGroupedLayout.lanes(s.out_channels),
               depth = (double)(s.taps() * 4 * quads_of(s)),
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
