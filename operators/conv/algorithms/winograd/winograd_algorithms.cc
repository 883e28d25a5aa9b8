// SPDX-License-Identifier: Apache-2.0
// The Winograd schemes, each as an algorithm.
#include "operators/conv/algorithms/winograd/winograd.h"

#include "operators/conv/algorithms/estimate.h"

namespace octet {
namespace {

constexpr WinogradScheme k2x2 = {
    .variant = Winograd::k2x2,
    .patch = 4,
    .out = 2,
    .stride = 1,
    .g = {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}},
    .weight_limit = 1 << 22,
    .adds = 0.8,
};
constexpr WinogradScheme k4x4 = {
    .variant = Winograd::k4x4,
    .patch = 6,
    .out = 4,
    .stride = 1,
    .g = {{6, 0, 0}, {-4, -4, -4}, {-4, 4, -4}, {1, 2, 4}, {1, -2, 4}, {0, 0, 6}},
    .weight_limit = 1 << 18,
    .adds = 1,
};
constexpr WinogradScheme k2x2Stride2 = {
    .variant = Winograd::k2x2Stride2,
    .patch = 5,
    .out = 2,
    .stride = 2,
    .g = {{1, 0, 0}, {1, 0, 1}, {0, 0, 1}, {0, 1, 0}, {0, 1, 0}},
    .weight_limit = INT32_MAX,
    .adds = 0.6,
};
constexpr WinogradScheme k2x2Int8 = {
    .variant = Winograd::k2x2Int8,
    .patch = 4,
    .out = 2,
    .stride = 1,
    .g = {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}},
    .weight_limit = 0,
    .adds = 0.8,
};

double ceil_of(double value) {
  const double whole = (double)(size_t)value;
  return whole < value ? whole + 1 : whole;
}

Estimate estimate(const WinogradScheme& scheme, const ConvWork& w) {
  const ConvShape& s = w.shape;
  const TierCosts& cost = w.cost;
  const bool s16 = !scheme.int8();
  const double values = (double)scheme.taps();
  const double tiles = (double)s.batch * (double)divide_up((size_t)w.out_h, scheme.out) *
                       (double)divide_up((size_t)w.out_w, scheme.out);
  const double groups = (double)s.groups, lanes = (double)round_up(s.group_out(), 16) * groups;
  const WinogradPayload payload(scheme, w.layout, s);
  const double parts = (double)payload.parts.count(), depth = parts * (double)s.group_in(),
               met = (double)payload.before[scheme.taps()];
  Estimate e = {};
  e.macs = tiles * met * (double)round_up(s.group_in(), s16 ? 2 : 4) * lanes;
  const double transformed = met * (double)s.group_in() * lanes * (s16 ? 2 : 1);
  e.bytes = w.inputs + transformed + w.output_bytes;
  // Each block of tiles, whose inputs and products take three quarters of L2, reads all transformed
  // weights.
  const double micro_panel = cost.int16_nr,
               fit = w.l2 * 3 / 4 / (values * (2 * depth + 4 * micro_panel));
  const double block = fit < 14   ? 14
                       : fit > 56 ? 56
                                  : fit,
               blocks = ceil_of(tiles / block), rows = ceil_of(tiles / blocks / cost.int16_mr);
  // A kernel call covers one tap, some tiles and nr channels.
  const double calls = blocks * rows * values * lanes / micro_panel;
  e.compute = microseconds(e.macs / (s16 ? cost.int16_macs : cost.macs) + calls * cost.int16_call);
  e.memory =
      microseconds(blocks * transformed / w.bandwidth(transformed, true) +
                   (w.inputs + w.output_bytes) / w.bandwidth(w.inputs + w.output_bytes, true));
  if (rows > 1) e.exposed = cost.int16_exposed;
  e.transform =
      microseconds(tiles * values * scheme.adds *
                   (cost.transform_call * (groups * parts + lanes / micro_panel) +
                    (double)round_up(s.group_in(), cost.lanes) * groups * parts * cost.int16_in +
                    lanes * cost.int16_out));
  // The epilogue takes the int32 of the transform, a line of a tile at a time; of f32 it takes a
  // quarter of the time of others, measured on AVX2
  if (w.output.epilogue || w.output.tflite || w.output.floats)
    e.transform += (w.output.floats ? 0.25 : 1) *
                   microseconds(w.outputs * cost.epilogue + tiles * (double)scheme.out * lanes /
                                                                micro_panel * cost.epilogue_call);
  return e;
}

// Each output is the sum of 9 taps' products. Rounding to int8 at most doubles an input tap (at
// most 512) and makes no weight larger than the largest of its tap, which bounds all weights of an
// output; the exact accumulator reaches 127 times those.
double int8_stretch(const ConvShape& shape) {
  return 1 + 9.0 * 1024 / 127 * (double)shape.group_in();
}

// Groups are not cut, because their channels need not be a multiple of anything.
ConvGrain grain(const WinogradScheme& scheme, const ConvPlan& plan, size_t out_h, size_t out_w) {
  const size_t micro_panel = larger(plan.kernel->nr, plan.kernel->rhs_layout.width);
  return {winograd_tiles(scheme, out_h, out_w),
          plan.shape.groups == 1 ? micro_panel : plan.shape.group_out(), scheme.out};
}

// A function of an algorithm: `function` with the scheme as its first argument.
template <const WinogradScheme& scheme, auto function>
struct Of;
template <const WinogradScheme& scheme, typename Result, typename... Arguments,
          Result (*function)(const WinogradScheme&, Arguments...)>
struct Of<scheme, function> {
  static Result call(Arguments... arguments) { return function(scheme, arguments...); }
};

template <const WinogradScheme& s>
constexpr ConvAlgorithm implementation(const char* name, KernelKind operands) {
  return {
      .name = name,
      .operands = operands,
      .approximate = s.int8(),
      .keeps_u8 = false,
      .refuse = Of<s, winograd_refuse>::call,
      .payload_bytes = Of<s, winograd_payload_bytes>::call,
      .pack = Of<s, winograd_pack>::call,
      .panels = Of<s, winograd_panels>::call,
      .estimate = Of<s, estimate>::call,
      .block = Of<s, winograd_block>::call,
      .grain = Of<s, grain>::call,
      .task_workspace = Of<s, winograd_task_workspace>::call,
      .run = Of<s, winograd_run>::call,
      .stretch = s.int8() ? int8_stretch : nullptr,
  };
}

}  // namespace

const ConvAlgorithm winograd_2x2_algorithm =
    implementation<k2x2>("winograd2x2", KernelKind::kInt16);
const ConvAlgorithm winograd_4x4_algorithm =
    implementation<k4x4>("winograd4x4", KernelKind::kInt16);
const ConvAlgorithm winograd_2x2_s2_algorithm =
    implementation<k2x2Stride2>("winograd2x2_s2", KernelKind::kInt16);
const ConvAlgorithm winograd_2x2_int8_algorithm =
    implementation<k2x2Int8>("winograd2x2_int8", KernelKind::kInt8);

}  // namespace octet
