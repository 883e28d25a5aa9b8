// SPDX-License-Identifier: Apache-2.0
// The key of a product in a tuning, and the choice that a tuning has for it.
#pragma once

#include "dispatch/tuning/tuning.h"
#include "operators/gemm/choice.h"

namespace octet {

// cpu: the part of the machine that may be used. format: of packed weights, or null.
TuningKey key_of_gemm(const CpuFeatures& cpu, const char* format, const octet_gemm_desc& desc);

// Leaves *choice and *measured alone if the tuning has no choice that may be used.
octet_status look_up_gemm(const octet_gemm_desc& desc, const Environment& environment,
                          const CpuFeatures& cpu, const Problem& problem, const WeightFacts& facts,
                          Choice* choice, bool* measured, octet_error* error);

}  // namespace octet
