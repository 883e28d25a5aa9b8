// SPDX-License-Identifier: Apache-2.0
// Verifies one product and then times it.
#pragma once

#include "bench/cases/gemm_suite.h"
#include "bench/run/measure.h"

namespace tool {

// A wrong case is not timed.
BenchResult bench_gemm(const GemmCase& gemm, const OperandTypes& types, const BenchOptions& options,
                       ThreadPool* pool);

}  // namespace tool
