// Verifies one product and then times it.
#pragma once

#include "bench/cases/gemm_suite.h"
#include "bench/run/measure.h"

namespace tool {

// A case that is not right is not timed.
BenchResult bench_gemm(const GemmCase& gemm, const OperandTypes& types, const BenchOptions& options,
                       ThreadPool* pool);

}  // namespace tool
