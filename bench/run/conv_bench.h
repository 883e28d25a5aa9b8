// SPDX-License-Identifier: Apache-2.0
// Verifies one convolution and then times it.
#pragma once

#include "bench/cases/conv_suite.h"
#include "bench/run/measure.h"

namespace tool {

// A wrong case is not timed.
BenchResult bench_conv(const ConvCase& conv, const OperandTypes& types, const BenchOptions& options,
                       ThreadPool* pool);

}  // namespace tool
