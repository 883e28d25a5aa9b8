// Computes the initial values of a convolution's accumulators.
#pragma once

#include "operators/conv/algorithms/algorithm.h"

namespace octet {

// The lhs zero point of an image as kernels see it.
inline int32_t zero_point_of(const ConvPlan& plan, const ConvRun& run, size_t image) {
  return (plan.runtime_zero_point
              ? run.lhs_zero_points ? run.lhs_zero_points[run.zero_of(image)] : 0
              : plan.static_zero_point) +
         plan.lhs_shift;
}

inline LhsTerms lhs_terms(const ConvPlan& plan, const ConvRun& run, size_t image) {
  return {!plan.runtime_zero_point,
          zero_point_of(plan, run, image),
          nullptr,
          plan.runtime_zero_point,
          run.lhs_scales ? run.lhs_scales[image] : 1.0f,
          nullptr};
}

// Writes one row of initial values: the bias of channels [n, n + channels) minus zero_point times
// the sums of their weights.
inline void write_start(const ConvPlan& plan, size_t n, size_t channels, int32_t zero_point,
                        int32_t* start) {
  Init init = {};
  init.cols = channels;
  init.base = plan.columns.bias + n;
  init.lhs_zero_points = &zero_point;
  init.weight_sums = plan.columns.weight_sum + n;
  init.out = start;
  plan.ops->init(init);
}

}  // namespace octet
