// SPDX-License-Identifier: Apache-2.0
// Measures the CPU's current peak: a loop of dot-product instructions on registers only. Clocks
// drift and neighbours come and go, so a bench samples it beside every measurement and quotes
// percentages of it.
#pragma once

#include <cstdint>

#include "bench/machine/clock.h"
#include "bench/machine/thread_pool.h"

namespace tool {

struct PeakLoop {
  const char* instruction;
  double ops_per_iteration;  // a multiplication and an addition count as two
  void (*iterate)(int64_t iterations);
};

// The loop of this kernel's instruction; null if there is none.
const PeakLoop* peak_loop(const char* kernel);

// Whether the table of loops has a row for this tier, with a loop or without.
bool has_peak_row(const char* tier);

// GOPS, in about a millisecond, on all threads of the pool at once.
double sample_peak(const PeakLoop& loop, ThreadPool* pool, const Clock& clock);

}  // namespace tool
