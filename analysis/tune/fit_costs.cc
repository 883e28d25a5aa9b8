// SPDX-License-Identifier: Apache-2.0
// Fits a tier's costs to measured times by coordinate search.
#include "analysis/tune/fit_costs.h"

#include "dispatch/tuning/costs.h"
#include "operators/conv/plan.h"

namespace octet {
namespace {

// The error of a ratio, the same in both directions; 0 if a = b.
double distance(double a, double b) { return a / b + b / a - 2; }

// Keeps costs near the start where samples say little: a factor of two weighs as much as a
// prediction error of 4 %.
constexpr double kLoyalty = 0.003;
constexpr double kSteps[] = {1.5, 1.15, 1.04, 1.01};
constexpr size_t kSweepsMost = 60;

class Fit {
 public:
  Fit(const CostModel& model, const CostSample* samples, size_t count, TierCosts* costs)
      : model_(model), samples_(samples), count_(count), costs_(*costs), start_(*costs) {}

  void run() {
    scale();
    for (const double step : kSteps)
      for (size_t sweep = 0; sweep < kSweepsMost && sweep_once(step); ++sweep) {
      }
  }

 private:
  double value(const TierCosts& costs) const {
    double loyalty = 0;
    for (size_t i = 0; const CostName* name = cost_name(i); ++i)
      if (costs.*name->cost > 0) loyalty += distance(costs.*name->cost, start_.*name->cost);
    return misfit(model_, samples_, count_, costs) + kLoyalty * loyalty / (double)count_;
  }

  // Scales all costs: cycles are nominal, so a machine may be slower in everything.
  void scale() {
    constexpr double kFactors[] = {2, 0.5, 1.2, 1 / 1.2, 1.03, 1 / 1.03};
    for (const double factor : kFactors)
      for (size_t i = 0; i < kSweepsMost; ++i) {
        TierCosts scaled = costs_;
        for (size_t k = 0; const CostName* name = cost_name(k); ++k)
          if (name->cost != &TierCosts::int16_exposed && name->cost != &TierCosts::depthwise_int16)
            scaled.*name->cost *= name->rate ? 1 / factor : factor;
        if (misfit(model_, samples_, count_, scaled) >= misfit(model_, samples_, count_, costs_))
          break;
        costs_ = start_ = scaled;
      }
  }

  bool sweep_once(double step) {
    bool better = false;
    double best = value(costs_);
    for (size_t i = 0; const CostName* name = cost_name(i); ++i) {
      double& cost = costs_.*name->cost;
      if (cost == 0) continue;
      const double before = cost;
      const double factors[] = {step, 1 / step};
      for (const double factor : factors) {
        cost = before * factor;
        const double changed = value(costs_);
        if (changed < best) {
          best = changed;
          better = true;
          break;
        }
        cost = before;
      }
    }
    return better;
  }

  const CostModel& model_;
  const CostSample* const samples_;
  const size_t count_;
  TierCosts& costs_;
  TierCosts start_;
};

}  // namespace

double CostModel::predict(const TierCosts& costs, const CostSample& s) const {
  const RhsLayout layout = conv_layout(*s.implementation, tier_id, ElementType::kS8, false);
  const ConvWork work(s.shape, layout, costs, cpu.l2_bytes(), cpu.l3_bytes());
  return microseconds_of(s.implementation->estimate(work), cpu.in_order());
}

double misfit(const CostModel& model, const CostSample* samples, size_t count,
              const TierCosts& costs) {
  double sum = 0, weights = 0;
  for (size_t i = 0; i < count; ++i) {
    const CostSample& s = samples[i];
    sum += s.weight * distance(model.predict(costs, s), s.microseconds);
    weights += s.weight;
  }
  return weights > 0 ? sum / weights : 0;
}

void fit_costs(const CostModel& model, const CostSample* samples, size_t count, TierCosts* costs) {
  if (count) Fit(model, samples, count, costs).run();
}

}  // namespace octet
