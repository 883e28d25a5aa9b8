// What may be of use to compute a product. Pure.
#pragma once

#include "analysis/tune/search.h"
#include "operators/gemm/choice.h"

namespace octet {

struct GemmSpace {
  CpuFeatures cpu;  // what of it may be used
  Problem problem;
  size_t batch;
  // The packed weights' layout; of run-time weights, which may have any, those of no tier
  WeightFacts facts;
  bool packed, passes;  // whether the latter may be worth anything
  size_t concurrency;
};

// Each form that the weights may have, by each kernel that multiplies by it.
void add_gemm_choices(const GemmSpace& space, Choices* choices);
// With other blocks, passes and cuts.
void add_gemm_choices_near(const GemmSpace& space, const Choice& choice, Choices* choices);

}  // namespace octet
