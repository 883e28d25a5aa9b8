// SPDX-License-Identifier: Apache-2.0
// octet_calibrate: runs probes by each algorithm and fits a tier's costs to the times.
#include <stdio.h>
#include <stdlib.h>

#include <new>

#include "analysis/tune/fit_costs.h"
#include "analysis/tune/operands.h"
#include "analysis/tune/search.h"
#include "dispatch/api/algorithm_names.h"
#include "dispatch/api/struct_size.h"
#include "dispatch/tables/designs.h"
#include "dispatch/tuning/cache.h"
#include "dispatch/tuning/costs.h"
#include "operators/conv/algorithms/table.h"
#include "operators/conv/filter.h"
#include "operators/conv/machine.h"

namespace octet {
namespace {

// Together the probes exercise each cost: many products and few, few channels and many, narrow
// lines and wide, weights that fit L2 and weights that do not.
struct Probe {
  size_t size, in, out, groups, kernel, stride;
};
constexpr Probe kProbes[] = {
    {28, 256, 256, 1, 1, 1},   {28, 16, 64, 1, 1, 1},   {28, 64, 16, 1, 1, 1},
    {28, 96, 32, 1, 1, 1},     {14, 512, 128, 1, 1, 1}, {28, 128, 256, 1, 1, 2},
    {56, 3, 32, 1, 3, 2},      {32, 8, 8, 1, 3, 1},     {28, 16, 32, 1, 3, 1},
    {28, 64, 64, 1, 3, 1},     {28, 128, 128, 1, 3, 1}, {14, 64, 64, 1, 3, 1},
    {14, 128, 128, 1, 3, 2},   {14, 256, 256, 1, 3, 1}, {14, 384, 384, 1, 3, 1},
    {7, 256, 256, 1, 3, 1},    {7, 512, 512, 1, 3, 1},  {28, 64, 64, 16, 3, 1},
    {28, 128, 128, 8, 3, 1},   {14, 40, 40, 5, 3, 1},   {56, 64, 64, 64, 3, 1},
    {14, 256, 256, 256, 3, 1}, {28, 96, 96, 96, 3, 2},  {28, 128, 128, 128, 5, 1}};
constexpr size_t kProbeCount = sizeof kProbes / sizeof kProbes[0];
// A single pixel, whose weights come from memory.
constexpr size_t kStreams = 1, kStreamDepth = 4096, kStreamBytesMost = (size_t)72 << 20;

constexpr size_t kSamplesMost = kProbeCount * kAlgorithms + kStreams;
constexpr double kTurnSeconds = 0.002, kMicrosecondsMost = 2e4;
constexpr size_t kRoundsLeast = 3, kRoundsMost = 15, kCallsMost = 4096;

void describe(const Probe& p, octet_conv2d_shape* shape) {
  octet_conv2d_shape& s = *shape;
  s.in_h_max = s.in_w_max = p.size;
  s.in_channels = p.in, s.out_channels = p.out, s.groups = p.groups;
  s.kernel_h = s.kernel_w = p.kernel;
  s.stride_h = s.stride_w = p.stride;
  s.pad_top = s.pad_bottom = s.pad_left = s.pad_right = p.kernel / 2;
}

// A convolution with one algorithm, ready to run.
struct Runner {
  size_t probe;  // index of the probe; all its algorithms share it
  octet_conv2d* conv = nullptr;
  TuneBuffer packed, workspace;
  size_t calls = 1, rounds = 0;
  double seconds[kRoundsMost];
};

struct Calibration {
  octet_isa isa;
  const octet_tune_options& options;
  CostModel model;
  TuneBuffer lhs, weights, dst;
  Runner runners[kSamplesMost];
  CostSample samples[kSamplesMost];
  size_t count = 0, probes = 0;
  // Choices are the plan's, even if OCTET_TUNING is set
  const octet_tuning none = {};
  octet_machine machine = OCTET_MACHINE_INIT;

