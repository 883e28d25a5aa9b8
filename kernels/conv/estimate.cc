#include "kernels/conv/estimate.h"

namespace octet {
namespace {

// Read by one core, per cycle.
constexpr double kL2Bytes = 50, kL3Bytes = 10, kSharedL3Bytes = 7, kMemoryBytes = 2.9;
// im2col and staging: bytes per cycle, cycles of each run of bytes.
constexpr double kCopyBytes = 7, kCopy = 18;
// Cycles: to find a row of a tap, to gather it.
constexpr double kPoint = 3, kGather = 12;

}  // namespace

ConvWork::ConvWork(const ConvShape& s, const RhsLayout& weight_layout, const TierCosts& costs,
                   size_t l2_bytes, size_t l3_bytes)
    : shape(s),
      layout(weight_layout),
      cost(costs),
      l2((double)l2_bytes),
      l3((double)l3_bytes),
      out_h((double)conv_out_h(s, s.in_h)),
      out_w((double)conv_out_w(s, s.in_w)),
      pixels((double)s.batch * out_h * out_w),
      outputs(pixels * (double)s.out_channels),
      inputs((double)s.batch * (double)(s.in_h * s.in_w) * (double)s.in_channels),
      weights((double)layout.stored(s.taps() * s.group_in() * s.out_channels)) {}

double ConvWork::bandwidth(double bytes, bool prefetched) const {
  return bytes <= l2                 ? kL2Bytes
         : bytes <= l3 / 2           ? kL3Bytes
         : bytes <= l3 && prefetched ? kSharedL3Bytes
                                     : kMemoryBytes;
}

PanelWork::PanelWork(const ConvWork& w, const ConvShape& s, double taps_each, size_t tap_depth)
    : shape(s),
      taps(taps_each),
      depth(tap_depth),
      windows(w.pixels * (double)s.groups * taps * (double)depth),
      tiles(w.pixels / (double)w.cost.mr * (double)divide_up(s.group_out(), w.cost.nr) *
            (double)s.groups) {}

Estimate estimate_panels(const ConvWork& w, const PanelWork& p) {
  const TierCosts& cost = w.cost;
  const ConvShape& s = p.shape;
  const double lanes = (double)w.layout.lanes(s.group_out()) * (double)s.groups;
  Estimate e = {};
  e.macs = w.pixels * lanes * p.taps * (double)w.layout.depth(p.depth);
  e.compute = microseconds(e.macs / cost.macs +
                           p.tiles * (cost.tile + (s.pointwise() ? 0 : cost.tile_tap * p.taps)));
  e.bytes = w.traffic() + p.traffic;
  e.memory = microseconds(e.bytes / w.bandwidth(e.bytes));
  double cycles = p.points * kPoint;
  if (cost.gather > 0) cycles += p.windows / cost.gather + p.gathers * kGather;
  cycles += p.copied / kCopyBytes + p.copies * kCopy;
  e.transform = microseconds(cycles);
  return e;
}

}  // namespace octet
