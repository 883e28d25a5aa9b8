// SPDX-License-Identifier: Apache-2.0
// Runs octet tune: it measures other ways to compute each case on this machine, prints the gain
// over the plan, and keeps the best choices in a file.
#include <fmt/format.h>

#include <chrono>

#include "bench/cases/cases.h"
#include "bench/problems/conv_plan.h"
#include "bench/problems/gemm_plan.h"
#include "bench/run/report.h"
#include "octet/tune.h"
#include "tools/octet/bench_options.h"
#include "tools/octet/tuning_file.h"

namespace tool {
namespace {

constexpr double kSecondsPerCase = 2;

struct Case {
  std::string name, suite, network;
  int count;
  const ConvCase* conv;  // null: a product
  GemmShape product;
  OperandTypes types;
};

std::vector<Case> cases_of(const std::vector<CaseGroup>& groups, const BenchArguments& a) {
  std::vector<Case> cases;
  for (const CaseGroup& group : groups) {
    // A network has its own types.
    std::vector<std::string> types = a.types;
    if (types.empty()) types = {group.types.empty() ? "u8s8u8" : group.types};
    for (const std::string& of : types) {
      if (a.types.empty() && parse_types(of).lhs == OCTET_S16) {
        fmt::print(stderr, "left out: {} {}: layers of 16 bits are not measured\n", group.name, of);
        continue;
      }
      for (const ConvCase& c : group.convolutions)
        cases.push_back({c.shape.name(), group.name, c.network, c.count, &c, {}, parse_types(of)});
      for (const GemmCase& c : group.products)
        cases.push_back(
            {c.shape.name(), group.name, c.network, c.count, nullptr, c.shape, parse_types(of)});
    }
  }
  return cases;
}

octet_tune_result tune(const Case& c, const BenchOptions& options, const octet_tune_options& how,
                       octet_tuning* tuning) {
  octet_tune_result result = OCTET_TUNE_RESULT_INIT;
  octet_error error = {};
  if (c.conv) {
    Operands operands = options.operands;
    if (!operands.rhs_zero_point) operands.rhs_zero_point = c.conv->rhs_zero_point;
    const ConvData data = plain_conv_data(c.conv->shape, c.types, operands);
    const octet_filter_desc filter = describe_filter(data, options.forced);
    octet_conv2d_desc desc = describe_conv(data, options.forced);
    desc.lhs_layout = desc.dst_layout = c.conv->layout;
    check(octet_tune_conv2d(&filter, &desc, &how, tuning, &result, &error), error);
  } else {
    const GemmData data = plain_data(c.product, c.types, options.operands);
    const Buffer packed = pack_weights(data, options.forced);
    const octet_gemm_desc desc = describe_gemm(data, options.forced, packed);
    check(octet_tune_gemm(&desc, &how, tuning, &result, &error), error);
  }
  return result;
}

struct TuneTotals {
  size_t cases = 0, changed = 0, known = 0, candidates = 0;
  double plan_us = 0, best_us = 0, chosen_us = 0;  // weighted by count
  double seconds = 0;