  explicit Calibration(octet_isa tier, const octet_tune_options& given)
      : isa(tier), options(given) {
    machine.tuning = &none;
  }
  ~Calibration() {
    for (size_t i = 0; i < count; ++i) octet_conv2d_destroy(runners[i].conv);
  }
  double now() const { return options.clock(options.clock_context); }
};

void run(const Calibration& c, const Runner& r, size_t calls) {
  octet_conv2d_args args = OCTET_CONV2D_ARGS_INIT;
  args.lhs = c.lhs.data(), args.dst = c.dst.data();
  args.workspace = r.workspace.data(), args.workspace_bytes = r.workspace.bytes();
  for (; calls > 0; --calls) octet_conv2d_run(r.conv, &args, nullptr);
}

octet_status make(const octet_filter_desc& filter, const FilterBuilder& builder, Calibration* c,
                  octet_error* error) {
  Runner& r = c->runners[c->count];
  octet_conv2d_desc desc = OCTET_CONV2D_DESC_INIT;
  desc.shape = filter.shape;
  desc.lhs_type = desc.dst_type = OCTET_U8, desc.rhs_type = OCTET_S8;
  constexpr float kScale = 0.001f;
  desc.epilogue.scales = &kScale, desc.epilogue.scale_count = 1;
  desc.max_isa = c->isa;
  desc.machine = &c->machine;
  size_t bytes = 0;
  OCTET_TRY(octet_conv2d_pack_size(&filter, c->isa, &bytes, error));
  OCTET_TRY(r.packed.grow("packed weights", bytes, error));
  OCTET_TRY(octet_conv2d_pack(&filter, c->isa, r.packed.data(), bytes, error));
  desc.packed = r.packed.data(), desc.packed_bytes = bytes;
  const ConvShape& s = builder.shape;
  OCTET_TRY(c->lhs.fill("the input", {1, s.in_h, s.in_w, s.in_channels}, OCTET_U8, error));
  OCTET_TRY(c->dst.fill("dst", {1, conv_out_h(s, s.in_h), conv_out_w(s, s.in_w), s.out_channels},
                        OCTET_U8, error));
  OCTET_TRY(octet_conv2d_create(&desc, &r.conv, error));
  r.probe = c->probes;
  c->samples[c->count++] = {algorithm_of((uint8_t)filter.algorithm), s, 0};
  OCTET_TRY(octet_conv2d_workspace(r.conv, 0, 0, 0, 1, &bytes, error));
  return r.workspace.grow("the workspace", bytes, error);
}

// Adds a probe with each algorithm that computes it exactly, or with the plan's only.
octet_status add(const Probe& probe, bool all, Calibration* c, octet_error* error) {
  octet_filter_desc filter = OCTET_FILTER_DESC_INIT;
  describe(probe, &filter.shape);
  filter.type = OCTET_S8;
  const size_t in = probe.in / probe.groups;
  OCTET_TRY(
      c->weights.fill("weights", {probe.kernel, probe.kernel, in, probe.out}, OCTET_S8, error));
  filter.data = c->weights.data();
  filter.machine = &c->machine;
  ++c->probes;
  FilterBuilder builder;
  OCTET_TRY(read_filter(&filter, c->isa, true, &builder, error));
  for (int i = 0; i < kAlgorithms; ++i) {
    const Candidate& candidate = builder.plans.candidates[i];
    if (!candidate.possible || !(all || i == builder.plans.best)) continue;
    if (candidate.microseconds > kMicrosecondsMost) continue;
    filter.algorithm = (octet_conv_algorithm)i;
    OCTET_TRY(make(filter, builder, c, error));
  }
  return OCTET_OK;
}

octet_status add_all(Calibration* c, octet_error* error) {
  for (const Probe& probe : kProbes) OCTET_TRY(add(probe, true, c, error));
  const size_t l2 = c->model.cpu.l2_bytes(), l3 = c->model.cpu.l3_bytes();
  const size_t bytes = smaller(larger(l3 + l3 / 4, 8 * l2), kStreamBytesMost);
  return add({1, kStreamDepth, bytes / kStreamDepth, 1, 1, 1}, false, c, error);
}

double turn(const Calibration& c, const Runner& r) {
  run(c, r, 1);  // refills the caches
  const double start = c.now();
  run(c, r, r.calls);
  const double seconds = (c.now() - start) / (double)r.calls;
  return seconds > 0 ? seconds : 1e-9;
}

// Runners take turns, so that a temporary slowdown of the machine affects all.
void measure(double deadline, Calibration* c) {
  for (size_t i = 0; i < c->count; ++i) {
    const double calls = kTurnSeconds / turn(*c, c->runners[i]);
    c->runners[i].calls = calls > 1 ? smaller((size_t)calls, kCallsMost) : 1;
  }
  for (size_t round = 0; round < kRoundsMost; ++round) {
    if (round >= kRoundsLeast && c->now() >= deadline) break;
    for (size_t i = 0; i < c->count; ++i) {
      Runner& r = c->runners[i];
      const double seconds = turn(*c, r);
      size_t at = r.rounds++;
      for (; at > 0 && r.seconds[at - 1] > seconds; --at) r.seconds[at] = r.seconds[at - 1];
      r.seconds[at] = seconds;
    }
  }
}

// Clearly slower algorithms get little weight, because costs only have to tell which one is
// fastest.
void weigh(Calibration* c) {
  for (size_t i = 0; i < c->count; ++i) {
    CostSample& sample = c->samples[i];
    double best = sample.microseconds;
    for (size_t k = 0; k < c->count; ++k)
      if (c->runners[k].probe == c->runners[i].probe && c->samples[k].microseconds < best)
        best = c->samples[k].microseconds;
    const double behind = sample.microseconds / best / 1.5;
    sample.weight = behind > 1 ? 1 / (behind * behind) : 1;
  }
}

void tell(const Calibration& c, const TierCosts& costs) {
  for (size_t i = 0; c.options.watcher && i < c.count; ++i) {
    const CostSample& sample = c.samples[i];
    const ConvShape& s = sample.shape;
    char what[160];
    snprintf(what, sizeof what, "%s in=%zux%zux%zu out=%zu groups=%zu kernel=%zu stride=%zu",
             sample.implementation->name, s.in_h, s.in_w, s.in_channels, s.out_channels, s.groups,
             s.kernel_h, s.stride_h);
    c.options.watcher(c.options.watcher_context, what,
                      c.model.predict(costs, sample) / sample.microseconds);
  }
}

octet_status calibrate(Calibration* c, octet_tuning* tuning, octet_calibration* result,
                       octet_error* error) {
  const double start = c->now();
  OCTET_TRY(add_all(c, error));
  measure(start + c->options.seconds, c);
  for (size_t i = 0; i < c->count; ++i)
    c->samples[i].microseconds = 1e6 * c->runners[i].seconds[c->runners[i].rounds / 2];
  weigh(c);
  TierCosts costs = costs_of(tier_of(c->model.tier_id), c->model.cpu.design);
  result->error_before = misfit(c->model, c->samples, c->count, costs);
  fit_costs(c->model, c->samples, c->count, &costs);
  result->error_after = misfit(c->model, c->samples, c->count, costs);
  result->probes = c->count;
  result->seconds = c->now() - start;
  to_text(costs, CostsOrigin::kCalibrated, result->costs);
  tell(*c, costs);
  return tuning ? keep_costs(c->model.tier_id, result->costs, tuning, error) : OCTET_OK;
}

}  // namespace
}  // namespace octet

