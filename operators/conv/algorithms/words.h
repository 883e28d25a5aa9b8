// A 1x1 convolution of words (s16) whose pixels are rows of a matrix, by kernels that take words as
// they are.
#pragma once

#include "operators/conv/algorithms/algorithm.h"

namespace octet {

inline bool takes_words(const ConvPlan& plan) { return plan.lhs_type == ElementType::kS16; }

// As the functions of a ConvAlgorithm.
size_t words_workspace(const ConvPlan& plan, size_t pixels);
void run_words(const ConvPlan& plan, const ConvRun& run, const ConvTask& task, uint8_t* workspace);

}  // namespace octet
