// SPDX-License-Identifier: Apache-2.0
// Runs octet bench plan: does the plan choose the fastest algorithm? Every exact candidate is
// verified, then timed in alternation with the others.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/described/model_cases.h"
#include "bench/problems/candidates.h"
#include "bench/problems/conv_check.h"
#include "bench/problems/conv_plan.h"
#include "bench/run/report.h"
#include "tools/octet/bench_options.h"

namespace tool {
namespace {

struct Candidate {
  octet_conv2d_candidate said;
  std::string kernel;   // the kernel that ran
  std::string problem;  // why it was not timed
  double microseconds = 0;
  // Its time / the chosen one's, the median over repetitions in alternation, so that a slow phase
  // of the machine slows both.
  double relative = 1;
  bool timed() const { return problem.empty(); }
};

struct Layer {
  const ConvCase* conv;
  std::vector<Candidate> candidates;
  std::optional<size_t> chosen, best;  // among the timed candidates
  std::string packed;                  // the algorithm of octet_conv2d_pack
  bool wrong = false;

  const Candidate& the_chosen() const { return candidates[*chosen]; }
  const Candidate& the_best() const { return candidates[*best]; }
  double best_microseconds() const { return the_chosen().microseconds * the_best().relative; }
  double loss_percent() const { return (1 / the_best().relative - 1) * 100; }
};

// The candidates that run and are right, each with its plan; the others get their problem.
std::vector<std::unique_ptr<ConvPlan>> make_plans(const ConvData& data, const BenchOptions& options,
                                                  ThreadPool* pool, Layer* layer) {
  const ConvReference reference(data);
  std::vector<std::unique_ptr<ConvPlan>> plans;
  for (Candidate& candidate : layer->candidates) {
    plans.push_back(nullptr);
    if (!candidate.said.possible) {
      candidate.problem = candidate.said.reason;
      continue;
    }
    Forced forced = options.forced;
    forced.algorithm = candidate.said.algorithm;
    try {
      plans.back() = std::make_unique<ConvPlan>(data, forced, pool);
      plans.back()->run(1);
      candidate.kernel = plans.back()->kernel();
      const Verdict verdict = reference.check(plans.back()->dst());
      layer->wrong |= !verdict.right;
      if (!verdict.right) candidate.problem = "WRONG: " + verdict.first_error;
    } catch (const LibraryError& error) {
      candidate.problem = fmt::format("said to be possible, but {}", error.what());
    }
  }
  layer->packed = ConvPlan(data, options.forced, pool).algorithm();
  return plans;
}

Layer bench_layer(const ConvCase& conv, const OperandTypes& types, const BenchOptions& options,
                  ThreadPool* pool) {
  Layer layer = {&conv, {}, {}, {}, ""};
  const ConvData data = data_of(conv, types, options.operands);
  for (const octet_conv2d_candidate& said :
       candidates(describe_filter(data, {}), options.forced.isa))
    layer.candidates.push_back({said, said.kernel ? said.kernel : "-", ""});
  const std::vector<std::unique_ptr<ConvPlan>> plans = make_plans(data, options, pool, &layer);

  const Clock clock(options.threads == 1);
  std::vector<std::optional<Stopwatch>> watches(plans.size());
  std::vector<std::vector<double>> seconds(plans.size());
  for (size_t i = 0; i < plans.size(); ++i)
    if (layer.candidates[i].timed()) watches[i].emplace(plans[i].get(), clock);
  for (int repetition = 0; repetition < options.repetitions; ++repetition)
    for (size_t i = 0; i < plans.size(); ++i)
      if (watches[i]) seconds[i].push_back(watches[i]->repetition());

  for (size_t i = 0; i < plans.size(); ++i)
    if (layer.candidates[i].timed() && layer.candidates[i].said.chosen)
      layer.chosen = layer.best = i;
  for (size_t i = 0; i < plans.size(); ++i) {
    Candidate& candidate = layer.candidates[i];
    if (!candidate.timed()) continue;
    candidate.microseconds = median(seconds[i]) * 1e6;
    if (!layer.chosen) continue;
    std::vector<double> ratios;
    for (size_t r = 0; r < seconds[i].size(); ++r)
      ratios.push_back(seconds[i][r] / seconds[*layer.chosen][r]);
    candidate.relative = median(ratios);
    if (candidate.relative < layer.the_best().relative) layer.best = i;
  }
  return layer;
}

struct PlanTotals {
  size_t layers = 0, wrong = 0;
  double chosen_us = 0, best_us = 0;  // weighted by count
  // |log(predicted / measured)| over all candidates; none with several threads
  double log_errors = 0, predictions = 0;
  double worst_percent = 0;
  std::string worst;

