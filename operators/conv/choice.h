// What a convolution is computed by, once its algorithm is known: the plan's part of a choice is
// conv_plan.h. Pure, as gemm_choice.h.
#pragma once

#include "dispatch/select/choice.h"
#include "operators/conv/kernels.h"

namespace octet {

struct ConvChoiceProblem {
  octet_conv_algorithm algorithm;
  const ConvShape& shape;  // as the caller has it
  bool lhs_u8, rhs_u8;
  size_t dst_bytes;  // of an output
  WeightFacts facts;
};

// The best choice, if the selection of the kernel is kOk. `forced` as for select_conv.
ConvKernel choose_conv(const CpuFeatures& cpu, const ConvChoiceProblem& problem, const char* forced,
                       Choice* choice);

// As for a product; *kernel is the choice's.
bool may_use(const Choice& choice, const CpuFeatures& cpu, const ConvChoiceProblem& problem,
             ConvKernel* kernel, const char** why);

// octet_conv2d_create, with a choice or, null, the best one for how the weights are packed. A
// choice beside desc.kernel is refused.
octet_status create_conv(const octet_conv2d_desc* desc, const Choice* choice, octet_conv2d** conv,
                         octet_error* error);
const Choice& choice_of(const octet_conv2d& conv);

}  // namespace octet