using namespace octet;

octet_status octet_calibrate(octet_isa isa, const octet_tune_options* options, octet_tuning* tuning,
                             octet_calibration* result, octet_error* error) {
  octet_tune_options known;
  OCTET_TRY(read_options(options, &known, error));
  if (result) OCTET_TRY(check_out(result, "result", error));
  if (known.concurrency > 1)
    return fail(error, OCTET_UNSUPPORTED,
                "options.concurrency is %zu; what is calibrated are the costs of one core",
                known.concurrency);
  const CpuFeatures cpu = conv_machine().cpu;
  if (isa != OCTET_ISA_AUTO && !find_tier((int)isa))
    return fail(error, OCTET_UNKNOWN_ENUM, "isa is %d, not an octet_isa", (int)isa);
  const TierId tier = isa == OCTET_ISA_AUTO ? best_of(cpu.tiers) : (TierId)isa;
  if (!has(cpu.tiers, tier_of(tier)))
    return fail(error, OCTET_UNSUPPORTED, "isa is %s, which this machine does not run",
                isa_name(tier));
  void* const memory = malloc(sizeof(Calibration));
  if (!memory) return fail(error, OCTET_OUT_OF_MEMORY, "no memory for the probes");
  Calibration* const c = new (memory) Calibration((octet_isa)tier, known);
  c->model = {tier, cpu};
  add_microarchitecture(&c->model.cpu);
  octet_calibration out = OCTET_CALIBRATION_INIT;
  const octet_status status = calibrate(c, tuning, &out, error);
  c->~Calibration();
  free(memory);
  if (status != OCTET_OK) return status;
  return result ? give(out, result) : OCTET_OK;
}
