// SPDX-License-Identifier: Apache-2.0
// The candidate choices for a product. Pure.
#pragma once

#include "analysis/tune/search.h"
#include "operators/gemm/choice.h"

namespace octet {

struct GemmSpace {
  CpuFeatures cpu;  // the CPU features that may be used
  Problem problem;
  size_t batch;
  // Layout of the packed weights; run-time weights may have any layout, so theirs is not set
  WeightFacts facts;
  bool packed, passes;  // passes: true if they may gain
  size_t concurrency;
};

// Adds a choice for each format that the weights may have and each kernel that reads it.
void add_gemm_choices(const GemmSpace& space, Choices* choices);
// Adds choices with other blocks, passes and cuts.
void add_gemm_choices_near(const GemmSpace& space, const Choice& choice, Choices* choices);

}  // namespace octet
