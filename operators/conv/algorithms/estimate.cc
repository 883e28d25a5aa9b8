// SPDX-License-Identifier: Apache-2.0
// The cost model that the algorithms' estimates share.
#include "operators/conv/algorithms/estimate.h"

namespace octet {
namespace {

constexpr double kOneCoresL3 = 64 << 20;
// Share of L3's bandwidth that remains where other cores use L3, too.
constexpr double kContended = 0.9;
// Share of a tile's fixed cost that does not depend on how many of its columns are used.
constexpr double kTileFixed = 0.3;
// From this depth of a tap and of all taps on, few columns are multiplied in a way of their own.
constexpr size_t kDeepTap = 16;
constexpr double kDeep = 128;

}  // namespace

ConvWork::ConvWork(const ConvShape& s, const RhsLayout& weight_layout, const TierCosts& costs,
                   size_t l2_bytes, size_t l3_bytes, const OutputFacts& facts)
    : shape(s),
      layout(weight_layout),
      cost(costs),
      l2((double)l2_bytes),
      l3((double)l3_bytes),
      output(facts),
      out_h((double)conv_out_h(s, s.in_h)),
      out_w((double)conv_out_w(s, s.in_w)),
      pixels((double)s.batch * out_h * out_w),
      outputs(pixels * (double)s.out_channels),
      inputs((double)s.batch * (double)(s.in_h * s.in_w) * (double)s.in_channels),
      // int16 weights count once, as the caller has them
      weights((double)(s.taps() * s.group_in() * s.out_channels) * (double)smaller(layout.bits, 8) /
              8),
      output_bytes(outputs * (double)larger(output.bytes, 1)),
      rows(cost.step ? (double)round_up((size_t)pixels, cost.mr) : pixels) {}

double ConvWork::bandwidth(double bytes, bool prefetched) const {
  return bytes <= l2                 ? cost.l2_bytes
         : bytes > kOneCoresL3       ? cost.memory_bytes
         : bytes <= l3 / 2           ? cost.l3_bytes
         : bytes <= l3 && prefetched ? kContended * cost.l3_bytes
                                     : cost.memory_bytes;
}

PanelWork::PanelWork(const ConvWork& w, const ConvShape& s, double taps_each, size_t tap_depth)
    : shape(s),
      taps(taps_each),
      depth(tap_depth),
      windows(w.pixels * (double)s.groups * taps * (double)depth),
      tiles(w.rows / (double)w.cost.mr * (double)divide_up(s.group_out(), w.cost.nr) *
            (double)s.groups) {}

Estimate estimate_panels(const ConvWork& w, const PanelWork& p) {
  const TierCosts& cost = w.cost;
  const ConvShape& s = p.shape;
  const size_t last = s.group_out() % cost.nr,
               lanes_each = cost.half_tile && last && 2 * last <= cost.nr
                                ? s.group_out() - last + cost.half_tile
                                : w.layout.lanes(s.group_out());
  const double lanes = (double)lanes_each * (double)s.groups;
  const double columns = (double)(round_up(s.group_out(), cost.nr) * s.groups),
               used = lanes < columns ? lanes / columns : 1,
               tile = cost.tile * (kTileFixed + (1 - kTileFixed) * used);
  // Tables count as if they were weights
  const double depth = (double)(w.layout.lane_bytes(p.depth) * 8 / w.layout.bits);
  const bool deep = p.depth >= kDeepTap && p.taps * (double)p.depth >= kDeep;
  const double few = !deep || s.group_out() > 8 ? 1 : s.group_out() > 4 ? cost.few_8 : cost.few_4;
  Estimate e = {};
  // Registers take the last steps in the time of a whole register's
  double steps = p.taps * depth;
  if (cost.step && (size_t)depth % cost.step && steps > cost.step)
    steps = (double)round_up((size_t)steps, cost.step);
  e.macs = w.rows * lanes * steps;
  e.compute = microseconds(e.macs / (cost.macs * few) +
                           p.tiles * (tile + (s.pointwise() ? 0 : cost.tile_tap * p.taps)));
  e.bytes = w.traffic() + p.traffic;
  e.memory = microseconds(e.bytes / w.bandwidth(e.bytes));
  double cycles = p.points * cost.point + p.rows_copied / cost.l2_bytes + w.epilogue_cycles();
  if (cost.gather > 0) cycles += p.windows / cost.gather + p.gathers * cost.gather_row;
  cycles += p.copied / cost.copy_bytes + p.copies * cost.copy;
  e.transform = microseconds(cycles);
  return e;
}

}  // namespace octet
