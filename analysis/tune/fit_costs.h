// SPDX-License-Identifier: Apache-2.0
// Fits costs to measured convolutions, with the same estimates that plans use. Pure.
#pragma once

#include "dispatch/cpu/features.h"
#include "operators/conv/algorithms/estimate.h"

namespace octet {

// One convolution with one algorithm, at its declared sizes, with s8 weights.
struct CostSample {
  const ConvAlgorithm* implementation;
  ConvShape shape;
  double microseconds;  // measured
  double weight = 1;
};

struct CostModel {
  TierId tier_id;
  CpuFeatures cpu;  // caches and cores of the machine
  double predict(const TierCosts& costs, const CostSample& sample) const;
};

// Starts at *costs; costs that no sample exercises stay near them. misfit returns the weighted mean
// of predicted / measured + measured / predicted - 2, about the square of the relative error.
double misfit(const CostModel& model, const CostSample* samples, size_t count,
              const TierCosts& costs);
void fit_costs(const CostModel& model, const CostSample* samples, size_t count, TierCosts* costs);

}  // namespace octet
