// A product as a line of measured choices knows it, and the choice that such lines have for it.
#pragma once

#include "dispatch/tuning/tuning.h"
#include "operators/gemm/choice.h"

namespace octet {

// machine: as detected; cpu: what of it may be used; form: of packed weights, or null.
TuningKey key_of_gemm(const CpuFeatures& cpu, const char* format, const octet_gemm_desc& desc);

// Leaves *choice and *measured alone if there is none that may be used.
octet_status look_up_gemm(const octet_gemm_desc& desc, const Environment& environment,
                          const CpuFeatures& cpu, const Problem& problem, const WeightFacts& facts,
                          Choice* choice, bool* measured, octet_error* error);

}  // namespace octet
