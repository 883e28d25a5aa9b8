#include "dispatch/conv_plan.h"

#include <stdio.h>

#include "dispatch/tables/tiers.h"
#include "kernels/conv/taps.h"

namespace octet {
namespace {

constexpr double kGigahertz = 3.5;  // nominal: only ratios decide
// Read by one core, per cycle.
constexpr double kL2Bytes = 50, kL3Bytes = 10, kSharedL3Bytes = 7, kMemoryBytes = 2.9;
// im2col and staging: bytes per cycle, cycles of each run of bytes.
constexpr double kCopyBytes = 7, kCopy = 18;
// Cycles: to find a row of a tap, to gather it, of a call of a word kernel, of each value in a call
// of a transform.
constexpr double kPoint = 3, kGather = 12, kWordCall = 60, kTransformCall = 4;

struct Work {
  const ConvProblem& p;
  const ConvShape& s;
  const TierCosts& cost;
  double l2, l3;  // bytes
  double out_h, out_w, pixels, outputs, inputs, weights;

  explicit Work(const ConvProblem& problem)
      : p(problem),
        s(problem.shape),
        cost(tier_of(problem.isa).costs),
        l2(p.l2_bytes ? (double)p.l2_bytes : 512e3),
        l3(p.l3_bytes ? (double)p.l3_bytes : 8e6),
        out_h((double)conv_out_h(s, s.in_h)),
        out_w((double)conv_out_w(s, s.in_w)),
        pixels((double)s.batch * out_h * out_w),
        outputs(pixels * (double)s.out_channels),
        inputs((double)s.batch * (double)(s.in_h * s.in_w) * (double)s.in_channels),
        weights((double)(s.taps() * s.group_in() * s.out_channels)) {}

