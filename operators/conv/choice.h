// SPDX-License-Identifier: Apache-2.0
// Chooses kernel, block, pass and tasks of a convolution whose algorithm is known (plan.h chooses
// the algorithm). Pure, as operators/gemm/choice.h.
#pragma once

#include "dispatch/select/choice.h"
#include "operators/conv/kernels.h"

namespace octet {

struct ConvChoiceProblem {
  octet_conv_algorithm algorithm;
  const ConvShape& shape;  // as the caller has it
  ElementType lhs_type, rhs_type;
  size_t dst_bytes;  // of an output
  WeightFacts facts;
};

// The best choice. Valid if the kernel's selection is kOk. `forced` as for select_conv.
ConvKernel choose_conv(const CpuFeatures& cpu, const ConvChoiceProblem& problem, const char* forced,
                       Choice* choice);

// True if the choice can be used; then *kernel is its kernel. Otherwise *why says why not.
bool may_use(const Choice& choice, const CpuFeatures& cpu, const ConvChoiceProblem& problem,
             ConvKernel* kernel, const char** why);

// octet_conv2d_create with a choice; null chooses the best for the packed weights. Fails if both a
// choice and desc.kernel are set.
octet_status create_conv(const octet_conv2d_desc* desc, const Choice* choice, octet_conv2d** conv,
                         octet_error* error);
const Choice& choice_of(const octet_conv2d& conv);

}  // namespace octet
