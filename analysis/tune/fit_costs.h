// Costs that say of convolutions what was measured of them. Pure: by the same estimates that plans
// are made of.
#pragma once

#include "dispatch/cpu/features.h"
#include "operators/conv/algorithms/estimate.h"

namespace octet {

// A convolution by one algorithm, at its declared sizes, with s8 weights.
struct CostSample {
  const ConvAlgorithm* implementation;
  ConvShape shape;
  double microseconds;  // measured
  double weight = 1;
};

struct CostModel {
  Isa isa;
  CpuFeatures cpu;  // its caches and cores
  double predict(const TierCosts& costs, const CostSample& sample) const;
};

// Starts at *costs, and leaves what no sample tells near them. Returns by how much the predictions
// are off: the weighted mean of predicted / measured + measured / predicted - 2, about the
// square of the relative error.
double misfit(const CostModel& model, const CostSample* samples, size_t count,
              const TierCosts& costs);
void fit_costs(const CostModel& model, const CostSample* samples, size_t count, TierCosts* costs);

}  // namespace octet