  // Bytes per cycle from where `bytes` of operands live between two uses. Half of L3 is others';
  // prefetching kernels use what they can get of it.
  double bandwidth(double bytes, bool prefetched = false) const {
    return bytes <= l2                 ? kL2Bytes
           : bytes <= l3 / 2           ? kL3Bytes
           : bytes <= l3 && prefetched ? kSharedL3Bytes
                                       : kMemoryBytes;
  }
  static double microseconds(double cycles) { return cycles / (kGigahertz * 1e3); }
};

// Compute and traffic overlap: the longer of the two counts, and a fifth of the other.
void total(Candidate* c) {
  const double longer = c->compute > c->memory ? c->compute : c->memory,
               shorter = c->compute > c->memory ? c->memory : c->compute;
  c->microseconds = longer + 0.2 * shorter + c->transform;
}

// The share of kernel rows that lie inside the image, over all output lines: the direct form leaves
// the others out.
double used_rows(const ConvShape& s) {
  const size_t out_h = conv_out_h(s, s.in_h);
  double used = 0;
  for (size_t ky = 0; ky < s.kernel_h; ++ky) {
    // Lines y with pad_top <= y * stride + ky * dilation < pad_top + in_h.
    const size_t offset = ky * s.dilation_h;
    const size_t first = offset >= s.pad_top ? 0 : divide_up(s.pad_top - offset, s.stride_h);
    const size_t end =
        offset >= s.pad_top + s.in_h ? 0 : divide_up(s.pad_top + s.in_h - offset, s.stride_h);
    if (smaller(end, out_h) > first) used += (double)(smaller(end, out_h) - first);
  }
  return used / ((double)out_h * (double)s.kernel_h);
}

void direct(const Work& w, bool im2col, Candidate* c) {
  const TierCosts& cost = w.cost;
  const RhsLayout layout = conv_layout(OCTET_CONV_DIRECT, w.p.isa, w.p.rhs_u8);
  const ConvShape s = joined_groups(layout, w.s);
  const Taps taps = direct_taps(s);
  const bool windows_copied = copies_windows(s);
  const double count = im2col ? 1 : (double)taps.count,
               depth = im2col ? (double)(s.taps() * s.group_in()) : (double)taps.depth;
  // Each output uses one phase's taps
  const double phases = s.transposed && !im2col ? (double)(s.stride_h * s.stride_w) : 1;
  // What is left out at the sides depends on a zero point that nobody knows yet.
  const double used = im2col || s.transposed || windows_copied ? 1 : used_rows(s);
  const double groups = (double)s.groups, strips = (double)divide_up(s.group_out(), cost.nr);
  const double lanes = (double)layout.lanes(s.group_out()) * groups,
               taps_each = count * used / phases;
  c->macs = w.pixels * lanes * taps_each * (double)round_up((size_t)depth, layout.kr);
  double tiles = w.pixels / (double)cost.mr * strips * groups;
  if (s.transposed && !im2col) {  // they run along the longer side of a phase
    const size_t lines = divide_up((size_t)w.out_h, s.stride_h),
                 columns = divide_up((size_t)w.out_w, s.stride_w);
    tiles = (double)s.batch * phases * (double)smaller(lines, columns) *
            (double)divide_up(larger(lines, columns), cost.mr) * strips * groups;
  }
  c->compute = Work::microseconds(
      c->macs / cost.macs + tiles * (cost.tile + (s.pointwise() ? 0 : cost.tile_tap * taps_each)));

  const double windows = w.pixels * groups * taps_each * depth;
  double cycles = 0;
  // Tiles at the ends of lines find each row on its own: two per line, or all.
  if (!s.pointwise() && !im2col && !windows_copied)
    cycles += (double)s.batch * w.out_h * (double)smaller((size_t)w.out_w, 2 * cost.mr) * groups *
              taps_each * kPoint;
  c->bytes = w.inputs + w.weights + w.outputs;
  // Gathering finds each row of each tap on its own.
  if (cost.gather > 0)
    cycles += windows / cost.gather +
              (s.pointwise() || windows_copied ? 0 : w.pixels * groups * taps_each * kGather);
  if (im2col && !s.pointwise()) {
    cycles += windows / kCopyBytes + w.pixels * groups * (double)s.taps() * kCopy;
    c->bytes += 2 * windows;
  } else if (windows_copied) {
    cycles += (w.inputs + windows) / kCopyBytes;
    c->bytes += 2 * w.inputs;
  }
  c->memory = Work::microseconds(c->bytes / w.bandwidth(c->bytes));
  c->transform = Work::microseconds(cycles);
}

void depthwise(const Work& w, Candidate* c) {
  const double blocks = (double)divide_up(w.s.out_channels, w.cost.depthwise_lanes);
  c->macs = w.outputs * (double)w.s.taps();
  c->bytes = w.inputs + w.weights + w.outputs;
  c->compute =
      Work::microseconds(w.pixels * blocks * (double)w.cost.depthwise_lanes * w.cost.depthwise *
                             (w.s.stride_w > 1 ? 1.5 : 1) * (double)w.s.taps() / 9 +
                         (double)w.s.batch * w.out_h * blocks * w.cost.depthwise_line);
  c->memory = Work::microseconds(c->bytes / w.bandwidth(c->bytes));
}

// side: of an output tile; values: of a transformed tile; adds: to transform a value, relative to
// F(4x4,3x3).
void winograd(const Work& w, size_t side, double values, double adds, bool words, Candidate* c) {
  const ConvShape& s = w.s;
  const double tiles = (double)s.batch * (double)divide_up((size_t)w.out_h, side) *
                       (double)divide_up((size_t)w.out_w, side);
  const double groups = (double)s.groups, lanes = (double)round_up(s.group_out(), 16) * groups;
  c->macs = tiles * values * (double)round_up(s.group_in(), words ? 2 : 4) * lanes;
  const double transformed = values * (double)s.group_in() * lanes * (words ? 2 : 1);
  c->bytes = w.inputs + transformed + w.outputs;
  // Kernels are called for each tap, some tiles and a strip of channels.
  const double strip = w.cost.word_nr, calls = tiles / w.cost.word_mr * values * lanes / strip;
  c->compute =
      Work::microseconds(c->macs / (words ? w.cost.word_macs : w.cost.macs) + calls * kWordCall);
  // Each block of tiles, whose inputs and products take three quarters of L2, passes over all
  // transformed weights.
  const double fit = w.l2 * 3 / 4 / (values * (2 * (double)s.group_in() + 4 * strip));
  const double block = fit < 14   ? 14
                       : fit > 56 ? 56
                                  : fit,
               blocks = tiles > block ? tiles / block : 1;
  c->memory = Work::microseconds((blocks * transformed + w.inputs + w.outputs) /
                                 w.bandwidth(transformed, true));
  c->transform =
      w.cost.word_exposed * c->memory +
      Work::microseconds(tiles * values * adds *
                         (kTransformCall * (groups + lanes / strip) +
                          (double)round_up(s.group_in(), w.cost.lanes) * groups * w.cost.word_in +
                          lanes * w.cost.word_out));
}

}  // namespace

ConvPlans plan_conv(const ConvProblem& problem) {
  ConvPlans plans = {};
  const Work work(problem);
  plans.best = OCTET_CONV_DIRECT;
  for (int i = OCTET_CONV_DIRECT; i < kAlgorithms; ++i) {
    const octet_conv_algorithm algorithm = (octet_conv_algorithm)i;
    Candidate& c = plans.candidates[i];
    const ConvMethod* method = method_of((uint8_t)i);
    const char* refused = method ? method->refuse(problem.shape, problem.weight_zero_points)
                                 : "this library was built without it";
    if (!refused && algorithm == OCTET_CONV_WINOGRAD_2X2_INT8 && !problem.approximate)
      refused = "it is approximate, and the filter's accuracy is OCTET_ACCURACY_EXACT";
    if (!refused && problem.without_kernel >> i & 1)
      refused = "no kernel for it is built in and passed its self-test";
    if (refused) {
      snprintf(c.reason, sizeof c.reason, "cannot be used: %s", refused);
      continue;
    }
    c.possible = true;
    switch (algorithm) {
      case OCTET_CONV_AUTO: break;
      case OCTET_CONV_DIRECT: direct(work, false, &c); break;
      case OCTET_CONV_IM2COL: direct(work, true, &c); break;
      case OCTET_CONV_DEPTHWISE: depthwise(work, &c); break;
      case OCTET_CONV_WINOGRAD_2X2: winograd(work, 2, 16, 0.8, true, &c); break;
      case OCTET_CONV_WINOGRAD_4X4: winograd(work, 4, 36, 1, true, &c); break;
      case OCTET_CONV_WINOGRAD_2X2_S2: winograd(work, 2, 25, 0.6, true, &c); break;
      case OCTET_CONV_WINOGRAD_2X2_INT8: winograd(work, 2, 16, 0.8, false, &c); break;
    }
    total(&c);
    const Candidate& best = plans.candidates[plans.best];
    if (!best.possible || c.microseconds < best.microseconds) plans.best = algorithm;
  }
  for (int i = OCTET_CONV_DIRECT; i < kAlgorithms; ++i) {
    Candidate& c = plans.candidates[i];
    if (!c.possible) continue;
    const double best = plans.candidates[plans.best].microseconds;
    const char* limit = c.memory > c.compute      ? "memory traffic"
                        : c.transform > c.compute ? "transforms and copies"
                                                  : "dot products";
    if (i == plans.best)
      snprintf(c.reason, sizeof c.reason, "limited by %s", limit);
    else
      snprintf(c.reason, sizeof c.reason, "%.2f times the time of %s; limited by %s",
               c.microseconds / best, algorithm_name(plans.best), limit);
  }
  return plans;
}

}  // namespace octet