  void add(const Case& c, const octet_tune_result& r) {
    ++cases;
    changed += (size_t)r.changed;
    known += r.candidates == 0;
    candidates += r.candidates;
    plan_us += r.plan_us * c.count;
    best_us += r.best_us * c.count;
    chosen_us += r.chosen_us * c.count;
    seconds += r.seconds;
  }
};

double gain_percent(double plan_us, double other_us) { return (plan_us / other_us - 1) * 100; }

void print_totals(const std::string& title, const TuneTotals& t) {
  fmt::print(
      "{:<26}{} cases, {} changed, {} known already, {} candidates in {:.0f} s; weighted by count: "
      "plan {:.3f} ms, "
      "best {:.3f} ms, chosen {:.3f} ms: gains {:.2f} %\n",
      title, t.cases, t.changed, t.known, t.candidates, t.seconds, t.plan_us / 1e3, t.best_us / 1e3,
      t.chosen_us / 1e3, gain_percent(t.plan_us, t.chosen_us));
}

ordered_json to_json(const TuneTotals& t) {
  return {{"cases", t.cases},
          {"changed", t.changed},
          {"known", t.known},
          {"candidates", t.candidates},
          {"plan_us", t.plan_us},
          {"best_us", t.best_us},
          {"chosen_us", t.chosen_us},
          {"gain_percent", gain_percent(t.plan_us, t.chosen_us)},
          {"plan_loses_percent", gain_percent(t.plan_us, t.best_us)},
          {"chosen_loses_percent", gain_percent(t.chosen_us, t.best_us)},
          {"seconds", t.seconds}};
}

ordered_json to_json(const Case& c, const octet_tune_result& r) {
  return {{"name", c.name},       {"suite", c.suite},         {"network", c.network},
          {"count", c.count},     {"types", c.types.name()},  {"plan_us", r.plan_us},
          {"best_us", r.best_us}, {"chosen_us", r.chosen_us}, {"candidates", r.candidates},
          {"seconds", r.seconds}, {"plan", r.plan},           {"best", r.best},
          {"chosen", r.choice}};
}

void print_row(const Case& c, const octet_tune_result& r, size_t index, size_t total,
               double seconds_left) {
  fmt::print("{:<9}{:<8}{:<42}{:>5}{:>12.3f}{:>12.3f}{:>8.1f}{:>6.0f}  {}\n",
             fmt::format("[{}/{}]", index, total), c.types.name(), c.name, c.count, r.plan_us,
             r.best_us, gain_percent(r.plan_us, r.chosen_us), seconds_left,
             !r.candidates ? "known"
             : r.changed   ? r.choice
                           : "the plan's");
  std::fflush(stdout);
}

}  // namespace

int tune(const TuneArguments& a) {
  if (a.calibrate || !a.profile.empty()) return calibrate(a);
  const BenchOptions options = to_options(a.bench);
  const std::vector<CaseGroup> groups = parse_cases(a.bench.cases);
  const std::vector<Case> cases = cases_of(groups, a.bench);
  JsonFile file(a.bench.json);
  ordered_json json = {{"machine", machine_json(options)}, {"cases", ordered_json::array()}};
  ThreadPool pool(options.threads);
  pin_if_single(options);
  const TuningFile tuning(a.cache, a.only_missing);
  if (tuning.path().empty()) fmt::print("kept nowhere: --cache FILE says where\n");

  const Clock clock(options.threads == 1), wall(false);
  octet_tune_options how = OCTET_TUNE_OPTIONS_INIT;
  how.clock = [](void* c) { return ((const Clock*)c)->now(); };
  how.clock_context = (Clock*)(&clock);
  how.keep_known = a.only_missing;
  if (options.threads > 1) {
    how.parallel_for = ThreadPool::parallel_for;
    how.parallel_context = &pool;
    how.concurrency = options.threads;
  }
  const double seconds = a.seconds > 0 ? a.seconds : kSecondsPerCase * (double)cases.size();
  const double start = wall.now();
  fmt::print("{:<9}{:<8}{:<42}{:>5}{:>12}{:>12}{:>8}{:>6}  choice\n", "", "types", "case", "count",
             "plan us", "best us", "gain %", "left");
  TuneTotals all;
  for (size_t i = 0; i < cases.size(); ++i) {
    const double left = std::max(0.05, start + seconds - wall.now());
    how.seconds = left / (double)(cases.size() - i);
    const octet_tune_result result = tune(cases[i], options, how, tuning.get());
    tuning.save();
    all.add(cases[i], result);
    json["cases"].push_back(to_json(cases[i], result));
    // The remaining seconds, by the average of the cases so far.
    const double took = wall.now() - start, done = (double)(i + 1);
    const double expected = took / done * (double)(cases.size() - i - 1);
    print_row(cases[i], result, i + 1, cases.size(), expected);
  }
  all.seconds = wall.now() - start;
  json["summary"] = to_json(all);
  print_totals("all", all);
  file.write(json);
  return kSuccess;
}

}  // namespace tool
