#include "dispatch/conv_plan.h"

#include <stdio.h>

namespace octet {
namespace {

// What a tier's core does per cycle. Products are those that whole kernels reach in the middle of a large matrix.
struct TierCosts {
  double bytes;        // 8-bit products, GEMM kernels
  double words;        // 16-bit products
  double depthwise;    // outputs times taps, 3x3
  double gather;       // bytes that a gather prepares; 0 = the kernels read rows where they lie
  double finish;       // outputs that leave for 8 bits
  double winograd_in;  // values of the transformed input (36 or 16 per tile and channel)
  double winograd_out; // values of the products before the output transform
};

constexpr double kGigahertz = 3.5;  // nominal: only ratios decide
constexpr double kL2Bytes = 32, kL3Bytes = 12, kMemoryBytes = 6;  // per cycle, read by one core
constexpr double kCopyBytes = 6;    // per cycle, patches and layout conversion

TierCosts costs_of(Isa isa) {
  switch (isa) {
    case Isa::kAvx512Vnni: return {62, 31, 10, 0, 8, 12, 10};
    case Isa::kAvxVnni: return {30, 15, 6, 0, 5, 8, 6};
    case Isa::kAvx2: return {15, 15, 4, 16, 5, 8, 6};
    case Isa::kI8mm: return {58, 4, 5, 12, 4, 6, 4};
    case Isa::kDotprod: return {30, 4, 5, 0, 4, 6, 4};
    case Isa::kNeon: return {7.5, 4, 3, 0, 4, 6, 4};
    case Isa::kScalar: break;
  }
  return {0.5, 0.5, 0.4, 2, 0.3, 0.5, 0.5};
}

struct Work {
  const ConvProblem& p;
  const ConvShape& s;
  TierCosts cost;
  double out_h, out_w, pixels, outputs, inputs, weights;

  explicit Work(const ConvProblem& problem)
      : p(problem), s(problem.shape), cost(costs_of(problem.isa)), out_h((double)conv_out_h(s, s.in_h)), out_w((double)conv_out_w(s, s.in_w)),
        pixels((double)s.batch * out_h * out_w), outputs(pixels * (double)s.out_channels),
        inputs((double)s.batch * (double)(s.in_h * s.in_w) * (double)s.in_channels), weights((double)(s.taps() * s.group_in() * s.out_channels)) {}

