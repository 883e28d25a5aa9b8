// SPDX-License-Identifier: Apache-2.0
// Finds the fastest of several candidates. They take turns, so that a temporary slowdown of the
// machine affects all; clearly slower ones are dropped early.
#pragma once

#include "dispatch/api/error.h"
#include "kernels/core/strict_float.h"

namespace octet {

struct TuneClock {
  double (*now)(void* context);  // seconds
  void* context;
};

constexpr size_t kRunnersMost = 128, kRoundsMost = 15;

// The candidates. run() computes candidate i `calls` times; it cannot fail once it has been tried.
struct Runners {
  size_t count;  // 1 .. kRunnersMost; candidate 0 is the reference
  void* context;
  void (*run)(void* context, size_t candidate, size_t calls);
};

struct Standing {
  double seconds;  // per call: the median of its turns
  // relative to the reference: the median over rounds, or a lap's ratio if it ran no round
  double relative;
  // True if it is faster than the reference beyond noise: by 1 % in the median, and at all in three
  // of four rounds.
  bool wins;
};

struct Race {
  size_t calls[kRunnersMost];   // calls per turn
  size_t rounds[kRunnersMost];  // rounds that it ran
  double seconds[kRunnersMost][kRoundsMost];
  Standing standings[kRunnersMost];
  size_t best;  // index of the smallest `relative`
};

// Ends after `rounds` (3 .. kRoundsMost), at the deadline, or when only the reference is left.
void run_race(const Runners& runners, const TuneClock& clock, size_t rounds, double deadline,
              Race* race);

}  // namespace octet
