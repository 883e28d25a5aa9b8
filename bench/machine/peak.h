// Measures the most that the CPU can do now: a loop of nothing but dot-product instructions on
// registers. Clocks drift and neighbours come and go, so a bench samples it beside every
// measurement and quotes percentages of it.
#pragma once

#include "bench/machine/clock.h"
#include "bench/machine/thread_pool.h"

namespace tool {

struct PeakLoop {
  const char* instruction;
  double ops_per_iteration;  // a multiplication and an addition count as two
  void (*iterate)(long iterations);
};

// The loop of the instruction that this kernel is made of; null if there is none.
const PeakLoop* peak_loop(const char* kernel);

// Whether the table of loops says which one this tier has, or that it has none.
bool has_peak_row(const char* tier);

// GOPS, in about a millisecond, on all threads of the pool at once.
double sample_peak(const PeakLoop& loop, ThreadPool* pool, const Clock& clock);

}  // namespace tool