  double bandwidth(double bytes) const {
    const double l2 = p.l2_bytes ? (double)p.l2_bytes : 512e3, l3 = p.l3_bytes ? (double)p.l3_bytes : 8e6;
    return bytes <= l2 ? kL2Bytes : bytes <= l3 ? kL3Bytes : kMemoryBytes;
  }
  static double microseconds(double cycles) { return cycles / (kGigahertz * 1e3); }
};

// Compute and traffic overlap, as far as the prefetchers go: the longer of the two counts, and a part of the other.
void total(Candidate* c) {
  const double hidden = c->compute > c->memory ? c->memory : c->compute;
  c->microseconds = (c->compute > c->memory ? c->compute : c->memory) + 0.2 * hidden + c->transform;
}

// Lanes and depth rounded up to what the layout asks for.
double padded_macs(const Work& w, const RhsLayout& layout, double taps, double depth) {
  const double lanes = (double)(layout.lanes(w.s.group_out()) * w.s.groups);
  return w.pixels * lanes * taps * (double)round_up((size_t)depth, layout.kr);
}

void direct(const Work& w, bool im2col, Candidate* c) {
  const ConvShape& s = w.s;
  const RhsLayout layout = conv_layout(OCTET_CONV_DIRECT, w.p.isa, w.p.rhs_u8);
  const bool merged = !im2col && s.kernel_w > 1 && s.dilation_w == 1 && s.groups == 1 && s.in_channels < 32 && !s.transposed;
  const double taps = im2col ? 1 : merged ? (double)s.kernel_h : (double)s.taps(), depth = (double)(s.taps() * s.group_in()) / taps;
  const double phases = s.transposed && !im2col ? (double)(s.stride_h * s.stride_w) : 1;  // each output uses one phase's taps
  c->macs = padded_macs(w, layout, taps, depth) / phases;
  c->bytes = w.inputs + w.weights + w.outputs;
  const double groups = (double)s.groups, windows = w.pixels * groups * taps * depth / phases;
  // A tile costs some cycles besides its products: pointers of each tap, and latency where the depth is short.
  const double tiles = w.pixels / 6 * (double)divide_up(s.group_out(), 64) * groups;
  c->compute = Work::microseconds(c->macs / w.cost.bytes + tiles * (20 + (s.pointwise() ? 0 : 4 * taps / phases)));
  c->memory = Work::microseconds(c->bytes / w.bandwidth(c->bytes));
  double cycles = w.outputs / w.cost.finish;
  if (w.cost.gather > 0) cycles += windows / w.cost.gather;
  if (im2col) cycles += windows / kCopyBytes;
  if (merged) cycles += w.inputs / kCopyBytes;
  c->transform = Work::microseconds(cycles);
}

void depthwise(const Work& w, Candidate* c) {
  c->macs = w.outputs * (double)w.s.taps();
  c->bytes = w.inputs + w.weights + w.outputs;
  c->compute = Work::microseconds(c->macs / w.cost.depthwise);
  c->memory = Work::microseconds(c->bytes / w.bandwidth(c->bytes));
  c->transform = Work::microseconds(w.outputs / w.cost.finish);
}

// side: of an output tile; values: of a transformed tile; bytes of one transformed value.
void winograd(const Work& w, double side, double values, bool words, Candidate* c) {
  const ConvShape& s = w.s;
  const double tiles = (double)s.batch * (double)divide_up((size_t)w.out_h, (size_t)side) * (double)divide_up((size_t)w.out_w, (size_t)side);
  const double element = words ? 2 : 1, in = (double)s.in_channels, out = (double)s.out_channels;
  c->macs = tiles * values * (double)round_up(s.group_in(), 4) * (double)round_up(s.out_channels, 16);
  const double transformed = w.weights / 9 * values * element;
  c->bytes = w.inputs + transformed + w.outputs;
  // Blocks of tiles pass over all transformed weights.
  const double blocks = tiles / 28 > 1 ? tiles / 28 : 1;
  c->compute = Work::microseconds(c->macs / (words ? w.cost.words : w.cost.bytes) * 1.06);
  c->memory = Work::microseconds((blocks * transformed + w.inputs + w.outputs) / w.bandwidth(transformed + w.inputs));
  c->transform = Work::microseconds(tiles * values * (in / w.cost.winograd_in + out / w.cost.winograd_out) + w.outputs / w.cost.finish);
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
    const char* refused = method ? method->refuse(problem.shape, problem.weight_zero_points) : "it is not built in";
    if (!refused && algorithm == OCTET_CONV_WINOGRAD_2X2_INT8 && !problem.approximate)
      refused = "it is approximate, and the filter's accuracy is OCTET_ACCURACY_EXACT";
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
      case OCTET_CONV_WINOGRAD_2X2: winograd(work, 2, 16, true, &c); break;
      case OCTET_CONV_WINOGRAD_4X4: winograd(work, 4, 36, true, &c); break;
      case OCTET_CONV_WINOGRAD_2X2_S2: winograd(work, 2, 25, true, &c); break;
      case OCTET_CONV_WINOGRAD_2X2_INT8: winograd(work, 2, 16, false, &c); break;
    }
    total(&c);
    if (c.microseconds < plans.candidates[plans.best].microseconds) plans.best = algorithm;
  }
  for (int i = OCTET_CONV_DIRECT; i < kAlgorithms; ++i) {
    Candidate& c = plans.candidates[i];
    if (!c.possible) continue;
    const double best = plans.candidates[plans.best].microseconds;
    const char* limit = c.memory > c.compute ? "memory traffic" : c.transform > c.compute ? "transforms and copies" : "dot products";
    if (i == plans.best)
      snprintf(c.reason, sizeof c.reason, "limited by %s", limit);
    else
      snprintf(c.reason, sizeof c.reason, "%.2f times the time of %s; limited by %s", c.microseconds / best, algorithm_name(plans.best), limit);
  }
  return plans;
}

}  // namespace octet