  void add(const Layer& layer, bool predicted) {
    ++layers;
    wrong += layer.wrong;
    for (const Candidate& candidate : layer.candidates)
      if (candidate.timed() && predicted) {
        log_errors += std::abs(std::log(candidate.said.microseconds / candidate.microseconds));
        ++predictions;
      }
    if (!layer.chosen) return;
    chosen_us += layer.the_chosen().microseconds * layer.conv->count;
    best_us += layer.best_microseconds() * layer.conv->count;
    if (!worst.empty() && layer.loss_percent() <= worst_percent) return;
    worst_percent = layer.loss_percent();
    worst = layer.conv->shape.name();
  }
  double loss_percent() const { return best_us > 0 ? (chosen_us / best_us - 1) * 100 : 0; }
  std::optional<double> prediction_factor() const {
    if (predictions > 0) return std::exp(log_errors / predictions);
    return {};
  }
};

std::string remark(const Layer& layer, const Candidate& candidate) {
  const bool chosen = candidate.said.chosen, best = layer.best && &candidate == &layer.the_best();
  const char* const name = octet_conv_algorithm_name(candidate.said.algorithm);
  if (chosen != (layer.packed == name))
    return chosen ? fmt::format("said to be chosen, but packed is {}", layer.packed)
                  : "packed, but not said to be chosen";
  if (chosen && best) return "chosen, best";
  if (chosen) return fmt::format("chosen, loses {:.1f} %", layer.loss_percent());
  return best ? "best" : "";
}

// Prints no algorithms that the plan refuses; octet explain has the reasons. Predictions are for
// one thread, so times of several threads have no ratio to them.
void print_layer(const Layer& layer, bool predicted, size_t index, size_t total) {
  fmt::print("{:<9}{} x {}  {}\n", fmt::format("[{}/{}]", index, total), layer.conv->shape.name(),
             layer.conv->count, layer.conv->network);
  for (const Candidate& c : layer.candidates) {
    if (!c.said.possible) continue;
    const char* const name = octet_conv_algorithm_name(c.said.algorithm);
    if (c.timed())
      fmt::print("{:<9}{:<18}{:<32}{:>12.3f}{:>12.3f}{:>8}  {}\n", "", name, c.kernel,
                 c.microseconds, c.said.microseconds,
                 predicted ? fmt::format("{:.2f}", c.said.microseconds / c.microseconds) : "-",
                 remark(layer, c));
    else
      fmt::print("{:<9}{:<18}{:<32}{:>12}{:>12.3f}{:>8}  {}\n", "", name, c.kernel, "-",
                 c.said.microseconds, "-", c.problem);
  }
  std::fflush(stdout);
}

void print_totals(const std::string& title, const PlanTotals& t) {
  const std::optional<double> factor = t.prediction_factor();
  fmt::print(
      "{:<25} {} layers, {} wrong; the plan {:.3f} ms weighted by count, the best {:.3f} ms: loses "
      "{:.2f} %; predictions {}\n",
      title, t.layers, t.wrong, t.chosen_us / 1e3, t.best_us / 1e3, t.loss_percent(),
      factor ? fmt::format("off by a factor of {:.2f} (geometric mean)", *factor)
             : "are of one thread");
  if (t.worst_percent > 0)
    fmt::print("{:<26}worst: {} loses {:.1f} %\n", "", t.worst, t.worst_percent);
}

ordered_json to_json(const Layer& layer, const OperandTypes& types) {
  ordered_json json = {{"name", layer.conv->shape.name()},
                       {"network", layer.conv->network},
                       {"count", layer.conv->count},
                       {"types", types.name()}};
  for (const Candidate& c : layer.candidates) {
    ordered_json candidate = {{"algorithm", octet_conv_algorithm_name(c.said.algorithm)},
                              {"kernel", c.kernel},
                              {"chosen", c.said.chosen != 0}};
    if (c.timed()) {
      candidate["measured_us"] = c.microseconds;
      candidate["relative"] = c.relative;
      candidate["predicted_us"] = c.said.microseconds;
      candidate["predicted_compute_us"] = c.said.compute_microseconds;
      candidate["predicted_memory_us"] = c.said.memory_microseconds;
      candidate["predicted_transform_us"] = c.said.transform_microseconds;
    } else {
      candidate["problem"] = c.problem;
    }
    json["candidates"].push_back(candidate);
  }
  if (!layer.chosen) return json;
  json["chosen"] = octet_conv_algorithm_name(layer.the_chosen().said.algorithm);
  json["best"] = octet_conv_algorithm_name(layer.the_best().said.algorithm);
  json["loss_percent"] = layer.loss_percent();
  return json;
}

ordered_json to_json(const PlanTotals& t) {
  return {{"layers", t.layers},
          {"wrong", t.wrong},
          {"chosen_us", t.chosen_us},
          {"best_us", t.best_us},
          {"loss_percent", t.loss_percent()},
          {"worst_layer", t.worst},
          {"worst_loss_percent", t.worst_percent},
          {"prediction_factor", or_null(t.prediction_factor())}};
}

// A disturbance adds a loss more often than it removes one, so layers that lose are timed again.
constexpr int kRetries = 2;

bool loses_too_much(const Layer& layer, const BenchArguments& a) {
  return a.check_percent && !layer.wrong && layer.chosen && layer.loss_percent() > *a.check_percent;
}

}  // namespace

int bench_plan(const BenchArguments& a) {
  const BenchOptions options = to_options(a);
  const std::vector<CaseGroup> groups =
      convolutions_of(parse_cases(a.cases, options.operands.likeness));
  JsonFile file(a.json);
  ordered_json json = {{"machine", machine_json(options)}, {"layers", ordered_json::array()}};
  ThreadPool pool(options.threads);
  pin_if_single(options);

  print_machine(options);
  PlanTotals all;
  std::vector<std::pair<std::string, PlanTotals>> parts;
  for (const CaseGroup& group : groups) {
    const OperandTypes types = conv_types(group, a.types);
    refuse_modes(options.operands, types);
    fmt::print("{:<9}{:<18}{:<32}{:>12}{:>12}{:>8}\n", "", "algorithm", "kernel", "us", "predicted",
               "ratio");
    PlanTotals part;
    for (const ConvCase& conv : group.convolutions) {
      Layer layer = bench_layer(conv, types, options, &pool);
      for (int again = 0; again < kRetries && loses_too_much(layer, a); ++again) {
        fmt::print("{:<9}{} seems to lose {:.1f} %: once more\n", "", conv.shape.name(),
                   layer.loss_percent());
        const Layer other = bench_layer(conv, types, options, &pool);
        if (!other.chosen || other.loss_percent() < layer.loss_percent()) layer = other;
      }
      all.add(layer, options.threads == 1);
      part.add(layer, options.threads == 1);
      json["layers"].push_back(to_json(layer, types));
      json["layers"].back()["suite"] = group.name;
      json["layers"].back()["operands"] = likeness_name(options.operands.likeness);
      print_layer(layer, options.threads == 1, part.layers, group.convolutions.size());
    }
    parts.emplace_back(group.name, part);
    fmt::print("\n");
  }
  summarize(all, parts, &json);
  file.write(json);
  if (a.check_percent && all.loss_percent() > *a.check_percent) {
    fmt::print("The plan loses {:.2f} %, more than {} %.\n", all.loss_percent(), *a.check_percent);
    return kMismatch;
  }
  return all.wrong ? kMismatch : kSuccess;
}

}  // namespace tool
